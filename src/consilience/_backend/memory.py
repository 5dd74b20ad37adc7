"""How much memory there is to take."""

from __future__ import annotations

import re
from pathlib import Path


def available_memory() -> int | None:
    """Bytes that are free for us; None where the system does not say."""
    try:
        free = int(_number_after("MemAvailable:", Path("/proc/meminfo"))) * 1024
    except OSError:
        return None
    try:  # a container may have less
        group = Path("/sys/fs/cgroup")
        used = int((group / "memory.current").read_text()) - int(_number_after("inactive_file", group / "memory.stat"))
        return min(free, int((group / "memory.max").read_text()) - used)
    except (OSError, ValueError):
        return free


def _number_after(word: str, path: Path) -> str:
    found = re.search(rf"^{word}\s+(\d+)", path.read_text(), re.MULTILINE)
    if found is None:
        raise OSError(f"{path} does not say {word}")
    return found.group(1)
