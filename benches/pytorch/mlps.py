"""An ensemble of perceptrons: see benches/mlps.rs. "TF32" marks products by tensor cores of less precision, which benches/mlps.rs has not."""

COUNT, LAYERS, ROWS, WIDTH = 16, 4, 32, 256

CASES = [
    ("step: as a loop", "eager"),
    ("step: as bmm", "eager"),
    ("step: as a loop", "compiled"),
    ("step: as bmm", "compiled"),
    ("step: as bmm", "compiled, frozen"),
    ("step: as bmm", "max-autotune, coordinate descent"),
    ("step: as bmm", "max-autotune"),
    ("step: as a loop", "max-autotune"),
    ("TF32: as bmm", "max-autotune, coordinate descent"),
]


def step_of(torch, way, compiled):
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = way.startswith("TF32")
    x = torch.randn(ROWS, WIDTH, device="cuda")
    weights = torch.randn(LAYERS, COUNT, WIDTH, WIDTH, device="cuda") * WIDTH**-0.5
    biases = 0.1 * torch.randn(LAYERS, COUNT, 1, WIDTH, device="cuda")
    per_member = [[(weights[layer, m], biases[layer, m, 0]) for layer in range(LAYERS)] for m in range(COUNT)]

    def loop():
        results = []
        for member in per_member:
            h = x
            for w, b in member:
                h = torch.addmm(b, h, w).relu()
            results.append(h)
        return results

    class Bmm(torch.nn.Module):
        """All members at once; its parameters can be frozen."""

        def __init__(self):
            super().__init__()
            self.weights = torch.nn.ParameterList(weights.unbind())
            self.biases = torch.nn.ParameterList(biases.unbind())

        def forward(self):
            h = x.expand(COUNT, ROWS, WIDTH)
            for w, b in zip(self.weights, self.biases):
                h = torch.baddbmm(b, h, w).relu()
            return (h,)

    return compiled(Bmm().eval() if way.endswith("bmm") else loop), 200, False
