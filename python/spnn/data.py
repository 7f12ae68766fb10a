"""Data sets and the batches of a training, as the trainer has them."""

from __future__ import annotations

import json
import os
from typing import Any, Iterator, Optional, Sequence, Union

import torch
from torch import Tensor

from . import _spnn


class Dataset:
    """Images as bytes [N, C, H, W] with their labels: [N, A] attributes or [N] classes."""

    def __init__(self, images: Tensor, labels: Optional[Tensor] = None, names: Sequence[str] = ()) -> None:
        if images.dtype != torch.uint8 or images.dim() != 4:
            raise _spnn.Error(f"Dataset: expected bytes [N, C, H, W], got {images.dtype} {list(images.shape)}")
        if labels is not None and len(labels) != len(images):
            raise _spnn.Error(f"Dataset: expected {len(images)} labels, got {len(labels)}")
        self._data = _spnn.tensor_data(images.contiguous(), labels, list(names))

    @classmethod
    def _of(cls, data: Any) -> "Dataset":
        made = cls.__new__(cls)
        made._data = data
        return made

    @property
    def images(self) -> Tensor:
        return self._data.images

    @property
    def labels(self) -> Optional[Tensor]:
        return self._data.labels

    @property
    def names(self) -> "list[str]":
        return self._data.attributes

    @property
    def task(self) -> str:
        """attributes or classes."""
        return self._data.task

    def __len__(self) -> int:
        return len(self._data)


def load_data(path: Union[str, "os.PathLike[str]"], *, split: str = "train", size: int = 0, channels: int = 0, limit: int = 0) -> Dataset:
    """CelebA(-HQ) as a tar or folder, "fashion-mnist" (Debian's package), or a folder of images with a CSV.

    >>> data = load_data("fashion-mnist", split="test", size=32, limit=10)
    >>> data.images.shape, data.task, data.names[9]
    (torch.Size([10, 1, 32, 32]), 'classes', 'Ankle boot')
    """
    return Dataset._of(_spnn.load_data(os.fspath(path), split, size, channels, limit))


class Batches:
    """The batches of a training run: batch k is a function of (seed, k), and the next one is prepared in a thread."""

    def __init__(self, data: Dataset, batch: int = 64, *, seed: int = 556, flip: bool = True, shift: int = 0, cutout: int = 0) -> None:
        self._batches = _spnn.Batches(data._data, batch, seed, flip, shift, cutout)

    def __getitem__(self, step: int) -> "tuple[Tensor, Optional[Tensor]]":
        return self._batches.get(step)

    def first(self, steps: int) -> "Iterator[tuple[Tensor, Optional[Tensor]]]":
        """Batches 0 … steps − 1."""
        return (self[step] for step in range(steps))

    @property
    def steps_per_epoch(self) -> int:
        return self._batches.steps_per_epoch


def learning_rate(step: int, **train: Any) -> float:
    """The rate of a step as the trainer has it: warm-up, plateau, decay. Keywords as in a configuration's [train].

    >>> learning_rate(0, lr=1e-3, warmup=10), learning_rate(50, lr=1e-3, warmup=10)
    (0.0001, 0.001)
    """
    return _spnn.learning_rate(json.dumps(train), step)
