"""Phase I on Fashion-MNIST in Python: the loop below takes the steps of `spnn train classifier configs/classifier-fashion.toml`.

    /usr/bin/python3 python/examples/train_classifier.py [STEPS]
"""

import sys

import spnn
import torch


def train(data, steps=200, batch=128, warmup=250, lr=2e-3, log=None):
    batches = spnn.Batches(data, batch, flip=False, shift=2)
    net = spnn.Spnn("fashion", outputs=len(data.names))
    net.attributes, net.task = data.names, data.task
    optimizer = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=0.02)
    for step, (x, labels) in enumerate(batches.first(steps)):
        parts = spnn.losses.phase_one(net, x, labels, regression=0.3, stability=0.5, range=10.0, inverse_every=4)
        optimizer.zero_grad()
        sum(parts.values()).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = spnn.learning_rate(step, lr=lr, steps=steps, batch=batch, warmup=warmup)
        optimizer.step()
        if log and (step + 1) % 20 == 0:
            log(step + 1, {name: float(value) for name, value in parts.items()})
    return net, parts


if __name__ == "__main__":
    clothes = spnn.load_data("fashion-mnist", size=32)
    trained, _ = train(clothes, int(sys.argv[1]) if len(sys.argv) > 1 else 200, log=lambda step, parts: print(step, parts, flush=True))
    test = spnn.load_data("fashion-mnist", split="test", size=32, limit=1000)
    with torch.no_grad():
        right = (trained(spnn.to_unit(test.images)).argmax(1) == test.labels).float().mean()
    print(f"accuracy on 1000 test images: {100 * right:.1f} %")
    trained.fit_statistics(clothes.images[:5000])
    trained.save("fashion-python.safetensors")
