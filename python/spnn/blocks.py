"""Blocks of a configuration, as dictionaries: what :class:`spnn.Spnn` is built from."""

from __future__ import annotations

from typing import Any, Mapping, Optional


def unshuffle(factor: int = 2) -> "dict[str, Any]":
    """Space to depth: C×H×W → C·f²×H/f×W/f."""
    return {"kind": "unshuffle", "factor": factor}


def surjection(out: int, *, hidden: int = 64, kernel: int = 3, depth: int = 1, activation: str = "silu", norm: bool = True,
               scale_bound: float = 2.0, st: Optional[Mapping[str, Any]] = None, s: Optional[Mapping[str, Any]] = None,
               t: Optional[Mapping[str, Any]] = None, r: Optional[Mapping[str, Any]] = None,
               mix: Optional[Mapping[str, Any]] = None) -> "dict[str, Any]":
    """The paper's block, which keeps ``out`` channels. One net for s and t, or ``s`` and ``t`` apart; ``r`` predicts what
    was discarded. Nets are dictionaries such as ``{"kind": "residual", "hidden": 96, "depth": 1}``."""
    block: "dict[str, Any]" = {"kind": "surjection", "out": out, "scale_bound": scale_bound}
    usual = {"kind": "residual", "hidden": hidden, "depth": depth, "kernel": kernel, "activation": activation, "norm": norm}
    if s is not None or t is not None:
        block.update(s=dict(s or usual), t=dict(t or usual))
    else:
        block["st"] = dict(st or usual)
    block["r"] = dict(r or {"kind": "conv", "hidden": hidden, "depth": 3, "kernel": kernel, "activation": activation})
    if mix is not None:
        block["mix"] = dict(mix)
    return block


def coupling(kind: str = "affine", *, hidden: int = 64, kernel: int = 3, scale_bound: float = 2.0, moved: int = 0,
             st: Optional[Mapping[str, Any]] = None) -> "dict[str, Any]":
    """A bijection: RealNVP's affine coupling, or with kind "additive" NICE's."""
    usual = dict(st or {"kind": "residual", "hidden": hidden, "depth": 1, "kernel": kernel, "activation": "silu"})
    block: "dict[str, Any]" = {"kind": kind, "moved": moved}
    if kind == "additive":
        return {**block, "t": usual}
    return {**block, "scale_bound": scale_bound, "st": usual}


def curve(pieces: int = 64, slope_bound: float = 2.0) -> "dict[str, Any]":
    """A rising curve per channel."""
    return {"kind": "curve", "pieces": pieces, "slope_bound": slope_bound}
