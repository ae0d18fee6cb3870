"""What a lesson can have wrong; it imports nothing, since machines with a GPU lack what
builds notebooks.
"""


class LessonError(Exception):
    """What an author has to fix, as sentences."""
