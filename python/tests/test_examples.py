"""The laws that the demonstrations of docs/detection.md and docs/latent.md stand on."""

import subprocess
import sys
from pathlib import Path

import spnn
import pytest
import torch
from conftest import MODELS, ROOT, random

sys.path.insert(0, str(ROOT / "python" / "examples"))
import detection  # noqa: E402
import latent  # noqa: E402
from judge import Judge, frechet  # noqa: E402

CLOTHES = Path("/usr/share/datasets/fashion-mnist")


@pytest.fixture
def detector():
    tomllib = pytest.importorskip("tomllib")
    config = tomllib.loads((ROOT / "configs" / "detector-canvases.toml").read_text())["network"]
    return spnn.Spnn(config).randomise(4).double()


def test_the_detector_obeys_the_laws(detector):
    assert detector.in_shape == (1, 64, 64) and detector.out_shape == (112, 1, 1)
    assert detector.verify().passed


def test_the_last_block_folds_the_heat_map_place_by_place(detector):
    y, levels = detector.trace(0.5 * random(2, 1, 64, 64))
    # What the last surjection gave is a map of 7 channels; labels.csv counts it channel by channel, row by row.
    heat = levels[-1][0] if isinstance(levels[-1], tuple) else levels[-1].y
    assert tuple(heat.shape[1:]) == (7, 4, 4) and torch.equal(heat.flatten(1), y.flatten(1))


def test_an_object_is_moved_in_the_heat_map_and_nothing_else(detector):
    x = 0.5 * random(2, 1, 64, 64)
    y = detector(x)
    wanted = y.clone()
    wanted[:, detection.cell_of(10)], wanted[:, detection.cell_of(1)] = y[:, detection.cell_of(1)], -5.0
    assert torch.allclose(detector(detector.nlbp(x, wanted)), wanted, atol=1e-9)


def scene():
    labels = torch.zeros(7, 4, 4)
    labels[2, 1, 3] = labels[4, 1, 3] = labels[6, 1, 3] = 1   # a large bag in the lower left quarter of a cell
    labels[0, 3, 0] = 1                                        # small trousers in the upper left one
    return labels.flatten()


def test_labels_are_boxes():
    assert detection.objects(scene() - 0.5) == {(2, 1, 3): (28 - 10.25, 52 - 10.25, 20.5), (0, 3, 0): (52 - 8.5, 4 - 8.5, 17)}
    assert detection.iou((0, 0, 2), (0, 0, 2)) == 1 and detection.iou((0, 0, 2), (0, 1, 2)) == pytest.approx(1 / 3)
    wanted = [detection.objects(scene() - 0.5)]
    assert detection.compared(wanted, [scene() - 0.5]) == (1, 0, 1, 1)
    assert detection.compared(wanted, [torch.full((112,), -1.0)]) == (0, 0, 0, 0)


def test_moves_take_one_object_to_a_free_cell():
    labels = scene()[None].repeat(8, 1)
    after, places = detection.moves(labels, seed=1)
    for i, (old, new) in enumerate(places):
        assert torch.equal(after[i, detection.cell_of(new)], labels[i, detection.cell_of(old)])
        assert not after[i, detection.cell_of(old)].any() and after[i].sum() == labels[i].sum()
    assert len(set(places)) > 1


@pytest.mark.skipif(not CLOTHES.exists(), reason="dataset-fashion-mnist is not installed")
def test_canvases_are_made_with_their_labels(tmp_path):
    subprocess.run([sys.executable, str(ROOT / "scripts" / "make-canvases"), str(tmp_path), "--train", "12", "--val", "3"], check=True)
    train = spnn.load_data(tmp_path, split="train", size=64, channels=1)
    assert len(train) == 12 and len(train.names) == 112 and train.names[64] == "low@00" and train.task == "attributes"
    for image, labels in zip(train.images, train.labels):
        boxes = detection.objects(labels - 0.5)
        assert 1 <= len(boxes) <= 3
        for top, left, size in boxes.values():
            middle = image[0, max(int(top), 0):int(top + size) + 1, max(int(left), 0):int(left + size) + 1]
            assert middle.max() > 60, "a box has something in it"


def test_the_latent_cycle_is_exact_for_an_spnn_and_not_for_a_vae():
    E = latent.spnn_autoencoder().randomise(3).double()
    z = random(2, *E.out_shape)   # any latent, not one of a picture
    again = z
    with torch.no_grad():
        for _ in range(20):
            again = E(E.pinv(again))
    assert torch.allclose(again, z, atol=1e-9)
    torch.manual_seed(0)
    vae = latent.Vae().double()
    with torch.no_grad():
        assert (vae(vae.pinv(z)) - z).abs().max() > 0.1


def test_both_autoencoders_have_as_many_weights():
    count = lambda net: sum(p.numel() for p in net.parameters())
    for of in (latent.Faces, latent.Clothes):
        assert abs(count(latent.spnn_autoencoder(of)) / count(latent.Vae(of)) - 1) < 0.13


def test_the_judge_in_python_is_the_judge():
    judge = Judge.load(MODELS / "fashion-judge.safetensors")
    test = spnn.load_data("fashion-mnist", split="test", size=32, limit=500)
    x = spnn.to_unit(test.images)
    assert (judge(x).argmax(1) == test.labels).float().mean() > 0.88   # of the command on all test images: 90.8 %


def test_frechet_distance_of_gaussians():
    a = random(4000, 3, seed=1)
    assert frechet(a, a) == pytest.approx(0, abs=1e-6)
    assert frechet(a, 2 * a + 1) == pytest.approx(3 + 3, abs=0.3)   # means 1 apart, deviations 1 and 2


def test_every_level_of_a_network_is_an_autoencoder():
    import levels
    from conftest import SMALL

    net = spnn.Spnn({**SMALL, "r_sets": []}).randomise(6).double()
    x = 0.5 * random(3, 2, 4, 4)
    _, traced = net.trace(x)
    encoders = levels.levels_of(net)
    assert len(encoders) == len(traced) == 3
    for E, level in zip(encoders, traced):
        E.double()
        assert torch.allclose(E(x).flatten(), (level[0] if isinstance(level, tuple) else level.y).flatten(), atol=1e-6)
        z = random(2, *E.out_shape, seed=1)
        assert torch.allclose(E(E.pinv(z)).flatten(), z.flatten(), atol=1e-9)
