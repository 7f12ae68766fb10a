"""What a call from Python costs beside the work, what 10,000 calls leave in memory, and an edit in Python beside the command's.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python_calls.py
"""

import gc
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import spnn   # before torch: it prepares OpenBLAS
import torch

ROOT = Path(__file__).resolve().parents[1]


def tiny():
    """Two blocks on 4×4 pixels: the work is small beside the call."""
    return spnn.Spnn({"input": [2, 4, 4], "blocks": [spnn.unshuffle(2), spnn.surjection(out=3, hidden=8, norm=False)]}).randomise(1).double()


def best_of(rounds, work, clock=time.perf_counter):
    found = []
    for _ in range(rounds):
        start = clock()
        work()
        found.append(clock() - start)
    return min(found)


def overhead(net, x, rounds=100, calls=20):
    """Seconds that one net(x) takes longer than the same call inside C++. Rounds are short, so that some are not interrupted."""
    with torch.no_grad():
        inside = best_of(rounds, lambda: net._network._forward_many(x, calls))
        outside = best_of(rounds, lambda: [net(x) for _ in range(calls)])
    return (outside - inside) / calls


def resident_kilobytes():
    with open("/proc/self/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1])


def growth(net, x, y, calls=10_000):
    """Kilobytes after so many calls: g, NLBP, gradients, and an operator written in Python, in turn."""
    mine = spnn.operator(lambda v: v.flip(-1), pinv=lambda v: v.flip(-1), linear=False, shape=tuple(x.shape[1:]))

    def some(count):
        for _ in range(count // 5):
            net(x.requires_grad_(True)).sum().backward()
            net.zero_grad()
            with torch.no_grad():
                net(x)
                net.nlbp(x, y)
                net.complete(x)
                mine.nlbp(x, x)

    some(calls // 10)
    gc.collect()
    before = resident_kilobytes()
    some(calls)
    gc.collect()
    return resident_kilobytes() - before


def edits(steps=50):
    """Processor seconds of one edit of a 64×64 face in Python, and of the command, which loads its models for it."""
    net, prior = (spnn.load(ROOT / "models/celebahq64-classifier.safetensors"), spnn.load_prior(ROOT / "models/celebahq64-prior.safetensors"))

    def of_children():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    with tempfile.TemporaryDirectory() as folder:
        photo = spnn.to_bytes(spnn.sample(prior, 1, steps=steps, seed=3))
        spnn.write_image(f"{folder}/photo.png", photo[0])
        words = [ROOT / "build/release/spnn", "--threads", 1, "edit", f"{folder}/photo.png", "--set", "Smiling", "--steps", steps, "-o", folder]
        return (best_of(3, lambda: spnn.edit(photo, net, prior, set="Smiling", steps=steps), time.process_time),
                best_of(3, lambda: subprocess.run(list(map(str, words)), check=True, capture_output=True, cwd=ROOT), of_children))


if __name__ == "__main__":
    torch.set_num_threads(1)
    net, x = tiny(), torch.randn(1, 2, 4, 4, dtype=torch.float64)
    print(f"a call from Python: {1e6 * overhead(net, x):.1f} µs more than from C++")
    print(f"10,000 calls: {growth(net, x, torch.randn(1, 3, 2, 2, dtype=torch.float64))} kB more resident")
    print("an edit of one photo, 50 steps: {:.2f} s of the processor in Python, {:.2f} s as a command with its start".format(*edits()))
