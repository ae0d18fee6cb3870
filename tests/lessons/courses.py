"""Small courses, to be built."""

FIRST = """\
# %% [markdown]
# # Add two numbers
#
# *5 minutes*
#
# **What you'll do:** add, and then
# look.
#
# **What you'll learn:**
#
# - to add
# - to look
#
# **What you'll need:**
#
# - [Hands](02_hands.ipynb)
# - no GPU
"""
BODY = """
# %%
import os
a = 1
print("one")
print("and one")

# %% tags=["timing"]
os.getpid()

# %%
a + 1

# %%
os.environ["CUDA_VISIBLE_DEVICES"], os.listdir() == []
"""
README = """\
Top
<!-- address: begin -->
<!-- address: end -->
<!-- lessons: begin -->
old
<!-- lessons: end -->
End
"""


def course(root, **bodies):
    """A small course with one lesson for each body."""
    for name in ("lessons", "notebooks"):
        (root / name).mkdir()
    (root / "README.md").write_text(README)
    for stem, body in bodies.items():
        (root / "lessons" / f"{stem[1:]}.py").write_text(FIRST + body)
    return root


def notebook(root, stem):
    return root / "notebooks" / f"{stem}.ipynb"
