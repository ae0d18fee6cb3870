"""Tables of sentences, written as text: a row has what it is about, and below that,
indented, what is said.
"""

import re

ROW = re.compile(r"((?:^(?! {4}).+\n)+)((?:^ {4}.+\n)+)", re.MULTILINE)


def by_pattern(table, **phrases) -> list[tuple[str, str]]:
    """A sentence for each pattern, which may go on in the next line."""
    return [(pattern.replace("\n", ""), it) for pattern, it in _rows(table, phrases)]


def by_name(table, kind=str, **phrases) -> dict:
    """A sentence for each of the names before it, in which `NAME` is the last part of
    that name.
    """
    return {
        name: kind(sentence.replace("NAME", name.rpartition(".")[2]))
        for names, sentence in _rows(table, phrases)
        for name in names.split()
    }


def _rows(table, phrases):
    """What each row is about, and its sentence, with phrases for their `{names}`."""
    for about, said in re.findall(ROW, table):
        sentence = " ".join(said.split())
        for name, phrase in phrases.items():
            sentence = sentence.replace("{" + name + "}", phrase)
        yield about, sentence
