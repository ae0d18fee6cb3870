"""Right answers to exercises that are spelt otherwise than the course's own."""
