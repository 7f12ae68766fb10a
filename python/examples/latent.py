"""An SPNN in the place of a latent diffusion's VAE: E = g, D = g†, so that E(D(z)) = z by construction (docs/latent.md).

    /usr/bin/python3 python/examples/latent.py DATA [--seconds 150] [--prior-seconds 120] [--images 64] [--keep FOLDER] [--sheet FILE.png]

DATA is celebahq64.tar, 64×64×3 to 8×8×12, or fashion-mnist, 32×32×1 to 8×8×4.
Beside it a plain convolutional VAE with as many weights: both are trained for as many seconds of processor time on the same batches, then a
diffusion prior on the latents of each. Faces of the sheet are generated ones.
"""

import argparse
import math
import time
from pathlib import Path

import spnn
import torch
import torch.nn.functional as F
from torch import nn

from judge import Judge, frechet

SIDE = 8   # of a latent


class Faces:   # widths: of the SPNN and of the VAE, for as many weights
    """64×64×3 → 16×16×24 → 8×8×12."""
    family, size, channels, first, middle, latent, pool, widths = "celebahq64", 64, 3, 4, 24, 12, 4, (32, 32)


class Clothes:
    """32×32×1 → 16×16×3 → 8×8×4."""
    family, size, channels, first, middle, latent, pool, widths = "fashion", 32, 1, 2, 3, 4, 4, (32, 24)


def spnn_autoencoder(of=Faces):
    level, width = dict(scale_bound=0.5, norm=True), of.widths[0]
    return spnn.Spnn({"input": [of.channels, of.size, of.size], "blocks": [
        {"kind": "lapped", "factor": of.first, "colour": of.channels == 3}, spnn.surjection(out=of.middle, hidden=width, **level),
        {"kind": "lapped", "factor": 2}, spnn.surjection(out=of.latent, hidden=2 * width, **level)]})


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.inner = nn.Sequential(nn.GroupNorm(8, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1),
                                   nn.GroupNorm(8, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1))

    def forward(self, x):
        return x + self.inner(x)


class Vae(nn.Module):
    """The usual: an encoder to mean and log-variance, a decoder of its own."""

    def __init__(self, of=Faces):
        super().__init__()
        width, cell = of.widths[1], of.channels * of.first ** 2
        wide = 2 * width
        self.latent = of.latent
        self.encoder = nn.Sequential(nn.PixelUnshuffle(of.first), nn.Conv2d(cell, width, 3, padding=1), Residual(width),
                                     nn.Conv2d(width, wide, 3, 2, 1), Residual(wide), nn.Conv2d(wide, 2 * of.latent, 3, padding=1))
        self.decoder = nn.Sequential(nn.Conv2d(of.latent, wide, 3, padding=1), Residual(wide), nn.Upsample(scale_factor=2),
                                     nn.Conv2d(wide, width, 3, padding=1), Residual(width), Residual(width), nn.Conv2d(width, cell, 3, padding=1),
                                     nn.PixelShuffle(of.first))

    def forward(self, x):
        return self.encoder(x)[:, :self.latent]

    def pinv(self, z):
        return self.decoder(z)

    def losses(self, x):
        """x̂ of a drawn z, and LDM's light KL term."""
        mean, log_var = self.encoder(x).chunk(2, 1)
        log_var = log_var.clamp(-20, 10)
        kl = 0.5 * (mean.square() + log_var.exp() - 1 - log_var).sum((1, 2, 3)).mean()
        return self.decoder(mean + (0.5 * log_var).exp() * torch.randn_like(mean)), 1e-6 * kl


class Average:
    """Of weights, as the trainer has it."""

    def __init__(self, net, rate=0.99):
        self.net, self.rate, self.values = net, rate, [p.detach().clone() for p in net.parameters()]

    def update(self):
        for mean, p in zip(self.values, self.net.parameters()):
            mean.lerp_(p.detach(), 1 - self.rate)

    def put(self):
        with torch.no_grad():
            for mean, p in zip(self.values, self.net.parameters()):
                p.copy_(mean)


def run_for(seconds, net, lr, loss_of):
    """Steps of Adam on loss_of(step), for so many seconds of processor time: warm-up, then a cosine to zero. Says how many steps that were."""
    optimizer, average = torch.optim.Adam(net.parameters(), lr=lr), Average(net)
    start, step, part = time.process_time(), 0, 0.0
    while part < 1:
        part = (time.process_time() - start) / seconds
        optimizer.param_groups[0]["lr"] = lr * min(1, (step + 1) / 50) * (0.5 + 0.5 * math.cos(math.pi * min(part, 1)))
        optimizer.zero_grad()
        loss_of(step).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        average.update()
        step += 1
    average.put()
    net.requires_grad_(False)
    return step


def train_autoencoder(net, data, seconds, teacher, batch=32):
    """‖x − D(E(x))‖² and, on every fourth image, the outputs of a network that knows faces: not the judge, which measures."""
    batches = spnn.Batches(data, batch)

    def loss_of(step):
        x, _ = batches[step]
        if isinstance(net, Vae):
            x_hat, extra = net.losses(x)
        else:
            with net.step():
                x_hat, extra = net.pinv(net(x)), 0.0
        with torch.no_grad():
            seen = teacher(x[::4])
        return (x - x_hat).square().mean() + 1e-3 * (seen - teacher(x_hat[::4])).square().mean() + extra

    return run_for(seconds, net, 2e-3, loss_of)


class LatentDenoiser(nn.Module):
    """v of latents of mean 0 and deviation 1 at time t."""

    def __init__(self, channels, width=64, blocks=3):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(32, width), nn.SiLU(), nn.Linear(width, width * blocks))
        self.enter, self.leave = nn.Conv2d(channels + 2, width, 3, padding=1), nn.Conv2d(width, channels, 3, padding=1)
        self.blocks = nn.ModuleList(Residual(width) for _ in range(blocks))
        self.mix = nn.ModuleList(nn.Linear(SIDE * SIDE, SIDE * SIDE) for _ in range(blocks))   # places see each other
        line = torch.linspace(-1, 1, SIDE)
        self.register_buffer("place", torch.stack(torch.meshgrid(line, line, indexing="ij"))[None])

    def forward(self, z, t):
        angles = t[:, None].float() / 1000 * torch.exp(torch.linspace(0, 6, 16))[None]
        times = self.time(torch.cat([angles.sin(), angles.cos()], 1)).chunk(len(self.blocks), 1)
        h = self.enter(torch.cat([z, self.place.expand(len(z), -1, -1, -1)], 1))
        for block, mix, shift in zip(self.blocks, self.mix, times):
            h = block(h + shift[:, :, None, None])
            h = h + mix(h.flatten(2)).view_as(h)
        return self.leave(h)


class LatentPrior:
    """Diffusion on the latents of an autoencoder: DDPM's schedule, v-prediction."""

    def __init__(self, autoencoder, data, seconds, batch=64):
        torch.manual_seed(2)
        self.alpha_bar = torch.cumprod(1 - torch.linspace(1e-4, 2e-2, 1000), 0)
        with torch.no_grad():
            z = torch.cat([autoencoder(spnn.to_unit(part)) for part in data.images[:20000].split(250)])
        self.mean, self.deviation = z.mean((0, 2, 3))[None, :, None, None], z.std((0, 2, 3))[None, :, None, None]
        z = (z - self.mean) / self.deviation
        self.shape, self.net = tuple(z.shape[1:]), LatentDenoiser(z.size(1))
        generator = torch.Generator().manual_seed(3)

        def loss_of(_):
            z0 = z[torch.randint(len(z), (batch,), generator=generator)]
            t = torch.randint(1000, (batch,), generator=generator)
            noise, a = torch.randn(z0.shape, generator=generator), self.alpha_bar[t].view(-1, 1, 1, 1)
            wanted = a.sqrt() * noise - (1 - a).sqrt() * z0
            return (self.net(a.sqrt() * z0 + (1 - a).sqrt() * noise, t) - wanted).square().mean()

        self.steps = run_for(seconds, self.net, 2e-3, loss_of)

    @torch.no_grad()
    def sample(self, count, steps=50, seed=0, correct=lambda z: z):
        """Latents, DDIM with η = 1; `correct` takes the place of ẑ0 at every step."""
        generator = torch.Generator().manual_seed(seed)
        z = torch.randn(count, *self.shape, generator=generator)
        times = torch.linspace(999, 0, steps).round().long().tolist()
        for t, after in zip(times, [*times[1:], -1]):
            a, b = float(self.alpha_bar[t]), float(self.alpha_bar[after]) if after >= 0 else 1.0
            v = self.net(z, torch.full((count,), t))
            z0 = (a ** 0.5 * z - (1 - a) ** 0.5 * v).clamp(-4, 4)
            z0 = (correct(z0 * self.deviation + self.mean) - self.mean) / self.deviation
            eps = (z - a ** 0.5 * z0) / (1 - a) ** 0.5
            sigma = ((1 - b) / (1 - a) * (1 - a / b)) ** 0.5
            z = b ** 0.5 * z0 + max(1 - b - sigma ** 2, 0) ** 0.5 * eps + sigma * torch.randn(z.shape, generator=generator)
        return z * self.deviation + self.mean


def psnr(a, b):
    return float((10 * torch.log10(4 / (a - b).square().flatten(1).mean(1))).mean())


def rms(z):
    return float(z.square().mean().sqrt())


@torch.no_grad()
def report(name, E, prior, x, judge, real, pool):
    """The table of docs/latent.md, for one autoencoder."""
    D, z = E.pinv, E(x)
    noise = torch.randn(z.shape, generator=torch.Generator().manual_seed(5))
    latents = prior.sample(len(x), seed=1)
    cycle = lambda z: rms(E(D(z)) - z) / rms(z - z.mean((0, 2, 3), keepdim=True))
    say = lambda what, value: print(f"{name:5s} {what:58s} {value}", flush=True)
    say("PSNR of D(E(x))", f"{psnr(D(z), x):.2f} dB")
    say("Fréchet of D(E(x)), judge's features", f"{frechet(judge.features(D(z)), real):.1f}")
    same = (judge(x).argmax(1) == judge(D(z)).argmax(1)) if x.size(1) == 1 else ((judge(x) > 0) == (judge(D(z)) > 0))
    say("judge says the same of x and D(E(x))", f"{100 * float(same.float().mean()):.1f} %")
    say("‖E(D(z)) − z‖/‖z‖, z of pictures", f"{cycle(z):.1e}")
    say("… z + 0.5 σ noise", f"{cycle(z + 0.5 * z.std() * noise):.1e}")
    say("… z drawn by the latent prior", f"{cycle(latents):.1e}")
    again = z
    for _ in range(20):
        again = E(D(again))
    say("D(E(·)) twenty times more: PSNR to D(E(x))", f"{psnr(D(again), D(z)):.1f} dB")
    say("Fréchet of drawn pictures", f"{frechet(judge.features(D(latents)), real):.1f}")
    idle = prior.sample(len(x), seed=1, correct=lambda z: E(D(z)))
    say("guidance that asks for nothing (ẑ0 ← E(D(ẑ0))): Fréchet", f"{frechet(judge.features(D(idle)), real):.1f}")
    say("… PSNR to the picture without it", f"{psnr(D(idle), D(latents)):.1f} dB")
    y = F.avg_pool2d(x, pool)
    seen = lambda z: (lambda p: p + F.interpolate(y - F.avg_pool2d(p, pool), scale_factor=pool))(D(z))   # A†: pixels of a cell alike
    restored = D(prior.sample(len(x), seed=1, correct=lambda z: E(seen(z))))
    say(f"restored from {x.size(2) // pool}×{x.size(2) // pool}: PSNR", f"{psnr(restored, x):.2f} dB")
    say("… ‖A x̂ − y‖ (pixels in [−1, 1])", f"{rms(F.avg_pool2d(restored, pool) - y):.4f}")
    say("… Fréchet", f"{frechet(judge.features(restored), real):.1f}")
    return {"cycled": D(again), "drawn": D(latents), "idle": D(idle)}


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("data")
    ask.add_argument("--seconds", type=float, default=150)
    ask.add_argument("--prior-seconds", type=float, default=120)
    ask.add_argument("--images", type=int, default=64)
    ask.add_argument("--limit", type=int, default=0, help="only so many training pictures")
    ask.add_argument("--models", default="models", help="the folder of celebahq64-classifier and celebahq64-judge")
    ask.add_argument("--keep", help="folder: trained networks are written there, and read if they are there already")
    ask.add_argument("--sheet")
    wish = ask.parse_args()
    of = Clothes if wish.data == "fashion-mnist" else Faces
    model = lambda role: f"{wish.models}/{of.family}-{role}.safetensors"
    train = spnn.load_data(wish.data, split="train", size=of.size, limit=wish.limit)
    held_out = spnn.load_data(wish.data, split="test" if of is Clothes else "val", size=of.size)
    teacher, judge = spnn.load(model("classifier")), Judge.load(model("judge"))
    x = spnn.to_unit(held_out.images[:wish.images])
    with torch.no_grad():
        real = torch.cat([judge.features(spnn.to_unit(part)) for part in held_out.images[-1000:].split(250)])
    shown = []
    for name, make in (("SPNN", spnn_autoencoder), ("VAE", Vae)):
        torch.manual_seed(1)
        E, file = make(of), Path(wish.keep or ".") / f"{name}.pt"
        if wish.keep and file.exists():
            E.load_state_dict(torch.load(file))
            E.requires_grad_(False)
        else:
            steps = train_autoencoder(E, train, wish.seconds, teacher)
            print(f"{name:5s} {sum(p.numel() for p in E.parameters())} weights, {steps} steps of 32 in {wish.seconds:.0f} s of processor time", flush=True)
            if wish.keep:
                torch.save(E.state_dict(), file)
        prior = LatentPrior(E, train, wish.prior_seconds)
        print(f"{name:5s} latent prior: {sum(p.numel() for p in prior.net.parameters())} weights, {prior.steps} steps of 64", flush=True)
        shown.append((name, E, report(name, E, prior, x, judge, real, of.pool)))
    if wish.sheet:   # clothes of the test set may be shown, photos of people may not: generated faces
        pictures = x[:8] if of is Clothes else spnn.sample(spnn.load_prior(model("prior")), 8, steps=50, seed=3)
        sheet(shown, pictures, wish.sheet)


@torch.no_grad()
def sheet(shown, pictures, file):
    """Pictures, D(E(·)) of them once and after twenty cycles; and what the latent priors draw, without and with idle guidance."""
    count = len(pictures)
    rows, labels = [pictures], ["picture"]
    for name, E, made in shown:
        again = E(pictures)
        for _ in range(20):
            again = E(E.pinv(again))
        rows += [E.pinv(E(pictures)), E.pinv(again), made["drawn"][:count], made["idle"][:count]]
        labels += [f"{name} once", f"{name} x 21", f"{name} drawn", f"{name} idle"]
    spnn.grid(torch.cat(rows).clamp(-1, 1), columns=count, row_labels=labels, scale=1 if pictures.size(2) > 32 else 2, file=file)


if __name__ == "__main__":
    main()
