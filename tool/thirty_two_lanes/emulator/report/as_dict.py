"""A run as plain data: dictionaries, lists, numbers and texts, which JSON can hold."""

from thirty_two_lanes.emulator.judges import JUDGES
from thirty_two_lanes.emulator.judges.printing import SHARES


def as_dict(run) -> dict:
    """All tables and findings of a run."""
    return {
        "kernel": run.kernel,
        "blocks": run.blocks,
        "threads_per_block": run.threads_per_block,
        **{it.name: _table(getattr(run, it.name), it.record) for it in JUDGES},
        "minor_races": [_record(it, RACE) for it in run.races.minor],
        **_data_path(run.data_path),
    }


def _data_path(table):
    """What the data path passes, where the launch was given its assembly."""
    if table is None:
        return {}
    by_line = [{"line": line, **vars(row)} for line, row in table.by_line.items()]
    return {"data_path": {**vars(table), "by_line": by_line}}


RACE = next(judge.record for judge in JUDGES if judge.name == "races")


def _table(table, names):
    """What a judge found: counts with their lines, or records."""
    if isinstance(table, tuple):
        return [_record(found, names) for found in table]
    if isinstance(table, dict):
        return {name: _record(found, names) for name, found in table.items()}
    if not hasattr(table, "by_line"):
        return vars(table)
    by_line = [{**_site(site), **_row(row)} for site, row in table.by_line.items()]
    return {**_row(table), "by_line": by_line}


def _row(row):
    """A row's own numbers and texts, with the shares that they make."""
    values = {k: v for k, v in vars(row).items() if k not in ("by_line", "by_kind")}
    for share in SHARES:
        if hasattr(row, share):
            values[share] = getattr(row, share)
    return {name: _plain(value) for name, value in values.items()}


def _record(record, names):
    """Some attributes of a record by their names, or all its fields, its site first."""
    if names:
        return {name: _plain(getattr(record, name)) for name in names}
    fields = record._asdict()
    site = _site(fields.pop("site"))
    if "advice" in fields:
        fields["advice"] = record.remedy
    for name in ("edit", "about"):  # what advice is made of
        fields.pop(name, None)
    return {**site, **{k: _plain(v) for k, v in fields.items()}}


def _site(site):
    """A site's place and text; its kind and array are in the row."""
    names = ("file", "line", "called_from", "text")
    return {name: getattr(site, name) for name in names}


def _plain(value):
    if hasattr(value, "called_from"):
        return _site(value)
    if isinstance(value, tuple):
        return list(value)
    return value.item() if hasattr(value, "item") else value
