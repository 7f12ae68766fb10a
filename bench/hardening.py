#!/usr/bin/env python3
"""What hardening costs: the same commands with one and with another libspnn.so, in turn, processor time of each.

    cmake --preset release -B build/harden -DSPNN_HARDEN=ON && cmake --build build/harden --target spnn
    python3 bench/hardening.py build/release build/harden 8

A busy machine slows both; the median of the ratios of neighbours is what is left of it. The library is preloaded: its
functions are taken in the place of those that the command would load.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

PLAIN, HARDENED = (os.path.abspath(os.path.join(folder, "libspnn.so.0")) for folder in sys.argv[1:3])
SPNN = os.path.join(os.path.dirname(PLAIN), "spnn")
OUT = tempfile.mkdtemp()
COMMANDS = {
    "unet": f"sample models/celebahq64-prior.safetensors -n 4 --steps 40 -o {OUT}/sheet",
    "nlbp": "verify models/celebahq64-classifier.safetensors --count 48",
    "loading": "inspect models/celebahq64-prior.safetensors",
}


def seconds(command, library):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([SPNN, "--threads", "1", *command.split()], env={**os.environ, "LD_PRELOAD": library}, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


times = {name: [] for name in COMMANDS}
for turn in range(int(sys.argv[3])):
    for name, command in COMMANDS.items():
        first = turn % 2
        pair = {which: seconds(command, (PLAIN, HARDENED)[which]) for which in (first, 1 - first)}
        times[name].append((pair[0], pair[1]))
for name, pairs in times.items():
    plain, hardened = (statistics.median(column) for column in zip(*pairs))
    ratios = sorted(b / a for a, b in pairs)
    print(f"{name:8} plain {plain:.3f} s, hardened {hardened:.3f} s; ratio {statistics.median(ratios):.3f} "
          f"({ratios[0]:.3f} to {ratios[-1]:.3f})")
