"""What authors edit, a file of Python for each lesson, and what builds it."""
