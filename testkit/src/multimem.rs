//! All instructions of `multimem` in the tables of the PTX manual (ISA 9.0) but those on 8-bit floats, as kernels,
//! and what they compute.

use half::{bf16, f16};

use crate::random::Random;

/// The types of elements in memory, with the PTX types that hold one or two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    U32,
    U64,
    S32,
    S64,
    B32,
    B64,
    F16,
    Bf16,
    F32,
    F64,
}

/// The three instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    LoadReduce,
    Store,
    Update,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub form: Form,
    pub element: Element,
    /// The instruction without its operands.
    pub text: String,
    /// `add` and the like; empty for a store.
    pub operation: &'static str,
    /// True with `.acc::f32`.
    pub single: bool,
    /// The number of registers.
    pub registers: usize,
    /// The size of a register in bytes.
    pub width: usize,
}

const INTEGERS: &[(Element, &str, usize, &[&str])] = &[
    (Element::U32, "u32", 4, &["add", "min", "max"]),
    (Element::S32, "s32", 4, &["add", "min", "max"]),
    (Element::U64, "u64", 8, &["add", "min", "max"]),
    (Element::S64, "s64", 8, &["min", "max"]),
    (Element::B32, "b32", 4, &["and", "or", "xor"]),
    (Element::B64, "b64", 8, &["and", "or", "xor"]),
];

const FLOATS: &[(Element, &str, usize, &[usize])] = &[
    (Element::F16, "f16", 2, &[2, 4, 8]),
    (Element::Bf16, "bf16", 2, &[2, 4, 8]),
    (Element::F16, "f16x2", 4, &[1, 2, 4]),
    (Element::Bf16, "bf16x2", 4, &[1, 2, 4]),
    (Element::F32, "f32", 4, &[1, 2, 4]),
    (Element::F64, "f64", 8, &[1]),
];

/// Returns all combinations of form, type, vector, operation and precision. The semantics and scopes take turns.
pub fn instructions() -> Vec<Instruction> {
    let mut all: Vec<Instruction> = Vec::new();
    let mut add = |form, element, ty: &str, width, operation: &'static str, single, registers: usize| {
        let (name, semantics): (_, &[&str]) = match form {
            Form::LoadReduce => ("ld_reduce", &["", ".weak", ".relaxed.sys", ".acquire.gpu", ".relaxed.cta"]),
            Form::Store => ("st", &["", ".weak", ".relaxed.sys", ".release.gpu", ".relaxed.cluster"]),
            Form::Update => ("red", &["", ".relaxed.sys", ".release.gpu", ".relaxed.gpu"]),
        };
        let semantics = semantics[all.len() % semantics.len()];
        let space = if all.len().is_multiple_of(3) { "" } else { ".global" };
        let dot = if operation.is_empty() { "" } else { "." };
        let precision = if single { ".acc::f32" } else { "" };
        let vector = if registers == 1 { String::new() } else { format!(".v{registers}") };
        let text = format!("multimem.{name}{semantics}{space}{dot}{operation}{precision}{vector}.{ty}");
        all.push(Instruction { form, element, text, operation, single, registers, width });
    };
    for &(element, ty, width, operations) in INTEGERS {
        add(Form::Store, element, ty, width, "", false, 1);
        for &operation in operations {
            add(Form::LoadReduce, element, ty, width, operation, false, 1);
            add(Form::Update, element, ty, width, operation, false, 1);
        }
    }
    for &(element, ty, width, vectors) in FLOATS {
        let half = matches!(element, Element::F16 | Element::Bf16);
        for &registers in vectors {
            add(Form::Store, element, ty, width, "", false, registers);
            add(Form::Update, element, ty, width, "add", false, registers);
            let operations: &[_] = if half { &["add", "min", "max"] } else { &["add"] };
            for &operation in operations {
                add(Form::LoadReduce, element, ty, width, operation, false, registers);
                if half {
                    add(Form::LoadReduce, element, ty, width, operation, true, registers);
                }
            }
        }
    }
    all
}

/// Returns a module with one kernel for each instruction: `k0`, `k1` and so on. Thread `i` of a kernel accesses the
/// `i`th vector of its first parameter by `multimem`, and that of its second parameter by ordinary loads or stores.
pub fn module(instructions: &[Instruction]) -> String {
    let mut text = ".version 8.2\n.target sm_90\n.address_size 64\n".to_owned();
    for (number, instruction) in instructions.iter().enumerate() {
        text.push_str(&instruction.kernel(&format!("k{number}")));
    }
    text
}

impl Instruction {
    /// Returns the number of bytes that a thread accesses.
    pub fn bytes(&self) -> usize {
        self.width * self.registers
    }

    /// Returns the size of an element in bytes.
    pub fn element_size(&self) -> usize {
        self.element.size()
    }

    fn kernel(&self, name: &str) -> String {
        let bits = 8 * self.width;
        let registers: Vec<String> = (0..self.registers).map(|at| format!("%v{at}")).collect();
        let vector = match self.registers {
            1 => registers[0].clone(),
            _ => format!("{{{}}}", registers.join(", ")),
        };
        let own = |at: usize| format!("[%rd2+{}]", at * self.width);
        let each = |line: &dyn Fn(usize) -> String| (0..self.registers).map(line).collect::<String>();
        let body = match self.form {
            Form::LoadReduce => {
                let stores = each(&|at| format!("st.global.b{bits} {}, %v{at};\n", own(at)));
                format!("{} {vector}, [%rd1];\n{stores}", self.text)
            }
            Form::Store | Form::Update => {
                let loads = each(&|at| format!("ld.global.b{bits} %v{at}, {};\n", own(at)));
                format!("{loads}{} [%rd1], {vector};\n", self.text)
            }
        };
        format!(
            ".visible .entry {name}(.param .u64 all, .param .u64 own)\n{{\n.reg .b64 %rd<4>; .reg .b32 %r<2>; \
             .reg .b{bits} %v<{count}>;\nld.param.u64 %rd1, [all];\nld.param.u64 %rd2, [own];\nmov.u32 %r1, \
             %tid.x;\nmul.wide.u32 %rd3, %r1, {bytes};\nadd.s64 %rd1, %rd1, %rd3;\nadd.s64 %rd2, %rd2, \
             %rd3;\n{body}ret;\n}}\n",
            count = self.registers,
            bytes = self.bytes(),
        )
    }

    /// Returns random elements. Floats are numbers of similar size, with some infinities, zeros and subnormals.
    pub fn elements(&self, random: &mut Random, threads: usize) -> Vec<u8> {
        let count = threads * self.bytes() / self.element.size();
        (0..count).flat_map(|_| self.element.random(random)).collect()
    }

    /// Returns the bytes that `ld_reduce` loads, from those of each device, reduced in their order.
    pub fn reduced(&self, devices: &[Vec<u8>]) -> Vec<u8> {
        let size = self.element.size();
        let elements = |at: usize| devices.iter().map(move |bytes| &bytes[at..at + size]);
        let reduce = |at: usize| match (self.element, self.single) {
            (Element::F16, true) => {
                let wide = elements(at).map(|bytes| f16::from_le_bytes([bytes[0], bytes[1]]).to_f32());
                let sum = wide.reduce(|a, b| float(self.operation, a, b)).expect("a device");
                f16::from_f32(sum).to_le_bytes().to_vec()
            }
            (Element::Bf16, true) => {
                let wide = elements(at).map(|bytes| bf16::from_le_bytes([bytes[0], bytes[1]]).to_f32());
                let sum = wide.reduce(|a, b| float(self.operation, a, b)).expect("a device");
                bf16::from_f32(sum).to_le_bytes().to_vec()
            }
            _ => {
                let all = elements(at).map(<[u8]>::to_vec);
                all.reduce(|a, b| self.element.apply(self.operation, &a, &b)).expect("a device")
            }
        };
        (0..devices[0].len()).step_by(size).flat_map(reduce).collect()
    }

    /// Returns the bytes of a device after the instruction, for a store or an update by `operand`.
    pub fn written(&self, old: &[u8], operand: &[u8]) -> Vec<u8> {
        if self.form == Form::Store {
            return operand.to_vec();
        }
        let pairs = old.chunks(self.element.size()).zip(operand.chunks(self.element.size()));
        pairs.flat_map(|(old, operand)| self.element.apply(self.operation, old, operand)).collect()
    }

    /// Returns true if all elements are equal. All NaNs are equal to each other.
    pub fn are_equal(&self, ours: &[u8], expected: &[u8]) -> bool {
        let size = self.element.size();
        let nan = |bytes: &[u8]| self.element.is_nan(bytes);
        ours.len() == expected.len()
            && ours.chunks(size).zip(expected.chunks(size)).all(|(a, b)| a == b || (nan(a) && nan(b)))
    }
}

/// Returns the sum, the minimum or the maximum. `-0` is less than `0`, and a number is preferred to a NaN.
fn float(operation: &str, a: f32, b: f32) -> f32 {
    match operation {
        "add" => a + b,
        _ if a.is_nan() => b,
        _ if b.is_nan() => a,
        "min" => {
            if a.total_cmp(&b).is_lt() {
                a
            } else {
                b
            }
        }
        "max" => {
            if a.total_cmp(&b).is_gt() {
                a
            } else {
                b
            }
        }
        other => unreachable!("{other} on floats"),
    }
}

/// Returns a function of two elements of a type.
macro_rules! integers {
    ($ty:ty, $operation:expr, $a:expr, $b:expr) => {{
        let read = |bytes: &[u8]| <$ty>::from_le_bytes(bytes.try_into().expect("an element"));
        let (a, b) = (read($a), read($b));
        let result = match $operation {
            "add" => a.wrapping_add(b),
            "min" => a.min(b),
            "max" => a.max(b),
            "and" => a & b,
            "or" => a | b,
            "xor" => a ^ b,
            other => unreachable!("{other}"),
        };
        result.to_le_bytes().to_vec()
    }};
}

impl Element {
    fn size(self) -> usize {
        match self {
            Element::F16 | Element::Bf16 => 2,
            Element::U32 | Element::S32 | Element::B32 | Element::F32 => 4,
            Element::U64 | Element::S64 | Element::B64 | Element::F64 => 8,
        }
    }

    fn apply(self, operation: &str, a: &[u8], b: &[u8]) -> Vec<u8> {
        let single = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("an f32"));
        let double = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("an f64"));
        let f16 = |bytes: &[u8]| f16::from_le_bytes([bytes[0], bytes[1]]).to_f32();
        let bf16 = |bytes: &[u8]| bf16::from_le_bytes([bytes[0], bytes[1]]).to_f32();
        match self {
            Element::U32 | Element::B32 => integers!(u32, operation, a, b),
            Element::S32 => integers!(i32, operation, a, b),
            Element::U64 | Element::B64 => integers!(u64, operation, a, b),
            Element::S64 => integers!(i64, operation, a, b),
            // An f32 has more than twice the bits of both, so rounding twice is rounding once.
            Element::F16 => half::f16::from_f32(float(operation, f16(a), f16(b))).to_le_bytes().to_vec(),
            Element::Bf16 => half::bf16::from_f32(float(operation, bf16(a), bf16(b))).to_le_bytes().to_vec(),
            Element::F32 => float(operation, single(a), single(b)).to_le_bytes().to_vec(),
            Element::F64 => (double(a) + double(b)).to_le_bytes().to_vec(),
        }
    }

    fn is_nan(self, bytes: &[u8]) -> bool {
        match self {
            Element::F16 => f16::from_le_bytes([bytes[0], bytes[1]]).is_nan(),
            Element::Bf16 => bf16::from_le_bytes([bytes[0], bytes[1]]).is_nan(),
            Element::F32 => f32::from_le_bytes(bytes.try_into().expect("an f32")).is_nan(),
            Element::F64 => f64::from_le_bytes(bytes.try_into().expect("an f64")).is_nan(),
            _ => false,
        }
    }

    fn random(self, random: &mut Random) -> Vec<u8> {
        let word = random.word();
        let number = match random.below(12u32) {
            0 => f64::INFINITY,
            1 => -f64::INFINITY,
            2 => -0.0,
            3 => 0.0,
            4 => 3e-6,
            5 => f64::NAN,
            _ => (f64::from(random.below(2_000_001u32)) - 1e6) / 777.0,
        };
        match self {
            Element::F16 => f16::from_f64(number).to_le_bytes().to_vec(),
            Element::Bf16 => bf16::from_f64(number).to_le_bytes().to_vec(),
            Element::F32 => (number as f32).to_le_bytes().to_vec(),
            Element::F64 => number.to_le_bytes().to_vec(),
            _ => word.to_le_bytes()[..self.size()].to_vec(),
        }
    }
}
