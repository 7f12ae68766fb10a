"""What goes wrong is said in the library's sentences, as Python exceptions."""

import copy

import spnn
import pytest
import torch
from conftest import MODELS, random


def test_wrong_shape(small):
    with pytest.raises(spnn.Error, match=r"Spnn: expected a batch of 2×4×4, got \[1, 3, 4, 4\]"):
        small(random(1, 3, 4, 4))
    with pytest.raises(spnn.Error, match="nlbp target: expected a batch of 4×1×1"):
        small.nlbp(random(1, 2, 4, 4), random(1, 5))
    with pytest.raises(spnn.Error, match="expected 2 targets, one per image, got 3"):
        small.nlbp(random(2, 2, 4, 4), random(3, 4))


def test_wrong_type(small):
    with pytest.raises(spnn.Error, match="Spnn: expected Double on cpu, as the weights are, got Float on cpu"):
        small(random(1, 2, 4, 4).float())
    with pytest.raises(TypeError):
        small([1, 2, 3])


def test_wrong_device(small):
    with pytest.raises(spnn.Error, match="expected Double on cpu, as the weights are, got Double on meta"):
        small(torch.empty(1, 2, 4, 4, device="meta", dtype=torch.float64))


def test_numbers_that_are_none(small):
    x = random(1, 2, 4, 4)
    x[0, 0, 0, 0] = float("nan")
    with pytest.raises(spnn.Error, match="Spnn: expected finite numbers, got NaN"):
        small(x)
    y = torch.full((1, 4), float("inf"), dtype=torch.float64)
    with pytest.raises(spnn.Error, match="expected finite numbers"):
        small.pinv(y)
    with pytest.raises(spnn.Error, match="expected finite numbers"):
        spnn.to_bytes(x)


def test_large_numbers_are_numbers(small):
    assert small(torch.full((1, 2, 4, 4), 1e300, dtype=torch.float64)).shape == (1, 4)


def test_files_that_are_no_models(tmp_path):
    (tmp_path / "text.safetensors").write_text("hello, this is no model")
    with pytest.raises(spnn.Error, match="text.safetensors"):
        spnn.load(tmp_path / "text.safetensors")
    with pytest.raises(spnn.Error, match="nowhere"):
        spnn.load(tmp_path / "nowhere.safetensors")
    with pytest.raises(spnn.Error, match="expected .*spnn"):
        spnn.load(MODELS / "fashion-prior.safetensors")


def test_words(small):
    x, y = random(1, 2, 4, 4), random(1, 4)
    with pytest.raises(spnn.Error, match="metric: expected one of plain, residual, naive, got 'cubic'"):
        small.nlbp(x, y, metric="cubic")
    with pytest.raises(spnn.Error, match="pseudo-inverse: expected one of"):
        small.pinv(y, pseudo_inverse="magic")
    with pytest.raises(spnn.UsageError, match="operator: expected one of 'spnn operators', got 'sharpen'"):
        spnn.operator("sharpen")(random(1, 3, 8, 8))
    assert issubclass(spnn.UsageError, ValueError) and issubclass(spnn.Error, RuntimeError)


def test_a_configuration_that_does_not_fit():
    with pytest.raises(spnn.Error, match="block 0: expected a split of 2×4×4 into two parts, got 7 channels"):
        spnn.Spnn({"input": [2, 4, 4], "blocks": [spnn.surjection(out=7)]})
    with pytest.raises(spnn.Error, match="blocks"):
        spnn.Spnn({"input": [2, 4, 4], "blocks": [{"kind": "magic"}]})


def test_a_torch_error_is_one_line(small):
    with pytest.raises(spnn.Error) as caught:
        small.invert(random(1, 4), [random(2, 3, 2, 2)] * 3)
    assert "frame #" not in str(caught.value) and len(str(caught.value)) < 400


def test_an_operator_without_a_shape():
    with pytest.raises(spnn.UsageError, match="expected the shape of images"):
        spnn.operators.super_resolution(4).pinv(random(1, 3, 4, 4))
    with pytest.raises(spnn.UsageError, match="forward and pinv"):
        spnn.operator(lambda x: x)


def test_options(clothes_prior, faces, face_prior):
    with pytest.raises(spnn.UsageError, match="restore: expected one of .*langevin.*, got 'lambda'"):
        spnn.restore(random(1, 1, 8, 8).float(), "sr4", clothes_prior, **{"lambda": 1.0})
    with pytest.raises(spnn.UsageError, match="method: expected one of .*did you mean"):
        spnn.restore(random(1, 1, 8, 8).float(), "sr4", clothes_prior, method="ddnn")
    with pytest.raises(spnn.Error, match=r"measurement of sr4: expected a batch of 1×8×8"):
        spnn.restore(random(1, 1, 9, 8).float(), "sr4", clothes_prior)
    with pytest.raises(spnn.UsageError, match="attribute: expected one that the classifier knows, got 'Smilin' .did you mean Smiling"):
        spnn.edit(None, faces, face_prior, set="Smilin")
    with pytest.raises(spnn.UsageError, match="edit.steps: expected a value of the right type, got \"many\""):
        spnn.edit(None, faces, face_prior, set="Smiling", steps="many")
    with pytest.raises(spnn.UsageError, match=r"edit --keep: expected a number in \[0, 1\], got 2"):
        spnn.edit(torch.zeros(1, 3, 64, 64), faces, face_prior, set="Smiling", keep=2)
    with pytest.raises(spnn.Error, match="edit: expected a batch of 3×64×64"):
        spnn.edit(torch.zeros(1, 3, 32, 32), faces, face_prior, set="Smiling")
    with pytest.raises(spnn.UsageError, match="restore: expected a measurement in float32, as priors sample, got torch.float64"):
        spnn.restore(random(1, 1, 8, 8), "sr4", clothes_prior)
    with pytest.raises(spnn.UsageError, match="network: expected one in float32"):
        spnn.edit(None, copy.deepcopy(faces).double(), face_prior, set="Smiling")
    with pytest.raises(spnn.Error, match="prior: expected one of .3, 64, 64. images, as the network takes"):
        spnn.edit(None, faces, clothes_prior, set="Smiling")
