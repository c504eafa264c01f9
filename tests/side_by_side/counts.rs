//! The nodes, edges, depth, hubs and bytes of the graphs that the benchmarks run. Times are left to the benchmarks;
//! these numbers are the same on every machine.

#[path = "../../benches/graphs/branches.rs"]
mod branches;
#[path = "../../benches/graphs/chain.rs"]
mod chain;
#[path = "../../benches/graphs/chains.rs"]
mod chains;
#[path = "../../benches/graphs/fork_join.rs"]
mod fork_join;
#[path = "../../benches/graphs/joins.rs"]
mod joins;
#[path = "../../benches/graphs/temporaries.rs"]
mod temporaries;

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice};
use cuweave::report::Report;
use cuweave::{Graph, GraphFn};
use cuweave_testkit::device::device;

const N: u32 = 1_024;
/// 4 MiB of floats.
const LEN: u32 = 1 << 20;

fn floats(ctx: &Arc<CudaContext>) -> CudaSlice<f32> {
    ctx.default_stream().alloc_zeros(N as usize).expect("an allocation")
}

fn words(ctx: &Arc<CudaContext>, len: usize) -> CudaSlice<u32> {
    ctx.default_stream().alloc_zeros(len).expect("an allocation")
}

fn report<A: GraphFn>(graph: cuweave::Result<Graph<A>>) -> Report {
    graph.expect("the graph builds").report()
}

/// Nodes, edges, depth and hubs.
fn counts(report: &Report) -> [usize; 4] {
    [report.nodes(), report.edges, report.depth, report.hubs]
}

#[test]
fn a_chain() {
    let ctx = device().ctx;
    let report = report(chain::chain(&ctx, words(&ctx, 1)));
    assert_eq!(counts(&report), [1_000, 999, 1_000, 0]);
}

#[test]
fn a_chain_with_redundant_dependencies() {
    let ctx = device().ctx;
    let report = report(chain::window(&ctx, words(&ctx, 1_008)));
    assert_eq!(report.edges_before_reduction, 8 * 1_000 - 36);
    assert_eq!(counts(&report), [1_000, 999, 1_000, 0]);
}

#[test]
fn fork_join_in_nodes() {
    let ctx = device().ctx;
    let report = report(fork_join::nodes(&ctx, N, LEN, floats(&ctx)));
    assert_eq!((report.kernels, report.allocs, report.frees), (340, 320, 320));
    assert_eq!((report.depth, report.hubs), (40, 0));
    // A graph has 624 edges between its kernels. Each temporary has at least one edge to its fork and one from its
    // join.
    assert!(report.edges >= 624 + 2 * 320, "{report}");
}

#[test]
fn fork_join_in_an_arena() {
    let ctx = device().ctx;
    let report = report(fork_join::arena(&ctx, N, LEN, floats(&ctx)));
    assert_eq!(counts(&report), [342, 641, 40, 0]);
    assert_eq!((report.allocs, report.frees), (1, 1));
    assert_eq!(report.planned_bytes, 16 * 4 * u64::from(LEN));
}

#[test]
fn fork_join_in_memory_of_the_exec() {
    let ctx = device().ctx;
    let report = report(fork_join::owned(&ctx, N, N, floats(&ctx)));
    assert_eq!(counts(&report), [340, 624, 40, 0]);
    assert_eq!(report.planned_bytes, 16 * 4 * u64::from(N));
}

#[test]
fn chains_in_nodes() {
    let ctx = device().ctx;
    let report = report(chains::nodes(&ctx, N, LEN, std::array::from_fn(|_| floats(&ctx))));
    assert_eq!((report.kernels, report.allocs, report.frees), (512, 256, 256));
    assert_eq!((report.depth, report.hubs), (64, 0));
}

#[test]
fn chains_in_an_arena() {
    let ctx = device().ctx;
    let report = report(chains::arena(&ctx, N, LEN, std::array::from_fn(|_| floats(&ctx))));
    assert_eq!(counts(&report), [514, 520, 64, 0]);
    assert_eq!(report.planned_bytes, 32 << 20);
}

#[test]
fn chains_in_memory_of_the_exec() {
    let ctx = device().ctx;
    let report = report(chains::owned(&ctx, N, N, std::array::from_fn(|_| floats(&ctx))));
    assert_eq!(counts(&report), [512, 504, 64, 0]);
    assert_eq!(report.planned_bytes, 8 * 4 * u64::from(N));
}

#[test]
fn joins_get_hubs_where_these_pay() {
    let ctx = device().ctx;
    macro_rules! wide {
        ($($name:ident $w:literal)*) => {$(
            let (a, b) = (words(&ctx, $w), words(&ctx, $w));
            let wide = report(joins::$name(&ctx, a, b));
            assert_eq!(counts(&wide), [8 * $w + 7, 7 * 2 * $w, 8, 7], "W = {}", $w);
        )*};
    }
    wide!(w8 8 w16 16 w32 32 w64 64 w128 128);
}

#[test]
fn independent_branches() {
    let ctx = device().ctx;
    let report = report(branches::branches(&ctx, N, std::array::from_fn(|_| floats(&ctx))));
    assert_eq!(counts(&report), [320, 304, 20, 0]);
}

#[test]
fn growing_temporaries_need_the_two_largest() {
    let ctx = device().ctx;
    let x = floats(&ctx);
    let arena = report(temporaries::growing_arena(&ctx, N, &x, floats(&ctx)));
    assert_eq!((counts(&arena), arena.planned_bytes), ([35, 34, 33, 0], 8_419_840));
    let owned = report(temporaries::growing_owned(&ctx, N, &x, floats(&ctx)));
    assert_eq!((counts(&owned), owned.planned_bytes), ([33, 32, 33, 0], 8_419_840));
    let nodes = report(temporaries::growing_nodes(&ctx, N, &x, floats(&ctx)));
    assert_eq!((nodes.kernels, nodes.allocs, nodes.frees, nodes.depth), (33, 32, 32, 33));
    assert!(
        nodes.planned_bytes < nodes.allocated_bytes && nodes.allocated_bytes > arena.planned_bytes,
        "{nodes}"
    );
    assert_eq!(arena.planned_bytes, arena.allocated_bytes);
}

#[test]
fn a_pipeline_of_1_000_temporaries_needs_two_of_them() {
    let ctx = device().ctx;
    let arena = report(temporaries::pipeline_arena(&ctx, N, floats(&ctx)));
    assert_eq!((counts(&arena), arena.planned_bytes), ([1_102, 1_101, 1_100, 0], 2 * 4 * u64::from(N)));
    let owned = report(temporaries::pipeline_owned(&ctx, N, floats(&ctx)));
    assert_eq!((counts(&owned), owned.planned_bytes), ([1_100, 1_099, 1_100, 0], 2 * 4 * u64::from(N)));
    let nodes = report(temporaries::pipeline_nodes(&ctx, N, floats(&ctx)));
    assert_eq!((nodes.kernels, nodes.allocs, nodes.frees, nodes.depth), (1_100, 1_000, 1_000, 1_100));
}
