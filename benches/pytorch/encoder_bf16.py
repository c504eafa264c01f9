"""The encoder of encoder.py in bf16."""

import encoder

CASES = [
    (f"{tokens} tokens: {written}", mode)
    for mode in (
        "eager",
        "compiled",
        "compiled, frozen",
        "max-autotune, frozen",
        "max-autotune, coordinate descent, frozen",
    )
    for tokens in (16, 128)
    for written in (["as written"])
]


def step_of(torch, way, compiled):
    tokens = int(way.split()[0])
    # gelu by tanh: that of the kernels that it is compared with.
    model = encoder.model_of(torch, "tanh").cuda().to(torch.bfloat16)
    x = torch.randn(1, tokens, encoder.WIDTH, device="cuda", dtype=torch.bfloat16)

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self):
            return (self.model(x),)

    return compiled(Step().eval()), 200, False
