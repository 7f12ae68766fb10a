"""Networks as torch modules: g, its completion, its pseudo-inverses and back-projection."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

import torch
from torch import Tensor, nn

from . import _spnn

Config = Union[str, Mapping[str, Any]]


class Completion(NamedTuple):
    """G(x) = [y | z]: the output and what each level discarded."""

    y: Tensor
    z: "list[Tensor]"


class Residual(NamedTuple):
    """The largest deviation from one law: absolute, and relative to 1 + |what it should be|."""

    absolute: float
    relative: float
    tolerance: float
    passed: bool


class Verification(dict):
    """The laws by name, each with its :class:`Residual`."""

    @property
    def passed(self) -> bool:
        return all(residual.passed for residual in self.values())


class _Shared(nn.Module):
    """A module whose tensors are those of a C++ module: the same objects, not copies."""

    def _adopt(self, parameters: "Sequence[tuple[str, Tensor]]", buffers: "Sequence[tuple[str, Tensor]]") -> None:
        for name, value in parameters:
            value.__class__ = nn.Parameter   # the same object: a copy would be another tensor than C++'s
            self.register_parameter(name, value)  # type: ignore[arg-type]
        for name, value in buffers:
            self.register_buffer(name, value)

    def _apply(self, fn: Any) -> "_Shared":
        own = dict(self._buffers)
        super()._apply(fn)
        # torch would put new tensors in the place of buffers, and C++ would go on with the old ones.
        for name, value in own.items():
            moved = self._buffers[name]
            if value is not None and moved is not None and moved is not value:
                value.data = moved
                self._buffers[name] = value
        _spnn.touch([t for t in (*self._parameters.values(), *self._buffers.values()) if t is not None])
        return self


class Block(_Shared):
    """One block of a network: forward, complete, invert and pinv on [B, C, H, W]."""

    _block: _spnn.Block

    def __init__(self, block: Any) -> None:
        super().__init__()
        object.__setattr__(self, "_block", block)

    def forward(self, x: Tensor) -> Tensor:
        return self._block.forward(x)

    def complete(self, x: Tensor) -> Completion:
        return Completion(*self._block.complete(x))

    def invert(self, y: Tensor, z: Sequence[Tensor] = ()) -> Tensor:
        return self._block.invert(y, list(z))

    def pinv(self, y: Tensor) -> Tensor:
        return self._block.pinv(y)

    @property
    def in_shape(self) -> "tuple[int, int, int]":
        return self._block.in_shape

    @property
    def out_shape(self) -> "tuple[int, int, int]":
        return self._block.out_shape

    @property
    def discards(self) -> bool:
        """Whether the block throws something away: a surjection, not a bijection."""
        return self._block.discards


class Spnn(_Shared):
    """A pseudo-invertible network as a torch module.

    ``config`` is the name of a preset (:func:`presets`), the path of a .json or .toml file, or a dictionary such as
    ``{"input": [3, 64, 64], "blocks": [spnn.unshuffle(2), spnn.surjection(out=6, …), …]}``. The start of training is a
    function of ``seed``, the same as the trainer's.

    >>> net = Spnn({"input": [2, 4, 4], "blocks": [spnn.unshuffle(2), spnn.surjection(out=3, hidden=8)]}, seed=1)
    >>> net.in_shape, net.out_shape
    ((2, 4, 4), (3, 2, 2))
    >>> y, z = net.complete(torch.rand(5, 2, 4, 4))
    >>> y.shape, [tuple(part.shape) for part in z]
    (torch.Size([5, 3, 2, 2]), [(5, 5, 2, 2)])
    """

    _network: _spnn.Network

    def __init__(self, config: Config, *, outputs: int = 0, seed: int = 556) -> None:
        network = _spnn.Network(_config_text(config, outputs))
        network.initialise(seed)
        self._wrap(network)

    @classmethod
    def _of(cls, network: Any) -> "Spnn":
        made = cls.__new__(cls)
        made._wrap(network)
        return made

    def _wrap(self, network: Any) -> None:
        nn.Module.__init__(self)
        object.__setattr__(self, "_network", network)
        self._mirror()

    def _mirror(self) -> None:
        """Gives every C++ module a module of the same path, so that names in a state_dict are those in model files."""
        blocks = {f"pinn.blocks.{b}": block for b, block in enumerate(self._network.blocks)}
        for path, parameters, buffers in self._network.tree():
            here: nn.Module = self
            at = []
            for name in path.split(".") if path else []:
                at.append(name)
                if name not in here._modules:
                    key = ".".join(at)
                    here.add_module(name, Block(blocks[key]) if key in blocks else _Shared())
                here = here._modules[name]  # type: ignore[assignment]
            have = here._parameters
            here._adopt([p for p in parameters if p[0] not in have], [b for b in buffers if b[0] not in here._buffers])  # type: ignore[operator]

    # ------------------------------------------------------------------ the mathematics

    def forward(self, x: Tensor) -> Tensor:
        """g(x)."""
        return self._network.forward(x)

    def complete(self, x: Tensor, *, metric: str = "plain", pseudo_inverse: str = "learned") -> Completion:
        """G(x) = [g(x) | z], z_l as it is (plain) or less what the pseudo-inverse would say (residual).

        >>> net = Spnn("fashion").randomise(1).double()
        >>> x = torch.rand(1, 1, 32, 32).double()
        >>> torch.allclose(net.invert(*net.complete(x)), x)
        True
        """
        return Completion(*self._network.complete(x, pseudo_inverse, metric))

    def invert(self, y: Tensor, z: Sequence[Tensor], *, metric: str = "plain", pseudo_inverse: str = "learned") -> Tensor:
        """G⁻¹([y | z])."""
        return self._network.invert(y, list(z), pseudo_inverse, metric)

    def pinv(self, y: Tensor, *, pseudo_inverse: str = "learned") -> Tensor:
        """g†(y), for which g(g†(y)) = y: learned, origin, anchored, random or min-norm.

        >>> net = Spnn("fashion").randomise(1).double()
        >>> y = torch.randn(3, 10).double()
        >>> all(torch.allclose(net(net.pinv(y, pseudo_inverse=name)), y) for name in ("learned", "origin", "anchored"))
        True
        """
        return self._network.pinv(y, pseudo_inverse)

    def nlbp(self, x: Tensor, y: Tensor, strength: Union[float, Tensor] = 1.0, *, metric: str = "plain",
             pseudo_inverse: str = "learned") -> Tensor:
        """Non-linear back-projection: x' with g(x') = (1−λ) g(x) + λ y that keeps what y does not speak of.

        ``strength`` λ is a number or one per image. ``metric``: plain, residual, or naive (x + λ(g†(y) − g†(g(x))), for
        comparison). Differentiable in x, y, λ and the weights.
        """
        return self._network.nlbp(x, y, strength, metric, pseudo_inverse)

    def trace(self, x: Tensor) -> "tuple[Tensor, list[tuple[Tensor, Tensor]]]":
        """g(x), and each level's (y_l, z_l): what phase II regresses on."""
        return self._network.trace(x)

    def verify(self, x: Optional[Tensor] = None, y: Optional[Tensor] = None, *, tolerance: float = 0.0) -> Verification:
        """Measures the laws (round trip, right inverse, Penrose, orthogonality, consistency) at x and y, or at random ones.

        >>> Spnn("fashion").randomise(1).double().verify().passed
        True
        """
        generator = torch.Generator().manual_seed(0)
        if x is None:
            count = 4 if y is None else len(y)
            x = (2 * torch.rand(count, *self.in_shape, generator=generator) - 1).to(self.dtype).to(self.device)
        if y is None:
            y = self.forward(x).detach()
            y = y + torch.randn(y.shape, generator=generator).to(y)
        found = self._network.verify(x, y, tolerance)
        return Verification((name, Residual(**values)) for name, values in found.items())

    # ------------------------------------------------------------------ what it is

    @property
    def in_shape(self) -> "tuple[int, int, int]":
        return self._network.in_shape

    @property
    def out_shape(self) -> "tuple[int, int, int]":
        return self._network.out_shape

    @property
    def dtype(self) -> torch.dtype:
        return next(self.parameters()).dtype

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @property
    def config(self) -> "dict[str, Any]":
        """The architecture, as a model file carries it."""
        return json.loads(self._network.config)

    @property
    def blocks(self) -> "list[Block]":
        """The blocks in the order of the forward pass."""
        return list(self.pinn.blocks.children())  # type: ignore[union-attr, arg-type]

    @property
    def attributes(self) -> "list[str]":
        """Names of the outputs; empty if the file does not say."""
        return self._network.names

    @attributes.setter
    def attributes(self, names: Sequence[str]) -> None:
        wanted = self.out_shape[0] * self.out_shape[1] * self.out_shape[2]
        if names and len(names) != wanted:
            raise _spnn.Error(f"attributes: expected {wanted} names, got {len(names)}")
        self._network.names = list(names)

    @property
    def task(self) -> str:
        """attributes, classes or black_box."""
        return self._network.task

    @task.setter
    def task(self, task: str) -> None:
        self._network.task = task

    @property
    def statistics(self) -> "tuple[Optional[Tensor], Optional[Tensor], Optional[Tensor]]":
        """Mean, covariance and exemplars of the outputs over training images: what an edit measures its target in."""
        return self._network.statistics

    @property
    def places(self) -> "Optional[Tensor]":
        """Where in a picture each attribute lives, [A, h, w]: where an edit may draw a photo again."""
        return self._network.places

    def fit_statistics(self, images: Tensor, labels: "Optional[Tensor]" = None, *, batch: int = 256) -> "Spnn":
        """Measures :attr:`statistics` on images in [−1, 1] or bytes, as the trainer does on its training images; with their attributes,
        ``labels`` [N, A], :attr:`places` too."""
        with torch.no_grad():
            parts = [self(_spnn.to_unit(b) if b.dtype == torch.uint8 else b) for b in images.split(batch)]
        self._network.set_statistics(*_spnn.output_statistics(torch.cat(parts).flatten(1)))
        if labels is not None:
            self._network.places = _spnn.attribute_places(images if images.dtype == torch.uint8 else _spnn.to_bytes(images), labels)
        return self

    # ------------------------------------------------------------------ weights

    def randomise(self, seed: int = 0) -> "Spnn":
        """Random values everywhere: a generic point, where the start of training is trivial (r = s = t = 0)."""
        with torch.no_grad():
            self._network.randomise(seed)
        return self

    def r_parameters(self, r_set: str = "r") -> "list[Tensor]":
        """What phase II trains: the nets r that predict z."""
        return self._network.r_parameters(r_set)

    def g_parameters(self) -> "list[Tensor]":
        """What phase II freezes: U, s and t."""
        return self._network.g_parameters()

    def add_r_set(self, name: str, seed: int = 0) -> "Spnn":
        """A further set of nets r, such as "min_norm"."""
        self._network.add_r_set(name, seed)
        self._mirror()
        return self

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Around the forward passes of a training step: every orthogonal U is computed once and shared by all of them."""
        scope = _spnn.StepScope(self._network)
        scope.enter()
        try:
            yield
        finally:
            scope.exit()

    def save(self, file: Union[str, "os.PathLike[str]"]) -> None:
        """A model file that :func:`load` and the command read, with names and statistics."""
        self._network.save(os.fspath(file))

    def __deepcopy__(self, memo: "dict[int, Any]") -> "Spnn":
        made = _restored(*self.__reduce__()[1])
        made.train(self.training)
        for own, other in zip(self.parameters(), made.parameters()):
            other.requires_grad_(own.requires_grad)
        memo[id(self)] = made
        return made

    def __reduce__(self) -> Any:
        state = {name: value.detach().clone() for name, value in self.state_dict().items()}
        return _restored, (self._network.metadata, state, self.statistics, self.places)

    def extra_repr(self) -> str:
        count = sum(p.numel() for p in self.parameters())
        return f"{'×'.join(map(str, self.in_shape))} → {'×'.join(map(str, self.out_shape))}, {count} parameters"


def _restored(metadata: "dict[str, str]", state: "dict[str, Tensor]", statistics: Any, places: Optional[Tensor]) -> Spnn:
    net = Spnn(json.loads(metadata["architecture"]))
    floating = [value for value in state.values() if value.is_floating_point()]
    if floating:
        net.to(device=floating[0].device, dtype=floating[0].dtype)
    net.load_state_dict(state)
    net._network.metadata = metadata
    if statistics[0] is not None:
        net._network.set_statistics(*statistics)
    net._network.places = places
    return net


def load(file: Union[str, "os.PathLike[str]"], *, trainable: bool = False) -> Spnn:
    """A network from a model file: ours, or a public checkpoint. Weights are frozen unless ``trainable``.

    >>> load("README.md")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    spnn.Error: ...
    """
    net = Spnn._of(_spnn.load_network(os.fspath(file)))
    net.requires_grad_(trainable)
    return net.train(trainable)


def presets() -> "list[str]":
    """Names that :class:`Spnn` takes for a configuration.

    >>> "fashion" in presets()
    True
    """
    return _spnn.preset_names()


def _config_text(config: Config, outputs: int) -> str:
    if isinstance(config, str) and not config.endswith((".json", ".toml")):
        return _spnn.preset(config, outputs)
    if outputs:
        raise _spnn.UsageError("Spnn: expected `outputs` with the name of a preset, got it with another configuration")
    if isinstance(config, str):
        return _spnn.read_config(config)
    return json.dumps(config)
