"""Where the tests find the project and what was recorded on a GPU."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "tests" / "recorded"
