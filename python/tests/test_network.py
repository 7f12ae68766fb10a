"""g, G, G⁻¹, g† and NLBP on torch tensors: laws, gradients, no copies, and a module like any other."""

import copy
import pickle

import spnn
import pytest
import torch
from conftest import SMALL, random

CHOICES = [("learned", "plain"), ("origin", "plain"), ("anchored", "residual"), ("learned", "residual"), ("min-norm", "plain")]


@pytest.mark.parametrize("pseudo_inverse, metric", CHOICES)
def test_nlbp_meets_its_target(small, pseudo_inverse, metric):
    x, y = 0.5 * random(3, 2, 4, 4), random(3, 4, seed=1)
    for strength in (0.3, 1.0, torch.tensor([0.0, 0.5, 1.0]).double()):
        moved = small.nlbp(x, y, strength, metric=metric, pseudo_inverse=pseudo_inverse)
        part = torch.as_tensor(strength, dtype=torch.float64).reshape(-1, 1)
        assert torch.allclose(small(moved), (1 - part) * small(x) + part * y, atol=1e-9)


def test_naive_back_projection_misses_it(small):
    x, y = 0.5 * random(3, 2, 4, 4), random(3, 4, seed=1)
    assert (small(small.nlbp(x, y, metric="naive")) - y).abs().max() > 1e-3


def test_the_completion_inverts(small):
    x = random(3, 2, 4, 4)
    for metric in ("plain", "residual"):
        y, z = small.complete(x, metric=metric)
        assert torch.allclose(small.invert(y, z, metric=metric), x, atol=1e-10)


def test_verify_lists_the_laws(small):
    found = small.verify()
    assert found.passed and found["penrose_1"].relative <= found["penrose_1"].tolerance
    assert not small.verify(tolerance=1e-30).passed


@pytest.mark.parametrize("pseudo_inverse, metric", CHOICES)
def test_gradients_by_x_and_y(small, pseudo_inverse, metric):
    small.requires_grad_(False)
    x, y = (0.5 * random(2, 2, 4, 4)).requires_grad_(), random(2, 4, seed=1).requires_grad_()
    strength = torch.tensor([0.7, 0.9], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *a: small.nlbp(*a, metric=metric, pseudo_inverse=pseudo_inverse), (x, y, strength))


@pytest.mark.parametrize("pseudo_inverse, metric", CHOICES[:4])
def test_gradients_by_weights_are_those_of_finite_differences(small, pseudo_inverse, metric):
    x, y = 0.5 * random(2, 2, 4, 4), random(2, 4, seed=1)

    def loss():
        return small.nlbp(x, y, metric=metric, pseudo_inverse=pseudo_inverse).square().sum()

    gradients = torch.autograd.grad(loss(), list(small.parameters()), allow_unused=True)
    seen = 0
    for parameter, gradient in zip(small.parameters(), gradients):
        direction = random(*parameter.shape, seed=3)
        with torch.no_grad():
            step = 1e-6
            parameter.add_(direction, alpha=step)
            above = loss()
            parameter.add_(direction, alpha=-2 * step)
            below = loss()
            parameter.add_(direction, alpha=step)
        slope = float(above - below) / (2 * step)
        found = 0.0 if gradient is None else float((gradient * direction).sum())
        assert abs(found - slope) <= 1e-5 * (1 + abs(slope))
        seen += gradient is not None and bool(gradient.abs().max() > 0)
    assert seen > 20


def test_weights_are_the_networks_own_memory(small):
    theirs = {f"{path}.{name}": value for path, values, _ in small._network.tree() for name, value in values}
    ours = dict(small.named_parameters())
    assert set(theirs) == set(ours) and all(theirs[name] is ours[name] for name in ours)
    x, before = random(1, 2, 4, 4), small(random(1, 2, 4, 4))
    with torch.no_grad():
        ours["pinn.blocks.4.st.layers.0.weight" if "pinn.blocks.4.st.layers.0.weight" in ours else list(ours)[-1]].zero_()
        for value in ours.values():
            value.mul_(0.5)
    assert not torch.equal(small(x), before)


def test_tensors_pass_without_a_copy():
    seen = []

    class Spy:
        linear = False

        def forward(self, x):
            seen.append(x.data_ptr())
            self.made = x.flip(-1)
            return self.made

        def pinv(self, y):
            return y.flip(-1)

    spy = Spy()
    x = random(1, 1, 4, 4)
    op = spnn.operator(spy, shape=(1, 4, 4))
    y = op(x)
    assert seen[-1] == x.data_ptr() and y.data_ptr() == spy.made.data_ptr()
    assert spnn.from_numpy(spnn.to_numpy(x)).data_ptr() == x.data_ptr()
    assert spnn.from_dlpack(spnn.to_dlpack(x)).data_ptr() == x.data_ptr()


def test_it_is_a_module_like_any_other(small, tmp_path):
    state = small.state_dict()
    assert "pinn.blocks.1.mix.A_unconstrained" in state and len(state) == len(list(small.parameters()))
    other = spnn.Spnn(SMALL).double()
    x = random(2, 2, 4, 4)
    assert not torch.equal(other(x), small(x))
    other.load_state_dict(state)
    assert torch.equal(other(x), small(x))
    assert torch.equal(copy.deepcopy(small)(x), small(x))
    assert torch.equal(pickle.loads(pickle.dumps(small))(x), small(x))
    torch.save(state, tmp_path / "state.pt")
    other.load_state_dict(torch.load(tmp_path / "state.pt"))
    wrapped = torch.nn.Sequential(small, torch.nn.Linear(4, 2).double())
    assert len(list(wrapped.parameters())) == len(state) + 2 and wrapped(x).shape == (2, 2)


def test_type_follows_to(small):
    x = random(2, 2, 4, 4)
    y = small(x)
    small.float()
    assert small.dtype == torch.float32 and torch.allclose(small(x.float()).double(), y, atol=1e-4)
    small.double()
    assert small(x).dtype == torch.float64 and small.verify().passed


def test_buffers_follow_to():
    net = spnn.Spnn({"input": [2, 4, 4], "blocks": [spnn.curve(8), spnn.surjection(out=1, hidden=4, norm=False)]}).double()
    assert net.verify().passed and all(b.dtype == torch.float64 for b in net.buffers())


def test_an_optimiser_trains_it(small):
    x, y = random(8, 2, 4, 4), random(8, 4, seed=1)
    optimizer = torch.optim.Adam(small.parameters(), lr=1e-2)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        with small.step():
            loss = (small(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0] and small.verify().passed


def test_data_parallel_wraps_it(small, tmp_path):
    dist = torch.distributed
    if not dist.is_available() or not dist.is_gloo_available():
        pytest.skip("this torch has no gloo")
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/rendezvous", rank=0, world_size=1)
    try:
        x = random(2, 2, 4, 4)
        net = torch.nn.parallel.DistributedDataParallel(small, find_unused_parameters=True)
        net(x).square().sum().backward()
        ours = small.get_parameter("pinn.blocks.1.mix.A_unconstrained").grad.clone()
        small.zero_grad()
        small(x).square().sum().backward()
        assert torch.allclose(ours, small.get_parameter("pinn.blocks.1.mix.A_unconstrained").grad)
    finally:
        dist.destroy_process_group()


def test_blocks_are_modules(small):
    h = random(2, 2, 4, 4)
    for block in small.blocks:
        y, z = block.complete(h)
        assert torch.allclose(block.invert(y, z), h, atol=1e-10) and bool(z) == block.discards
        h = block(h)
    assert torch.allclose(h.flatten(1), small(random(2, 2, 4, 4)))


def test_a_saved_network_comes_back(small, tmp_path):
    small.attributes = ["a", "b", "c", "d"]
    small.task = "classes"
    small.float().save(tmp_path / "net.safetensors")
    back = spnn.load(tmp_path / "net.safetensors")
    x = random(2, 2, 4, 4).float()
    with torch.no_grad():   # without gradients U is computed once, in double
        assert torch.equal(back(x), small(x)) and back.attributes == ["a", "b", "c", "d"] and back.task == "classes"
    assert not any(p.requires_grad for p in back.parameters())


def test_a_shipped_model(faces):
    assert len(faces.attributes) == 40 and "Smiling" in faces.attributes and faces.in_shape == (3, 64, 64)
    assert faces.verify().passed
    mean, covariance, _ = faces.statistics
    assert mean.shape == (40,) and covariance.shape == (40, 40)
    upper, lower = faces.places[faces.attributes.index("Eyeglasses")].split(20)
    assert upper.max() > 2 * lower.max()   # glasses are not worn on the chin


def test_a_further_set_of_r_nets_is_seen(small):
    before = len(list(small.parameters()))
    small.add_r_set("extra")
    assert len(list(small.parameters())) == before + len(small.r_parameters("extra"))
    assert set(copy.deepcopy(small).state_dict()) == set(small.state_dict())


def test_a_copy_knows_what_the_file_says(faces):
    other = copy.deepcopy(faces)
    assert other._network.metadata == faces._network.metadata and "Blond_Hair" in other._network.metadata["exclusive"]
    assert all(torch.equal(a, b) for a, b in zip(other.statistics, faces.statistics))
    assert torch.equal(other.places, faces.places)
