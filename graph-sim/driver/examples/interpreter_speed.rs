//! Measures the speed of the interpreter on one core in thread instructions per second, with the default checks.
//!
//! `cargo run --release -p cuweave-sim-driver --example interpreter_speed`

use cuweave_ptx::parse;
use cuweave_sim_driver::interp::{GlobalMemory, Launch, Program, Region, RunOptions, run};
use std::time::Instant;

/// Three buffers of zeros that count as written.
struct Device {
    data: Vec<Vec<u64>>,
    shadow: Vec<Vec<u64>>,
    pages: Vec<Vec<u8>>,
}

const BYTES: u64 = 16 << 20;

impl Device {
    fn new() -> Self {
        let words = (BYTES / 8) as usize;
        Self {
            data: vec![vec![0; words]; 3],
            shadow: vec![vec![0x0101_0101_0101_0101; words]; 3],
            pages: vec![vec![0; (BYTES / 4096) as usize + 1]; 3],
        }
    }

    fn address(buffer: u64) -> u64 {
        0x10_0000_0000 + buffer * 0x1_0000_0000
    }
}

impl GlobalMemory for Device {
    fn region(&self, address: u64) -> Option<Region> {
        let buffer = (0..3).find(|&b| (Self::address(b)..Self::address(b) + BYTES).contains(&address))?;
        let at = buffer as usize;
        Some(Region {
            base: Self::address(buffer),
            size: BYTES,
            data: self.data[at].as_ptr() as *mut u8,
            shadow: self.shadow[at].as_ptr() as *mut u8,
            marks: self.shadow[at].as_ptr() as *mut u8,
            pages: self.pages[at].as_ptr() as *mut u8,
            written: false,
            writable: true,
        })
    }
}

/// Returns the CPU time of this thread in seconds, if the system reports it.
fn busy() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(|nanoseconds: f64| nanoseconds / 1e9)
}

fn main() {
    let text = include_str!("../tests/ptx/basic.ptx");
    let start = Instant::now();
    let module = parse(text).expect("the kernels are PTX");
    println!("{} bytes of PTX read in {:?}", text.len(), start.elapsed());
    let program = Program::decode(&module);
    let address = |buffer| Device::address(buffer).to_le_bytes();
    let n = 1u32 << 21;
    let mut saxpy = 2f32.to_le_bytes().to_vec();
    saxpy.resize(8, 0);
    saxpy.extend([address(0), address(1)].concat());
    saxpy.extend(n.to_le_bytes());
    let mut matmul = [address(0), address(1), address(2)].concat();
    matmul.extend(256u32.to_le_bytes());
    for (name, grid, block, parameters) in
        [("saxpy", [n / 256, 1, 1], [256, 1, 1], saxpy), ("matmul16", [16, 16, 1], [16, 16, 1], matmul)]
    {
        for threads in [Some(1), None] {
            let device = Device::new();
            let entry = program.entry(name).expect("the kernel is there");
            let variables = vec![Device::address(2); program.variables.len()];
            let launch = Launch {
                program: &program,
                entry,
                grid,
                block,
                dynamic_shared: 0,
                parameters: &parameters,
                variables: &variables,
            };
            let (start, busy_before) = (Instant::now(), busy());
            let stats = run(&launch, &device, &RunOptions { threads, ..RunOptions::default() }, None)
                .expect("the kernel runs");
            let wall = start.elapsed().as_secs_f64();
            let own = busy().zip(busy_before).map(|(now, before)| now - before);
            let seconds = own.filter(|_| threads == Some(1)).unwrap_or(wall);
            let rate = stats.instructions as f64 / seconds / 1e6;
            let on = threads.map_or("all cores".to_owned(), |n| format!("{n} core"));
            println!(
                "{name} on {on}: {} thread-instructions, {rate:.0} million a second",
                stats.instructions
            );
        }
    }
}
