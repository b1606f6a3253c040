"""What a rank's software and device are: what a figure measured there depends on."""

import platform

import torch


def environment(device: torch.device) -> dict[str, object]:
    """Return versions and the device's name and UUID as JSON values."""
    found: dict[str, object] = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "device": str(device),
    }
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        found |= {
            "cuda": torch.version.cuda,
            "nccl": ".".join(str(part) for part in torch.cuda.nccl.version()),
            "cudnn": torch.backends.cudnn.version(),
            "gpu": properties.name,
            "uuid": f"GPU-{properties.uuid}",
            "memory_bytes": properties.total_memory,
        }
    return found
