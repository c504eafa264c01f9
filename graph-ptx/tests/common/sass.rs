//! Machine code as text: the assembler, the disassembler, and the floating-point arithmetic of each kernel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `ptxas` and `nvdisasm`.
pub struct Tools {
    ptxas: PathBuf,
    nvdisasm: PathBuf,
}

/// The number of floating-point instructions of a kernel by description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arithmetic {
    pub described: BTreeMap<String, usize>,
}

impl Tools {
    /// Returns the tools that the environment names.
    pub fn find() -> Option<Tools> {
        let of = |name| std::env::var_os(name).map(PathBuf::from);
        Some(Tools { ptxas: of("CUWEAVE_PTXAS")?, nvdisasm: of("CUWEAVE_NVDISASM")? })
    }

    /// Returns the version, such as `ptxas 12.9.86`.
    pub fn version(&self) -> String {
        let output = Command::new(&self.ptxas).arg("--version").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let number = said.split_whitespace().find_map(|word| word.strip_prefix('V')).unwrap_or("unknown");
        format!("ptxas {number}")
    }

    /// Returns the arithmetic of each kernel of a text, for sm_90 or the text's own target; or the assembler's
    /// message.
    pub fn arithmetic(&self, text: &str, name: &str) -> Result<BTreeMap<String, Arithmetic>, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let stem = format!("{}-{}", std::process::id(), name.replace('/', "-"));
        let (source, binary) = (folder.join(format!("{stem}.ptx")), folder.join(format!("{stem}.cubin")));
        std::fs::write(&source, text).unwrap();
        let arch = if text.contains(".target sm_1") { "-arch=sm_100a" } else { "-arch=sm_90a" };
        let made = Command::new(&self.ptxas).args([arch, "-o"]).args([&binary, &source]).output().unwrap();
        if !made.status.success() {
            let said = String::from_utf8_lossy(&made.stderr);
            return Err(said.lines().next().unwrap_or_default().to_owned());
        }
        let code = Command::new(&self.nvdisasm).arg("-c").arg(&binary).output().unwrap();
        assert!(code.status.success(), "{}", String::from_utf8_lossy(&code.stderr));
        std::fs::remove_file(&source).unwrap();
        std::fs::remove_file(&binary).unwrap();
        Ok(kernels(&String::from_utf8_lossy(&code.stdout)))
    }
}

impl Arithmetic {
    /// Returns the descriptions whose number differs: `(description, in this, in the other)`.
    pub fn differences<'a>(&'a self, other: &'a Arithmetic) -> Vec<(&'a str, usize, usize)> {
        let count = |of: &Arithmetic, what: &str| of.described.get(what).copied().unwrap_or(0);
        let mut all: Vec<&str> =
            self.described.keys().chain(other.described.keys()).map(String::as_str).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|what| count(self, what) != count(other, what));
        all.into_iter().map(|what| (what, count(self, what), count(other, what))).collect()
    }

    /// Returns the number of instructions per operation.
    pub fn operations(&self) -> BTreeMap<&str, usize> {
        let mut found = BTreeMap::new();
        for (described, count) in &self.described {
            *found.entry(described.split('(').next().unwrap_or("")).or_default() += count;
        }
        found
    }
}

/// `.text.NAME:` begins a function, `/*0100*/ @!P0 FFMA.FTZ R5, R4, R3, -R2 ;` is an instruction.
fn kernels(text: &str) -> BTreeMap<String, Arithmetic> {
    let mut found: BTreeMap<String, Arithmetic> = BTreeMap::new();
    let mut now: Option<(String, Registers)> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
            found.entry(name.to_owned()).or_default();
            now = Some((name.to_owned(), Registers::default()));
            continue;
        }
        let Some((name, registers)) = &mut now else { continue };
        // Another path leads here: the contents of registers are only known within a block.
        if line.starts_with('.') && line.ends_with(':') {
            *registers = Registers::default();
            continue;
        }
        let Some(code) = line.trim().strip_prefix("/*").and_then(|rest| rest.split_once("*/")) else {
            continue;
        };
        let code = code.1.split(';').next().unwrap_or("").trim();
        if let Some(described) = registers.step(code)
            && let Some(arithmetic) = found.get_mut(name)
        {
            *arithmetic.described.entry(described).or_default() += 1;
        }
    }
    found
}

/// The operation that last defined each register.
#[derive(Default)]
struct Registers(BTreeMap<String, String>);

impl Registers {
    /// Processes an instruction. Returns its description if it is floating-point arithmetic.
    fn step(&mut self, code: &str) -> Option<String> {
        let (guarded, code) = match code.strip_prefix('@') {
            Some(guarded) => (true, guarded.split_once(' ')?.1.trim()),
            None => (false, code),
        };
        let (opcode, operands) = code.split_once(' ').unwrap_or((code, ""));
        let operands: Vec<&str> =
            operands.split(',').map(|operand| operand.trim().trim_end_matches(".reuse")).collect();
        let (target, sources) = operands.split_first()?;
        let base = opcode.split('.').next().unwrap_or("");
        let Some(name) = float(base) else {
            let from = match base {
                "MOV" if sources.len() == 1 => self.origin(sources[0]),
                "MUFU" => base.to_owned(),
                // The origin of other numbers does not matter: the location of parameters differs in a batch.
                _ => "x".to_owned(),
            };
            self.define(target, &from, width(opcode), guarded);
            return None;
        };
        let wide = if name.starts_with('D') { 2 } else { 1 };
        let zeros = sources.iter().filter(|source| source.trim_start_matches('-').starts_with("RZ")).count();
        // A constant or a copy is not arithmetic.
        if zeros == sources.len() || (zeros > 0 && !name.contains("MUL")) {
            self.define(target, "x", wide, guarded);
            return None;
        }
        let mut described: Vec<String> = sources
            .iter()
            .map(|source| {
                let sign = if source.starts_with('-') { "-" } else { "" };
                let size = if source.contains('|') { "|" } else { "" };
                format!("{sign}{size}{}", self.origin(source))
            })
            .collect();
        let factors = if name.contains("ADD") { described.len() } else { 2.min(described.len()) };
        described[..factors].sort();
        let rounding: Vec<&str> =
            opcode.split('.').skip(1).filter(|part| matches!(*part, "RZ" | "RM" | "RP" | "SAT")).collect();
        let text = format!("{name}{}({})", rounding.concat(), described.join(", "));
        self.define(target, name, wide, guarded);
        Some(text)
    }

    /// Records the values of `count` registers, starting with one. A guarded instruction may keep the previous
    /// values.
    fn define(&mut self, target: &str, what: &str, count: u32, guarded: bool) {
        let number = target.strip_prefix('R').and_then(|digits| digits.parse::<u32>().ok());
        let names = (0..count).map(|more| match number {
            Some(number) => format!("R{}", number + more),
            None => target.to_owned(),
        });
        for name in names {
            let before = if guarded { self.origin(&name) } else { what.to_owned() };
            let mut both: Vec<&str> = before.split('|').chain(what.split('|')).collect();
            both.sort_unstable();
            both.dedup();
            let both = both.join("|");
            self.0.insert(name, both);
        }
    }

    fn origin(&self, source: &str) -> String {
        let name = source.trim_start_matches(['-', '~']).trim_matches('|');
        let name = name.split('.').next().unwrap_or(name);
        if !name.starts_with('R') || name == "RZ" {
            return "x".to_owned();
        }
        self.0.get(name).cloned().unwrap_or_else(|| "x".to_owned())
    }
}

/// Returns the operation of a floating-point instruction.
fn float(base: &str) -> Option<&str> {
    match base {
        "FADD" | "FMUL" | "FFMA" | "DADD" | "DMUL" | "DFMA" | "HADD2" | "HMUL2" | "HFMA2" | "FADD2"
        | "FMUL2" | "FFMA2" => Some(base),
        "FADD32I" | "FMUL32I" | "FFMA32I" | "HADD2_32I" | "HMUL2_32I" | "HFMA2_32I" => {
            base.get(..base.len() - 3).map(|name| name.trim_end_matches('_'))
        }
        _ => None,
    }
}

/// Returns the number of registers that an instruction defines.
fn width(opcode: &str) -> u32 {
    let has = |part: &str| opcode.split('.').any(|other| other == part);
    match () {
        () if has("128") || opcode.contains("MMA") || has("4") => 4,
        () if has("64") || has("WIDE") || has("F64") || opcode.starts_with("CS2R") || has("2") => 2,
        () => 1,
    }
}
