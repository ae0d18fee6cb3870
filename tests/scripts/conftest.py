"""What is not for this run of pytest: the tests of the example package."""

collect_ignore = ["example_package"]
