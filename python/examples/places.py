"""Where in a picture attributes live: the maps in a classifier's file, side by side.

    PYTHONPATH=build/release/python /usr/bin/python3 python/examples/places.py models/celebahq64-classifier.safetensors places.png Eyeglasses Bangs
"""

import sys

import torch

import spnn

model, out, *attributes = sys.argv[1:]
net = spnn.load(model)
maps = torch.stack([net.places[net.attributes.index(name)] for name in attributes or net.attributes])
maps = maps / maps.amax((1, 2), keepdim=True)
large = torch.nn.functional.interpolate(maps[:, None], scale_factor=3, mode="nearest")
framed = torch.nn.functional.pad(large, (1, 1, 1, 1), value=1.0)
across = min(12, len(framed))
rows = torch.nn.functional.pad(framed, (0, 0, 0, 0, 0, 0, 0, -len(framed) % across), value=1.0).split(across)
sheet = torch.cat([torch.cat(list(row), dim=2) for row in rows], dim=1)
spnn.write_image(out, (sheet * 255).round().to(torch.uint8).expand(3, -1, -1).contiguous())
