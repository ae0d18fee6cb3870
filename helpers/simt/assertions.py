"""What exercises and assignments ask of a run; each returns it, so that they chain."""


class Assertions:
    """Assertions of a Run; each says line, figure and remedy where it fails."""

    def assert_no_races(self, minor=False):
        """No race; with `minor`, neither within a warp nor of equal values."""
        races = [*self.races, *(self.races.minor if minor else ())]
        return self._assert(
            not races,
            lambda: (
                f"{races[0].kind} race on `{races[0].array}` between line "
                f"{races[0].first.line} and line {races[0].second.line}: "
                f"{races[0].remedy}"
            ),
        )

    def assert_no_bank_conflicts(self, line=None, array=None):
        """No request to shared memory that takes more wavefronts than it must."""
        rows = _chosen(self.bank_conflicts, line, array)
        bad = [(site, row) for site, row in rows if row.conflicts]
        return self._assert(
            not bad,
            lambda: (
                f"line {bad[0][0].line} has {bad[0][1].conflicts:,} bank conflicts in "
                f"{bad[0][1].requests:,} requests of `{bad[0][1].array}`: let "
                "neighbouring lanes take neighbouring words"
            ),
        )

    def assert_coalesced(self, at_most=None, line=None, array=None):
        """No more sectors than the ideal, or `at_most` so many for each request."""

        def allowed(row):
            return row.ideal_sectors if at_most is None else at_most * row.requests

        rows = _chosen(self.coalescing, line, array)
        bad = [(site, row) for site, row in rows if row.sectors > allowed(row)]
        return self._assert(
            not bad,
            lambda: (
                f"line {bad[0][0].line} takes "
                f"{bad[0][1].sectors / bad[0][1].requests:.3g} sectors for each "
                f"request of `{bad[0][1].array}`, and "
                f"{allowed(bad[0][1]) / bad[0][1].requests:.3g} would do: let "
                "neighbouring threads take neighbouring elements"
            ),
        )

    def assert_initialised(self):
        """No cell that is read before anyone wrote it."""
        return self._assert(
            not self.uninitialised, lambda: str(self.uninitialised[0]).splitlines()[0]
        )

    def assert_no_warnings(self):
        """No warning, the notes apart."""
        found = [warning for warning in self.warnings if not warning.note]
        return self._assert(not found, lambda: f"line {found[0].line}: {found[0].text}")

    def assert_active(self, at_least=1.0, line=None):
        """This share of the lanes is active, of warps that come to a line or to any."""
        row = self.divergence if line is None else self.divergence.by_line[line]
        where = "the launch" if line is None else f"line {line}"
        return self._assert(
            row.active_share >= at_least,
            lambda: (
                f"{row.active_share:.1%} of the lanes are active in {where}, and "
                f"{at_least:.1%} were asked for: let whole warps decide alike"
            ),
        )

    def assert_loads(self, array, at_most=1.0):
        """Each element of an argument that is loaded is so this often, on average."""
        reuse = self.reuse[array].reuse
        return self._assert(
            reuse <= at_most,
            lambda: (
                f"each element of `{array}` is loaded {reuse:.4g} times, and "
                f"{at_most:.4g} would do: keep it in shared memory or in a variable"
            ),
        )

    def _assert(self, holds, sentence):
        if not holds:
            raise AssertionError(sentence())
        return self


def _chosen(table, line, array):
    """A table's rows of a line and an array; each must be there."""
    rows = [
        (site, row)
        for site, row in table.by_line.items()
        if line in (None, site.line) and array in (None, row.array)
    ]
    if not rows and (line, array) != (None, None):
        raise KeyError(f"no such access: line {line}, array {array!r}")
    return rows
