//! All memory lowerings give the same results, and an arena uses its planned memory. Runs on a GPU if there is one.

#[path = "../../benches/graphs/fork_join.rs"]
#[allow(dead_code)]
mod fork_join;
#[path = "../../benches/graphs/shapes.rs"]
mod shapes;
#[path = "../../benches/graphs/temporaries.rs"]
#[allow(dead_code)]
mod temporaries;

use cudarc::driver::CudaSlice;
use cuweave::report::Report;
use cuweave::{ArenaPool, Exec, Graph, GraphFn};
use cuweave_testkit::device::{Device, alone};

/// Returns numbers between -1 and 1 whose sums are rounded in many ways.
fn numbers(device: &Device, len: u32) -> CudaSlice<f32> {
    let value = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0;
    device.upload(&(0..len).map(value).collect::<Vec<f32>>())
}

/// Returns the bits of an argument. Panics if its elements are all equal or not finite.
fn bits(device: &Device, what: &str, values: &impl cudarc::driver::DevicePtr<f32>) -> Vec<u32> {
    let values: Vec<f32> = device.download(values);
    assert!(values.iter().all(|value| value.is_finite()), "{what}");
    assert!(values.windows(2).any(|pair| pair[0] != pair[1]), "{what}");
    values.into_iter().map(f32::to_bits).collect()
}

/// Every shape in every lowering and in a pool, under several schedules if these can be chosen.
#[test]
fn results_are_the_same_bit_for_bit() {
    let device = alone();
    macro_rules! same {
        ($nodes:ident $arena:ident $owned:ident; $arguments:tt, $len:expr) => {{
            let mut wanted: Option<Vec<u32>> = None;
            same!(@one wanted $nodes $arguments $len);
            same!(@one wanted $arena $arguments $len);
            same!(@one wanted $owned $arguments $len);
        }};
        (@one $wanted:ident $graph:ident ($($argument:expr),*) $len:expr) => {
            for pooled in [false, true] {
                for seed in 0..device.scaled(2, 3) {
                    device.schedule(seed);
                    let what = format!("{}, pooled: {pooled}, seed {seed}", stringify!($graph));
                    let x = numbers(&device, $len);
                    let graph = shapes::$graph(&device.ctx, $($argument,)* x).expect("it builds");
                    let pool = ArenaPool::new(&device.stream).expect("a pool");
                    let exec = if pooled { graph.instantiate_in(&pool) } else { graph.instantiate() };
                    let mut exec = exec.expect("it instantiates");
                    for _ in 0..2 {
                        exec.launch(&device.stream).expect("it launches");
                    }
                    let bits = bits(&device, &what, &exec.args().x);
                    let wanted = $wanted.get_or_insert_with(|| bits.clone());
                    assert!(*wanted == bits, "{what} differs");
                }
            }
        };
    }
    let (b, d, t) = device.scaled((16, 128, 64), (2, 8, 4));
    let (square, wide) = (numbers(&device, d * d), numbers(&device, 4 * d * d));
    let (g, keys, values) = (numbers(&device, d), numbers(&device, t * d), numbers(&device, t * d));
    same!(decode_nodes decode_arena decode_owned; (b, d, t, &square, &wide, &g, &keys, &values), b * d);
    let (c, s) = device.scaled((8, 16), (2, 2));
    let w = numbers(&device, 100 * c * c);
    same!(unet_nodes unet_arena unet_owned; (c, s, &w), 16 * c * s * s);
    same!(inception_nodes inception_arena inception_owned; (c, s, &w), 16 * c * s * s);
    let (n, k) = device.scaled((1 << 16, 256), (32, 4));
    let right = numbers(&device, n);
    same!(gradient_nodes gradient_arena gradient_owned; (n, k, &right), n);
    same!(butterflies_nodes butterflies_arena butterflies_owned; (n / 8), n);
    same!(one_big_nodes one_big_arena one_big_owned; (n, n / 4, &right), n);
    device.nothing_reported();
}

/// A graph with one arena takes its planned size, rounded up to the pool's granularity, from the device's graph
/// pool.
#[test]
fn the_arena_takes_what_is_planned() {
    let device = alone();
    let n = 1_024;
    let zeros = || device.stream.alloc_zeros::<f32>(n as usize).expect("an allocation");
    // 64 MiB and 48 MiB; 8,419,840 bytes.
    for len in device.scaled([1 << 20, 3 << 18], [1 << 12, 3 << 10]) {
        let mut exec = instantiated(fork_join::arena(&device.ctx, n, len, zeros()));
        takes_what_is_planned(&device, &exec.report(), || exec.launch(&device.stream).expect("it launches"));
    }
    let x = zeros();
    let mut exec = instantiated(temporaries::growing_arena(&device.ctx, n, &x, zeros()));
    takes_what_is_planned(&device, &exec.report(), || exec.launch(&device.stream).expect("it launches"));
    drop(exec);
    if device.simulated {
        println!(
            "said of this driver only: a real one counts whole steps as used, this one what is asked for"
        );
    }
}

fn instantiated<A: GraphFn>(graph: cuweave::Result<Graph<A>>) -> Exec<A> {
    graph.expect("it builds").instantiate().expect("it instantiates")
}

/// Launches once, and compares.
fn takes_what_is_planned(device: &Device, report: &Report, launch: impl FnOnce()) {
    let Report { planned_bytes, reserved_bytes, .. } = *report;
    device.ctx.synchronize().expect("all is well");
    cuweave::memory::trim_graph_pool(&device.ctx).expect("it trims");
    cuweave::memory::reset_graph_pool_high(&device.ctx).expect("it resets");
    let before = cuweave::memory::graph_pool(&device.ctx).expect("it tells");
    launch();
    device.stream.synchronize().expect("all is well");
    let memory = cuweave::memory::graph_pool(&device.ctx).expect("it tells");
    println!("planned {planned_bytes}, to be reserved {reserved_bytes}: {memory:?}, before {before:?}");
    assert_eq!(memory.reserved_high - before.reserved, reserved_bytes);
    let used = memory.used_high - before.used;
    assert_eq!(used, if device.simulated { planned_bytes } else { reserved_bytes });
}
