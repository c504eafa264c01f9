"""A step of a small U-Net in bf16, channels last: see benches/unet.rs."""

C, SIZE = 32, 64

CASES = [
    ("step: channels last", mode)
    for mode in ("eager", "compiled", "compiled, frozen", "max-autotune, frozen", "max-autotune, coordinate descent, frozen")
] + [("step: channels first", "eager")]


def step_of(torch, way, compiled):
    nn, functional = torch.nn, torch.nn.functional
    torch.manual_seed(0)

    def conv(ins, outs, stride=1):
        return nn.Conv2d(ins, outs, 3, stride, 1)

    class Residual(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.first_norm, self.last_norm = nn.GroupNorm(c // 8, c), nn.GroupNorm(c // 8, c)
            self.first, self.last = conv(c, c), conv(c, c)

        def forward(self, x):
            y = self.first(functional.silu(self.first_norm(x)))
            return x + self.last(functional.silu(self.last_norm(y)))

    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(Residual(c) for c in (C, 2 * C, 4 * C, 2 * C, C))
            sizes = ((C, 2 * C, 2), (2 * C, 4 * C, 2), (4 * C, 2 * C), (4 * C, 2 * C), (2 * C, C), (2 * C, C), (C, C))
            self.convs = nn.ModuleList(conv(*size) for size in sizes)
            self.norm = nn.GroupNorm(C // 8, C)

        def forward(self):
            def up(x):
                return functional.interpolate(x, scale_factor=2, mode="nearest")

            top = self.blocks[0](self.x)
            middle = self.blocks[1](self.convs[0](top))
            bottom = self.blocks[2](self.convs[1](middle))
            refined = self.blocks[3](self.convs[3](torch.cat([self.convs[2](up(bottom)), middle], 1)))
            last = self.blocks[4](self.convs[5](torch.cat([self.convs[4](up(refined)), top], 1)))
            return (self.convs[6](functional.silu(self.norm(last))),)

    step = Step().to("cuda").to(torch.bfloat16).eval()
    step.x = torch.randn(1, C, SIZE, SIZE, device="cuda", dtype=torch.bfloat16)
    if way.endswith("last"):
        step = step.to(memory_format=torch.channels_last)
        step.x = step.x.to(memory_format=torch.channels_last)
    torch.backends.cudnn.benchmark = True
    return compiled(step), 200, False
