"""Operators by name and of one's own."""

import spnn
import pytest
import torch
from conftest import random

NAMED = ["sr4", "bicubic2", "box", "random:keep=0.5", "freeform", "gauss:sigma=1", "uniform:size=3", "aniso", "grey", "cs:keep=0.25", "denoise",
         "gauss:sigma=1+sr2"]


@pytest.mark.parametrize("spec", NAMED)
def test_laws_of_linear_operators(spec):
    A = spnn.operator(spec)
    x = random(2, 3, 16, 16)
    y = A(x)
    assert A.linear and torch.allclose(A(A.pinv(y)), y, atol=1e-9)
    v = random(*y.shape, seed=2)
    assert torch.allclose(A.A_vjp(x, v), A.A_adjoint(v), atol=1e-9)
    assert torch.allclose((A(x) * v).sum(), (x * A.A_adjoint(v)).sum(), atol=1e-8)
    assert torch.allclose(A.invert(*A.complete(x)), x, atol=1e-9)
    moved = A.nlbp(x, A(random(2, 3, 16, 16, seed=5)))
    assert torch.allclose(moved, x + A.pinv(A(moved) - y), atol=1e-8)
    assert torch.autograd.gradcheck(A.nlbp, (x[:1, :, :, :].clone().requires_grad_(), y[:1].clone().requires_grad_()), fast_mode=True)


def test_a_tone_curve_first():
    A = spnn.operators.gamma() + spnn.operators.super_resolution(4)
    x = 2 * torch.rand(1, 3, 16, 16, dtype=torch.float64) - 1
    y = A(x)
    assert not A.linear and torch.allclose(A(A.pinv(y)), y, atol=1e-9)


def test_every_function_names_an_operator():
    names = {row[0] for row in spnn.operators.catalogue()}
    made = [spnn.operators.super_resolution(), spnn.operators.bicubic(), spnn.operators.gaussian_blur(), spnn.operators.uniform_blur(),
            spnn.operators.anisotropic_blur(), spnn.operators.box(), spnn.operators.box(2, 2, 4, 4), spnn.operators.random_pixels(), spnn.operators.freeform(),
            spnn.operators.grey(), spnn.operators.compressed_sensing(), spnn.operators.identity(), spnn.operators.gamma(), spnn.operators.srgb(),
            spnn.operators.light(), spnn.operators.log_sensor(), spnn.operators.companding(), spnn.operators.tone_curve([(0, 0), (0.5, 0.7), (1, 1)]),
            spnn.operators.inpainting(torch.rand(16, 16) > 0.5), spnn.operators.motion_blur(3), spnn.operators.radon(4),
            spnn.operators.phase_retrieval(), spnn.operators.high_dynamic_range(), spnn.operators.jpeg()]
    x = 2 * torch.rand(1, 3, 16, 16) - 1
    for op in made:
        assert torch.isfinite(op(x)).all()
    assert {op.spec.split(":")[0] for op in made} == names - {"kernel", "model", "network"}


def test_noise_depends_on_the_image_only():
    A = spnn.operators.super_resolution(4)
    x = random(3, 3, 16, 16, dtype=torch.float32)
    together = A.measure(x, noise=0.05, seed=7)
    assert torch.equal(together[1:2], A.measure(x[1:2], noise=0.05, seed=8))
    assert abs(float((together - A(x)).std()) - 0.1) < 0.02   # σ doubles: pixels are in [−1, 1]


class Pooling:
    """Super-resolution as a user would write it."""

    def forward(self, x):
        return torch.nn.functional.avg_pool2d(x, 2)

    def pinv(self, y):
        return y.repeat_interleave(2, -1).repeat_interleave(2, -2)


def test_an_operator_of_ones_own_is_the_library_s():
    mine, theirs = spnn.operator(Pooling(), shape=(1, 8, 8)), spnn.operator("sr2").at((1, 8, 8))
    assert mine.linear and mine.out_shape == theirs.out_shape
    x, y = random(2, 1, 8, 8), random(2, 1, 4, 4, seed=1)
    assert torch.allclose(mine.nlbp(x, y), theirs.nlbp(x, y), atol=1e-9)
    assert torch.allclose(mine.singular_values.sort().values, theirs.singular_values.sort().values, atol=1e-9)
    assert torch.allclose(mine.A_adjoint(y), theirs.A_adjoint(y), atol=1e-9)
    assert torch.allclose(mine.invert(*mine.complete(x)), x, atol=1e-9)
    assert torch.autograd.gradcheck(mine.nlbp, (x.requires_grad_(), y.requires_grad_()), fast_mode=True)


def test_a_non_linear_one_with_a_completion_is_exact():
    class Cubed:
        """g(x) = the first channel, cubed and shifted by the second: what it throws away is the second."""

        def forward(self, x):
            return x[:, :1] ** 3 + x[:, 1:]

        def complete(self, x):
            return self.forward(x), [x[:, 1:]]

        def invert(self, y, z):
            first = y - z[0]
            return torch.cat([first.sign() * first.abs() ** (1 / 3), z[0]], 1)

        def pinv(self, y):
            return self.invert(y, [torch.zeros_like(y)])

    g = spnn.operator(Cubed(), shape=(2, 4, 4))
    x, y = random(2, 2, 4, 4), random(2, 1, 4, 4, seed=1)
    assert not g.linear and torch.allclose(g(g.nlbp(x, y)), y, atol=1e-9)
    assert torch.allclose(g(g.nlbp(x, y, 0.3)), 0.7 * g(x) + 0.3 * y, atol=1e-9)


def test_what_it_returns_is_checked():
    class Wrong(Pooling):
        linear = False

        def pinv(self, y):
            return y

    with pytest.raises(spnn.Error, match="Wrong.pinv: expected a batch of 1×8×8"):
        spnn.operator(Wrong(), shape=(1, 8, 8)).pinv(random(1, 1, 4, 4))

    class Failing(Pooling):
        linear = False

        def pinv(self, y):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        spnn.operator(Failing(), shape=(1, 8, 8)).pinv(random(1, 1, 4, 4))


def test_a_matrix_that_is_too_large_is_refused():
    big = spnn.operator(lambda x: x * 1.0, pinv=lambda y: y, shape=(3, 64, 64), name="copy")
    with pytest.raises(spnn.UsageError, match="copy: expected a linear operator whose matrix has at most"):
        big.pinv(random(1, 3, 64, 64))


def test_physics_for_deepinv(face_prior):
    physics = spnn.as_physics("sr4")
    x = torch.rand(2, 3, 64, 64)
    y = physics(x)
    assert torch.allclose(y, torch.nn.functional.avg_pool2d(x, 4), atol=1e-5)
    assert torch.allclose(physics.A(physics.A_dagger(y)), y, atol=1e-5)
    v = torch.rand_like(y)
    assert torch.allclose(physics.A_vjp(x, v), physics.A_adjoint(v), atol=1e-5)
    denoiser = spnn.as_denoiser(face_prior)
    clean = (spnn.sample(face_prior, 1, steps=5, seed=3) + 1) / 2
    noisy = clean + 0.1 * torch.randn(clean.shape, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        restored = denoiser(noisy, 0.1)
    assert (restored - clean).square().mean() < 0.5 * (noisy - clean).square().mean()
