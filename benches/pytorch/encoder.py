"""An encoder of MiniLM's shape: see benches/encoder.rs and benches/encoder_kernels.rs. "TF32" marks f32 with products by tensor cores."""

LAYERS, WIDTH, HEADS, FF = 6, 384, 12, 1536

CASES = [
    (f"{tokens} tokens, {kind}: as written", mode)
    for mode in ("eager", "compiled", "compiled, frozen", "max-autotune, coordinate descent, frozen", "max-autotune, frozen")
    for kind in ("bf16", "f32", "TF32")
    for tokens in (16, 128)
    if kind == "bf16" or mode != "max-autotune, frozen"
]


def model_of(torch):
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
            self.output = nn.Linear(WIDTH, WIDTH)
            self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
            self.up = nn.Linear(WIDTH, FF)
            self.down = nn.Linear(FF, WIDTH)
            self.last_norm = nn.LayerNorm(WIDTH, eps=1e-12)

        def forward(self, x):
            batch, tokens, _ = x.shape
            qkv = self.qkv(x).view(batch, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
            mixed = mixed.transpose(1, 2).reshape(batch, tokens, WIDTH)
            x = self.norm(x + self.output(mixed))
            up = functional.gelu(self.up(x), approximate="tanh")
            return self.last_norm(x + self.down(up))

    torch.manual_seed(0)
    return nn.Sequential(*[Layer() for _ in range(LAYERS)]).eval()


def step_of(torch, way, compiled):
    tokens, kind = int(way.split()[0]), way.split(", ")[1].split(":")[0]
    dtype = torch.bfloat16 if kind == "bf16" else torch.float32
    torch.backends.cuda.matmul.allow_tf32 = kind == "TF32"
    model = model_of(torch).cuda().to(dtype)
    x = torch.randn(1, tokens, WIDTH, device="cuda", dtype=dtype)

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self):
            return (self.model(x),)

    return compiled(Step().eval()), 200, False
