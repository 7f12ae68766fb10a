"""What has to be in the environment before libgomp and OpenBLAS load; the command does the same for itself."""

import os
import sys


def prepare() -> None:
    """OpenBLAS 0.3.21 takes Intel CPUs newer than itself for one of 2004, at a fifth of the speed, and leaves AVX-512 of AMD's unused. What
    the user has set stays.

    Without effect where torch was imported before spnn."""
    if "torch" in sys.modules:
        return
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            text = file.read(20_000)
    except OSError:
        return
    words = set(text.split())
    if "AuthenticAMD" in words and "avx512_bf16" in words:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Cooperlake")
    if "GenuineIntel" not in words:
        return
    if "avx512vl" in words:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    elif "avx2" in words:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
