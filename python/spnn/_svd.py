"""The singular value decomposition of a linear map that is known as a function, in coordinates as the library has them."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence

import torch
from torch import Tensor

from . import _spnn

MOST_ENTRIES = 1 << 24   # of the matrix: 128 MB in double


class Svd(NamedTuple):
    Vt: Callable[[Tensor], Tensor]
    V: Callable[[Tensor], Tensor]
    Ut: Callable[[Tensor], Tensor]
    U: Callable[[Tensor], Tensor]
    S: Tensor


class _Orthogonal(torch.autograd.Function):
    """Vᵀx or Vx; the gradient of the one is the other."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, turned: Callable[[Tensor, bool], Tensor], transpose: bool) -> Tensor:  # type: ignore[override]
        ctx.turned, ctx.transpose = turned, transpose
        return turned(x, transpose)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        return _Orthogonal.apply(gradient, ctx.turned, not ctx.transpose), None, None


def is_linear(forward: Callable[[Tensor], Tensor], shape: Sequence[int]) -> bool:
    """Tried out on two random images and zero."""
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(1, *shape, generator=generator) for _ in range(2))
    mixed, apart = forward(0.5 * a - 2 * b), 0.5 * forward(a) - 2 * forward(b)
    scale = 1e-5 * (1 + float(apart.abs().max()))
    return bool((mixed - apart).abs().max() < scale) and bool(forward(torch.zeros_like(a)).abs().max() < scale)


def matrix_of(forward: Callable[[Tensor], Tensor], shape: Sequence[int], batch: int = 256) -> Tensor:
    """[m, n], column by column."""
    n = shape[0] * shape[1] * shape[2]
    columns = []
    for first in range(0, n, batch):
        rows = torch.zeros(min(batch, n - first), n)
        rows[torch.arange(len(rows)), first + torch.arange(len(rows))] = 1
        columns.append(forward(rows.reshape(-1, *shape)).flatten(1).double())
    return torch.cat(columns).t()


def decomposed(forward: Callable[[Tensor], Tensor], shape: Sequence[int], out: Sequence[int], name: str) -> Svd:
    n, m = shape[0] * shape[1] * shape[2], int(torch.Size(out).numel())
    if m * n > MOST_ENTRIES:
        raise _spnn.UsageError(f"{name}: expected a linear operator whose matrix has at most {MOST_ENTRIES} entries, got {m} × {n} "
                               "(say linear=False: nlbp, dps, ibp and pinv then take it as a function)")
    left, values, right = torch.linalg.svd(matrix_of(forward, shape), full_matrices=False)
    values = torch.where(values > 1e-6 * values.max(), values, torch.zeros_like(values))
    k = len(values)
    # All of an orthogonal n×n matrix whose first columns are V's, as Householder's reflections: n·k numbers, not n².
    reflections, tau = torch.geqrf(right.t().contiguous())
    signs = torch.ones(n, dtype=torch.float64)
    signs[:k] = reflections.diagonal()[:k].sign()

    def turned(v: Tensor, transpose: bool) -> Tensor:
        columns = v.detach().double() if transpose else v.detach().double() * signs
        rows = torch.ormqr(reflections, tau, columns.t().contiguous(), left=True, transpose=transpose).t()
        return (rows * signs if transpose else rows).to(v)

    def Vt(x: Tensor) -> Tensor:
        return _Orthogonal.apply(x.flatten(1), turned, True)

    def V(v: Tensor) -> Tensor:
        return _Orthogonal.apply(v, turned, False).reshape(-1, *shape)

    def Ut(y: Tensor) -> Tensor:
        seen = y.flatten(1).double() @ left
        return torch.nn.functional.pad(seen, (0, n - k)).to(y)

    def U(u: Tensor) -> Tensor:
        seen = u[:, :k].double() * (values > 0)
        return (seen @ left.t()).to(u).reshape(-1, *out)

    return Svd(Vt, V, Ut, U, torch.nn.functional.pad(values, (0, n - k)).reshape(1, n))
