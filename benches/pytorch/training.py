"""A training step of a small transformer: see benches/transformer.rs. Adam is PyTorch's, fused and capturable; in a compiled step it is
compiled with the rest where it is not fused."""

LAYERS, WIDTH, HEADS, FF, BATCH, TOKENS = 2, 256, 4, 1024, 4, 64

CASES = [
    ("step: fused Adam", "eager"),
    ("step: fused Adam", "compiled"),
    ("step: compiled Adam", "compiled"),
    ("step: fused Adam", "coordinate descent"),
    ("step: fused Adam", "max-autotune"),
    ("step: compiled Adam", "max-autotune, coordinate descent"),
]


def step_of(torch, way, compiled):
    nn, functional = torch.nn, torch.nn.functional
    torch.manual_seed(0)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.last_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.up, self.down = nn.Linear(WIDTH, FF), nn.Linear(FF, WIDTH)

        def forward(self, x):
            qkv = self.qkv(self.norm(x)).view(BATCH, TOKENS, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
            x = x + self.output(mixed.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH))
            return x + self.down(functional.gelu(self.up(self.last_norm(x)), approximate="tanh"))

    model = nn.Sequential(*[Layer() for _ in range(LAYERS)]).to("cuda")
    x, target = (torch.randn(BATCH, TOKENS, WIDTH, device="cuda") for _ in range(2))
    by_compiler = way.endswith("compiled Adam")
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True, fused=not by_compiler, foreach=by_compiler)
    forward = compiled(lambda: functional.mse_loss(model(x), target))
    update = compiled(adam.step) if by_compiler else adam.step

    def step():
        for parameter in model.parameters():
            parameter.grad = None
        loss = forward()
        loss.backward()
        update()
        return loss.detach().reshape(1).expand(2), *(p.grad for p in model.parameters() if p.dim() == 2)

    return step, 100, True
