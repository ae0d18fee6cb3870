"""A small package of somebody else, which knows nothing of ours."""
