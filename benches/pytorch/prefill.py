"""The prefill of benches/prefill.rs in PyTorch: a CUDA graph for each of 13 buckets, from the largest to the smallest, which share a pool.

Run: python benches/pytorch/prefill.py eager|compiled [FOLDER]

The table is Markdown, on the terminal and in FOLDER/bench-prefill-pytorch-MODE.md.
"""

import os
import sys

import torch

import measure

LAYERS, WIDTH, HEADS, KV_HEADS, HEAD, FF, MOST = 22, 2048, 32, 4, 64, 5632, 4096
KV = KV_HEADS * HEAD
DEVICE, DTYPE = "cuda", torch.bfloat16


def taken(before):
    torch.cuda.synchronize()
    return before - torch.cuda.mem_get_info()[0]


@torch.no_grad()
def main(mode, folder):
    functional = torch.nn.functional
    torch.manual_seed(0)

    def matrix(rows, cols):
        return torch.randn(rows, cols, device=DEVICE, dtype=DTYPE) * cols**-0.5

    def gain():
        return 1 + 0.1 * torch.randn(WIDTH, device=DEVICE, dtype=DTYPE)

    layers = []
    for _ in range(LAYERS):
        caches = [torch.zeros(MOST, KV_HEADS, HEAD, device=DEVICE, dtype=DTYPE) for _ in range(2)]
        layers.append((gain(), matrix(WIDTH + 2 * KV, WIDTH), matrix(WIDTH, WIDTH), gain(), matrix(2 * FF, WIDTH), matrix(WIDTH, FF), *caches))
    angles = torch.arange(MOST, device=DEVICE)[:, None] / 10_000 ** (torch.arange(32, device=DEVICE) / 32)
    cosines, sines = (torch.cat([of(angles)] * 2, -1).to(DTYPE)[:, None] for of in (torch.cos, torch.sin))
    x, out = (torch.randn(MOST, WIDTH, device=DEVICE, dtype=DTYPE) for _ in range(2))
    del angles
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.mem_get_info()[0]

    def rotated(x, c, s):
        a, b = x.chunk(2, -1)
        return x * c + torch.cat((-b, a), -1) * s

    def layer(x, c, s, norm, ins, output, last, ups, down, keys, values):
        n = x.shape[0]
        z = functional.rms_norm(x, (WIDTH,), norm, 1e-5)
        q, k, v = functional.linear(z, ins).split([WIDTH, KV, KV], -1)
        q, k = rotated(q.view(n, HEADS, HEAD), c, s), rotated(k.view(n, KV_HEADS, HEAD), c, s)
        v = v.view(n, KV_HEADS, HEAD)
        keys[:n] = k
        values[:n] = v
        heads = (part.transpose(0, 1)[None] for part in (q, k, v))
        mixed = functional.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)
        x = x + functional.linear(mixed[0].transpose(0, 1).reshape(n, WIDTH), output)
        gate, up = functional.linear(functional.rms_norm(x, (WIDTH,), last, 1e-5), ups).chunk(2, -1)
        return x + functional.linear(functional.silu(gate) * up, down)

    if mode == "compiled":
        torch._dynamo.config.cache_size_limit = 64
        layer = torch.compile(layer, dynamic=False)

    def step(n):
        h, c, s = x[:n], cosines[:n], sines[:n]
        for parts in layers:
            h = layer(h, c, s, *parts)
        out[:n].copy_(h)

    buckets = [1 << power for power in range(13)]
    pool, graphs, side = torch.cuda.graph_pool_handle(), {}, torch.cuda.Stream()
    for n in reversed(buckets):
        with torch.cuda.stream(side):
            for _ in range(2):
                step(n)
        torch.cuda.synchronize()
        # What was taken outside of the pool is given back, as far as PyTorch does that.
        torch.cuda.empty_cache()
        graphs[n] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graphs[n], pool=pool):
            step(n)
    for n in buckets:
        graphs[n].replay()
    growth = taken(before)
    torch.cuda.empty_cache()
    rest = taken(before)
    lines = [
        f"# prefill, PyTorch {torch.__version__}, {mode}",
        "",
        f"{torch.cuda.get_device_name()}, driver {os.popen('nvidia-smi --query-gpu=driver_version --format=csv,noheader').read().strip()}",
        "",
        "| bucket | host us, synchronised | events us |",
        "| --- | --- | --- |",
    ]
    for n in buckets:
        times = measure.times_of(torch, graphs[n].replay, 20)
        lines.append(f"| {n} | {times['host']:.1f} | {times['events']:.1f} |")
    lines += ["", f"Device memory taken by 13 graphs: {growth} B; after the cache was emptied: {rest} B."]
    text = "\n".join(lines) + "\n"
    print(text)
    with open(os.path.join(folder, f"bench-prefill-pytorch-{mode}.md"), "w") as file:
        file.write(text)


main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.environ.get("OUT", "."))
