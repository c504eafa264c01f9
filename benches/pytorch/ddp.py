"""The data-parallel training step of benches/nccl/training.rs in PyTorch's DistributedDataParallel: a process a device, NCCL, f32 with products
in TF32, gradient descent with momentum.

Run: python benches/pytorch/ddp.py [--seconds N] [--only TEXT] [--devices N] [--out FOLDER]

Each way of writing it, eager and compiled, is measured as it is and with the whole step (forward, backward, all-reduces, update) captured in a CUDA
graph; the best counts. Times are those of rank 0, waited for and in a row. Buckets are PyTorch's own choice, 25 MiB, and of one layer each.
Ways for which no time is left are rows that say so. The table is Markdown, on the terminal and in FOLDER/bench-ddp-pytorch.md ($OUT unless given).
"""

import argparse
import json
import os
import socket
import statistics
import sys
import time

LAYERS, RATE = 8, 1e-9
# Width, and samples of a device.
SIZES = [(4096, 1024), (4096, 1280), (4096, 2048), (2048, 2048), (4096, 4096), (1024, 1024)]
# Compiled, captured, bucket in MiB (None: a layer each).
WAYS = [
    (False, True, 25),
    (False, True, None),
    (False, False, 25),
    (True, True, 25),
    (True, True, None),
    (True, False, 25),
]
COLUMNS = ["step", "way", "us, waited for", "us, in a row", "one device alone, in a row", "throughput of one device", "first run s"]


def name_of(way):
    compiled, captured, bucket = way
    words = ["compiled" if compiled else "eager", "whole step in a graph" if captured else "no graph"]
    return ", ".join(words + [f"buckets of {bucket} MiB" if bucket else "a bucket a layer"])


def times_of(torch, launch, launches):
    """Returns microseconds of a launch that is waited for (median), and of one in a row."""

    def waited():
        start = time.perf_counter()
        launch()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e6

    def row():
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(launches):
            launch()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e6 / launches

    for _ in range(3):
        launch()
    torch.cuda.synchronize()
    one = statistics.median(waited() for _ in range(launches))
    return one, statistics.median(row() for _ in range(5))


def step_of(torch, rank, size, way, parallel):
    """Returns the launch of a step, and its model."""
    import torch.nn as nn

    compiled, captured, bucket = way
    width, samples = size
    torch.manual_seed(0)
    layers = []
    for _ in range(LAYERS):
        linear = nn.Linear(width, width, bias=False, device="cuda")
        nn.init.uniform_(linear.weight, -((6 / width) ** 0.5), (6 / width) ** 0.5)
        layers += [linear, nn.ReLU()]
    model = nn.Sequential(*layers)
    torch.manual_seed(1 + rank)
    x, target = (torch.rand(samples, width, device="cuda") * 2 - 1 for _ in range(2))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        if parallel:
            megabytes = bucket if bucket else 4 * width * width / 2**20
            model = nn.parallel.DistributedDataParallel(
                model, device_ids=[rank], bucket_cap_mb=megabytes, gradient_as_bucket_view=True
            )
        sgd = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9, foreach=True)
        run = torch.compile(model, dynamic=False) if compiled else model

        def step():
            sgd.zero_grad(set_to_none=True)
            # The gradient of half the sum of squares, which nothing computes.
            y = run(x)
            y.backward(y.detach() - target)
            sgd.step()

        # DDP needs 11 runs before a capture.
        for _ in range(11 if parallel else 3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    if not captured:
        return step, model
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        step()
    return graph.replay, model


def rank_main(rank, devices, port, cases, until, out):
    import torch
    import torch._dynamo
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), TORCH_NCCL_ASYNC_ERROR_HANDLING="0")
    torch.cuda.set_device(rank)
    torch.set_float32_matmul_precision("high")
    torch._dynamo.config.recompile_limit = 64
    dist.init_process_group("nccl", rank=rank, world_size=devices, device_id=torch.device("cuda", rank))
    for size, way in cases:
        row = {"size": size, "way": way}
        # All ranks go on or none.
        late = torch.tensor([float(time.time() > until)], device="cuda")
        dist.all_reduce(late, op=dist.ReduceOp.MAX)
        if late.item():
            row["failed"] = "no time left"
        else:
            try:
                start = time.perf_counter()
                launch, model = step_of(torch, rank, size, way, True)
                row["first"] = time.perf_counter() - start
                flops = 6 * size[1] * size[0] ** 2 * LAYERS
                launches = max(8, min(100, int(0.05 / (flops / 3e14 + 3e-4))))
                row["waited"], row["row"] = times_of(torch, launch, launches)
                # Ranks have the same weights: their difference is what NCCL rounds.
                weights = next(model.parameters()).detach()
                low, high = weights.clone(), weights.clone()
                dist.all_reduce(low, op=dist.ReduceOp.MIN)
                dist.all_reduce(high, op=dist.ReduceOp.MAX)
                row["apart"] = (high - low).abs().max().item()
                del launch, model
                dist.barrier()
                launch, model = step_of(torch, rank, size, way, False)
                row["alone"] = times_of(torch, launch, launches)[1]
                del launch, model
            except Exception as error:  # said in the table
                lines = [line for line in str(error).splitlines() if line.strip()] or [""]
                row["failed"] = f"{type(error).__name__}: {lines[0][:160]}"
        if rank == 0:
            with open(out, "a") as file:
                file.write(json.dumps(row) + "\n")
                file.flush()
        # A failure of one rank alone would hang the others: all end.
        if row.get("failed", "no time left") != "no time left":
            os._exit(1)
    dist.barrier()
    os._exit(0)


def row_of(row):
    width, samples = row["size"]
    cells = [f"{LAYERS} layers, {width} wide, {samples} samples a device", name_of(row["way"])]
    if "failed" in row:
        return cells + [row["failed"]] + [""] * (len(COLUMNS) - 3)
    if row["apart"] > 0:
        return cells + [f"ranks differ by {row['apart']:.1e}"] + [""] * (len(COLUMNS) - 3)
    throughput = 2 * row["alone"] / row["row"]
    return cells + [f"{row[key]:.2f}" for key in ("waited", "row", "alone")] + [f"{throughput:.3f}", f"{row['first']:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--only", default="", help="the first sizes whose row contains this text")
    parser.add_argument("--out", default=os.environ.get("OUT", "."))
    options = parser.parse_args()
    import torch
    import torch.multiprocessing as mp

    if torch.cuda.device_count() < options.devices:
        sys.exit(f"not run: it needs {options.devices} devices")
    until = time.time() + options.seconds
    cases = [(size, way) for way in WAYS for size in SIZES]
    cases = [case for case in cases if options.only in f"{case[0][0]} wide, {case[0][1]} samples, {name_of(case[1])}"]
    rows = os.path.join(options.out, "ddp-rows.jsonl")
    open(rows, "w").close()
    done = 0
    # A case that fails ends its processes; the next ones go on with the rest.
    while done < len(cases) and time.time() < until:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        arguments = (options.devices, port, cases[done:], until, rows)
        processes = [mp.get_context("spawn").Process(target=rank_main, args=(rank, *arguments)) for rank in range(options.devices)]
        for process in processes:
            process.start()
        while any(process.is_alive() for process in processes):
            ended = any(process.exitcode not in (None, 0) for process in processes)
            if ended or time.time() > until + 30:
                time.sleep(1)
                for process in processes:
                    process.kill()
            time.sleep(0.1)
        before, done = done, sum(1 for _ in open(rows))
        if done == before:
            failed = {"size": cases[done][0], "way": cases[done][1], "failed": "a process ended"}
            with open(rows, "a") as file:
                file.write(json.dumps(failed) + "\n")
            done += 1
    driver = torch.version.cuda
    lines = [
        "# ddp, PyTorch",
        "",
        f"{torch.cuda.get_device_name(0)} x {options.devices}, PyTorch {torch.__version__}, CUDA {driver}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}, {time.strftime('%Y-%m-%d')}",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + " --- |" * len(COLUMNS),
    ]
    for line in open(rows):
        lines.append("| " + " | ".join(row_of(json.loads(line))) + " |")
    for size, way in cases[done:]:
        lines.append("| " + " | ".join(row_of({"size": size, "way": way, "failed": "no time left"})) + " |")
    text = "\n".join(lines) + "\n"
    print(text)
    with open(os.path.join(options.out, "bench-ddp-pytorch.md"), "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
