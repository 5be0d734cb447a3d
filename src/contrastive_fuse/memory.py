"""How much memory there is, and what will not fit refused before the system refuses it."""

from __future__ import annotations

import os
from pathlib import Path

from contrastive_fuse.errors import InputError

UNKNOWN = 1 << 36  # where the system does not tell


def total_memory() -> int:
    """Bytes of memory of this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return UNKNOWN


def available_memory() -> int:
    """Bytes of memory that can be had without swapping."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return total_memory()


def check_memory(what: str, needed: int, available: int, advice: str = "") -> None:
    """Refuse work whose estimate exceeds what there is."""
    if needed > available:
        raise InputError(
            f"{what} needs an estimated {needed / 1e9:.1f} GB of memory; {available / 1e9:.1f} GB are available"
            + (f". {advice}" if advice else "")
        )
