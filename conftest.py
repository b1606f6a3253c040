"""What every test run shares: where an extra is not installed, what needs it is left out."""

from importlib.util import find_spec

NEEDS = {
    "torch": ("src/flopwitness/lab/*.py", "src/flopwitness/lab/workloads/*.py"),
    "fastapi": (
        "src/flopwitness/app/serving/*.py",
        "tests/app/serving",
        "tests/app/page_stage.py",
        "tests/app/serving_book.py",
        "tests/app/cli/test_serve.py",
        "tests/app/cli/test_watch_observers.py",
        "tests/deploy/*.py",
    ),
    "opentelemetry": ("src/flopwitness/app/serving/otlp*.py", "tests/app/serving/test_otlp*.py"),
}
"""Files that cannot be imported without a package."""

collect_ignore_glob = [path for package, paths in NEEDS.items() if not find_spec(package) for path in paths]
