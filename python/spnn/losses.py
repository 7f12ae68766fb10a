"""The losses of both phases of training as functions. Each gives its weighted parts by name; training minimises their sum.

>>> import torch, spnn
>>> net = spnn.Spnn("fashion").randomise(1)
>>> x, labels = torch.rand(4, 1, 32, 32), torch.tensor([0, 1, 2, 3])
>>> parts = spnn.losses.phase_one(net, x, labels, task="classes", regression=0.3)
>>> sorted(parts)
['regression', 'task']
>>> sum(parts.values()).backward()
"""

from __future__ import annotations

from typing import Optional

from torch import Tensor

from . import _spnn
from .network import Spnn

Parts = "dict[str, Tensor]"


def task(outputs: Tensor, targets: Tensor, *, task: str = "attributes", label_smoothing: float = 0.0) -> Tensor:
    """Binary cross-entropy of attributes, cross-entropy of classes, or the squared error to a black box's outputs."""
    return _spnn.task_loss(task, outputs, targets, label_smoothing)


def phase_one(net: Spnn, x: Tensor, targets: Tensor, *, task: Optional[str] = None, task_weight: float = 1.0, surjectivity: float = 0.0,
              stability: float = 0.0, regression: float = 0.0, range: float = 0.0, inverse_every: int = 1,
              label_smoothing: float = 0.0) -> "dict[str, Tensor]":
    """Phase I: U, s, t and r together.

    - task: of g(x) and the targets
    - surjectivity ‖y − g(g†(y))‖², zero but for rounding
    - stability ‖x − g†(g(x))‖²
    - regression Σ_l ‖z_l − r_l(y_l)‖², which needs no further pass
    - range: how far NLBP onto another image's outputs leaves [−1, 1]

    ``inverse_every``: the parts with an inverse pass look at every so many-th image.
    """
    return dict(_spnn.phase_one(net._network, x, targets, task or net.task, task_weight, surjectivity, stability, regression, range,
                                inverse_every, label_smoothing))


def phase_two(net: Spnn, x: Tensor, *, natural: float = 0.0, stability: float = 0.0, surjectivity: float = 0.0, regression: float = 0.0,
              rollout: float = 0.0, range: float = 0.0, min_norm: float = 0.0, r_set: str = "r") -> "dict[str, Tensor]":
    """Phase II: the nets r alone (``net.r_parameters()``), the rest frozen.

    - natural ‖q(g†(y)) − q(0)‖², stability ‖x − g†(g(x))‖², surjectivity ‖y − g(g†(y))‖²: the paper's 0.3, 1 and 1
    - regression Σ_l ‖z_l − r_l(y_l)‖², rollout the same at the ŷ_l that g† itself meets
    - range as in phase I; min_norm ‖g†(y)‖²
    """
    return dict(_spnn.phase_two(net._network, x, natural, stability, surjectivity, regression, rollout, range, min_norm, r_set))
