"""Sampling, restoration, reconstruction and editing. Image i depends on seed + i only, and has the bits of the command's."""

from __future__ import annotations

import json
import sys
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence, Union

import torch
from torch import Tensor

from . import _spnn
from .network import Spnn
from .operators import operator as as_operator
from .priors import Prior, as_prior

Callback = Callable[[int, Tensor], Any]
Progress = Union[bool, Callable[[int, int, str], Any]]   # a bar, or a function that is told (done, total, unit)
Wishes = Union[str, Sequence[str], Mapping[str, float]]

class Guided(NamedTuple):
    """What guided sampling made."""

    images: Tensor        # bytes [B, C, H, W]: what a file would hold
    y: Tensor             # g of these bytes
    target: Tensor        # what was aimed at
    before: Tensor        # [B] √mean (g(x) − target)² as sampled
    after: Tensor         # [B] the same of the bytes


def methods() -> "dict[str, str]":
    """The methods of :func:`restore` and what they do.

    >>> {"nlbp", "ddrm", "daps"} <= set(methods())
    True
    """
    return {name: what for name, what, _, _ in _spnn.method_catalogue()}


def method_settings() -> "dict[str, float]":
    """Further numbers that methods can be told as keywords of :func:`restore`, with their defaults.

    >>> method_settings()["restarts"]
    1.0
    """
    return dict(_spnn.method_settings())


def sample(prior: Any, count: int = 16, *, seed: int = 0, steps: int = 100, sampler: str = "ddpm", batch: int = 16,
           callback: Optional[Callback] = None, progress: Progress = False, **options: Any) -> Tensor:
    """Images of the prior in [−1, 1], [count, C, H, W].

    ``sampler``: ddpm, ddim, dpm (second order, for few steps) or reference. ``callback(step, x0)`` sees x̂0 at every step of
    every batch. Ctrl-C stops at the next step. Further keywords: spacing, eta, travel_length, travel_repeat.
    """
    _require(count >= 1, "sample", "one image or more", count)
    prior = as_prior(prior)
    text = _text(steps=steps, sampler=sampler, **options)
    with _Progress(progress, "sample", _parts(count, batch)) as report:
        return torch.cat([_spnn.sample(prior._denoiser, text, seeds, callback, report, None) for seeds in _in_batches(seed, count, batch)])


def restore(y: Tensor, operator: Any, prior: Any, *, method: str = "auto", noise: Union[float, str] = 0.0, seed: int = 0, steps: int = 50,
            sampler: str = "ddpm", batch: int = 16, metric: str = "plain", pseudo_inverse: str = "learned",
            callback: Optional[Callback] = None, progress: Progress = False, **options: Any) -> Tensor:
    """Images in [−1, 1] that the operator takes to the measurements y, from the prior.

    ``operator``: a name, one of :mod:`spnn.operators`, a network, or your own object. ``prior``: of :func:`load_prior`, or
    your own (:func:`as_prior`). ``method``: of :func:`methods`; "auto" is nlbp, with noise on a linear operator ddrm.
    ``noise``: σ of y in units of pixels in [0, 1]. ``metric`` and ``pseudo_inverse``: of nlbp on a network. Keywords of
    methods: strength and exact (nlbp), gradient (dps, mcg), ddrm_eta, ddrm_eta_b, langevin, langevin_step (snips),
    repaint_length, repaint_repeat, iterations (ibp), and those of :func:`method_settings`; of the sampler: spacing, eta,
    travel_length, travel_repeat.
    """
    prior, operator = as_prior(prior), as_operator(operator)
    _require(y.dtype == torch.float32, "restore", "a measurement in float32, as priors sample", y.dtype)
    _require(y.dim() >= 2 and len(y) >= 1, "restore", "a batch of measurements", list(y.shape))
    bound = operator.bound(prior.shape, metric, pseudo_inverse)
    sigmas = _spnn.sigmas_of(str(noise), y)
    if method == "auto":
        method = "ddrm" if any(sigmas) and bound.linear else "nlbp"
    text = _text(steps=steps, sampler=sampler, **options)
    # Masks may be one per image: an operator that has as many is not cut into batches.
    whole = operator._masks is not None and len(operator._masks) > 1
    batch = len(y) if whole else batch
    sigmas = sigmas * len(y) if len(sigmas) == 1 else sigmas
    with _Progress(progress, method, _parts(len(y), batch)) as report:
        return torch.cat([_spnn.restore(y[i:i + batch], bound, prior._denoiser, method, sigmas[i:i + batch], text, seeds, callback, report, None)
                          for i, seeds in zip(range(0, len(y), batch), _in_batches(seed, len(y), batch))])


def reconstruct(y: Optional[Tensor], net: Spnn, prior: Any, *, set: Wishes = (), unset: Wishes = (), aim: float = 2.0, margin: float = 4.0,
                samples: int = 1, seed: int = 0, steps: int = 50, sampler: str = "ddpm", batch: int = 16, metric: str = "plain",
                pseudo_inverse: str = "learned", schedule: str = "constant", window_from: Optional[int] = None,
                callback: Optional[Callback] = None, progress: Progress = False, **options: Any) -> Guided:
    """Images of the prior whose outputs g(x) are y: such as those of another image, or (with ``set`` and ``unset``, and None
    for y) attributes by name, the other outputs following by covariance. ``samples`` images for each row of y.

    Further keywords are those of :func:`edit`.
    """
    prior = _fitting(net, prior)
    text = _text(attributes=_attributes(set, unset), aim=aim, margin=margin, samples=samples, seed=seed, steps=steps, sampler=sampler,
                 batch=batch, metric=metric, pseudo_inverse=pseudo_inverse, schedule=schedule, window_from=window_from, **options)
    with _Progress(progress, "reconstruct") as report:
        return Guided(*_spnn.reconstruct(net._network, prior._denoiser, y, text, callback, report, None))


def edit(photos: Optional[Tensor], net: Spnn, prior: Any, *, set: Wishes = (), unset: Wishes = (), strategy: str = "auto",
         keep: Optional[float] = None, fast: bool = False, aim: float = 2.0, margin: float = 4.0, samples: int = 1, seed: int = 0,
         steps: int = 50, sampler: str = "ddpm", batch: int = 16, metric: str = "residual", pseudo_inverse: str = "learned",
         schedule: str = "adaptive", window_from: Optional[int] = None, callback: Optional[Callback] = None, progress: Progress = False,
         **options: Any) -> Guided:
    """Photos (bytes, or floats in [−1, 1]) with attributes set and unset by name; without photos new images that have them.

    ``set`` is a name, several, or a dictionary of name → probability, such as ``{"Smiling": 0.7}``. All other outputs of a photo
    stay as they are, unless a ``strategy`` moves them: covariance or exemplar (auto, sparse). ``keep`` in [0, 1] says how much
    of the photo stays; ``fast`` is one back-projection without the prior, milliseconds. From noise the goal is the
    attribute's mean ± ``aim`` standard deviations, and at least ``margin`` on the right side of 0.

    Further keywords: strength, late, late_below, alpha, gamma (of the λ schedule), window_to, every, final_projections;
    each_step (the target is read again at every step), redraw (a photo is noised and drawn again, not moved first);
    spacing, eta, travel_length, travel_repeat (of the sampler).
    """
    prior = _fitting(net, prior)
    if photos is not None and photos.dtype == torch.uint8:
        photos = _spnn.to_unit(photos)
    text = _text(attributes=_attributes(set, unset, strategy), keep=keep, fast=fast, aim=aim, margin=margin, samples=samples, seed=seed,
                 steps=steps, sampler=sampler, batch=batch, metric=metric, pseudo_inverse=pseudo_inverse, schedule=schedule,
                 window_from=window_from, **options)
    with _Progress(progress, "edit") as report:
        return Guided(*_spnn.edit(net._network, prior._denoiser, photos, text, callback, report, None))


def paper(attributes: int = 1) -> "dict[str, Any]":
    """The paper's settings to the letter, as keywords of :func:`edit` with so many attributes; of :func:`reconstruct` with 0.

    >>> paper(1)["window_from"], paper(2)["window_from"], paper(0)["steps"]
    (500, 800, 100)
    """
    _require(attributes >= 0, "paper", "a number of attributes", attributes)
    return json.loads(_spnn.paper_options(attributes))


# ---------------------------------------------------------------------- shared


def _require(ok: bool, where: str, expected: str, got: Any) -> None:
    if not ok:
        raise _spnn.UsageError(f"{where}: expected {expected}, got {got}")


def _seeds(first: int, count: int) -> "list[int]":
    _require(first >= 0, "seed", "a number of 0 or more", first)
    return [first + i for i in range(count)]


def _in_batches(first: int, count: int, batch: int) -> "list[list[int]]":
    _require(batch >= 1, "batch", "1 or more", batch)
    seeds = _seeds(first, count)
    return [seeds[i:i + batch] for i in range(0, count, batch)]


def _parts(count: int, batch: int) -> int:
    return -(-count // max(batch, 1))


def _text(**options: Any) -> str:
    """What was said, for C++: it knows the words, and the command's defaults for what was not."""
    return json.dumps({key: value for key, value in options.items() if value is not None})


def _fitting(net: Spnn, prior: Any) -> Prior:
    prior = as_prior(prior)
    if tuple(prior.shape) != tuple(net.in_shape):
        raise _spnn.Error(f"prior: expected one of {net.in_shape} images, as the network takes, got {prior.shape}")
    _require(net.dtype == torch.float32, "network", "one in float32, as priors sample (net.float())", net.dtype)
    return prior


def _attributes(set: Wishes, unset: Wishes, strategy: str = "auto") -> "list[dict[str, Any]]":
    rows: "list[dict[str, Any]]" = []
    for wanted, present in ((set, True), (unset, False)):
        for name in [wanted] if isinstance(wanted, str) else wanted:
            row: "dict[str, Any]" = {"name": name, "present": present, "strategy": strategy}
            if isinstance(wanted, Mapping):
                row["probability"] = wanted[name]
            rows.append(row)
    return rows


class _Progress:
    """A bar by tqdm where it is installed and wanted, else a line on the terminal; nothing unless asked for."""

    def __init__(self, wanted: Progress, what: str, parts: int = 1) -> None:
        self._wanted, self._what, self._parts, self._last, self._done = wanted, what, parts, 0, 0
        self._bar: Any = None

    def __enter__(self) -> "Optional[Callable[[int, int, str], Any]]":
        if callable(self._wanted):
            return self._wanted
        return self._show if self._wanted else None

    def _show(self, done: int, total: int, unit: str) -> None:
        step = done - self._last if done > self._last else done   # a new batch begins again at 1
        self._last = done
        self._done += step
        total *= self._parts
        try:
            if self._bar is None:
                from tqdm.auto import tqdm  # type: ignore[import]
                self._bar = tqdm(total=total, desc=self._what, unit=unit)
            self._bar.update(step)
        except ImportError:
            print(f"\r{self._what} {self._done}/{total}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._done:
            print(file=sys.stderr)
