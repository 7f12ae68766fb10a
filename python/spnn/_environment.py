"""What has to be in the environment before libgomp and OpenBLAS load; the command does the same for itself."""

import os
import sys


def prepare() -> None:
    """OpenBLAS 0.3.21 takes Intel CPUs newer than itself for one of 2004, at a fifth of the speed. What the user has set stays.

    Without effect where torch was imported before spnn."""
    if "torch" in sys.modules:
        return
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            text = file.read(20_000)
    except OSError:
        return
    if "GenuineIntel" not in text:
        return
    words = set(text.split())
    if "avx512vl" in words:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    elif "avx2" in words:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
