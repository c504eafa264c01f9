"""The encoder of benches/encoder.rs in PyTorch: eager, in a CUDA graph captured by hand, and by torch.compile with CUDA graphs.

Run: python benches/pytorch/encoder.py [--seconds N] [--gelu none|tanh] [--out FOLDER]

Batch 1, weights random, dropout off. A mode that fails is a row with its error. The table is Markdown, on the terminal and in
FOLDER/bench-encoder-pytorch.md ($OUT unless given). After N seconds what is left is skipped; each group of modes runs in a process of
its own, which is ended at the limit. "TF32" marks f32 with torch.backends.cuda.matmul.allow_tf32.
"""

import argparse
import gc
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

LAYERS, WIDTH, HEADS, FF = 6, 384, 12, 1536
LAUNCHES = 200

MODES = [
    "eager",
    "eager, CUDA graph by hand",
    "torch.compile, CUDA graph by hand",
    'torch.compile(mode="reduce-overhead")',
    'torch.compile(mode="max-autotune-no-cudagraphs"), CUDA graph by hand',
    'torch.compile(mode="max-autotune")',
]
# The columns of the measurements, with their heads.
COLUMNS = [
    ("host", "host us, synchronised"),
    ("events", "events us"),
    ("row", "us a launch in a row"),
    ("returned", "host us a launch"),
    ("peak", "peak of temporaries B"),
    ("reserved", "reserved for them B"),
    ("pool", "pools of graphs B"),
    ("first", "first run s"),
    ("error", "error of eager f32"),
]


def model_of(torch, approximate):
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
            up = functional.gelu(self.up(x), approximate=approximate)
            return self.last_norm(x + self.down(up))

    torch.manual_seed(0)
    return nn.Sequential(*[Layer() for _ in range(LAYERS)]).eval()


def graph_of(torch, call):
    """Captures a call after a warm-up on another stream. Returns a function that replays it, and its result."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()
    return graph.replay, lambda: result


def pool_bytes(torch):
    """Returns the bytes of the allocator's segments that belong to pools of graphs."""
    segments = torch.cuda.memory_snapshot()
    return sum(s["total_size"] for s in segments if tuple(s.get("segment_pool_id", (0, 0))) != (0, 0))


def times_of(torch, launch):
    """Returns microseconds: medians of launches that are each waited for, and the mean of launches in a row."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    for _ in range(20):
        launch()
    torch.cuda.synchronize()

    def repeat(measure):
        return statistics.median(statistics.median(measure() for _ in range(LAUNCHES)) for _ in range(3))

    def host():
        start = time.perf_counter()
        launch()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e6

    def returned():
        start = time.perf_counter()
        launch()
        took = time.perf_counter() - start
        torch.cuda.synchronize()
        return took * 1e6

    def device():
        events[0].record()
        launch()
        events[1].record()
        torch.cuda.synchronize()
        return events[0].elapsed_time(events[1]) * 1e3

    def row():
        events[0].record()
        for _ in range(LAUNCHES):
            launch()
        events[1].record()
        torch.cuda.synchronize()
        return events[0].elapsed_time(events[1]) * 1e3 / LAUNCHES

    return {
        "host": repeat(host),
        "events": repeat(device),
        "row": statistics.median(row() for _ in range(5)),
        "returned": repeat(returned),
    }


def measure(torch, mode, tokens, kind, tf32, approximate):
    """Measures one mode of one case."""
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[kind]
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    exact = model_of(torch, approximate).cuda()
    x = torch.randn(1, tokens, WIDTH, device="cuda")
    with torch.no_grad():
        torch.backends.cuda.matmul.allow_tf32 = False
        wanted = exact(x).float().cpu()
        torch.backends.cuda.matmul.allow_tf32 = tf32
        model, x = exact.to(dtype), x.to(dtype)
        # The call above has made cuBLAS's handle and the workspace of this stream: they are not temporaries of the mode.
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before, reserved, pools = torch.cuda.memory_allocated(), torch.cuda.memory_reserved(), pool_bytes(torch)
        start = time.perf_counter()
        if "compile" not in mode:
            compiled = model
        elif "mode=" in mode:
            # The input stays where it is: graphs need not copy it.
            torch._dynamo.mark_static_address(x)
            compiled = torch.compile(model, mode=mode.split('"')[1], fullgraph=True, dynamic=False)
        else:
            compiled = torch.compile(model, fullgraph=True, dynamic=False)
        if "by hand" in mode:
            launch, result = graph_of(torch, lambda: compiled(x))
            launch()
        else:
            held = []

            def launch():
                if "mode=" in mode:
                    # As before each step of a model: the last step's results may be overwritten.
                    torch.compiler.cudagraph_mark_step_begin()
                held[:] = [compiled(x)]

            def result():
                return held[0]

            for _ in range(3):
                launch()
        torch.cuda.synchronize()
        first = time.perf_counter() - start
        found = result().float().cpu()
        peak = torch.cuda.max_memory_allocated() - before
        held_for = torch.cuda.memory_reserved() - reserved
        pool = pool_bytes(torch) - pools
        out = times_of(torch, launch)
        error = ((found - wanted).abs().max() / wanted.abs().max()).item()
    return {**out, "peak": peak, "reserved": held_for, "pool": pool, "first": first, "error": error}


def name_of(case):
    tokens, kind, tf32 = case
    return f"{tokens} tokens, {kind}" + (", TF32" if tf32 else "")


def child(arguments):
    """Measures the modes and cases that are asked for, and prints a line of JSON for each."""
    import torch

    for mode, case in json.loads(arguments.child):
        try:
            result = measure(torch, mode, *case, arguments.gelu)
        except BaseException as error:  # a mode that fails must not end the others
            lines = [line for line in str(error).splitlines() if line.strip()] or [""]
            result = {"failed": f"{type(error).__name__}: {lines[0][:160]}"}
        print("RESULT " + json.dumps({"mode": mode, "case": case, **result}), flush=True)
        try:
            gc.collect()
            torch.compiler.reset()
            torch.cuda.empty_cache()
        except Exception as error:
            print(f"after {mode}: {error}", file=sys.stderr)


def run(arguments, wanted, limit):
    """Measures modes of cases in a process of their own, up to a limit in seconds. Returns a result for each."""
    command = [sys.executable, os.path.abspath(__file__), "--gelu", arguments.gelu, "--child", json.dumps(wanted)]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        # A group of processes: compilers have workers, which end with it.
        process = subprocess.Popen(command, stdout=out, stderr=errors, start_new_session=True)
        try:
            code = process.wait(limit)
            failed = f"the process ended with {code}"
        except subprocess.TimeoutExpired:
            failed = f"not done after {limit:.0f} s"
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        out.seek(0)
        errors.seek(0)
        text, last = out.read(), (errors.read().strip().splitlines() or [""])[-1]
    results = [json.loads(line[7:]) for line in text.splitlines() if line.startswith("RESULT ") and line.endswith("}")]
    for result in results:
        result["case"] = tuple(result["case"])
    done = {(result["mode"], result["case"]) for result in results}
    if last and "ended" in failed:
        failed += f": {last[:160]}"
    return results + [{"mode": mode, "case": case, "failed": failed} for mode, case in wanted if (mode, case) not in done]


def cell(column, value):
    if column in ("peak", "reserved", "pool"):
        return str(value)
    return f"{value:.1e}" if column == "error" else f"{value:.2f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=145.0, help="the limit of all cases together")
    parser.add_argument("--gelu", choices=["none", "tanh"], default="none")
    parser.add_argument("--out", default=os.environ.get("OUT"))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments)
    lines = []

    def say(line=""):
        print(line, flush=True)
        lines.append(line)

    about = (
        "import torch; p = torch.cuda.get_device_name() if torch.cuda.is_available() else 'no GPU'\n"
        "try:\n import triton; t = triton.__version__\nexcept Exception as e: t = f'missing ({e})'\n"
        "print(f'{p}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}, Triton {t}')"
    )
    done = subprocess.run([sys.executable, "-c", about], capture_output=True, text=True)
    say("# encoder, PyTorch\n")
    say(done.stdout.strip() or "PyTorch cannot be imported: " + (done.stderr.strip().splitlines() or [""])[-1])
    say(f"\n{LAYERS} layers, {WIDTH} wide, {HEADS} heads, {FF} between, gelu approximate={arguments.gelu!r}, batch 1.\n")
    say("| encoder | mode | " + " | ".join(head for _, head in COLUMNS) + " |")
    say("|" + " --- |" * (len(COLUMNS) + 2))

    f32_and_bf16 = [(16, "f32", False), (16, "bf16", False), (128, "f32", False), (128, "bf16", False)]
    tf32 = [(16, "f32", True), (128, "f32", True)]
    eager, by_hand, default, reduce, autotune, autotune_trees = MODES
    # What is compared first; what is beside it as long as time is left.
    plan = [
        [(mode, case) for case in f32_and_bf16 + tf32 for mode in (eager, by_hand)],
        [(default, case) for case in f32_and_bf16],
        [(autotune, case) for case in f32_and_bf16],
        [(autotune_trees, case) for case in f32_and_bf16],
        [(default, case) for case in tf32],
        [(reduce, case) for case in f32_and_bf16],
        [(autotune, case) for case in tf32],
    ]
    end = time.monotonic() + arguments.seconds
    results = []
    for at, wanted in enumerate(plan):
        left = end - time.monotonic()
        # The first compilation leaves time for the second.
        limit = min(left, 0.4 * arguments.seconds) if at == 1 else left
        if left < 10:
            skipped = f"skipped: {arguments.seconds:.0f} s are over"
            results += [{"mode": mode, "case": case, "failed": skipped} for mode, case in wanted]
        else:
            results += run(arguments, wanted, limit)
    bests = []
    for case in f32_and_bf16 + tf32:
        of_case = [result for result in results if result["case"] == case]
        for result in sorted(of_case, key=lambda result: MODES.index(result["mode"])):
            if "failed" in result:
                cells = [result["failed"].replace("|", "/")] + [""] * (len(COLUMNS) - 1)
            else:
                cells = [cell(column, result[column]) for column, _ in COLUMNS]
            say(f"| {name_of(case)} | {result['mode']} | " + " | ".join(cells) + " |")
        measured = [result for result in of_case if "failed" not in result]
        for column in ("host", "events", "row") if measured else ():
            best = min(measured, key=lambda result: result[column])
            head = dict(COLUMNS)[column]
            bests.append(f"- {name_of(case)}, {head}: best {best[column]:.2f} ({best['mode']})")
    say("\n" + "\n".join(bests))
    if arguments.out:
        os.makedirs(arguments.out, exist_ok=True)
        with open(os.path.join(arguments.out, "bench-encoder-pytorch.md"), "w") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
