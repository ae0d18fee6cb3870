"""Marks folders of submitted notebooks: `python -m helpers.grading`."""
