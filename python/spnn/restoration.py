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

_METHOD = {"strength": 1.0, "exact": False, "gradient": 1.0, "ddrm_eta": 0.85, "ddrm_eta_b": 1.0, "langevin": 4, "langevin_step": 0.2,
           "repaint_length": 10, "repaint_repeat": 3, "iterations": 100}
_GUIDANCE = {"strength": 1.0, "late": 1.0, "late_below": 600, "alpha": 1.0, "gamma": 1.0, "window_to": 0, "every": 1,
             "final_projections": 24, "fast": False}


class Guided(NamedTuple):
    """What guided sampling made."""

    images: Tensor        # bytes [B, C, H, W]: what a file would hold
    y: Tensor             # g of these bytes
    target: Tensor        # what was aimed at
    before: Tensor        # [B] √mean (g(x) − target)² as sampled
    after: Tensor         # [B] the same of the bytes


def methods() -> "dict[str, str]":
    """The methods of :func:`restore` and what they do.

    >>> sorted(methods())[:4]
    ['daps', 'ddnm', 'ddnm+', 'ddrm']
    """
    return {name: what for name, what, _, _ in _spnn.method_catalogue()}


def method_settings() -> "dict[str, float]":
    """Further numbers that methods can be told as keywords of :func:`restore`, with their defaults."""
    return dict(_spnn.method_settings())


def sample(prior: Any, count: int = 16, *, seed: int = 0, steps: int = 100, sampler: str = "ddpm", eta: float = 0.0, batch: int = 16,
           travel_length: int = 1, travel_repeat: int = 1, callback: Optional[Callback] = None, progress: bool = False) -> Tensor:
    """Images of the prior in [−1, 1], [count, C, H, W].

    ``callback(step, x0)`` sees x̂0 at every step. Ctrl-C stops at the next step.
    """
    _require(count >= 1, "sample", "one image or more", count)
    prior = as_prior(prior)
    options = _options({}, {}, steps=steps, sampler=sampler, eta=eta, travel_length=travel_length, travel_repeat=travel_repeat)
    with _Progress(progress, "sample", _parts(count, batch)) as report:
        return torch.cat([_spnn.sample(prior._denoiser, options, seeds, callback, report, None) for seeds in _in_batches(seed, count, batch)])


def restore(y: Tensor, operator: Any, prior: Any, *, method: str = "auto", noise: Union[float, str] = 0.0, seed: int = 0, steps: int = 50,
            sampler: str = "ddpm", eta: float = 0.0, travel_length: int = 1, travel_repeat: int = 1, batch: int = 16,
            metric: str = "plain", pseudo_inverse: str = "learned", callback: Optional[Callback] = None, progress: bool = False,
            **of_method: Any) -> Tensor:
    """Images in [−1, 1] that the operator takes to the measurements y, from the prior.

    ``operator``: a name, one of :mod:`spnn.operators`, a network, or your own object. ``prior``: of :func:`load_prior`, or
    your own (:func:`as_prior`). ``method``: of :func:`methods`; "auto" is nlbp, with noise on a linear operator ddrm.
    ``noise``: σ of y in units of pixels in [0, 1]. Keywords of methods: strength and exact (nlbp), gradient (dps, mcg),
    ddrm_eta, ddrm_eta_b, langevin, langevin_step (snips), repaint_length, repaint_repeat, iterations (ibp), and those of :func:`method_settings`.
    """
    prior, operator = as_prior(prior), as_operator(operator)
    _require(y.dim() >= 2 and len(y) >= 1, "restore", "a batch of measurements", list(y.shape))
    bound = operator.bound(prior.shape, metric, pseudo_inverse)
    sigmas = _spnn.sigmas_of(str(noise), y)
    if method == "auto":
        method = "ddrm" if any(sigmas) and bound.linear else "nlbp"
    known = _spnn.method_settings()   # the numbers of the table of methods, beside those above
    more = {key: float(value) for key, value in of_method.items() if key in known}
    rest = {key: value for key, value in of_method.items() if key not in known}
    for key in rest:
        _require(key in _METHOD, "options", "one of " + ", ".join(sorted([*_METHOD, *known])), f"'{key}'")
    options = _options(_METHOD, rest, more=more, steps=steps, sampler=sampler, eta=eta, travel_length=travel_length, travel_repeat=travel_repeat)
    # Masks may be one per image: an operator that has as many is not cut into batches.
    whole = operator._masks is not None and len(operator._masks) > 1
    batch = len(y) if whole else batch
    sigmas = sigmas * len(y) if len(sigmas) == 1 else sigmas
    with _Progress(progress, method, _parts(len(y), batch)) as report:
        return torch.cat([_spnn.restore(y[i:i + batch], bound, prior._denoiser, method, sigmas[i:i + batch], options, seeds, callback, report, None)
                          for i, seeds in zip(range(0, len(y), batch), _in_batches(seed, len(y), batch))])


def reconstruct(y: Optional[Tensor] = None, net: Optional[Spnn] = None, prior: Any = None, *, set: Any = (), unset: Any = (), aim: float = 2.0,
                margin: float = 4.0, samples: int = 1, seed: int = 0, steps: int = 50, sampler: str = "ddpm", eta: float = 0.0,
                travel_length: int = 1, travel_repeat: int = 1, batch: int = 16, schedule: str = "constant", metric: str = "plain",
                pseudo_inverse: str = "learned", window_from: Optional[int] = None, callback: Optional[Callback] = None,
                progress: bool = False, **guidance: Any) -> Guided:
    """Images of the prior whose outputs g(x) are y: such as those of another image, or (with ``set`` and ``unset`` instead
    of y) attributes by name, the other outputs following by covariance. ``samples`` images for each row of y."""
    net, prior = _fitting(net, prior)
    if y is None:
        y = _spnn.expected_outputs(net._network, _changes(net, set, unset, "auto"), aim, margin)
    elif set or unset:
        raise _spnn.UsageError("reconstruct: expected outputs y or attributes, got both")
    window = window_from if window_from is not None else (net._network.windows[0] or 250)
    wanted = y.repeat_interleave(samples, 0)
    options = _options(_GUIDANCE, guidance, steps=steps, sampler=sampler, eta=eta, travel_length=travel_length, travel_repeat=travel_repeat,
                       batch=batch, schedule=schedule, metric=metric, pseudo_inverse=pseudo_inverse, window_from=window)
    with _Progress(progress, "reconstruct") as report:
        return Guided(*_spnn.reconstruct(net._network, prior._denoiser, wanted, options, _seeds(seed, len(wanted)), callback, report, None))


def edit(photos: Optional[Tensor], net: Spnn, prior: Any, *, set: Any = (), unset: Any = (), strategy: str = "auto", aim: float = 2.0,
         margin: float = 4.0, samples: int = 1, seed: int = 0, steps: int = 50, sampler: str = "ddpm", eta: float = 0.0,
         travel_length: int = 1, travel_repeat: int = 1, batch: int = 16, schedule: str = "adaptive", metric: str = "plain",
         pseudo_inverse: str = "learned", window_from: Optional[int] = None, keep: Optional[float] = None,
         callback: Optional[Callback] = None, progress: bool = False, **guidance: Any) -> Guided:
    """Photos (bytes, or floats in [−1, 1]) with attributes set and unset by name; without photos new images that have them.

    ``strategy``: how the other outputs follow: auto, sparse, covariance or exemplar. The goal is the attribute's mean ± ``aim``
    standard deviations, and at least ``margin`` on the right side of 0. ``keep`` in [0, 1] says how much of the photo stays.
    ``fast`` is one back-projection without the prior. Further keywords: strength, late, late_below, alpha, gamma (of the λ
    schedule), window_to, every, final_projections.
    """
    net, prior = _fitting(net, prior)
    changes = _changes(net, set, unset, strategy)
    if not changes:
        raise _spnn.UsageError("edit: expected one attribute or more (set, unset), got none")
    if photos is not None:
        photos = (_spnn.to_unit(photos) if photos.dtype == torch.uint8 else photos).repeat_interleave(samples, 0)
    if keep is not None:
        _require(0 <= keep <= 1, "keep", "a number in [0, 1]", keep)
        window_from = max(1, round((1 - keep) * 1000))   # what is noised away is not kept
    window = window_from if window_from is not None else (net._network.windows[1] or 500)
    options = _options(_GUIDANCE, guidance, steps=steps, sampler=sampler, eta=eta, travel_length=travel_length, travel_repeat=travel_repeat,
                       batch=batch, schedule=schedule, metric=metric, pseudo_inverse=pseudo_inverse, window_from=window, aim=aim, margin=margin)
    seeds = _seeds(seed, samples if photos is None else len(photos))
    with _Progress(progress, "edit") as report:
        return Guided(*_spnn.edit(net._network, prior._denoiser, changes, photos, options, seeds, callback, report, None))


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


def _options(defaults: Mapping[str, Any], given: Mapping[str, Any], **others: Any) -> str:
    for key in given:
        _require(key in defaults, "options", "one of " + ", ".join(sorted(defaults)), f"'{key}'")
    return json.dumps({**defaults, **given, **others})


def _fitting(net: Optional[Spnn], prior: Any) -> "tuple[Spnn, Prior]":
    if net is None or prior is None:
        raise _spnn.UsageError("expected a network and a prior, got none")
    prior = as_prior(prior)
    if tuple(prior.shape) != tuple(net.in_shape):
        raise _spnn.Error(f"prior: expected one of {net.in_shape} images, as the network takes, got {prior.shape}")
    return net, prior


def _changes(net: Spnn, set: Any, unset: Any, strategy: str) -> "list[tuple[int, bool, str]]":
    names, changes = net.attributes, []
    for wanted, present in ((set, True), (unset, False)):
        for name in [wanted] if isinstance(wanted, str) else list(wanted):
            if name not in names:
                near = ", ".join(_spnn.nearest_names(name, names))
                raise _spnn.UsageError(f"attribute: expected one that the network knows, got '{name}' (did you mean {near}?)")
            changes.append((names.index(name), present, strategy))
    return changes


class _Progress:
    """A bar by tqdm where it is installed and wanted, else a line on the terminal; nothing unless asked for."""

    def __init__(self, wanted: Union[bool, Callable[[int, int, str], Any]], what: str, parts: int = 1) -> None:
        self._wanted, self._what, self._parts, self._bar, self._last, self._done = wanted, what, parts, None, 0, 0

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
