"""The exercises of the course, a module for each lesson; `helpers.exercise` finds them.

`helpers/exercises/exercise.py` says what a description holds.
"""
