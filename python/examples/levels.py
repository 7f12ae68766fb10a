"""Every level of a trained SPNN is an autoencoder: g cut after level l is an encoder, its pseudo-inverse the decoder (docs/latent.md).

    /usr/bin/python3 python/examples/levels.py celebahq64.tar [--images 64] [--models models] [--sheet FILE.png]

Nothing is trained. Pictures of the sheet are faces that the prior draws.
"""

import argparse

import spnn
import torch

from judge import Judge, frechet
from latent import psnr, rms


def cut(net, blocks):
    """The first blocks of a network, with its weights: E = forward, D = pinv."""
    config = net.config
    first = spnn.Spnn({"name": config["name"], "input": config["input"], "blocks": config["blocks"][:blocks]})
    weights = net.state_dict()
    first.load_state_dict({name: weights[name] for name in first.state_dict()})
    return first.requires_grad_(False)


def levels_of(net):
    """After each surjection."""
    kinds = [block["kind"] for block in net.config["blocks"]]
    return [cut(net, number + 1) for number, kind in enumerate(kinds) if kind == "surjection"]


@torch.no_grad()
def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("data")
    ask.add_argument("--images", type=int, default=64)
    ask.add_argument("--models", default="models")
    ask.add_argument("--sheet")
    wish = ask.parse_args()
    net, judge = spnn.load(f"{wish.models}/celebahq64-classifier.safetensors"), Judge.load(f"{wish.models}/celebahq64-judge.safetensors")
    x = spnn.to_unit(spnn.load_data(wish.data, split="val", size=64, limit=wish.images).images)
    seen, features, encoders = judge(x) > 0, judge.features(x), levels_of(net)
    noise = torch.Generator().manual_seed(5)
    for E in encoders:
        z = E(x)
        x_hat = E.pinv(z)
        other = z + z.std() * torch.randn(z.shape, generator=noise)
        again = z
        for _ in range(20):
            again = E(E.pinv(again))
        print(f"{'×'.join(map(str, E.out_shape)):>9s} {z[0].numel():5d} numbers: PSNR {psnr(x_hat.clamp(-1, 1), x):5.2f} dB, judge says the same "
              f"{100 * float(((judge(x_hat) > 0) == seen).float().mean()):4.1f} %, Fréchet {frechet(judge.features(x_hat), features):6.1f}, "
              f"E(D(z)) − z: {rms(E(E.pinv(z)) - z) / rms(z):.1e}, with noise of z's size {rms(E(E.pinv(other)) - other) / rms(other):.1e}, "
              f"20 cycles {rms(again - z) / rms(z):.1e}", flush=True)
    if wish.sheet:
        faces = spnn.sample(spnn.load_prior(f"{wish.models}/celebahq64-prior.safetensors").unled(), 8, steps=50, seed=0)
        rows = [faces, *(E.pinv(E(faces)).clamp(-1, 1) for E in encoders)]
        labels = ["face", *("x".join(map(str, E.out_shape)) for E in encoders)]
        spnn.grid(torch.cat(rows), columns=8, row_labels=labels, scale=1, file=wish.sheet)


if __name__ == "__main__":
    main()
