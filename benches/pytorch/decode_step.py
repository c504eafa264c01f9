"""A decode step of TinyLlama's shapes: see benches/decode.rs. A layer is compiled, with the norm of what follows, which is fused with its
last sum as in a compilation of the whole; "whole" compiles all layers at once."""

LAYERS, WIDTH, HEADS, KV_HEADS, HEAD, FF, VOCAB, POSITIONS = 22, 2048, 32, 4, 64, 5632, 32_000, 512
KV = KV_HEADS * HEAD

# q, k and v, and gate and up, as matrices of their own, or as one matrix each.
CASES = [
    ("step: separate", "eager"),
    ("step: concatenated", "eager"),
    ("step: separate", "compiled"),
    ("step: concatenated", "compiled"),
    ("step: concatenated", "max-autotune"),
    ("step: concatenated", "coordinate descent"),
    ("step: concatenated", "max-autotune, coordinate descent"),
    ("step: separate", "coordinate descent"),
    ("step: whole, concatenated", "compiled"),
]


def step_of(torch, way, compiled):
    functional = torch.nn.functional
    torch.manual_seed(0)
    device, dtype = "cuda", torch.bfloat16
    concatenated = way.endswith("concatenated")

    def matrix(rows, cols):
        return torch.randn(rows, cols, device=device, dtype=dtype) * cols**-0.5

    def gain():
        return 1 + 0.1 * torch.randn(WIDTH, device=device, dtype=dtype)

    layers = []
    for _ in range(LAYERS):
        ins = [matrix(WIDTH, WIDTH), matrix(KV, WIDTH), matrix(KV, WIDTH)]
        ups = [matrix(FF, WIDTH), matrix(FF, WIDTH)]
        if concatenated:
            ins, ups = [torch.cat(ins)], [torch.cat(ups)]
        caches = [torch.randn(1, KV_HEADS, POSITIONS, HEAD, device=device, dtype=dtype) for _ in range(2)]
        layers.append((gain(), ins, matrix(WIDTH, WIDTH), gain(), ups, matrix(WIDTH, FF), *caches))
    table, norm, head = torch.randn(VOCAB, WIDTH, device=device, dtype=dtype), gain(), matrix(VOCAB, WIDTH)
    angles = torch.arange(POSITIONS, device=device)[:, None] / 10_000 ** (torch.arange(32, device=device) / 32)
    cosines, sines = (torch.cat([of(angles)] * 2, -1).to(dtype) for of in (torch.cos, torch.sin))
    pos = torch.tensor([POSITIONS - 1], device=device)
    token = torch.tensor([7], device=device)

    def turn(x, c, s):
        a, b = x.chunk(2, -1)
        return x * c + torch.cat((-b, a), -1) * s

    def layer(x, z, c, s, ins, output, last, ups, down, keys, values, following):
        if concatenated:
            q, k, v = functional.linear(z, ins[0]).split([WIDTH, KV, KV], -1)
        else:
            q, k, v = (functional.linear(z, w) for w in ins)
        q, k = turn(q.view(HEADS, HEAD), c, s), turn(k.view(KV_HEADS, HEAD), c, s)
        keys[:, :, pos] = k.view(1, KV_HEADS, 1, HEAD)
        values[:, :, pos] = v.view(1, KV_HEADS, 1, HEAD)
        # The position is the last one: no mask is needed.
        mixed = functional.scaled_dot_product_attention(q.view(1, HEADS, 1, HEAD), keys, values, enable_gqa=True)
        x = x + functional.linear(mixed.reshape(1, WIDTH), output)
        z = functional.rms_norm(x, (WIDTH,), last, 1e-5)
        if concatenated:
            gate, up = functional.linear(z, ups[0]).chunk(2, -1)
        else:
            gate, up = (functional.linear(z, w) for w in ups)
        x = x + functional.linear(functional.silu(gate) * up, down)
        return x, functional.rms_norm(x, (WIDTH,), following, 1e-5)

    def begin(gain):
        x = table[token]
        return x, cosines[pos], sines[pos], functional.rms_norm(x, (WIDTH,), gain, 1e-5)

    def end(z):
        logits = functional.linear(z, head).float()
        return logits, logits.argmax(-1)

    if "whole" not in way:
        begin, layer, end = compiled(begin), compiled(layer), compiled(end)

    def step():
        x, c, s, z = begin(layers[0][0])
        for at, (_, *parts) in enumerate(layers):
            x, z = layer(x, z, c, s, *parts, layers[at + 1][0] if at + 1 < LAYERS else norm)
        return end(z)

    return (compiled(step) if "whole" in way else step), 60, False
