#!/usr/bin/env python3
"""Writes tests/golden/recurrent.safetensors: values and gradients of PyTorch's GRU and LSTM, that
tests/learn/test_recurrent.c holds ours against. Not needed to run the tests. Any PyTorch 2 will do:

    python3 -m venv venv && venv/bin/pip install torch numpy safetensors
    venv/bin/python tests/golden/recurrent.py
"""
import os

import torch
from safetensors.torch import save_file

steps, count, inputs, hidden, layers = 7, 3, 4, 5, 2
torch.manual_seed(20)
torch.set_default_dtype(torch.float64)
arrays = {}
for kind, cell in (("gru", torch.nn.GRU), ("lstm", torch.nn.LSTM)):
    net = cell(inputs, hidden, layers)
    x = torch.randn(steps, count, inputs)
    h = torch.randn(layers, count, hidden, requires_grad=True)
    c = torch.randn(layers, count, hidden, requires_grad=True)
    weight = torch.randn(steps, count, hidden)  # the loss is sum weight * output
    out, _ = net(x, h) if kind == "gru" else net(x, (h, c))
    (weight * out).sum().backward()
    # As lmbRecurrent lays parameters out: W, U, b, c of each layer.
    order = [f"{name}_l{layer}" for layer in range(layers) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    flat = lambda of: torch.cat([of(getattr(net, name)).detach().flatten() for name in order])
    state = [h] if kind == "gru" else [h, c]
    # (count x states): h of all layers, then c of all layers.
    rows = lambda of: torch.cat([of(s).detach().permute(1, 0, 2).reshape(count, -1) for s in state], dim=1)
    arrays |= {
        f"{kind}.parameters": flat(lambda p: p),
        f"{kind}.gradient": flat(lambda p: p.grad),
        f"{kind}.start": rows(lambda s: s),
        f"{kind}.start_gradient": rows(lambda s: s.grad),
        f"{kind}.inputs": x,
        f"{kind}.weight": weight,
        f"{kind}.outputs": out.detach(),
    }
path = os.path.join(os.path.dirname(__file__), "recurrent.safetensors")
save_file({k: v.contiguous() for k, v in arrays.items()}, path, metadata={"torch": torch.__version__})
