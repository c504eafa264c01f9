"""The models of benches/{decode,mlps,encoder_kernels,transformer,unet,grids}.rs in PyTorch: eager and compiled in several ways, each captured in a CUDA
graph by hand, in the ways of writing them that PyTorch is best at. The best counts.

Run: python benches/pytorch/models.py [--models decode:concatenated+compiled,mlps] [--seconds N] [--limit N] [--cache FOLDER] [--out FOLDER]

A model's name may be followed by words, joined by +, that the names of its cases contain. A model's step_of returns its step, in which the parts that are compiled are those that it gives to `compiled`, the launches of a
measurement, and whether gradients are needed. Each case (a model, a way of writing it, a mode) has a process of its own. Modes that do not
tune kernels compile side by side; when all are ready or out of time, they are timed one by one, the others at rest. A mode that tunes
kernels by measuring them is alone, with all cores, for --limit seconds at most; the models take turns. All share a cache of compiled kernels. A case that was not
compiled in its time, or for which none was left, is a row that says so. The table is Markdown, on the terminal and in
FOLDER/bench-models-pytorch.md ($OUT unless given). f32 is without TF32, unless its name says so.
"""

import argparse
import gc
import importlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time

import measure

# Modes, with the settings of inductor; None is without torch.compile.
MODES = {
    "eager": None,
    "compiled": {},
    "compiled, frozen": {"freezing": True},
    "coordinate descent": {"coordinate_descent_tuning": True},
    "max-autotune": {"max_autotune": True},
    "max-autotune, coordinate descent": {"max_autotune": True, "coordinate_descent_tuning": True},
    "max-autotune, frozen": {"max_autotune": True, "freezing": True},
    "max-autotune, coordinate descent, frozen": {
        "max_autotune": True,
        "coordinate_descent_tuning": True,
        "freezing": True,
    },
}
# What max-autotune chooses from.
BACKENDS = {"max_autotune_gemm_backends": "ATEN,TRITON", "max_autotune_conv_backends": "ATEN,TRITON"}
TUNED = [mode for mode, settings in MODES.items() if settings and settings != {"freezing": True}]
MODULES = {
    "decode": "decode_step",
    "mlps": "mlps",
    "encoder": "encoder",
    "training": "training",
    "unet": "unet",
    "grids": "grids",
}
COLUMNS = [
    ("host", "host us, synchronised"),
    ("events", "events us"),
    ("row", "us a launch in a row"),
    ("returned", "host us a launch"),
    ("peak", "peak of temporaries B"),
    ("first", "first run s"),
    ("error", "difference to eager"),
]


def measured(case):
    """Measures one case: says READY when it is compiled and captured, and waits for a line."""
    import torch

    name, way, mode = case
    settings = MODES[mode]
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    module = importlib.import_module(MODULES[name])
    step, launches, grad = module.step_of(torch, way, lambda part: part)
    with torch.set_grad_enabled(grad):
        wanted = [part.detach().float().clone() for part in step()]
        step = None
        gc.collect()
        if settings is not None:
            import torch._inductor.config as inductor

            for setting, value in {**BACKENDS, **settings}.items():
                setattr(inductor, setting, value)

        def compiled(part):
            return part if settings is None else torch.compile(part, fullgraph=not grad, dynamic=False)

        # The same numbers again: the step may have changed them.
        step, launches, grad = module.step_of(torch, way, compiled)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        start = time.perf_counter()
        found = [part.detach().float().clone() for part in step()]
        launch = measure.graph_of(torch, step)
        launch()
        torch.cuda.synchronize()
        first = time.perf_counter() - start
        peak = torch.cuda.max_memory_allocated() - before
        pairs = [(a, b) for a, b in zip(found, wanted) if b.numel() > 1]
        error = max(((a - b).abs().max() / b.abs().max()).item() for a, b in pairs)
        print("READY", flush=True)
        sys.stdin.readline()
        times = measure.times_of(torch, launch, launches)
    return {**times, "peak": peak, "first": first, "error": error}


def child(case):
    try:
        result = measured(case)
    except BaseException as error:  # said in the table
        lines = [line for line in str(error).splitlines() if line.strip()] or [""]
        result = {"failed": f"{type(error).__name__}: {lines[0][:160]}"}
    print("RESULT " + json.dumps(result), flush=True)


class Process:
    """A case's process, whose lines are read by a thread."""

    def __init__(self, case, cache, threads):
        self.case = case
        environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=cache, TORCHINDUCTOR_COMPILE_THREADS=str(threads))
        command = [sys.executable, os.path.abspath(__file__), "--child", json.dumps(case)]
        self.errors = tempfile.TemporaryFile("w+")
        pipe = subprocess.PIPE
        # A group of processes: compilers have workers, which end with it.
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=self.errors, text=True, env=environment, start_new_session=True
        )
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.result = None

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def wait(self, word, until):
        """Returns True when a line begins with the word, False when the process has ended or time is over."""
        while self.result is None:
            try:
                line = self.lines.get(timeout=max(until - time.monotonic(), 0.01))
            except queue.Empty:
                return False
            if line is None:
                self.process.wait()
                self.errors.seek(0)
                last = (self.errors.read().strip().splitlines() or [""])[-1]
                self.result = {"failed": f"the process ended with {self.process.returncode}: {last[:160]}"}
                return False
            if line.startswith("RESULT "):
                self.result = json.loads(line[7:])
            if line.startswith(word):
                return True
        return False

    def time(self, until):
        """Lets a process that is ready measure, and ends it."""
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.wait("RESULT", until)
        self.end("not measured in time")

    def end(self, failed):
        if self.result is None:
            self.result = {"failed": failed}
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def side_by_side(cases, cache, until):
    """Compiles cases side by side, then times them one by one. Returns a result for each."""
    threads = max(2, (os.cpu_count() or 2) // max(1, len(cases)))
    begin = time.monotonic()
    group = [Process(case, cache, threads) for case in cases]
    ready = [process.wait("READY", until) for process in group]
    for process, is_ready in zip(group, ready):
        if not is_ready:
            process.end(f"not compiled after {time.monotonic() - begin:.0f} s, {len(cases)} side by side")
    for process, is_ready in zip(group, ready):
        if is_ready:
            process.time(until + 60)
    return [(process.case, process.result) for process in group]


def alone(case, cache, limit, until):
    """Compiles and times one case with all cores."""
    begin = time.monotonic()
    if until - begin < 10:
        return case, {"failed": "not run: the time of all cases was over"}
    process = Process(case, cache, os.cpu_count() or 2)
    end = min(until, begin + limit)
    if process.wait("READY", end):
        process.time(end + 20)
    else:
        process.end(f"not compiled after {time.monotonic() - begin:.0f} s, alone")
    return case, process.result


def in_turns(cases):
    """Returns the cases, one of each model in turn."""
    lists = {}
    for case in cases:
        lists.setdefault(case[0], []).append(case)
    longest = max(map(len, lists.values()), default=0)
    return [own[at] for at in range(longest) for own in lists.values() if at < len(own)]


def cell(column, value):
    if column == "peak":
        return str(value)
    return f"{value:.1e}" if column == "error" else f"{value:.2f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default=",".join(MODULES))
    parser.add_argument("--seconds", type=float, default=150.0, help="the limit of all cases together")
    parser.add_argument("--limit", type=float, default=75.0, help="the limit of a case that tunes kernels")
    parser.add_argument("--cache", help="a folder of compiled kernels that is kept")
    parser.add_argument("--out", default=os.environ.get("OUT"))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(json.loads(arguments.child))
    only = dict(model.partition(":")[::2] for model in arguments.models.split(","))
    names = list(only)
    lines = []

    def say(line=""):
        print(line, flush=True)
        lines.append(line)

    about = (
        "import torch; p = torch.cuda.get_device_name() if torch.cuda.is_available() else 'no GPU'\n"
        "print(f'{p}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}')"
    )
    done = subprocess.run([sys.executable, "-c", about], capture_output=True, text=True)
    say("# models, PyTorch\n")
    say((done.stdout.strip() or "PyTorch cannot be imported") + time.strftime(", %Y-%m-%d", time.gmtime()))
    say("\nAll captured by hand in a CUDA graph.\n")
    say("| model | mode | " + " | ".join(head for _, head in COLUMNS) + " |")
    say("|" + " --- |" * (len(COLUMNS) + 2))

    begin = time.monotonic()
    end = begin + arguments.seconds
    cases = [(name, way, mode) for name in names for way, mode in importlib.import_module(MODULES[name]).CASES]
    cases = [case for case in cases if all(word in f"{case[1]}, {case[2]}" for word in only[case[0]].split("+"))]
    tuned = [case for case in cases if case[2] in TUNED or "whole" in case[1]]
    plain = [case for case in cases if case not in tuned]
    with tempfile.TemporaryDirectory() as own:
        cache = arguments.cache or own
        results = []
        beside = 12
        for at in range(0, len(plain), beside):
            until = begin + arguments.seconds * (0.4 if tuned else 1.0)
            results += side_by_side(plain[at : at + beside], cache, max(until, time.monotonic() + 20))
        for case in in_turns(tuned):
            results.append(alone(case, cache, arguments.limit, end))
        results.sort(key=lambda result: cases.index(result[0]))
    bests = []
    for name in names:
        ways = list(dict.fromkeys(case[1].split(":")[0] for case in cases if case[0] == name))
        for kind in ways:
            rows = [(c, r) for c, r in results if c[0] == name and c[1].split(":")[0] == kind]
            for (_, way, mode), result in rows:
                if "failed" in result:
                    cells = [result["failed"].replace("|", "/")] + [""] * (len(COLUMNS) - 1)
                else:
                    cells = [cell(column, result[column]) for column, _ in COLUMNS]
                say(f"| {name}, {way} | {mode} | " + " | ".join(cells) + " |")
            measured = [(c, r) for c, r in rows if "failed" not in r]
            for column in ("host", "events", "row") if measured else ():
                (_, way, mode), best = min(measured, key=lambda row: row[1][column])
                head = dict(COLUMNS)[column]
                bests.append(f"- {name}, {kind}, {head}: best {best[column]:.2f} ({way}, {mode})")
    say("\n" + "\n".join(bests))
    say(f"\n{time.monotonic() - begin:.0f} s in all.")
    if arguments.out:
        os.makedirs(arguments.out, exist_ok=True)
        with open(os.path.join(arguments.out, "bench-models-pytorch.md"), "w") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
