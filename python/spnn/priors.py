"""Diffusion priors: from files, or from any denoiser in Python."""

from __future__ import annotations

import os
from typing import Any, Callable, Optional, Sequence, Union

import torch
from torch import Tensor

from . import _spnn


class Prior:
    """Predicts the noise in x_t = √ᾱ_t x_0 + √(1−ᾱ_t) ε, images in [−1, 1], t = 0 … T−1."""

    def __init__(self, denoiser: Any) -> None:
        self._denoiser = denoiser

    def eps(self, x_t: Tensor, t: int) -> Tensor:
        """The noise in x_t."""
        return self._denoiser.eps(x_t, t)

    __call__ = eps

    def x0(self, x_t: Tensor, t: int) -> Tensor:
        """The clean image that the noise leaves, x̂0."""
        return self._denoiser.x0(x_t, t)

    def unled(self) -> "Prior":
        """The prior itself, where its file holds a weak one that images drawn without a wish are led away from."""
        return Prior(self._denoiser.unled())

    @property
    def shape(self) -> "tuple[int, int, int]":
        return self._denoiser.shape

    @property
    def steps(self) -> int:
        """T, of training."""
        return self._denoiser.steps

    def alpha_bar(self, t: int) -> float:
        """ᾱ_t; 1 for t = −1, the clean image."""
        return self._denoiser.alpha_bar(t)

    def __repr__(self) -> str:
        return f"<spnn.Prior of {'×'.join(map(str, self.shape))} images>"


def load_prior(file: Union[str, "os.PathLike[str]"]) -> Prior:
    """A prior from a model file: ours, or a public checkpoint of the DDPM family.

    If the file holds a weak prior too, :func:`sample` is led away from it (``unled()`` is the prior without that).
    """
    return Prior(_spnn.load_prior(os.fspath(file)))


def as_prior(what: Any, *, shape: Optional[Sequence[int]] = None, kind: Optional[str] = None,
             betas: "tuple[float, float, int]" = (1e-4, 2e-2, 1000)) -> Prior:
    """A prior from Python: an object with ``eps(x_t, t)``, or a denoiser ``D(x, sigma)`` of images in [0, 1].

    ``kind`` is "eps" or "denoiser"; without it an object with ``eps`` is the first, anything else the second. ``betas`` are
    the first and last of the linear schedule and its length.

    >>> def shrink(x, sigma):            # the best denoiser of images that are N(1/2, 0.1²) everywhere
    ...     return 0.5 + (x - 0.5) * 0.01 / (0.01 + sigma ** 2)
    >>> prior = as_prior(shrink, shape=(1, 8, 8))
    >>> import spnn
    >>> x = (spnn.sample(prior, 64, steps=50) + 1) / 2
    >>> abs(float(x.mean()) - 0.5) < 0.02, abs(float(x.std()) - 0.1) < 0.03
    (True, True)
    """
    if isinstance(what, Prior):
        return what
    shape = shape if shape is not None else getattr(what, "shape", None)
    if shape is None or len(shape) != 3:
        raise _spnn.UsageError(f"prior: expected shape=(channels, height, width), got {shape}")
    kind = kind or ("eps" if hasattr(what, "eps") else "denoiser")
    if kind not in ("eps", "denoiser"):
        raise _spnn.UsageError(f"prior kind: expected eps or denoiser, got '{kind}'")
    own = _NoiseOf(what, betas) if kind == "denoiser" else getattr(what, "eps", what)
    return Prior(_spnn.python_prior(own, (int(shape[0]), int(shape[1]), int(shape[2])), betas))


class _NoiseOf:
    """ε from a denoiser of images in [0, 1] under white noise: x_t/√ᾱ_t = x_0 + σ ε."""

    def __init__(self, denoiser: Callable[[Tensor, float], Tensor], betas: "tuple[float, float, int]") -> None:
        self._denoiser = denoiser
        first, last, count = betas
        self._alpha_bar = torch.cumprod(1 - torch.linspace(first, last, count, dtype=torch.float64), 0).tolist()

    def __call__(self, x_t: Tensor, t: int) -> Tensor:
        a = self._alpha_bar[t]
        sigma = ((1 - a) / a) ** 0.5
        x0 = 2 * self._denoiser((x_t / a ** 0.5 + 1) / 2, sigma / 2) - 1
        return (x_t - a ** 0.5 * x0) / (1 - a) ** 0.5
