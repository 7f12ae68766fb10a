"""Sampling, restoring, editing: the command's bits, callbacks, interrupts, threads, operators and priors of one's own."""

import inspect
import json
import signal
import subprocess
import sys
import threading
import time

import spnn
import pytest
import torch
from conftest import ENVIRONMENT, ROOT
from spnn import _spnn


def pictures(prior, count=2, steps=8):
    return spnn.to_bytes(spnn.sample(prior.unled(), count, steps=steps, seed=11))


def test_sample_has_the_command_s_bits(clothes_prior, command, tmp_path):
    command("sample", "models/fashion-prior.safetensors", "-o", tmp_path, "-n", 2, "--seed", 5, "--steps", 6)
    ours = spnn.to_bytes(spnn.sample(clothes_prior, 2, seed=5, steps=6))
    for i in range(2):
        assert torch.equal(spnn.read_image(tmp_path / f"{5 + i:06}.png", channels=1), ours[i])


@pytest.mark.parametrize("words, options", [
    (["--set", "Wearing_Hat", "--unset", "Eyeglasses"], {"set": "Wearing_Hat", "unset": ["Eyeglasses"]}),
    (["--set", "Smiling=0.7", "--keep", 0.2], {"set": {"Smiling": 0.7}, "keep": 0.2}),
    (["--set", "Mustache", "--fast"], {"set": "Mustache", "fast": True})])
def test_edit_has_the_command_s_bits(faces, face_prior, command, tmp_path, words, options):
    photos = pictures(face_prior)
    for i, photo in enumerate(photos):
        spnn.write_image(tmp_path / f"photo{i}.png", photo)
    command("edit", tmp_path / "photo0.png", tmp_path / "photo1.png", *words, "-o", tmp_path / "out", "--seed", 3, "--steps", 10)
    made = spnn.edit(photos, faces, face_prior, **options, seed=3, steps=10)
    for i in range(2):
        assert torch.equal(spnn.read_image(tmp_path / "out" / f"photo{i}.png"), made.images[i])
    assert not torch.equal(made.images, photos)
    assert torch.allclose(faces(spnn.to_unit(made.images)), made.y, atol=1e-4)


def test_edit_from_noise_has_the_command_s_bits(faces, face_prior, command, tmp_path):
    command("edit", "--set", "Smiling", "-n", 1, "-o", tmp_path, "--seed", 4, "--steps", 4)
    made = spnn.edit(None, faces, face_prior, set="Smiling", seed=4, steps=4)
    assert torch.equal(spnn.read_image(tmp_path / "Smiling.png"), made.images[0])
    assert made.y[0, faces.attributes.index("Smiling")] > 0
    with pytest.raises(spnn.UsageError, match="edit: expected one attribute or more"):
        spnn.edit(None, faces, face_prior)


def test_the_paper_s_edit_has_the_command_s_bits(faces, face_prior, command, tmp_path):
    photos = pictures(face_prior, 1)
    spnn.write_image(tmp_path / "photo.png", photos[0])
    options = {**spnn.paper(1), "steps": 8}
    for words, given in (([], None), ([tmp_path / "photo.png"], photos)):
        command("edit", *words, "--set", "Smiling", "--profile", "paper", "--steps", 8, "-o", tmp_path / "out")
        made = spnn.edit(given, faces, face_prior, set="Smiling", **options)
        name = "photo.png" if words else "Smiling.png"
        assert torch.equal(spnn.read_image(tmp_path / "out" / name), made.images[0])


def test_edit_of_a_class_has_the_command_s_bits(clothes, clothes_prior, command, tmp_path):
    photos = pictures(clothes_prior, 1)
    spnn.write_image(tmp_path / "photo.png", photos[0])
    command("edit", tmp_path / "photo.png", "--models", "fashion", "--set", "Bag", "-o", tmp_path / "out", "--steps", 6)
    made = spnn.edit(photos, clothes, clothes_prior, set="Bag", steps=6)
    assert torch.equal(spnn.read_image(tmp_path / "out" / "photo.png", channels=1), made.images[0])


def test_defaults_are_the_command_s():
    for name, theirs in json.loads(_spnn.defaults()).items():
        ours = {key: p.default for key, p in inspect.signature(getattr(spnn, name)).parameters.items()}
        both = set(ours) & set(theirs)
        assert {"steps", "sampler", "batch"} <= both and {k: ours[k] for k in both} == {k: theirs[k] for k in both}, name


def test_reconstruct_has_the_command_s_bits(clothes, clothes_prior, command, tmp_path):
    photo = pictures(clothes_prior, 1)[0]
    spnn.write_image(tmp_path / "photo.png", photo)
    command("reconstruct", tmp_path / "photo.png", "--models", "fashion", "-o", tmp_path / "out", "--seed", 2, "--steps", 6)
    y = clothes(spnn.to_unit(photo[None]))
    made = spnn.reconstruct(y, clothes, clothes_prior, seed=2, steps=6)
    assert torch.equal(spnn.read_image(tmp_path / "out" / "photo.png", channels=1), made.images[0])


def test_restore_has_the_command_s_bits(clothes_prior, command, tmp_path):
    photo = pictures(clothes_prior, 1)[0]
    spnn.write_image(tmp_path / "photo.png", photo)
    for method in ("nlbp", "ddrm"):
        command("restore", tmp_path / "photo.png", "--operator", "sr4", "--models", "fashion", "--method", method, "-o", tmp_path / method,
                "--seed", 4, "--steps", 6)
        y = spnn.operator("sr4").measure(spnn.to_unit(photo[None]), seed=4)
        made = spnn.restore(y, "sr4", clothes_prior, method=method, seed=4, steps=6)
        assert torch.equal(spnn.read_image(tmp_path / method / "photo.png", channels=1), spnn.to_bytes(made)[0])


def test_an_image_does_not_depend_on_its_batch(clothes_prior):
    assert torch.equal(spnn.sample(clothes_prior, 3, steps=4, seed=9, batch=2)[2:], spnn.sample(clothes_prior, 1, steps=4, seed=11))


def test_every_method_takes_an_operator_of_ones_own(clothes_prior):
    class Pooling:
        def forward(self, x):
            return torch.nn.functional.avg_pool2d(x, 4)

        def pinv(self, y):
            return y.repeat_interleave(4, -1).repeat_interleave(4, -2)

    truth = spnn.sample(clothes_prior, 1, steps=6, seed=1)
    mine = spnn.operator(Pooling(), shape=clothes_prior.shape)
    y = mine(truth)
    for method in spnn.methods():
        options = {"langevin": 1} if method == "snips" else {"repaint_repeat": 1} if method == "repaint" else {}
        made = spnn.restore(y, mine, clothes_prior, method=method, steps=4, seed=1, **options)
        theirs = spnn.restore(y, "sr4", clothes_prior, method=method, steps=4, seed=1, **options)
        assert torch.isfinite(made).all()
        if method in ("nlbp", "nlbp+", "ddnm", "ddnm+", "ddrm", "mcg", "repaint", "ibp", "pinv"):   # the others do not end on g(x) = y
            assert (mine(made) - y).abs().max() < 2e-2, method
        assert torch.allclose(made, theirs, atol=2e-2), method   # another basis of the same map


def test_a_non_linear_operator_of_ones_own(clothes_prior):
    class Photo:
        """A tone curve, then pooling: g = A∘φ with φ(x) = x³ + x, in closed form."""

        def phi(self, x):
            return x ** 3 + x

        def inverse(self, v):
            x = v.clamp(-2, 2) / 2
            for _ in range(30):
                x = x - (self.phi(x) - v) / (3 * x ** 2 + 1)
            return x

        def forward(self, x):
            return torch.nn.functional.avg_pool2d(self.phi(x), 4)

        def up(self, y):
            return y.repeat_interleave(4, -1).repeat_interleave(4, -2)

        def complete(self, x):
            v = self.phi(x)
            y = torch.nn.functional.avg_pool2d(v, 4)
            return y, [v - self.up(y)]

        def invert(self, y, z):
            return self.inverse(self.up(y) + z[0])

        def pinv(self, y):
            return self.inverse(self.up(y))

    truth = spnn.sample(clothes_prior, 1, steps=6, seed=1)
    g = spnn.operator(Photo(), shape=clothes_prior.shape)
    y = g(truth)
    for method in ("nlbp", "dps", "ibp", "pinv"):
        made = spnn.restore(y, g, clothes_prior, method=method, steps=6, seed=2)
        assert torch.isfinite(made).all()
        if method == "nlbp":
            assert (g(made) - y).abs().max() < 0.15   # but for the last clamp
    with pytest.raises(spnn.UsageError, match="method ddrm: expected a linear operator"):
        spnn.restore(y, g, clothes_prior, method="ddrm", steps=2)


def test_a_network_is_an_operator(clothes, clothes_prior):
    y = clothes(spnn.sample(clothes_prior, 1, steps=6, seed=1))
    made = spnn.restore(y, clothes, clothes_prior, steps=6, seed=1)
    assert torch.isfinite(made).all() and (clothes(made) - y).abs().mean() < (clothes(spnn.sample(clothes_prior, 1, steps=6, seed=2)) - y).abs().mean()


def test_a_denoiser_of_ones_own(clothes_prior):
    calls = []

    class Mine:
        shape = (1, 32, 32)

        def eps(self, x_t, t):
            calls.append(t)
            return clothes_prior.eps(x_t, t)

    y = spnn.operator("sr4").at((1, 32, 32))(spnn.sample(clothes_prior, 1, steps=4, seed=1))
    for method in ("nlbp", "dps"):
        theirs = spnn.restore(y, "sr4", clothes_prior, method=method, steps=4)
        assert torch.equal(spnn.restore(y, "sr4", Mine(), method=method, steps=4), theirs)
    assert len(calls) == 8


def test_a_gaussian_denoiser_restores_as_the_formula_says():
    """Images N(μ, s²) everywhere: super-resolution has E[x | y] in closed form, and DDIM from its prior stays consistent."""
    def shrink(x, sigma):
        return 0.6 + (x - 0.6) * 0.04 / (0.04 + sigma ** 2)

    prior = spnn.as_prior(shrink, shape=(1, 8, 8))
    y = torch.full((4, 1, 4, 4), 0.3)
    made = spnn.restore(y, "sr2", prior, steps=100, seed=0)
    assert torch.allclose(torch.nn.functional.avg_pool2d(made, 2), y, atol=1e-4)
    assert abs(float(made.std(unbiased=False)) - 0.4 * (3 / 4) ** 0.5) < 0.1   # what y does not fix has 3/4 of the variance


def test_callback_sees_every_step_in_order(clothes, clothes_prior):
    seen = []
    spnn.sample(clothes_prior, 2, steps=4, callback=lambda step, x0: seen.append((step, tuple(x0.shape))))
    assert seen == [(k, (2, 1, 32, 32)) for k in range(4)]
    y = clothes(spnn.sample(clothes_prior, 1, steps=3))
    for call in (lambda c: spnn.restore(torch.zeros(1, 1, 8, 8), "sr4", clothes_prior, steps=4, callback=c),
                 lambda c: spnn.reconstruct(y, clothes, clothes_prior, steps=4, callback=c)):
        seen.clear()
        call(lambda step, x0: seen.append(step))
        assert seen == [0, 1, 2, 3]


def test_an_exception_in_a_callback_comes_out(clothes_prior):
    def fail(step, x0):
        raise ZeroDivisionError("in the callback")

    with pytest.raises(ZeroDivisionError, match="in the callback"):
        spnn.sample(clothes_prior, 1, steps=4, callback=fail)


def test_progress_is_reported(clothes_prior):
    seen = []
    spnn.sample(clothes_prior, 1, steps=3, progress=lambda done, total, what: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_bar_is_shown_where_it_is_asked_for(clothes_prior, capfd):
    spnn.sample(clothes_prior, 3, steps=2, batch=2)
    assert capfd.readouterr().err == ""
    spnn.sample(clothes_prior, 3, steps=2, batch=2, progress=True)
    assert "4/4" in capfd.readouterr().err   # two batches of two steps


def test_ctrl_c_stops_at_the_next_step():
    program = """
import spnn, sys
prior = spnn.load_prior("models/fashion-prior.safetensors")
def said(step, x0):
    print("step", step, flush=True)
try:
    spnn.sample(prior, 1, steps=1000, callback=said)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=ENVIRONMENT)
    for line in child.stdout:
        if line.startswith("step 2"):
            child.send_signal(signal.SIGINT)
            break
    rest = child.stdout.read().split("\n")
    assert child.wait(60) == 0 and "stopped" in rest
    assert sum(line.startswith("step") for line in rest) <= 30


def test_two_threads_sample_at_once(clothes_prior):
    expected = [spnn.sample(clothes_prior, 1, steps=20, seed=s) for s in (1, 2)]
    found, spans = {}, {}

    def work(seed):
        times = []
        found[seed] = spnn.sample(clothes_prior, 1, steps=20, seed=seed, callback=lambda *_: times.append(time.monotonic()))
        spans[seed] = (times[0], times[-1])

    threads = [threading.Thread(target=work, args=(s,)) for s in (1, 2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(torch.equal(found[s], e) for s, e in zip((1, 2), expected))
    assert max(a for a, _ in spans.values()) < min(b for _, b in spans.values())   # they overlapped


def test_reconstruct_by_name_and_in_samples(clothes, clothes_prior):
    made = spnn.reconstruct(None, clothes, clothes_prior, set="Bag", samples=2, steps=6)
    assert made.images.shape == (2, 1, 32, 32) and made.images.dtype == torch.uint8
    assert clothes.attributes[int(made.target[0].argmax())] == "Bag" and torch.equal(made.target[0], made.target[1])
    assert (made.after < 0.05).all()
    for y, wish in ((None, ()), (made.target, "Bag")):
        with pytest.raises(spnn.UsageError, match="reconstruct: expected outputs y or attributes, got"):
            spnn.reconstruct(y, clothes, clothes_prior, set=wish)


def test_a_prior_with_a_weak_one_in_its_file_is_led_away_from_it(face_prior):
    x = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(1))
    plain = face_prior.unled()
    assert not torch.equal(face_prior.eps(x, 500), plain.eps(x, 500))
    assert torch.equal(face_prior.eps(x, 50), plain.eps(x, 50))
    assert torch.equal(plain.unled().eps(x, 500), plain.eps(x, 500))
