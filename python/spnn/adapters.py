"""For other libraries: deepinv's interfaces by duck typing, and arrays of other frameworks."""

from __future__ import annotations

from typing import Any, Sequence, Union

import torch
from torch import Tensor, nn

from .operators import Operator, operator as as_operator
from .priors import Prior, as_prior


class Physics(nn.Module):
    """An operator as deepinv's ``Physics``: images in [0, 1], ``A``, ``A_dagger``, ``A_adjoint``, ``A_vjp``."""

    def __init__(self, operator: Operator) -> None:
        super().__init__()
        self.operator = operator

    def A(self, x: Tensor, **_: Any) -> Tensor:
        return (self.operator(2 * x - 1) + 1) / 2

    def A_dagger(self, y: Tensor, **_: Any) -> Tensor:
        return (self.operator.pinv(2 * y - 1) + 1) / 2

    def A_adjoint(self, y: Tensor, **_: Any) -> Tensor:
        return self.operator.A_adjoint(y)

    def A_vjp(self, x: Tensor, v: Tensor) -> Tensor:
        return self.operator.A_vjp(2 * x - 1, v)   # the factors 2 and 1/2 cancel

    def forward(self, x: Tensor, **_: Any) -> Tensor:
        return self.A(x)

    measure = forward


class ImageDenoiser(nn.Module):
    """A prior as ``denoiser(x, sigma)`` on images in [0, 1], σ in the same units, one or one per image."""

    def __init__(self, prior: Prior) -> None:
        super().__init__()
        self.prior = prior
        alpha_bar = torch.tensor([prior.alpha_bar(t) for t in range(prior.steps)], dtype=torch.float64)
        self._sigmas = ((1 - alpha_bar) / alpha_bar).sqrt() / 2

    def forward(self, x: Tensor, sigma: Union[float, Tensor], **_: Any) -> Tensor:
        levels = torch.as_tensor(sigma, dtype=torch.float64).reshape(-1)
        if len(levels) > 1 and not bool((levels == levels[0]).all()):
            return torch.cat([self(x[i:i + 1], level) for i, level in enumerate(levels)])
        t = int((self._sigmas - levels[0]).abs().argmin())
        x_t = (2 * x - 1) * self.prior.alpha_bar(t) ** 0.5
        return (self.prior.x0(x_t, t) + 1) / 2


def as_physics(operator: Any) -> Physics:
    """An operator (or its name) as deepinv's ``Physics``, on images in [0, 1].

    >>> physics = as_physics("sr4")
    >>> x = torch.rand(1, 3, 16, 16)
    >>> torch.allclose(physics.A(x), torch.nn.functional.avg_pool2d(x, 4), atol=1e-6)
    True
    """
    return Physics(as_operator(operator))


def as_denoiser(prior: Any) -> ImageDenoiser:
    """A prior as a denoiser of images in [0, 1]: ``denoiser(x, sigma)``."""
    return ImageDenoiser(as_prior(prior).unled())


def from_numpy(array: Any) -> Tensor:
    """A tensor on the array's own memory."""
    return torch.from_numpy(array)


def to_numpy(tensor: Tensor) -> Any:
    """An array on the tensor's own memory.

    >>> t = torch.zeros(3)
    >>> to_numpy(t)[1] = 5
    >>> t
    tensor([0., 5., 0.])
    """
    return tensor.detach().numpy()


def from_dlpack(other: Any) -> Tensor:
    """A tensor on the memory of another framework's array (or a capsule)."""
    return torch.from_dlpack(other)


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule that other frameworks, and other builds of torch, take without a copy."""
    return torch.to_dlpack(tensor.detach())
