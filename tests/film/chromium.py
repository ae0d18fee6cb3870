"""What tests ask a page with films, in a browser."""

HOST = ".lanes-film-player"


def player(tab, expression, at=0):
    """The value of an expression of a page's `player`."""
    script = "([at, host]) => { const player = document.querySelectorAll(host)[at]"
    return tab.evaluate(f"{script}.player; return {expression}; }}", [at, HOST])


def go(tab, step, at=0):
    player(tab, f"player.go({step})", at)


def shown(tab, at=0):
    """The step that a film says it shows."""
    text = tab.locator(f"{HOST} .count").nth(at).inner_text()
    return int(text.split()[1]) - 1
