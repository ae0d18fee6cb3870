"""What a link to a page shows elsewhere, and what a term shows: put into the HTML that
Sphinx has made.
"""

import re
from html import escape, unescape

PICTURE = "docs/pictures/film-light.png"
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
TERM = re.compile(r'(<a class="reference internal" href="[^"#]*#(term-[\w-]+)")')
TWICE = '<meta content="width=device-width, initial-scale=1" name="viewport" />'
SHORTEST, LONGEST = 50, 200  # letters of a description


def with_head(page, place, address="") -> str:
    """A page's HTML with a description and a picture for links to it; `place` is its
    path in the site, and `address` the site's, which some programs need.
    """
    title = unescape(TITLE.search(page)[1])
    up = "../" * place.count("/")
    told = {
        "og:type": "article",
        "og:title": title,
        "og:description": description(page),
        "og:image": f"{address or up}{PICTURE}",
        "twitter:card": "summary_large_image",
    }
    if address:
        told["og:url"] = address + place
    named = f'<meta name="description" content="{escape(told["og:description"])}">'
    tags = (
        f'<meta property="{name}" content="{escape(text)}">'
        for name, text in told.items()
    )
    head = "\n".join([named, *tags, "</head>"])
    return page.replace(TWICE, "", 1).replace("</head>", head, 1)


def description(page) -> str:
    """The first paragraph of a page that says something, cut at a word."""
    article = page[max(page.find("<article"), 0) :]
    for found in PARAGRAPH.finditer(article):
        text = " ".join(unescape(re.sub("<[^>]*>", "", found[1])).split())
        if len(text) > LONGEST:
            return text[:LONGEST].rpartition(" ")[0] + " …"
        if len(text) >= SHORTEST:
            return text
    return "GPU programming in Python, with or without a GPU."


def with_sentences(page, sentences) -> str:
    """A page's HTML in which links to the glossary hold their sentences, by label."""

    def told(link):
        said = sentences.get(link[2])
        return f'{link[1]} data-says="{escape(said)}"' if said else link[1]

    return TERM.sub(told, page)
