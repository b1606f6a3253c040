"""Made-up hardware for real processes: a library in NVML's name, and a clock that can be set."""

import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from robustness.node import FAKES, Node


def built(source: str, target: Path) -> Path:
    """Compile one file of ``tests/fakes``; skip the test where nothing can or where nobody would load it."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    if find_spec("pynvml") is None:
        pytest.skip("needs nvidia-ml-py")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", target, FAKES / source, "-lm"], check=True)
    return target


@pytest.fixture(scope="session")
def nvml_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a made-up ``libnvidia-ml.so.1``."""
    folder = tmp_path_factory.mktemp("nvml")
    built("nvml.c", folder / "libnvidia-ml.so.1")
    return folder


@pytest.fixture(scope="session")
def clock_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what moves the wall clock of a program that it is preloaded into."""
    return built("clock.c", tmp_path_factory.mktemp("clock") / "clock.so")


@pytest.fixture
def node(tmp_path: Path, nvml_folder: Path) -> Iterator[Node]:
    """Return a node of two GPUs that work 1.4 s of every 3 s; what still runs on it at the end is killed."""
    node = Node(tmp_path, nvml_folder)
    yield node
    node.tear_down()
