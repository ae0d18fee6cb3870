"""How numbers are put in sentences."""


def counted(number, noun, several=None) -> str:
    """A number beside its noun: "1 bank", "2 banks", "3 launches"."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"
