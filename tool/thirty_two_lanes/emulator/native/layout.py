"""Where compiled code finds a warp: a row of 64-bit words, most of them addresses."""

ROW = 5  # words of a piece: its function, kind, then, otherwise and pc

HEAD = (
    *("active", "then", "words", "blocks", "live"),  # masks: a bit for each thread
    *("masks", "left", "present", "postponed", "arriving", "pcs", "first"),  # by pc
    *("pieces", "piece", "following", "nearest"),
    *("iterations", "turns", "patience", "limit", "budget", "stores", "returned"),
    *("looks", "looked_at", "dirty", "last", "kept_at", "kept"),
    *("kept_dirty", "kept_here"),  # for circles
    *("memory", "variables", "blind", "differs", "recurs"),
    *("told", "addresses", "values", "facts", "warp", "iterated"),  # for judges
    *("lanes", "steps", "splits"),  # by pc, for judges
)
AT = {name: place for place, name in enumerate(HEAD)}


class Layout:
    """Places of words behind the head, given as they are asked for, by a key."""

    def __init__(self):
        self.places, self.size = {}, len(HEAD)

    def place(self, *key, words=1) -> int:
        if key not in self.places:
            self.places[key] = self.size
            self.size += words
        return self.places[key]

    def of(self, kind):
        """The places of one kind, by the rest of their keys."""
        return {key[1:]: at for key, at in self.places.items() if key[0] == kind}
