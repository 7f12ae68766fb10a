# %% [markdown]
# # Pseudo-invertible networks from Python
#
# `import spnn` gives the library on torch tensors: the same memory, differentiable, and the bits of the command. This page is a
# script, `python/tutorial/tutorial.py`; the tests run it, and the notebook beside it is made from it.
#
#     /usr/bin/python3 python/tutorial/tutorial.py OUT      # writes its pictures to OUT

# %%
import sys
from pathlib import Path

import spnn
import torch

out = Path(sys.argv[1] if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else "tutorial-pictures")
out.mkdir(parents=True, exist_ok=True)
quick = "--quick" in sys.argv       # fewer steps, for the tests
steps = 6 if quick else 50
models = next(p / "models" for p in [Path.cwd(), *Path.cwd().parents] if (p / "models").exists())

# %% [markdown]
# ## 1. A network that can be inverted
#
# `g` looks at a face and gives 40 logits, one per attribute. It throws information away, but it knows what: with the discarded
# part z it is a bijection, G(x) = [g(x) | z].

# %%
net = spnn.load(models / "celebahq64-classifier.safetensors")
prior = spnn.load_prior(models / "celebahq64-prior.safetensors")
faces = spnn.sample(prior, 4, steps=steps, seed=1)          # floats in [−1, 1]
spnn.grid(faces, columns=4, scale=2, file=out / "1-faces.png")

y, z = net.complete(faces)
print(f"{faces[0].numel()} numbers in, {y.shape[1]} logits out, {sum(part[0].numel() for part in z)} discarded")
print(f"G⁻¹(G(x)) − x: {(net.invert(y, z) - faces).abs().max():.1e}")
for i, row in enumerate(y):
    print(f"face {i}: " + ", ".join(net.attributes[k] for k in row.topk(4).indices))

# %% [markdown]
# ## 2. The pseudo-inverse
#
# g† fills in the missing z with what the learned network r says. Whatever r is, g(g†(y)) = y: Penrose's identities hold by
# construction, which `verify` measures.

# %%
means = net.pinv(y)
print(f"g(g†(y)) − y: {(net(means) - y).abs().max():.1e}")
spnn.grid(torch.cat([faces, means.clamp(-1, 1)]), columns=4, scale=2, row_labels=["x", "g+(g(x))"], file=out / "2-pinv.png")
for name, residual in net.verify(faces, y.roll(1, 0)).items():
    print(f"{name:20} {residual.relative:.1e}  {'ok' if residual.passed else 'NOT ok'}")

# %% [markdown]
# ## 3. Back-projection
#
# NLBP moves an image so that g says something else of it, and keeps what g does not speak of. Here every face gets the logits of
# its neighbour; on the way, λ goes from 0 to 1. The outputs are exact; the grain that the move leaves is for a prior to take away.

# %%
target = y.roll(1, 0)
rows = [net.nlbp(faces, target, strength, metric="residual") for strength in (0.0, 0.5, 1.0)]
for strength, moved in zip((0.0, 0.5, 1.0), rows):
    print(f"λ = {strength}: |g(x') − target| = {(net(moved) - target).abs().max():.3f}")
spnn.grid(torch.cat(rows).clamp(-1, 1), columns=4, scale=2, row_labels=["0", "0.5", "1"], file=out / "3-nlbp.png")

# %% [markdown]
# It is differentiable in everything. How far the image has to go depends on the target: the gradient by y names the outputs that
# make the way long, the gradient by x the places.

# %%
x, wanted = faces.clone().requires_grad_(True), target.clone().requires_grad_(True)
way = (net.nlbp(x, wanted, metric="residual") - x).square().sum()
by_x, by_y = torch.autograd.grad(way, (x, wanted))
for i, row in enumerate(by_y * (wanted - y).detach()):
    print(f"face {i}: the way is long because of " + ", ".join(net.attributes[k] for k in row.topk(3).indices))
places = torch.nn.functional.avg_pool2d(by_x.abs().sum(1, keepdim=True), 5, stride=1, padding=2)
spnn.grid(2 * places / places.amax((1, 2, 3), keepdim=True) - 1, columns=4, scale=2, file=out / "4-gradient.png")

# %% [markdown]
# ## 4. Edits
#
# The prior samples an image while every x̂0 on the way is back-projected: the result is a face, and g agrees with what was asked.

# %%
photo = spnn.to_bytes(faces[3:])
edited = {name: spnn.edit(photo, net, prior, set=name, steps=steps, seed=3) for name in ("Smiling", "Blond_Hair", "Bangs")}
for name, made in edited.items():
    k = net.attributes.index(name)
    print(f"{name:11} logit {float(y[3, k]):6.2f} → {float(made.y[0, k]):6.2f}")
spnn.grid(torch.cat([photo, *(made.images for made in edited.values())]), columns=4, scale=2,
          captions=["photo", *edited], file=out / "5-edits.png")

# %% [markdown]
# ## 5. Restoration, with an operator of your own
#
# `spnn.operators` has the usual ones; `+` chains them. An object of yours with `forward` and `pinv` is as good: this one sees every
# second column.

# %%
class Interlaced:
    def forward(self, x):
        return x[..., ::2]

    def pinv(self, y):
        return torch.stack([y, torch.zeros_like(y)], -1).flatten(-2)


blur = spnn.operators.gaussian_blur(1.0) + spnn.operators.super_resolution(2)
mine = spnn.operator(Interlaced(), linear=False, shape=prior.shape)
shown = [faces]
for operator in (blur, mine):
    measured = operator(faces)
    restored = spnn.restore(measured, operator, prior, steps=steps, seed=5)
    error = (restored - faces).square().mean().sqrt() / 2
    print(f"{operator!r}: consistent to {(operator(restored) - measured).abs().max():.1e}, rms error {error:.3f}")
    shown += [operator.pinv(measured).clamp(-1, 1), restored]
spnn.grid(torch.cat(shown).clamp(-1, 1), columns=4, scale=2,
          row_labels=["clean", "blur: A+y", "restored", "mine: A+y", "restored"], file=out / "6-restored.png")

# %% [markdown]
# A prior of your own is a function, too: `denoiser(x, sigma)` on images in [0, 1]. This one knows only that neighbours are alike.

# %%
def smooth(x, sigma):
    spectrum = torch.fft.fft2(x - 0.5)
    frequency = torch.fft.fftfreq(x.shape[-1])
    squared = frequency[:, None] ** 2 + frequency[None, :] ** 2
    power = 2e-4 / (squared + 1e-3) ** 1.5                # what pictures have, about
    return 0.5 + torch.fft.ifft2(spectrum * power / (power + sigma ** 2)).real


plain = spnn.restore(mine(faces), mine, spnn.as_prior(smooth, shape=prior.shape), steps=steps, seed=5)
print(f"every second column, with a prior of four lines: rms error {(plain - faces).square().mean().sqrt() / 2:.3f}, "
      f"of A†y {(mine.pinv(mine(faces)) - faces).square().mean().sqrt() / 2:.3f}")

# %% [markdown]
# ## 6. Train your own
#
# The losses of both phases are functions, a network is a torch module. `python/examples/train_classifier.py` is the trainer's own
# loop on Fashion-MNIST; here a small network learns to tell bright images from dark ones, and its inverse what they look like.

# %%
tiny = spnn.Spnn({"input": [1, 8, 8], "blocks": [
    spnn.unshuffle(2), spnn.surjection(out=2, hidden=16, norm=False), spnn.unshuffle(4), spnn.surjection(out=1, hidden=16, kernel=1, norm=False)]})
generator = torch.Generator().manual_seed(0)
optimizer = torch.optim.AdamW(tiny.parameters(), lr=5e-3)
for step in range(30 if quick else 200):
    x = (torch.rand(64, 1, 1, 1, generator=generator) * 2 - 1 + 0.1 * torch.randn(64, 1, 8, 8, generator=generator)).clamp(-1, 1)
    labels = (x.mean((1, 2, 3), keepdim=False) > 0).float()[:, None]
    parts = spnn.losses.phase_one(tiny, x, labels, task="attributes", regression=1.0, stability=1.0)
    optimizer.zero_grad()
    sum(parts.values()).backward()
    optimizer.step()
print({name: round(float(value), 4) for name, value in parts.items()})
with torch.no_grad():
    seen = tiny(x)
    ladder = tiny.pinv(torch.linspace(float(seen.min()), float(seen.max()), 8)[:, None])
print(f"brightness of g†(y), y from {seen.min():.0f} to {seen.max():.0f}: " + ", ".join(f"{v:.2f}" for v in ladder.mean((1, 2, 3))))
spnn.grid(ladder.clamp(-1, 1), columns=8, scale=4, file=out / "7-trained.png")
