"""How Sphinx makes the site of what `python -m lessons.site` gathers."""

project = "Thirty-Two Lanes"
author = copyright = "the authors of Thirty-Two Lanes"
language = "en"

extensions = [
    "myst_nb",  # pages in Markdown, and notebooks with their outputs
    "sphinx_copybutton",
]
copybutton_selector = "div:not(.output) > div.highlight > pre"  # code, and no output
nb_execution_mode = "off"  # they were run when they were built
nb_merge_streams = True
nb_render_markdown_format = "myst"  # outputs, too, may hold a table
myst_heading_anchors = 3
exclude_patterns = ["_build", "_extra"]

html_theme = "furo"  # reads well on a phone, has a dark mode, asks no other server
html_title = project
html_static_path = ["_static"]
html_extra_path = ["_extra"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_favicon = "_static/icon.svg"
html_theme_options = {"navigation_with_keys": True}
