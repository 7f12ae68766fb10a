"""Degradations with a known pseudo-inverse: by name, from a network, or from Python functions of your own.

>>> import torch, spnn
>>> A = spnn.operators.gaussian_blur(1.0) + spnn.operators.super_resolution(4)
>>> x = torch.rand(2, 3, 32, 32)
>>> y = A(x)
>>> y.shape
torch.Size([2, 3, 8, 8])
>>> torch.allclose(A(A.pinv(y)), y, atol=1e-5)
True
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Union

import torch
from torch import Tensor

from . import _spnn
from ._svd import decomposed, is_linear
from .network import Completion, Spnn

Shape = "tuple[int, int, int]"


class Operator:
    """A degradation by its text, such as ``"gauss:sigma=2+sr4"``. The shape of images is taken from the first x, unless said.

    ``A`` is the map, ``A_dagger`` its pseudo-inverse, ``A_adjoint`` its transpose (linear ones), ``A_vjp`` the product of
    its Jacobian's transpose with a vector; ``+`` appends a stage.
    """

    def __init__(self, spec: str, *, shape: Optional[Sequence[int]] = None, masks: Optional[Tensor] = None) -> None:
        self.spec, self._masks = spec, masks
        self._shape = _as_shape(shape)
        self._made: "dict[Any, Any]" = {}

    # ------------------------------------------------------------------ the mathematics

    def forward(self, x: Tensor) -> Tensor:
        """g(x)."""
        return self._of_x(x).forward(x)

    __call__ = forward
    A = forward

    def pinv(self, y: Tensor) -> Tensor:
        """g†(y)."""
        return self.bound().pinv(y)

    A_dagger = pinv

    def A_adjoint(self, y: Tensor) -> Tensor:
        """Aᵀy of a linear operator."""
        return self.bound().adjoint(y)

    def A_vjp(self, x: Tensor, v: Tensor) -> Tensor:
        """Jᵀv, J the Jacobian of g at x; for linear operators Aᵀv."""
        with torch.enable_grad():
            at = x.detach().requires_grad_(True)
            return torch.autograd.grad(self.forward(at), at, v)[0]

    def complete(self, x: Tensor) -> Completion:
        """G(x) = [g(x) | what g does not see]."""
        return Completion(*self._of_x(x).complete(x))

    def invert(self, y: Tensor, z: Sequence[Tensor]) -> Tensor:
        """G⁻¹([y | z])."""
        return self.bound().invert(y, list(z))

    def nlbp(self, x: Tensor, y: Tensor, strength: Union[float, Tensor] = 1.0) -> Tensor:
        """x' with g(x') = (1−λ) g(x) + λ y that keeps what g does not see. Of a linear operator x + λ A†(y − Ax)."""
        return self._of_x(x).nlbp(x, y, strength)

    def measure(self, x: Tensor, noise: Union[float, str] = 0.0, seed: int = 0) -> Tensor:
        """g(x) with noise: σ in units of pixels in [0, 1], or "poisson:PHOTONS". Image i's depends on seed + i only."""
        return self._of_x(x).measure(x, str(noise), [seed + i for i in range(len(x))])

    # ------------------------------------------------------------------ what it is

    @property
    def in_shape(self) -> "tuple[int, int, int]":
        return self.bound().in_shape

    @property
    def out_shape(self) -> "tuple[int, int, int]":
        return self.bound().out_shape

    @property
    def linear(self) -> bool:
        return self.bound().linear

    @property
    def singular_values(self) -> Tensor:
        return self.bound().singular_values

    def at(self, shape: Sequence[int]) -> "Operator":
        """The same operator for images of this shape, [channels, height, width]."""
        self._shape = _as_shape(shape)
        return self

    def bound(self, shape: Optional[Sequence[int]] = None, metric: str = "plain", pseudo_inverse: str = "learned") -> Any:
        """The C++ object for a shape: made once."""
        wanted = _as_shape(shape) or self._shape
        if wanted is None:
            raise _spnn.UsageError(f"operator {self.spec}: expected the shape of images, got none yet "
                                   "(call it on an x first, or say .at((channels, height, width)))")
        key = (wanted, metric, pseudo_inverse)
        if key not in self._made:
            self._made[key] = self._bind(*key)
        return self._made[key]

    def _of_x(self, x: Tensor) -> Any:
        if x.dim() != 4:
            raise _spnn.Error(f"operator {self.spec}: expected images [B, C, H, W], got {list(x.shape)}")
        if self._shape is None:
            self._shape = _as_shape(x.shape[1:])
        return self.bound()

    def _bind(self, shape: "tuple[int, int, int]", metric: str, pseudo_inverse: str) -> Any:
        return _spnn.BoundOperator.named(self.spec, shape, self._masks, metric, pseudo_inverse)

    def __add__(self, other: "Operator") -> "Operator":
        if type(self) is not Operator or type(other) is not Operator:
            raise _spnn.UsageError("operator: expected stages by name for '+', got one made from Python or a network")
        masks = self._masks if self._masks is not None else other._masks
        return Operator(f"{self.spec}+{other.spec}", shape=self._shape, masks=masks)

    def __repr__(self) -> str:
        return f"spnn.operator({self.spec!r})"


class _PythonOperator(Operator):
    """Any object with forward and pinv. Linear ones get their singular value decomposition, so that every method takes them."""

    def __init__(self, forward: Callable[[Tensor], Tensor], pinv: Callable[[Tensor], Tensor], *, complete: Any = None, invert: Any = None,
                 linear: Optional[bool] = None, shape: Optional[Sequence[int]] = None, name: str = "operator") -> None:
        super().__init__(name, shape=shape)
        self._forward, self._pinv, self._complete, self._invert, self._linear = forward, pinv, complete, invert, linear

    def _bind(self, shape: "tuple[int, int, int]", metric: str, pseudo_inverse: str) -> Any:
        with torch.no_grad():
            out = self._forward(torch.zeros(1, *shape)).shape[1:]
            out_shape = _three(out if len(out) == 3 else (*out, 1, 1))
            linear = is_linear(self._forward, shape) if self._linear is None else self._linear
            svd = decomposed(self._forward, shape, out, self.spec) if linear else None
        if svd is not None:
            return _spnn.BoundOperator.of_python_svd(self.spec, shape, out_shape, self._forward, self._pinv, svd.Vt, svd.V, svd.Ut, svd.U, svd.S)
        complete = self._complete and (lambda x: tuple(self._complete(x)))
        return _spnn.BoundOperator.of_python(self.spec, shape, out_shape, self._forward, self._pinv, complete, self._invert, metric)


class _NetworkOperator(Operator):
    def __init__(self, net: Spnn) -> None:
        super().__init__("network", shape=net.in_shape)
        self._net = net

    def _bind(self, shape: "tuple[int, int, int]", metric: str, pseudo_inverse: str) -> Any:
        if tuple(shape) != tuple(self._net.in_shape):
            raise _spnn.Error(f"network: expected images of {self._net.in_shape}, got {shape}")
        return _spnn.BoundOperator.of_network(self._net._network, metric, pseudo_inverse)


def operator(what: Any, *, pinv: Optional[Callable[[Tensor], Tensor]] = None, linear: Optional[bool] = None,
             shape: Optional[Sequence[int]] = None, masks: Optional[Tensor] = None, name: Optional[str] = None) -> Operator:
    """An operator from its text, from a network, or from Python.

    In Python it is an object with ``forward`` (or ``A``) and ``pinv`` (or ``A_dagger``), or two functions; torch operations,
    so that gradients pass. With ``complete`` and ``invert`` it may be non-linear and NLBP is exact; without them what g does
    not see of x is x − g†(g(x)). Whether it is linear is tried out unless said.

    >>> flip_and_halve = operator(lambda x: 0.5 * x.flip(-1), pinv=lambda y: 2 * y.flip(-1), shape=(1, 4, 4))
    >>> flip_and_halve.linear, round(float(flip_and_halve.singular_values.max()), 6)
    (True, 0.5)
    """
    if isinstance(what, Operator):
        return what
    if isinstance(what, str):
        return Operator(what, shape=shape, masks=masks)
    if isinstance(what, Spnn):
        return _NetworkOperator(what)
    forward = getattr(what, "forward", None) or getattr(what, "A", None) or (what if callable(what) else None)
    inverse = pinv or getattr(what, "pinv", None) or getattr(what, "A_dagger", None)
    if forward is None or inverse is None:
        raise _spnn.UsageError(f"operator: expected a name, a network, or an object with forward and pinv, got {type(what).__name__}")
    return _PythonOperator(forward, inverse, complete=getattr(what, "complete", None), invert=getattr(what, "invert", None),
                           linear=getattr(what, "linear", None) if linear is None else linear,
                           shape=shape or getattr(what, "in_shape", None), name=name or str(getattr(what, "name", type(what).__name__)))


def catalogue() -> "list[tuple[str, str, str, str]]":
    """Name, parameters, what it does and its pseudo-inverse, of every operator that has a name."""
    return _spnn.operator_catalogue()


# ---------------------------------------------------------------------- by name


def super_resolution(factor: int = 4) -> Operator:
    """Means over factor×factor cells."""
    return Operator(f"sr:factor={factor}")


def bicubic(factor: int = 4, cut: float = 0.03) -> Operator:
    """Bicubic reduction. Singular values below ``cut`` of the largest are taken as zero, here and in the blurs."""
    return Operator(f"bicubic:factor={factor},cut={cut}")


def gaussian_blur(sigma: float = 1.5, cut: float = 0.03) -> Operator:
    return Operator(f"gauss:sigma={sigma},cut={cut}")


def uniform_blur(size: int = 5, cut: float = 0.03) -> Operator:
    return Operator(f"uniform:size={size},cut={cut}")


def anisotropic_blur(along: float = 3, across: float = 1, angle: float = 45, cut: float = 0.03) -> Operator:
    return Operator(f"aniso:along={along},across={across},angle={angle},cut={cut}")


def kernel_blur(file: str, cut: float = 0.03) -> Operator:
    """A blur with the kernel in a file: numbers in rows, or an image."""
    return Operator(f"kernel:file={file},cut={cut}")


def inpainting(mask: Tensor) -> Operator:
    """Keeps the pixels where the mask is true: [H, W], or one for each image of a batch, [B, 1, H, W]."""
    return Operator("mask", masks=(mask if mask.dim() == 4 else mask.reshape(1, 1, *mask.shape[-2:])).bool())


def box(x: Optional[int] = None, y: Optional[int] = None, width: Optional[int] = None, height: Optional[int] = None) -> Operator:
    """A box is missing; by default the middle half."""
    said = {"x": x, "y": y, "w": width, "h": height}
    text = ",".join(f"{key}={value}" for key, value in said.items() if value is not None)
    return Operator(f"box:{text}" if text else "box")


def random_pixels(keep: float = 0.5, seed: int = 0) -> Operator:
    """Single pixels are missing."""
    return Operator(f"random:keep={keep},seed={seed}")


def freeform(hole: float = 0.3, seed: int = 0) -> Operator:
    """Crooked strokes are missing."""
    return Operator(f"freeform:hole={hole},seed={seed}")


def grey() -> Operator:
    """Rec. 601 luma: what colourisation undoes."""
    return Operator("grey")


def compressed_sensing(keep: float = 0.25, seed: int = 0) -> Operator:
    """A share of shuffled Walsh–Hadamard coefficients."""
    return Operator(f"cs:keep={keep},seed={seed}")


def identity() -> Operator:
    """Nothing but the noise: denoising."""
    return Operator("denoise")


def gamma(g: float = 1 / 2.2) -> Operator:
    """The tone curve w^g; comes before linear stages."""
    return Operator(f"gamma:g={g}")


def srgb() -> Operator:
    """Light to sRGB values."""
    return Operator("srgb")


def light() -> Operator:
    """sRGB values to light."""
    return Operator("light")


def log_sensor(k: float = 50) -> Operator:
    """A logarithmic sensor."""
    return Operator(f"log:k={k}")


def companding(mu: float = 255) -> Operator:
    """μ-law companding."""
    return Operator(f"compand:mu={mu}")


def tone_curve(knots: "Sequence[tuple[float, float]]") -> Operator:
    """Straight lines between knots (in, out) in [0, 1]."""
    return Operator("curve:knots=" + ";".join(f"{a}/{b}" for a, b in knots))


def motion_blur(length: float = 9, angle: float = 30, cut: float = 0.03) -> Operator:
    """A camera that moved along a line."""
    return Operator(f"motion:length={length},angle={angle},cut={cut}")


def radon(angles: int = 12, cut: float = 0.03) -> Operator:
    """Tomography: sums along parallel rays from few directions."""
    return Operator(f"radon:angles={angles},cut={cut}")


def phase_retrieval(oversample: int = 2) -> Operator:
    """Magnitudes of the Fourier transform of the image on a larger black ground."""
    return Operator(f"phase:oversample={oversample}")


def high_dynamic_range(scale: float = 2) -> Operator:
    """Pixels times ``scale``, clipped."""
    return Operator(f"hdr:scale={scale}")


def jpeg(quality: int = 20) -> Operator:
    """Cosine coefficients of 8×8 cells rounded to steps, as JPEG does."""
    return Operator(f"jpeg:quality={quality}")


def model(file: str) -> Operator:
    """A trained network from a file, such as one fitted to a black box."""
    return Operator(f"model:{file}")


def _three(shape: Sequence[int]) -> "tuple[int, int, int]":
    if len(shape) != 3:
        raise _spnn.Error(f"shape: expected (channels, height, width), got {tuple(shape)}")
    return (int(shape[0]), int(shape[1]), int(shape[2]))


def _as_shape(shape: Optional[Sequence[int]]) -> "Optional[tuple[int, int, int]]":
    return None if shape is None else _three(shape)
