"""Captures a call in a CUDA graph by hand, and measures its launches."""

import statistics
import time


def graph_of(torch, call):
    """Captures a call after a warm-up on another stream. Returns a function that replays it."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def times_of(torch, launch, launches):
    """Returns microseconds: medians of launches that are each waited for, and the mean of launches in a row."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    for _ in range(20):
        launch()
    torch.cuda.synchronize()

    def repeat(measure):
        return statistics.median(statistics.median(measure() for _ in range(launches)) for _ in range(3))

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
        for _ in range(launches):
            launch()
        events[1].record()
        torch.cuda.synchronize()
        return events[0].elapsed_time(events[1]) * 1e3 / launches

    return {
        "host": repeat(host),
        "events": repeat(device),
        "row": statistics.median(row() for _ in range(5)),
        "returned": repeat(returned),
    }
