"""Images in and out of files, as tensors."""

from __future__ import annotations

import os
from typing import Optional, Sequence, Union

from torch import Tensor

from . import _spnn

Path = Union[str, "os.PathLike[str]"]


def read_image(file: Path, *, size: int = 0, channels: int = 0) -> Tensor:
    """PNG, JPEG or WebP as bytes [C, H, W]; with ``size`` the centre square in that size, with ``channels`` 1 grey or 3 RGB."""
    image = _spnn.read_image(os.fspath(file))
    if channels:
        image = _spnn.as_grey(image) if channels == 1 else _spnn.as_rgb(image)
    return _spnn.fit(image, size) if size else image


def write_image(file: Path, image: Tensor) -> None:
    """Bytes, or floats in [−1, 1], [C, H, W]; the ending chooses PNG, WebP or JPEG."""
    _spnn.write_image(os.fspath(file), image if not image.is_floating_point() else to_bytes(image))


def to_unit(image: Tensor) -> Tensor:
    """Bytes to [−1, 1]."""
    return _spnn.to_unit(image)


def to_bytes(x: Tensor) -> Tensor:
    """[−1, 1] to bytes, by clamp and rounding: what a file holds.

    >>> import torch
    >>> to_bytes(torch.tensor([-2.0, -1.0, 0.0, 1.0]))
    tensor([  0,   0, 128, 255], dtype=torch.uint8)
    """
    return _spnn.to_bytes(x)


def grid(images: Tensor, *, columns: int = 0, scale: int = 1, captions: Sequence[str] = (), row_labels: Sequence[str] = (),
         column_labels: Sequence[str] = (), file: Optional[Path] = None) -> Tensor:
    """A contact sheet of [N, C, H, W], written to a file if one is named."""
    sheet = _spnn.grid(images, columns, scale, list(captions), list(row_labels), list(column_labels))
    if file is not None:
        write_image(file, sheet)
    return sheet
