"""Detection backwards: canvases with these objects at these places, by NLBP towards a heat map and boxes (docs/detection.md).

    /usr/bin/python3 python/examples/detection.py CANVASES DETECTOR.safetensors PRIOR.safetensors [--scenes 32] [--sheet FILE.png]

CANVASES is of scripts/make-canvases, DETECTOR of configs/detector-canvases.toml, PRIOR of configs/prior-canvases.toml. What comes out is
looked at by a second detector, a plain CNN that is trained here and shares nothing with the first.
"""

import argparse

import spnn
import torch
from torch import nn

KINDS, CELLS, CELL = ("Trouser", "Sneaker", "Bag", "T-shirt"), 4, 16
COLOURS = torch.tensor([[80, 200, 255], [255, 160, 60], [120, 230, 110], [255, 110, 190]], dtype=torch.uint8)


class SecondDetector(nn.Sequential):
    """64×64 pixels to [B, 112] logits, in the order of labels.csv: 7 channels of 4×4 cells."""

    def __init__(self, width=24):
        layers, before = [], 1
        for channels in (width, 2 * width, 4 * width, 4 * width):
            layers += [nn.Conv2d(before, channels, 3, stride=2, padding=1), nn.GroupNorm(8, channels), nn.SiLU(),
                       nn.Conv2d(channels, channels, 3, padding=1), nn.GroupNorm(8, channels), nn.SiLU()]
            before = channels
        super().__init__(*layers, nn.Conv2d(before, len(KINDS) + 3, 3, padding=1), nn.Flatten())


def train_second(data, steps, batch=64, lr=2e-3):
    torch.manual_seed(1)
    detector, batches = SecondDetector(), spnn.Batches(data, batch, seed=7, flip=False)
    optimizer = torch.optim.AdamW(detector.parameters(), lr=lr, weight_decay=0.02)
    for step, (x, labels) in enumerate(batches.first(steps)):
        optimizer.param_groups[0]["lr"] = spnn.learning_rate(step, lr=lr, steps=steps, batch=batch, warmup=50, decay="cosine", decay_from=0.2)
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(detector(x), labels).backward()
        optimizer.step()
    return detector.eval().requires_grad_(False)


def objects(outputs):
    """Outputs or labels [112], on above 0, as {(kind, row, column): (top, left, size)}: a box is as exact as its three bits."""
    on = outputs.view(-1, CELLS, CELLS) > 0
    found = {}
    for kind, row, column in on[:len(KINDS)].nonzero().tolist():
        low, right, large = on[len(KINDS):, row, column].tolist()
        size = 20.5 if large else 17
        found[kind, row, column] = (CELL * row + (12 if low else 4) - size / 2, CELL * column + (12 if right else 4) - size / 2, size)
    return found


def iou(a, b):
    (ta, la, sa), (tb, lb, sb) = a, b
    both = max(0, min(ta + sa, tb + sb) - max(ta, tb)) * max(0, min(la + sa, lb + sb) - max(la, lb))
    return both / (sa * sa + sb * sb - both)


def compared(wanted, outputs):
    """Share of wanted objects that are found, found ones that nobody wanted per canvas, share of canvases all right, IoU of found boxes."""
    hits, total, false, right, overlaps = 0, 0, 0, 0, []
    for wish, said in zip(wanted, map(objects, outputs)):
        common = wish.keys() & said.keys()
        hits, total, false, right = hits + len(common), total + len(wish), false + len(said) - len(common), right + (wish.keys() == said.keys())
        overlaps += [iou(wish[o], said[o]) for o in common]
    return hits / max(total, 1), false / len(wanted), right / len(wanted), sum(overlaps) / max(len(overlaps), 1)


class Expectation:
    """The output to expect of g where a label is on or off, in a cell that has an object or none: means over training canvases."""

    def __init__(self, net, data):
        with torch.no_grad():
            y = torch.cat([net(spnn.to_unit(part)) for part in data.images.split(250)])
        taken = self._taken(data.labels)
        self.table = torch.zeros(2, 2, y.size(1))
        for label in (0, 1):
            for busy in (0, 1):
                chosen = ((data.labels > 0.5) == label) & (taken == busy)
                self.table[label, busy] = (y * chosen).sum(0) / chosen.sum(0).clamp(min=1)

    @staticmethod
    def _taken(labels):
        return (labels.view(-1, len(KINDS) + 3, CELLS * CELLS)[:, :len(KINDS)] > 0.5).any(1).repeat(1, len(KINDS) + 3)

    def __call__(self, labels):
        """y of canvases with these labels, [B, 112]."""
        columns = torch.arange(labels.size(1))
        return self.table[(labels > 0.5).long(), self._taken(labels).long(), columns]


def cell_of(place, channels=len(KINDS) + 3):
    """The outputs that speak of a cell."""
    return [channel * CELLS * CELLS + place for channel in range(channels)]


def moves(labels, seed):
    """An object of each canvas goes to a cell that is free, and so are its neighbours: labels after, (from, to)."""
    generator = torch.Generator().manual_seed(seed)
    after, places = labels.clone(), []
    for i, row in enumerate(labels):
        busy = [divmod(place, CELLS) for kind, place in (row.view(-1, CELLS * CELLS)[:len(KINDS)] > 0.5).nonzero().tolist()]
        home = busy[int(torch.randint(len(busy), (1,), generator=generator))]
        rest = [place for place in busy if place != home]
        free = [(r, c) for r in range(CELLS) for c in range(CELLS) if all(max(abs(r - a), abs(c - b)) > 1 for a, b in [*rest, home])]
        if not free:
            places.append(None)
            continue
        goal = free[int(torch.randint(len(free), (1,), generator=generator))]
        old, new = home[0] * CELLS + home[1], goal[0] * CELLS + goal[1]
        after[i, cell_of(new)], after[i, cell_of(old)] = row[cell_of(old)], 0
        places.append((old, new))
    return after, places


def redrawn(net, prior, canvas, y, cells, names, options):
    """One canvas with the outputs of these cells at y; all others keep what g says of the canvas."""
    wish = {names[n]: float(torch.sigmoid(y[n].clamp(-12, 12).double())) for cell in cells for n in cell_of(cell)}
    return spnn.edit(canvas[None], net, prior, set=wish, redraw=True, schedule="constant", **options).images[0]


def with_boxes(image, outputs, scale=2):
    """RGB, enlarged, with the boxes that a detector gave."""
    picture = image.repeat(3, 1, 1).repeat_interleave(scale, 1).repeat_interleave(scale, 2)
    limit = picture.size(1) - 1
    for (kind, _, _), (top, left, size) in objects(outputs).items():
        t, l, b, r = (min(max(round(scale * v), 0), limit) for v in (top, left, top + size, left + size))
        colour = COLOURS[kind][:, None]
        picture[:, t, l:r], picture[:, b, l:r], picture[:, t:b, l], picture[:, t:b, r] = colour, colour, colour, colour
    return picture


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("canvases"), ask.add_argument("detector"), ask.add_argument("prior")
    ask.add_argument("--scenes", type=int, default=32)
    ask.add_argument("--steps", type=int, default=50)
    ask.add_argument("--redraw-from", type=int, default=700, help="moved and removed: the canvas is noised to this t")
    ask.add_argument("--free-below", type=int, default=300, help="from this t on the prior draws alone: held to g's outputs to the end, it leaves grain")
    ask.add_argument("--second-steps", type=int, default=800)
    ask.add_argument("--metric", default="plain")
    ask.add_argument("--sheet")
    wish = ask.parse_args()
    train, val = (spnn.load_data(wish.canvases, split=split, size=64, channels=1) for split in ("train", "val"))
    net, prior = spnn.load(wish.detector), spnn.load_prior(wish.prior)
    second = train_second(train, wish.second_steps)
    look = lambda images: second(spnn.to_unit(images))
    with torch.no_grad():
        expected = Expectation(net, spnn.Dataset(train.images[:4000], train.labels[:4000], train.names))
        report(net, prior, second, look, expected, val, wish)


def report(net, prior, second, look, expected, val, wish):
    def row(what, wanted, images):
        mine, other = compared(wanted, net(spnn.to_unit(images))), compared(wanted, look(images))
        print(f"{what:34s} g {100 * mine[0]:5.1f} %, second {100 * other[0]:5.1f} %, unwanted {other[1]:.2f}, all right {100 * other[2]:5.1f} %, "
              f"IoU {other[3]:.2f}", flush=True)

    truth = lambda labels: [objects(one - 0.5) for one in labels]
    row(f"{len(val)} validation canvases", truth(val.labels), val.images)
    count = wish.scenes
    scenes, labels = val.images[:count], val.labels[:count]
    options = dict(steps=wish.steps, metric=wish.metric, window_to=wish.free_below, final_projections=0)
    row("real canvases of the scenes", truth(labels), scenes)
    row("unguided canvases", truth(labels), spnn.to_bytes(spnn.sample(prior, count, steps=wish.steps, seed=1)))
    placed = spnn.reconstruct(expected(labels), net, prior, window_from=1000, seed=1, **options).images
    row("placed: from the wish alone", truth(labels), placed)
    again = spnn.reconstruct(net(spnn.to_unit(scenes)), net, prior, window_from=1000, seed=1, **options).images
    row("drawn from g's outputs of a canvas", truth(labels), again)

    after, places = moves(labels, seed=3)
    kept = [i for i, place in enumerate(places) if place]
    options |= dict(window_from=wish.redraw_from)
    y = expected(after)
    moved = torch.stack([redrawn(net, prior, scenes[i], y[i], places[i], net.attributes, options) for i in kept])
    row("moved: all objects, after", truth(after[kept]), moved)
    without = labels.clone()
    for i in kept:
        without[i, cell_of(places[i][0])] = 0
    y = expected(without)
    removed = torch.stack([redrawn(net, prior, scenes[i], y[i], places[i][:1], net.attributes, options) for i in kept])
    row("removed: the objects that are left", truth(without[kept]), removed)
    kinds_on = lambda outputs: outputs.view(len(kept), -1, CELLS * CELLS)[:, :len(KINDS)] > 0
    was = kinds_on(labels[kept] - 0.5)
    for what, images in (("moved", moved), ("removed", removed)):
        gone = sum(not seen[:, places[i][0]].any() for seen, i in zip(kinds_on(look(images)), kept))
        print(f"{what}: gone from the old place {gone} of {len(kept)}")
    there = sum(bool((seen[:, places[i][1]] & kind[:, places[i][0]]).any()) for seen, kind, i in zip(kinds_on(look(moved)), was, kept))
    print(f"moved: of its kind at the new place {there} of {len(kept)}")
    if wish.sheet:
        shown = kept[:6]
        columns = [scenes[shown], placed[shown], moved[:6], removed[:6]]
        boxed = [torch.stack([with_boxes(image, outputs) for image, outputs in zip(images, look(images))]) for images in columns]
        spnn.grid(torch.stack(boxed, 1).flatten(0, 1), columns=4, column_labels=["canvas", "its objects, placed", "one moved", "that one removed"],
                  file=wish.sheet)


if __name__ == "__main__":
    main()
