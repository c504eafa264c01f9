//! Module images: PTX files as the driver reads them.
//!
//! [`read`] parses an image and decodes it into a program. It refuses files that a driver with the simulated
//! version and device would refuse.

use cuweave_ptx::isa::Opcode;
use cuweave_ptx::{self as ptx, Function, Instruction, Statement};

use crate::base::config::{config, device};
use crate::base::log;
use crate::base::registers::{Registers, max_registers_for};
use crate::base::status::{Result, Status};
use crate::interp::{Entry, GlobalVariable, Program};

/// A kernel of an image.
pub struct ImageKernel {
    pub name: String,
    /// The offset and length of each parameter in the parameter space.
    pub parameters: Vec<(usize, usize)>,
    /// The size of the parameter space in bytes.
    pub parameter_bytes: usize,
    /// The maximum number of threads of a block, from `.maxntid` or `.reqntid`.
    pub max_threads: Option<u32>,
    /// `.reqntid`.
    pub required_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`.
    pub required_cluster: Option<[u32; 3]>,
    /// `.explicitcluster`: a launch must set its cluster, unless the kernel does.
    pub explicit_cluster: bool,
    /// Static shared memory in bytes.
    pub shared_bytes: u32,
    /// Local memory of a thread in bytes, without spilled registers.
    pub local_bytes: u32,
    /// The maximum number of registers per thread: from `.maxnreg`, or from `.minnctapersm` with `.maxntid` or
    /// `.reqntid`.
    pub max_registers: Option<u32>,
    /// The reason if the interpreter cannot run the kernel.
    pub supported: std::result::Result<(), String>,
    /// The index of the kernel among the program's entries.
    pub entry: usize,
}

impl ImageKernel {
    /// Returns the assumed registers of the kernel.
    pub fn registers(&self) -> Registers {
        Registers::for_kernel(&self.name, self.max_registers)
    }
}

/// A module image.
pub struct Image {
    pub kernels: Vec<ImageKernel>,
    /// The code and the variables.
    pub program: Program,
}

impl Image {
    /// Returns the variables.
    pub fn variables(&self) -> &[GlobalVariable] {
        &self.program.variables
    }
}

/// Major and minor version.
type Version = (u32, u32);

/// The newest PTX version of the drivers of each CUDA version.
const VERSIONS: &[(Version, Version)] = &[
    ((12, 0), (8, 0)),
    ((12, 1), (8, 1)),
    ((12, 2), (8, 2)),
    ((12, 3), (8, 3)),
    ((12, 4), (8, 4)),
    ((12, 5), (8, 5)),
    ((12, 7), (8, 6)),
    ((12, 8), (8, 7)),
    ((12, 9), (8, 8)),
    ((13, 0), (9, 0)),
    ((13, 1), (9, 1)),
    ((13, 2), (9, 2)),
    ((13, 3), (9, 3)),
    ((13, 4), (9, 4)),
    ((13, 5), (9, 5)),
];

/// Returns the newest PTX version that a driver of a CUDA version accepts.
fn newest_ptx(driver: (u32, u32)) -> (u32, u32) {
    let known = VERSIONS.iter().rfind(|version| version.0 <= driver);
    match known {
        Some(&((major, minor), (ptx_major, ptx_minor))) if (major, minor) == (13, 5) && driver > (13, 5) => {
            // Newer than the table. So far, the minor version of PTX has risen with that of CUDA.
            if driver.0 == major { (ptx_major, ptx_minor + driver.1 - minor) } else { (u32::MAX, 0) }
        }
        Some(&(_, ptx)) => ptx,
        None => (8, 0),
    }
}

/// The header of this driver's machine code; a length and the PTX follow. Real drivers refuse it.
pub const ENVELOPE: &[u8; 19] = b"\x7fELF simulated PTX\n";

/// Wraps PTX as this driver's machine code.
pub fn machine_code(text: &[u8]) -> Vec<u8> {
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes();
    [ENVELOPE.as_slice(), &bytes, text].concat()
}

/// Returns the PTX inside this driver's machine code. Returns all other bytes unchanged.
pub fn text_of(bytes: &[u8]) -> Result<&[u8]> {
    let Some(rest) = bytes.strip_prefix(ENVELOPE.as_slice()) else { return Ok(bytes) };
    let (length, text) = rest.split_first_chunk().ok_or(Status::INVALID_IMAGE)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| Status::INVALID_IMAGE)?;
    text.get(..length).ok_or_else(|| log::log_error(Status::INVALID_IMAGE, "machine code that is cut off"))
}

/// Parses and decodes an image that a program passes to the driver.
pub fn read(bytes: &[u8]) -> Result<Image> {
    if bytes.starts_with(b"\x7fELF") || bytes.starts_with(&[0x50, 0xed, 0x55, 0xba]) {
        let what = "a cubin or fat binary: machine code cannot be simulated, give the driver PTX";
        crate::base::console::print(what);
        return Err(log::log_error(Status::NO_BINARY_FOR_GPU, what));
    }
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let text = std::str::from_utf8(bytes)
        .map_err(|_| log::log_error(Status::INVALID_IMAGE, "neither PTX nor a binary"))?;
    let invalid = |what: String| {
        crate::base::console::print(&format!("PTX is refused: {what}"));
        log::log_error(Status::INVALID_PTX, what)
    };
    if text.trim().is_empty() {
        return Err(log::log_error(Status::INVALID_IMAGE, "an empty image"));
    }
    let module = ptx::parse(text).map_err(|error| invalid(error.to_string()))?;
    let (version, newest) = (module.version, newest_ptx(config().version));
    if version > newest {
        let ((major, minor), (driver_major, driver_minor)) = (version, config().version);
        let what = format!(
            "PTX of version {major}.{minor} is too new for a driver of CUDA {driver_major}.{driver_minor}"
        );
        crate::base::console::print(&what);
        return Err(log::log_error(Status::UNSUPPORTED_PTX_VERSION, what));
    }
    if module.address_size != 64 {
        return Err(invalid("the address size is not 64".to_owned()));
    }
    let target = target(&module);
    if !device().accepts_target(target) {
        let (major, minor) = device().capability;
        let what =
            format!("PTX for `sm_{target}` does not run on a device of compute capability {major}.{minor}");
        return Err(log::log_error(Status::NO_BINARY_FOR_GPU, what));
    }
    if let Some(what) = unsupported_feature(&module) {
        return Err(invalid(what));
    }
    let program = Program::decode(&module);
    if let Some(what) = &program.invalid {
        return Err(invalid(what.clone()));
    }
    let entries = program.entries.iter().enumerate();
    let kernels =
        entries.filter_map(|(at, entry)| Some(kernel(module.entry(&entry.name)?, entry, at))).collect();
    Ok(Image { kernels, program })
}

/// Returns the file's target without the prefix `sm_`.
fn target<'a>(module: &ptx::Module<'a>) -> &'a str {
    module.target.first().and_then(|target| target.strip_prefix("sm_")).unwrap_or("0")
}

/// Returns the first feature that the file uses although its version, its target or the driver lacks it.
fn unsupported_feature(module: &ptx::Module) -> Option<String> {
    let capability: u32 =
        target(module).trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap_or_default();
    // Source: the PTX manual on kernel parameters.
    let most = device().max_parameter_bytes(config().version, capability);
    for function in module.functions().filter(|function| function.body.is_some()) {
        let bytes = function.layout().1;
        if function.entry && bytes > most {
            let (name, line) = (function.name, function.line);
            return Some(format!("line {line}: {bytes} bytes of parameters of `{name}`, more than {most}"));
        }
        let statements = function.body.iter().flat_map(|body| &body.statements);
        let mut instructions = statements.filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        });
        let found = instructions.find_map(|instruction| {
            let (what, (major, minor)) = first_version(instruction)?;
            let line = instruction.line;
            let lacks = module.version < (major, minor) || capability < 90;
            lacks.then(|| format!("line {line}: `{what}` needs PTX {major}.{minor} and the target sm_90"))
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns the first PTX version of an instruction, if it needs the target `sm_90`. Source: the PTX manual on
/// `griddepcontrol` and `multimem`.
fn first_version(instruction: &Instruction) -> Option<(&'static str, Version)> {
    match instruction.op() {
        Opcode::Griddepcontrol => Some(("griddepcontrol", (7, 8))),
        Opcode::Multimem if instruction.has("acc::f32") => Some(("multimem.ld_reduce.acc::f32", (8, 2))),
        Opcode::Multimem => Some(("multimem", (8, 1))),
        _ => None,
    }
}

/// Returns the three numbers of a directive. Missing ones are 1.
fn three(values: &[u32]) -> [u32; 3] {
    let at = |at: usize| values.get(at).copied().unwrap_or(1);
    [at(0), at(1), at(2)]
}

fn kernel(function: &Function, entry: &Entry, at: usize) -> ImageKernel {
    let required_block = function.performance(".reqntid").map(three);
    let most = function.performance(".maxntid").map(three).or(required_block);
    let max_threads = most.map(|most| most.iter().fold(1u32, |all, &size| all.saturating_mul(size)));
    let first = |directive| function.performance(directive).and_then(|values| values.first().copied());
    let of_blocks =
        first(".minnctapersm").zip(max_threads).map(|(blocks, threads)| max_registers_for(blocks, threads));
    ImageKernel {
        name: entry.name.clone(),
        parameters: entry.parameters.clone(),
        parameter_bytes: entry.parameter_bytes,
        max_threads,
        required_block,
        required_cluster: function.performance(".reqnctapercluster").map(three),
        explicit_cluster: function.performance(".explicitcluster").is_some(),
        shared_bytes: entry.shared_bytes,
        local_bytes: entry.local_bytes,
        max_registers: first(".maxnreg").or(of_blocks),
        supported: entry.supported.clone(),
        entry: at,
    }
}

#[cfg(test)]
mod tests {
    use super::newest_ptx;

    #[test]
    fn drivers_take_ptx_of_their_time() {
        assert_eq!(newest_ptx((13, 0)), (9, 0));
        assert_eq!(newest_ptx((12, 6)), (8, 5));
        assert_eq!(newest_ptx((12, 9)), (8, 8));
        assert_eq!(newest_ptx((13, 6)), (9, 6));
        assert_eq!(newest_ptx((14, 0)), (u32::MAX, 0));
    }
}
