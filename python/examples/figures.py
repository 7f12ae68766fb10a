"""The paper's Figures 2, 4 and 5 with faces that do not exist: the first ones that the prior draws, none chosen (docs/paper_figures.md).

    /usr/bin/python3 python/examples/figures.py FOLDER [--faces 6] [--models models] [--steps 100]
"""

import argparse
from pathlib import Path

import spnn
import torch

SIDE, SCALE = 64, 2
SINGLE = ("Smiling", "Eyeglasses", "Blond_Hair", "Bangs", "Male", "Young", "Mustache", "Bald")


def values_picture(y, columns=8):
    """40 outputs as a picture of the faces' size: row by row in CelebA's order, blue for no, white for 1/2, orange for yes."""
    p = torch.sigmoid(y).view(-1, columns, 1)
    blue, white, orange = (torch.tensor(colour, dtype=torch.float32) for colour in ((40, 90, 200), (255, 255, 255), (240, 130, 20)))
    colours = torch.where(p < 0.5, torch.lerp(blue, white, (2 * p).clamp(0, 1)), torch.lerp(white, orange, (2 * p - 1).clamp(0, 1)))
    side = SIDE * SCALE
    rows = torch.arange(side) * colours.size(0) // side
    across = torch.arange(side) * columns // side
    return colours[rows][:, across].permute(2, 0, 1).round().to(torch.uint8)


def enlarged(faces):
    return faces.repeat_interleave(SCALE, 2).repeat_interleave(SCALE, 3)


def reconstructions(faces, net, prior, options):
    """Figure 2: a face, its 40 values, faces drawn from these values alone, and the values of the first of them."""
    y = net(spnn.to_unit(faces))
    drawn = [spnn.reconstruct(y, net, prior, **{**options, "seed": seed}) for seed in (100, 200)]
    table = lambda values: torch.stack([values_picture(row) for row in values])
    agree = (torch.sign(drawn[0].y) == torch.sign(y)).float().mean()
    print(f"Figure 2: {100 * agree:.2f} % of the values of {len(faces)} faces on the right side, mean |Δp| "
          f"{(torch.sigmoid(drawn[0].y) - torch.sigmoid(y)).abs().mean():.4f}")
    columns = [enlarged(faces), table(y), enlarged(drawn[0].images), table(drawn[0].y), enlarged(drawn[1].images)]
    return torch.stack(columns, 1).flatten(0, 1), ["face", "its 40 values", "drawn from them", "values of that", "another seed"]


def single_edits(faces, net, prior):
    """Figure 4: every edit of every face, those that fail among them."""
    columns = [faces]
    for name in SINGLE:
        now = net(spnn.to_unit(faces))[:, net.attributes.index(name)] > 0
        made = faces.clone()   # what a face has is taken away
        for present in (True, False):
            if (now != present).any():
                made[now != present] = spnn.edit(faces[now != present], net, prior, **{"set" if present else "unset": name}).images
        columns.append(made)
    return enlarged(torch.stack(columns, 1).flatten(0, 1)), ["face", *(name.replace("_", " ") for name in SINGLE)]


def several(count, net, prior, options):
    """Figure 5: Male + Eyeglasses + Smiling from noise, beside the same seeds without guidance."""
    plain = spnn.to_bytes(spnn.sample(prior, count, steps=options["steps"], seed=1))
    made = spnn.edit(None, net, prior, set=["Male", "Eyeglasses", "Smiling"], samples=count, seed=1, **{k: v for k, v in options.items() if k != "seed"})
    wanted = [net.attributes.index(name) for name in ("Male", "Eyeglasses", "Smiling")]
    print(f"Figure 5: g agrees with {100 * (made.y[:, wanted] > 0).float().mean():.1f} % of the wishes of {count} faces")
    return enlarged(torch.cat([plain, made.images])), ["the same seeds, unguided", "Male + Eyeglasses + Smiling"]


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("folder", type=Path)
    ask.add_argument("--faces", type=int, default=6)
    ask.add_argument("--models", default="models")
    ask.add_argument("--steps", type=int, default=100)
    wish = ask.parse_args()
    wish.folder.mkdir(parents=True, exist_ok=True)
    net, prior = spnn.load(f"{wish.models}/celebahq64-classifier.safetensors"), spnn.load_prior(f"{wish.models}/celebahq64-prior.safetensors").unled()
    with torch.no_grad():
        faces = spnn.to_bytes(spnn.sample(prior, wish.faces, steps=wish.steps, seed=0))
        images, labels = reconstructions(faces, net, prior, {**spnn.paper(0), "steps": wish.steps})
        spnn.grid(images, columns=len(labels), column_labels=labels, file=wish.folder / "figure-2.png")
        images, labels = single_edits(faces, net, prior)
        spnn.grid(images, columns=len(labels), column_labels=labels, file=wish.folder / "figure-4.png")
        images, labels = several(wish.faces, net, prior, {"steps": wish.steps})
        spnn.grid(images, columns=wish.faces, row_labels=labels, file=wish.folder / "figure-5.png")


if __name__ == "__main__":
    main()
