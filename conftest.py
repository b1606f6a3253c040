"""What every test run shares: where PyTorch is not installed, the lab's own examples cannot run."""

from importlib.util import find_spec

collect_ignore_glob = (
    [] if find_spec("torch") else ["src/flopwitness/lab/*.py", "src/flopwitness/lab/workloads/*.py"]
)
