import os
import subprocess
from pathlib import Path

import spnn   # before torch: it prepares OpenBLAS
import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"
# For programs that tests start, wherever they run.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(spnn.__file__).absolute().parents[1])}
COMMAND = Path(os.environ.get("SPNN_COMMAND", ROOT / "build" / "release" / "spnn")).absolute()

torch.set_num_threads(1)   # as the command is run below: bits depend on how sums are cut over threads

SMALL = {"name": "small", "input": [2, 4, 4], "r_sets": ["min_norm"], "blocks": [
    {"kind": "unshuffle", "factor": 2},
    {"kind": "surjection", "out": 5, "s": {"hidden": 8}, "t": {"hidden": 8}, "r": {"hidden": 8}},
    {"kind": "unshuffle", "factor": 2},
    {"kind": "surjection", "out": 12, "st": {"kind": "residual", "hidden": 16, "depth": 1, "kernel": 1}, "r": {"hidden": 16, "kernel": 1}},
    {"kind": "surjection", "out": 4, "st": {"hidden": 16, "kernel": 1}, "r": {"hidden": 16, "kernel": 1, "activation": "silu"}}]}


@pytest.fixture
def small():
    """Five blocks and three levels, random weights, in double."""
    return spnn.Spnn(SMALL).randomise(6).double()


@pytest.fixture(scope="session")
def faces():
    return spnn.load(MODELS / "celebahq64-classifier.safetensors")


@pytest.fixture(scope="session")
def face_prior():
    return spnn.load_prior(MODELS / "celebahq64-prior.safetensors")


@pytest.fixture(scope="session")
def clothes():
    return spnn.load(MODELS / "fashion-classifier.safetensors")


@pytest.fixture(scope="session")
def clothes_prior():
    return spnn.load_prior(MODELS / "fashion-prior.safetensors")


@pytest.fixture
def command():
    if not COMMAND.exists():
        pytest.skip(f"the command is not built: {COMMAND}")

    def run(*words):
        done = subprocess.run([str(COMMAND), "--threads", "1", *map(str, words)], capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr

    return run


def random(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)
