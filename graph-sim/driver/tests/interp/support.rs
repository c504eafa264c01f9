//! Test support: memory, and a launch in one call.

use cuweave_ptx::parse;
use cuweave_sim_driver::interp::{
    Fault, GlobalMemory, Launch, Program, Region, Replica, RunOptions, RunOutcome, run,
};
use cuweave_testkit::files;
use std::sync::Mutex;

/// An allocation of a test.
struct Buffer {
    base: u64,
    size: u64,
    data: Vec<u128>,
    shadow: Vec<u64>,
    pages: Vec<u8>,
}

/// Allocations far apart from each other.
#[derive(Default)]
pub struct Device {
    buffers: Vec<Buffer>,
    pub printed: Mutex<String>,
    /// The buffers bound to the multicast object, one for each device.
    pub bound: Vec<u64>,
}

/// The address of the multicast object.
pub const OBJECT: u64 = 0x40_0000_0000;

// The interpreter finds buffers by address. The vectors are not accessed while a kernel runs.
impl GlobalMemory for Device {
    fn region(&self, address: u64) -> Option<Region> {
        let buffer = self.buffers.iter().find(|b| (b.base..b.base + b.size).contains(&address))?;
        Some(Region {
            base: buffer.base,
            size: buffer.size,
            data: buffer.data.as_ptr() as *mut u8,
            shadow: buffer.shadow.as_ptr() as *mut u8,
            marks: buffer.shadow.as_ptr() as *mut u8,
            pages: buffer.pages.as_ptr() as *mut u8,
            written: false,
            writable: true,
        })
    }

    fn replicas(&self, address: u64) -> Result<Vec<Replica>, String> {
        let regions: Vec<Region> = self.bound.iter().filter_map(|&base| self.region(base)).collect();
        let size = regions.iter().map(|region| region.size).min().unwrap_or(0);
        if !(OBJECT..OBJECT + size).contains(&address) {
            return Err("which is not an address of a multicast object".to_owned());
        }
        let replica = |(device, region): (usize, &Region)| {
            let own_address = region.base;
            Replica { device, own_address, region: Region { base: OBJECT, size, ..*region } }
        };
        Ok(regions.iter().enumerate().map(replica).collect())
    }

    fn print(&self, text: &str) {
        self.printed.lock().unwrap().push_str(text);
    }
}

/// A type whose values can be stored in memory.
pub trait Plain: Copy {
    const SIZE: usize;
    fn put(self, bytes: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($ty:ty),*) => { $(impl Plain for $ty {
        const SIZE: usize = size_of::<$ty>();
        fn put(self, bytes: &mut Vec<u8>) { bytes.extend(self.to_le_bytes()); }
        fn get(bytes: &[u8]) -> Self { <$ty>::from_le_bytes(bytes.try_into().unwrap()) }
    })* };
}
plain!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

impl Device {
    /// Allocates `size` bytes that count as never written.
    pub fn fresh(&mut self, size: u64) -> u64 {
        let base = 0x10_0000_0000 + self.buffers.len() as u64 * 0x1_0000_0000;
        let buffer = Buffer {
            base,
            size,
            data: vec![0xabab_abab_abab_abab_abab_abab_abab_abab; size.div_ceil(16) as usize],
            shadow: vec![0; size.div_ceil(8) as usize],
            pages: vec![0; size as usize / 4096 + 1],
        };
        self.buffers.push(buffer);
        base
    }

    /// Makes a buffer longer. The new bytes count as never written.
    pub fn grow(&mut self, base: u64, size: u64) {
        let buffer = self.buffers.iter_mut().find(|b| b.base == base).unwrap();
        buffer.size = size;
        buffer.data.resize(size.div_ceil(16) as usize, 0);
        buffer.shadow.resize(size.div_ceil(8) as usize, 0);
    }

    pub fn put<T: Plain>(&mut self, values: &[T]) -> u64 {
        let mut bytes = Vec::new();
        values.iter().for_each(|value| value.put(&mut bytes));
        let base = self.fresh(bytes.len().max(1) as u64);
        let buffer = self.buffers.last_mut().unwrap();
        for (at, &byte) in bytes.iter().enumerate() {
            let shift = 8 * (at % 16);
            buffer.data[at / 16] = buffer.data[at / 16] & !(0xff << shift) | u128::from(byte) << shift;
            buffer.shadow[at / 8] |= 1 << (8 * (at % 8));
        }
        base
    }

    pub fn get<T: Plain>(&self, base: u64) -> Vec<T> {
        let buffer = self.buffers.iter().find(|b| b.base == base).unwrap();
        let bytes: Vec<u8> = buffer.data.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes[..buffer.size as usize].chunks_exact(T::SIZE).map(T::get).collect()
    }

    /// Returns the shadow flags of a buffer's bytes.
    pub fn flags(&self, base: u64) -> Vec<u8> {
        let buffer = self.buffers.iter().find(|b| b.base == base).unwrap();
        buffer.shadow.iter().flat_map(|word| word.to_le_bytes()).take(buffer.size as usize).collect()
    }
}

/// An argument of a kernel.
#[derive(Clone)]
pub enum Arg {
    P(u64),
    I(i32),
    F(f32),
    H(u16),
    B(Vec<u8>),
}

/// A loaded module.
pub struct Loaded {
    pub program: Program,
    pub variables: Vec<u64>,
    pub options: RunOptions,
}

impl Loaded {
    pub fn new(text: &str, device: &mut Device) -> Self {
        let module = parse(text).unwrap_or_else(|error| panic!("{error}"));
        let program = Program::decode(&module);
        let mut variables: Vec<u64> = Vec::new();
        for variable in &program.variables {
            let mut initial = variable.initial.clone();
            initial.resize(variable.bytes.max(1) as usize, 0);
            variables.push(device.put(&initial));
        }
        for (at, variable) in program.variables.iter().enumerate() {
            for (offset, name, addend) in &variable.addresses {
                let target = program.variables.iter().position(|v| v.name == *name).unwrap();
                let value = variables[target].wrapping_add_signed(*addend);
                let buffer = device.buffers.iter_mut().find(|b| b.base == variables[at]).unwrap();
                for (n, byte) in value.to_le_bytes().into_iter().enumerate() {
                    let at = offset + n;
                    let shift = 8 * (at % 16);
                    buffer.data[at / 16] =
                        buffer.data[at / 16] & !(0xff << shift) | u128::from(byte) << shift;
                }
            }
        }
        Loaded { program, variables, options: RunOptions::default() }
    }

    pub fn launch(
        &self,
        device: &Device,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        args: &[Arg],
    ) -> Result<RunOutcome, Fault> {
        let number = self.program.entry(kernel).unwrap_or_else(|| panic!("no kernel `{kernel}`"));
        let entry = &self.program.entries[number];
        let mut parameters = vec![0u8; entry.parameter_bytes];
        assert_eq!(entry.parameters.len(), args.len(), "{kernel}");
        for (&(offset, size), arg) in entry.parameters.iter().zip(args) {
            let bytes = match arg {
                Arg::P(v) => v.to_le_bytes().to_vec(),
                Arg::I(v) => v.to_le_bytes().to_vec(),
                Arg::F(v) => v.to_le_bytes().to_vec(),
                Arg::H(v) => v.to_le_bytes().to_vec(),
                Arg::B(v) => v.clone(),
            };
            assert_eq!(bytes.len(), size, "{kernel}");
            parameters[offset..offset + size].copy_from_slice(&bytes);
        }
        let launch = Launch {
            program: &self.program,
            entry: number,
            grid,
            block,
            dynamic_shared: shared,
            parameters: &parameters,
            variables: &self.variables,
        };
        run(&launch, device, &self.options, None)
    }

    /// Runs a launch that must succeed without conflicts.
    pub fn go(&self, device: &Device, kernel: &str, grid: u32, block: u32, args: &[Arg]) {
        let stats = self.launch(device, kernel, [grid, 1, 1], [block, 1, 1], 0, args);
        let stats = stats.unwrap_or_else(|fault| panic!("{fault}"));
        assert!(stats.conflicts.is_empty(), "{:?}", stats.conflicts);
    }
}

pub fn close(ours: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(ours.len(), expected.len());
    for (at, (a, b)) in ours.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "element {at}: {a} instead of {b}");
    }
}

/// Returns the PTX of a source: the tracked ones, and what `scripts/corpus.py` adds.
pub fn texts(source: &str) -> Vec<String> {
    let mut all = files::ptx(&["graph-sim/driver/tests/ptx"]);
    all.retain(|file| files::name(file).split('.').next() == Some(source));
    all.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// Runs a test on each PTX of a source, all of whose entries must be supported.
pub fn each(source: &str, test: impl Fn(&mut Device, &Loaded)) {
    for text in texts(source) {
        let mut device = Device::default();
        let loaded = Loaded::new(&text, &mut device);
        for entry in &loaded.program.entries {
            assert_eq!(entry.supported, Ok(()), "{}", entry.name);
        }
        test(&mut device, &loaded);
    }
}
