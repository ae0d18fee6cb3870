"""Each comparison and each reason in a lesson is true of what was recorded."""

import re
from collections import defaultdict
from operator import attrgetter

import pytest

from helpers.measuring import store
from lessons.build import ROOT
from lessons.publishing.convert import convert, lessons_of
from tests.lessons.claims import about, claims_of, fallen, left_by
from tests.quick import drawn
from tests.specimens.lesson_runs import run_of

LESSONS = lessons_of(ROOT)
RECORDED = store.read(store.file_of(store.USUAL, "times"))["runs"]
CLAIMING = [it for it in LESSONS if claims_of(it)]
TIMED = [it for it in CLAIMING if it.stem in RECORDED]
FEWEST = 10
RENEWED = [drawn(lesson, every=8) for lesson in TIMED[1:]]  # each runs once more
stem_of = attrgetter("stem")

each_lesson = pytest.mark.parametrize("lesson", CLAIMING, ids=stem_of)


@each_lesson
def test_what_a_lesson_claims_is_true(lesson):
    """The build names the sentence of a lesson that a recording has made false."""
    assert [] == run_of(lesson).answer("fallen")


@each_lesson
def test_a_claim_is_in_the_lessons_own_words(lesson):
    """A sentence that was rewritten has its claim rewritten."""
    assert [] == unsaid(lesson)


def unsaid(lesson):
    """The claims whose words are not in the lesson."""
    cells = [it.source for it in convert(lesson).cells if it.cell_type == "markdown"]
    texts = [plain(cell) for cell in cells]
    claims = claims_of(lesson)
    return [it for it in claims if not any(plain(it) in text for text in texts)]


def plain(text):
    """A text without line breaks and emphasis."""
    return re.sub(r"\s+", " ", text.replace("*", "")).strip()


@each_lesson
def test_a_lesson_has_claims(lesson):
    """The comparisons of a lesson are held, and not a few of them."""
    assert FEWEST <= len(claims_of(lesson))


def test_a_recording_that_makes_a_claim_false_names_the_sentence(tmp_path, monkeypatch):
    """Of the first lesson."""
    assert_renewed_recordings_fell_claims(TIMED[0], tmp_path, monkeypatch)


@pytest.mark.parametrize("lesson", RENEWED, ids=stem_of)
def test_each_lesson_has_claims_that_its_recordings_decide(
    lesson, tmp_path, monkeypatch
):
    """Likewise of the others."""
    assert_renewed_recordings_fell_claims(lesson, tmp_path, monkeypatch)


def assert_renewed_recordings_fell_claims(lesson, tmp_path, monkeypatch):
    """The slowest launch of a lesson, and of each kind of baseline and of rung, as ten
    times slower, make a sentence false, which is named.
    """
    for file in store.file_of(store.USUAL, "times").parent.glob("*.json"):
        recorded = store.read(file)
        kinds = defaultdict(list)
        others = recorded.get("baselines", {}).items()
        for name, entry in [*others, *rungs_of(recorded)]:
            kinds[name.split()[0]].append(entry)
        if lesson.stem in recorded.get("runs", {}):
            kinds["its own"] = recorded["runs"][lesson.stem]["measurements"]
        for entries in kinds.values():
            slowest = max(entries, key=middle)
            if "us" in slowest:
                slowest["us"] = [10 * it for it in slowest["us"]]
            else:
                slowest["median_us"] *= 10
        store.write(tmp_path / file.parent.name / file.name, recorded)
    monkeypatch.setattr(store, "FOLDER", tmp_path)

    told = fallen(lesson, left_by(lesson))

    assert told
    for words in told:
        assert re.match(rf"{lesson.stem} says “.+”, which is false now", words, re.S)


def rungs_of(recorded):
    """The rungs of all ladders in a file, with their names."""
    for climbed in recorded.get("ladders", {}).values():
        for title in climbed["titles"].values():
            yield from title["rungs"].items()


def middle(entry):
    """The median of a recording, or of a rung's runs."""
    return entry["us"][1] if "us" in entry else entry["median_us"]


@pytest.mark.parametrize(
    "said, value, held",
    [
        ("3.9", 3.87, True),
        ("3.9", 3.96, False),
        ("1,024", 1024, True),
        ("58%", 0.5785, True),
        ("58%", 0.59, False),
    ],
)
def test_about_is_equal_to_as_many_digits_as_were_said(said, value, held):
    """A number in the prose is the rounded one."""
    assert held == about(said, value)
