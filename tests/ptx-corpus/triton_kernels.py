#!/usr/bin/env python3
"""Kernels written in Triton, and their PTX: triton/*.ptx. Needs `pip install triton`, no GPU.

What each does through each pointer stands in expected.txt. Triton adds two parameters of its own at the end.
"""

import pathlib

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = pathlib.Path(__file__).parent


@triton.jit
def triton_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def triton_scale(x, a, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * a, mask=i < n)


@triton.jit
def triton_softmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + i, mask=i < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * cols + i, e / tl.sum(e, axis=0), mask=i < cols)


@triton.jit
def triton_histogram(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@triton.jit
def triton_matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rm = tl.program_id(0) * M + tl.arange(0, M)
    rn = tl.program_id(1) * N + tl.arange(0, N)
    rk = tl.arange(0, K)
    pa = a + rm[:, None] * k + rk[None, :]
    pb = b + rk[:, None] * n + rn[None, :]
    acc = tl.zeros((M, N), dtype=tl.float32)
    for t in range(0, k, K):
        acc += tl.dot(tl.load(pa), tl.load(pb))
        pa += K
        pb += K * n
    tl.store(c + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < m) & (rn[None, :] < n))


@triton.jit
def triton_layer_norm(x, gain, bias, out, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < cols
    v = tl.load(x + row * cols + i, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / cols
    d = tl.where(mask, v - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(d * d, axis=0) / cols + eps)
    g, b = tl.load(gain + i, mask=mask), tl.load(bias + i, mask=mask)
    tl.store(out + row * cols + i, d * scale * g + b, mask=mask)


@triton.jit
def triton_cumsum(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + i, tl.cumsum(v, axis=0), mask=i < n)


@triton.jit
def triton_transpose(x, out, rows, cols, M: tl.constexpr, N: tl.constexpr):
    r = tl.program_id(0) * M + tl.arange(0, M)
    c = tl.program_id(1) * N + tl.arange(0, N)
    v = tl.load(x + r[:, None] * cols + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < cols))
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(v), mask=(c[:, None] < cols) & (r[None, :] < rows))


@triton.jit
def triton_gather(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + at, mask=i < n), mask=i < n)


@triton.jit
def triton_maximum(x, out, n, BLOCK: tl.constexpr):
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        best = tl.maximum(best, tl.load(x + i, mask=i < n, other=-float("inf")))
    tl.store(out, tl.max(best, axis=0))


KERNELS = [
    (triton_add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 256}),
    (triton_scale, {"x": "*fp16", "a": "fp32", "n": "i32"}, {"BLOCK": 512}),
    (triton_softmax, {"x": "*fp32", "out": "*fp32", "cols": "i32"}, {"BLOCK": 1024}),
    (triton_histogram, {"x": "*i32", "bins": "*i32", "n": "i32"}, {"BLOCK": 256}),
    (
        triton_matmul,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32", "m": "i32", "n": "i32", "k": "i32"},
        {"M": 64, "N": 64, "K": 32},
    ),
    (
        triton_layer_norm,
        {"x": "*fp32", "gain": "*fp32", "bias": "*fp32", "out": "*fp32", "cols": "i32", "eps": "fp32"},
        {"BLOCK": 256},
    ),
    (triton_cumsum, {"x": "*i32", "out": "*i32", "n": "i32"}, {"BLOCK": 512}),
    (triton_transpose, {"x": "*fp32", "out": "*fp32", "rows": "i32", "cols": "i32"}, {"M": 32, "N": 32}),
    (triton_gather, {"x": "*fp64", "index": "*i64", "out": "*fp64", "n": "i32"}, {"BLOCK": 256}),
    (triton_maximum, {"x": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024}),
]


def main() -> None:
    folder = HERE / "triton"
    folder.mkdir(exist_ok=True)
    for function, signature, constants in KERNELS:
        signature = {**signature, **{name: "constexpr" for name in constants}}
        for capability in (80, 90):
            source = ASTSource(fn=function, signature=signature, constexprs=constants)
            made = triton.compile(source, target=GPUTarget("cuda", capability, 32))
            text = made.asm["ptx"]
            end = text.find("\t.section")
            target = folder / f"{function.__name__}.{capability}.ptx"
            target.write_text(text[: end if end > 0 else None].rstrip("\n") + "\n")
            print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
