"""The judge of a model file as a torch module: a second opinion that took no part in anything it judges (src/spnn/networks/judge.h).

    judge = Judge.load("models/celebahq64-judge.safetensors")
    judge(x), judge.features(x)                    # x in [−1, 1]
    frechet(judge.features(a), judge.features(b))  # of two sets of pictures
"""

import json
import struct

import torch
import torch.nn.functional as F


class Judge:
    def __init__(self, tensors, architecture):
        self.w, self.c = {name: value.float() for name, value in tensors.items()}, architecture

    @classmethod
    def load(cls, file):
        with open(file, "rb") as raw:
            header = json.loads(raw.read(struct.unpack("<Q", raw.read(8))[0]))
            data = raw.read()
        kinds, metadata = {"F16": torch.float16, "F32": torch.float32}, header.pop("__metadata__")
        tensors = {name: torch.frombuffer(bytearray(data[slice(*entry["data_offsets"])]), dtype=kinds[entry["dtype"]]).reshape(entry["shape"])
                   for name, entry in header.items()}
        return cls(tensors, json.loads(metadata["architecture"]))

    def __call__(self, x):
        return F.linear(self.features(x), self.w["head.weight"], self.w["head.bias"])

    def features(self, x):
        return (self._look(x) + self._look(x.flip(3))) / 2 if self.c["mirror"] else self._look(x)

    def _conv(self, x, name, **options):
        return F.conv2d(x, self.w[name + ".weight"], self.w[name + ".bias"], **options)

    def _norm(self, x, name):
        return F.silu(F.group_norm(x, min(self.c["norm_groups"], x.size(1)), self.w[name + ".weight"], self.w[name + ".bias"]))

    def _look(self, x):
        h = self._conv(F.pixel_unshuffle(x, 2), "stem", padding=1)
        for level, count in enumerate(self.c["blocks"]):
            for b in range(count):
                name, stride = f"level.{level}.block.{b}.", 2 if level > 0 and b == 0 else 1
                inner = self._conv(self._norm(h, name + "norm1"), name + "conv1", padding=1, stride=stride)
                past = h if stride == 1 else F.avg_pool2d(h, stride)
                past = self._conv(past, name + "skip") if name + "skip.weight" in self.w else past
                h = past + self._conv(self._norm(inner, name + "norm2"), name + "conv2", padding=1)
        flat = F.silu(self._conv(self._norm(h, "norm_out"), "squeeze")).flatten(1)
        return F.silu(F.linear(flat, self.w["embed.weight"], self.w["embed.bias"]))


def frechet(a, b):
    """The Fréchet distance of two sets of features as Gaussians, [N, F] and [M, F]."""
    a, b = a.double(), b.double()
    values, vectors = torch.linalg.eigh(torch.cov(a.T))
    root = vectors * values.clamp(min=0).sqrt() @ vectors.T
    between = torch.linalg.eigvalsh(root @ torch.cov(b.T) @ root).clamp(min=0).sqrt().sum()
    return float((a.mean(0) - b.mean(0)).square().sum() + a.var(0).sum() + b.var(0).sum() - 2 * between)
