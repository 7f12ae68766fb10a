"""Losses as functions, and a training loop in Python that is the trainer."""

import csv
import gzip
import json
import sys
from pathlib import Path

import spnn
import pytest
import torch
from conftest import ROOT, random

sys.path.insert(0, str(ROOT / "python" / "examples"))
from train_classifier import train  # noqa: E402


def test_parts_of_phase_one(small):
    x, labels = 0.5 * random(6, 2, 4, 4), torch.tensor([0, 1, 2, 3, 0, 1])
    parts = spnn.losses.phase_one(small, x, labels, task="classes", surjectivity=1, stability=2, regression=3, range=4)
    y, levels = small.trace(x)
    assert torch.allclose(parts["task"], torch.nn.functional.cross_entropy(y, labels))
    assert torch.allclose(parts["stability"], 2 * (small.pinv(y) - x).square().mean())
    assert parts["surjectivity"] < 1e-15 and parts["range"] >= 0
    missed = small.complete(x, metric="residual").z   # z_l − r_l(y_l)
    assert len(levels) == 3 and torch.allclose(parts["regression"], 3 * sum(part.square().mean() for part in missed))
    sum(parts.values()).backward()
    assert all(p.grad is not None for p in small.g_parameters())


def test_parts_of_phase_two_reach_only_r(small):
    x = 0.5 * random(6, 2, 4, 4)
    small.requires_grad_(True)
    parts = spnn.losses.phase_two(small, x, natural=1, stability=1, regression=1, rollout=1, range=1, min_norm=1)
    assert set(parts) == {"natural", "stability", "regression", "rollout", "range", "min_norm"}
    assert torch.allclose(parts["stability"], (small.pinv(small(x)) - x).square().mean())
    assert torch.allclose(parts["min_norm"], small.pinv(small(x)).square().mean())
    for p in small.g_parameters():
        p.requires_grad_(False)
    sum(spnn.losses.phase_two(small, x, rollout=1, regression=1).values()).backward()
    assert all(p.grad is not None for p in small.r_parameters()) and all(p.grad is None for p in small.g_parameters())


def first_clothes(folder, images=7000):
    """The first images of Fashion-MNIST, 5000 of them for validation: the trainer looks at all of them for its statistics."""
    folder.mkdir()
    for split, count in (("train", images), ("t10k", images // 10)):
        for kind, head, size in (("images-idx3", 16, 28 * 28), ("labels-idx1", 8, 1)):
            name = f"{split}-{kind}-ubyte"
            with gzip.open(f"/usr/share/datasets/fashion-mnist/{name}.gz") as file:
                content = bytearray(file.read(head + count * size))
            content[4:8] = count.to_bytes(4, "big")
            (folder / name).write_bytes(content)
    return folder


def test_the_loop_in_python_is_the_trainer(command, tmp_path):
    """200 steps on Fashion-MNIST from the same start: the last losses agree to 1e-4, and so do the weights."""
    data, steps, batch = first_clothes(tmp_path / "clothes"), 200, 8   # a smaller batch than the recipe's 128, for time
    (tmp_path / "recipe.json").write_text(json.dumps({
        "recipe": "fast", "network": "fashion", "inverse_every": 4, "losses": {"regression": 0.3, "stability": 0.5, "range": 10.0},
        "augment": {"flip": False, "shift": 2},
        "train": {"steps": steps, "batch": batch, "lr": 2e-3, "weight_decay": 0.02, "warmup": 250, "validate_every": 1000}}))
    command("train", "classifier", tmp_path / "recipe.json", "--data", data, "--run", tmp_path / "run")
    row = list(csv.DictReader(open(tmp_path / "run" / "record.csv")))[-1]
    first, _ = train(spnn.load_data(data, size=32), steps=1, batch=batch)
    net, parts = train(spnn.load_data(data, size=32), steps=steps, batch=batch)
    assert int(row["step"]) == steps and set(parts) == {"task", "regression", "stability", "range"}
    for name, value in parts.items():
        assert abs(float(value) - float(row[name])) <= 1e-4, name
    theirs = spnn.load(tmp_path / "run" / "model.safetensors").state_dict()
    assert all(torch.allclose(value, theirs[name], atol=1e-4) for name, value in net.state_dict().items())
    assert not all(torch.allclose(value, theirs[name], atol=1e-4) for name, value in first.state_dict().items())   # it went somewhere


def test_batches_are_functions_of_seed_and_step():
    data = spnn.load_data("fashion-mnist", split="test", size=32, limit=64)
    a, b = spnn.Batches(data, 8, seed=3, shift=2), spnn.Batches(data, 8, seed=3, shift=2)
    x, labels = a[5]
    assert x.shape == (8, 1, 32, 32) and x.abs().max() <= 1 and torch.equal(x, b[5][0]) and torch.equal(labels, b[5][1])
    assert not torch.equal(x, spnn.Batches(data, 8, seed=4, shift=2)[5][0]) and a.steps_per_epoch == 8


def test_a_data_set_of_ones_own():
    images = torch.randint(0, 256, (20, 1, 8, 8), dtype=torch.uint8)
    data = spnn.Dataset(images, torch.arange(20) % 2, ["even", "odd"])
    x, labels = spnn.Batches(data, 5, flip=False)[0]
    assert data.task == "classes" and x.shape == (5, 1, 8, 8) and labels.shape == (5,)
    with pytest.raises(spnn.Error, match="expected 20 labels, got 3"):
        spnn.Dataset(images, torch.zeros(3))


def test_statistics_make_a_network_editable(clothes):
    net = spnn.load(Path(ROOT) / "models" / "fashion-classifier.safetensors")
    images = spnn.load_data("fashion-mnist", split="test", size=32, limit=200).images
    net.fit_statistics(images)
    mean, covariance, exemplars = net.statistics
    with torch.no_grad():
        y = net(spnn.to_unit(images))
    assert torch.allclose(mean, y.double().mean(0), atol=1e-4) and covariance.shape == (10, 10) and len(exemplars) == 200
