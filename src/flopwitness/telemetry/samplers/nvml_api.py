# ruff: noqa: N802  names are those of NVML
"""The part of nvidia-ml-py (module ``pynvml``) that is used; a fake with the same names replaces it."""

import importlib
from typing import Any, Protocol, cast

from flopwitness.telemetry.samplers.sampled import SourceUnavailableError

SUCCESS, NO_PERMISSION, FUNCTION_NOT_FOUND, UNKNOWN_CODE = 0, 4, 13, 999
"""``NVML_SUCCESS`` and ``NVML_ERROR_...`` of these names."""

LOST_CODES = {15: "GPU is lost", 16: "GPU requires a reset", 28: "GPU not found"}
"""``NVML_ERROR_GPU_IS_LOST``, ``_RESET_REQUIRED`` and ``_GPU_NOT_FOUND``."""

CODE_WORDS = {
    2: "not known to this driver",
    3: "not supported",
    NO_PERMISSION: "no permission",
    FUNCTION_NOT_FOUND: "not in this driver",
    25: "another version expected",
    26: "deprecated",
}
"""Answers that no second question changes; driver 580 gives 2 for a metric that it does not know."""


class Nvml(Protocol):
    """Functions of ``pynvml``; each raises ``NVMLError``, whose ``value`` is the ``nvmlReturn_t``.

    Functions that only some drivers or bindings have are looked up by name instead.
    """

    NVMLError: type[Exception]

    def nvmlInit(self) -> None:
        """Load the library; counted, one ``nvmlShutdown`` each."""

    def nvmlShutdown(self) -> None:
        """Undo one ``nvmlInit``."""

    def nvmlSystemGetDriverVersion(self) -> str:
        """Return the driver's version."""

    def nvmlDeviceGetCount(self) -> int:
        """Return how many GPUs there are."""

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:
        """Return a handle; the index may change at each boot."""

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> Any:
        """Return a handle by what does not change."""

    def nvmlDeviceGetUUID(self, handle: Any) -> str:
        """Return ``GPU-`` and a UUID."""

    def nvmlDeviceGetName(self, handle: Any) -> str:
        """Return the product's name."""

    def nvmlDeviceGetFieldValues(self, handle: Any, fieldIds: Any) -> Any:
        """Return one value for each (field, scope), each with its own ``nvmlReturn``."""


def load_nvml() -> Nvml:
    """Return the module ``pynvml`` of nvidia-ml-py.

    Raises
    ------
    SourceUnavailableError
        When it is not installed.
    """
    try:
        return cast("Nvml", importlib.import_module("pynvml"))
    except ImportError:
        raise SourceUnavailableError(
            "nvml", "the Python package nvidia-ml-py is missing", remedy="pip install nvidia-ml-py"
        ) from None


def text_of(value: str | bytes) -> str:
    """Return a text that older bindings give as bytes."""
    return value.decode() if isinstance(value, bytes) else value


def code_of(error: Exception) -> int:
    """Return the ``nvmlReturn_t`` that an error carries."""
    return int(getattr(error, "value", UNKNOWN_CODE))


class GpuLostError(Exception):
    """A GPU that no longer answers; its text is the reason. Never leaves the sampler."""


def called(nvml: Nvml, function: str, *arguments: Any) -> tuple[int, Any]:
    """Call a function of NVML by name; return its code and, where that is ``SUCCESS``, its answer.

    Raises
    ------
    GpuLostError
        When the answer is that the GPU is gone.
    """
    found = getattr(nvml, function, None)
    if found is None:
        return FUNCTION_NOT_FOUND, None
    try:
        return SUCCESS, found(*arguments)
    except nvml.NVMLError as error:
        return checked(code_of(error)), None


def checked(code: int) -> int:
    """Return the code of an answer.

    Raises
    ------
    GpuLostError
        When it says that the GPU is gone.
    """
    if code in LOST_CODES:
        raise GpuLostError(LOST_CODES[code])
    return code


def words_of(code: int) -> str:
    """Return what a code means, for people.

    Examples
    --------
    >>> words_of(4), words_of(77)
    ('no permission', 'NVML code 77')
    """
    return CODE_WORDS.get(code, f"NVML code {code}")
