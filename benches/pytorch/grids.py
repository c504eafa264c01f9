"""Conjugate gradients on a 2D grid, and a stencil on a 3D one: see benches/grids.rs. One iteration, or one step, is compiled, and as many
of them are captured."""

ITERATIONS, STEPS, FACTOR = 50, 100, 0.1

CASES = [
    (way, mode)
    for mode in ("eager", "compiled", "coordinate descent")
    for way in ("gradients 512: slices", "gradients 128: slices", "stencil 128: slices", "stencil 64: slices")
] + [("gradients 512: convolution", "compiled"), ("stencil 128: convolution", "eager")]


def step_of(torch, way, compiled):
    torch.manual_seed(0)
    n = int(way.split()[1].rstrip(":"))
    functional = torch.nn.functional
    by_convolution = way.endswith("convolution")
    if way.startswith("gradients"):
        b = torch.rand(n, n, device="cuda") * 2 - 1
        weights = torch.tensor([[0.0, -1, 0], [-1, 4, -1], [0, -1, 0]], device="cuda")[None, None]

        def laplace(p):
            if by_convolution:
                return functional.conv2d(p[None, None], weights, padding=1)[0, 0]
            wide = functional.pad(p, (1, 1, 1, 1))
            return 4 * p - wide[1:-1, :-2] - wide[1:-1, 2:] - wide[:-2, 1:-1] - wide[2:, 1:-1]

        def iteration(x, r, p, rr):
            q = laplace(p)
            alpha = rr / (p * q).sum()
            x, r = x + alpha * p, r - alpha * q
            now = (r * r).sum()
            return x, r, r + now / rr * p, now

        iteration = compiled(iteration)

        def step():
            x, r, p, rr = torch.zeros_like(b), b, b, (b * b).sum()
            for _ in range(ITERATIONS):
                x, r, p, rr = iteration(x, r, p, rr)
            return (x,)

        return step, 60, False

    u = torch.rand(n, n, n, device="cuda") * 2 - 1
    around = torch.zeros(3, 3, 3, device="cuda")
    for at in ((0, 1, 1), (2, 1, 1), (1, 0, 1), (1, 2, 1), (1, 1, 0), (1, 1, 2)):
        around[at] = 1
    around[1, 1, 1] = -6

    def to(u, other):
        own = u[1:-1, 1:-1, 1:-1]
        if by_convolution:
            sums = functional.conv3d(u[None, None], around[None, None])[0, 0]
        else:
            sums = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
            sums = sums + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] - 6 * own
        other[1:-1, 1:-1, 1:-1] = own + FACTOR * sums

    to = compiled(to)
    other = u.clone()

    def step():
        for _ in range(STEPS // 2):
            to(u, other)
            to(other, u)
        return (u,)

    return step, 60, False
