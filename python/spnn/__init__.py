"""Pseudo-invertible neural networks on torch tensors.

A network g has a completion G(x) = [g(x) | q(x)] that inverts exactly, a pseudo-inverse g† with g(g†(y)) = y, and a
non-linear back-projection (NLBP) that moves x to the nearest point with g(x') = y.

>>> import torch, spnn
>>> net = spnn.Spnn("fashion").randomise(seed=1).double()
>>> x, y = torch.rand(2, 1, 32, 32).double(), torch.randn(2, 10).double()
>>> x_moved = net.nlbp(x, y)
>>> bool((net(x_moved) - y).abs().max() < 1e-6)
True
"""

from . import _environment

_environment.prepare()

from ._spnn import Error, Interrupted, UsageError, version as __version__  # noqa: E402
from . import losses, operators  # noqa: E402
from .adapters import as_denoiser, as_physics, from_dlpack, from_numpy, to_dlpack, to_numpy  # noqa: E402
from .blocks import coupling, curve, surjection, unshuffle  # noqa: E402
from .data import Batches, Dataset, load_data, learning_rate  # noqa: E402
from .images import grid, read_image, to_bytes, to_unit, write_image  # noqa: E402
from .network import Block, Completion, Residual, Spnn, Verification, load, presets  # noqa: E402
from .operators import Operator, operator  # noqa: E402
from .priors import Prior, as_prior, load_prior  # noqa: E402
from .restoration import Guided, edit, method_settings, methods, paper, reconstruct, restore, sample  # noqa: E402

__all__ = [
    "Batches", "Block", "Completion", "Dataset", "Error", "Guided", "Interrupted", "Operator", "Prior", "Residual",
    "Spnn", "UsageError", "Verification", "as_denoiser", "as_physics", "as_prior", "coupling", "curve", "edit",
    "from_dlpack", "from_numpy", "grid", "learning_rate", "load", "load_data", "load_prior", "losses", "method_settings",
    "methods", "operator", "operators", "paper", "presets", "read_image", "reconstruct", "restore", "sample", "surjection",
    "to_bytes",
    "to_dlpack", "to_numpy", "to_unit", "unshuffle", "write_image",
]
