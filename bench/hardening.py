#!/usr/bin/env python3
"""What hardening costs, counted in instructions and in seconds of the processor.

    cmake --preset release -B build/plain -DSPNN_HARDEN=OFF && cmake --build build/plain --target spnn_cli bench_unet bench_nlbp
    python3 bench/hardening.py build/plain build/release --count        # valgrind counts: the neighbours do not matter
    python3 bench/hardening.py build/plain build/release --pairs 20     # processor time, in turn; the least of each

A checked subscript is a comparison and a branch that is never taken: the count is what it adds, and more than what it costs. The least of many
short runs is what the machine can do when nobody disturbs it.
"""
import argparse
import os
import re
import resource
import statistics
import subprocess

# Ours alone, once: what the benchmarks run to find their peak memory, and what a command does to load a model.
RUNS = {
    "bench_unet, 256 px": "bench_unet --threads 1 --peak-of ours",
    "bench_nlbp, plain": "bench_nlbp --threads 1 --preset reference-64 --peak-of plain",
    "bench_nlbp, residual": "bench_nlbp --threads 1 --preset reference-64 --peak-of residual",
    "loading a prior": "spnn --threads 1 inspect models/celebahq64-prior.safetensors",
    "loading a classifier": "spnn --threads 1 inspect models/celebahq64-classifier.safetensors",
}
ENVIRONMENT = {**os.environ, "SPNN_BENCH_STARTED": "1", "OMP_NUM_THREADS": "1"}


def command(folder, run):
    program, *words = run.split()
    return [os.path.join(os.path.abspath(folder), program), *words]


def instructions(folder, run):
    words = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *command(folder, run)]
    said = subprocess.run(words, env=ENVIRONMENT, check=True, capture_output=True, text=True).stderr
    return int(re.search(r"I +refs: +([\d,]+)", said)[1].replace(",", ""))


def seconds(folder, run):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command(folder, run), env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("plain")
parser.add_argument("hardened")
parser.add_argument("--count", action="store_true")
parser.add_argument("--pairs", type=int, default=0)
a = parser.parse_args()
for name, run in RUNS.items():
    if a.count:
        plain, hardened = instructions(a.plain, run), instructions(a.hardened, run)
        print(f"{name:22} {plain / 1e9:9.3f} and {hardened / 1e9:9.3f} G instructions: {100 * (hardened / plain - 1):+.2f} %", flush=True)
    if a.pairs:
        pairs = []
        for turn in range(a.pairs):
            order = (a.plain, a.hardened) if turn % 2 else (a.hardened, a.plain)
            one = {folder: seconds(folder, run) for folder in order}
            pairs.append((one[a.plain], one[a.hardened]))
        plain, hardened = (min(column) for column in zip(*pairs))
        ratio = statistics.median(b / p for p, b in pairs)
        print(f"{name:22} least {plain:.3f} and {hardened:.3f} s: {100 * (hardened / plain - 1):+.2f} %; median of {a.pairs} pairs {100 * (ratio - 1):+.2f} %", flush=True)
