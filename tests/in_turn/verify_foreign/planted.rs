//! Differences to plant: changes of one instruction of a kernel.
//!
//! None of them makes a kernel access memory outside its buffers, or run forever.

use cuweave_testkit::random::Random;

/// A kind of difference.
pub struct Kind {
    pub name: &'static str,
    /// Returns the changed operation and operands of an instruction.
    change: fn(Instruction<'_>) -> Option<String>,
    /// True if the threads of the changed kernel may write the same bytes at the same time.
    pub races: bool,
}

const fn kind(name: &'static str, change: fn(Instruction<'_>) -> Option<String>) -> Kind {
    Kind { name, change, races: false }
}

const fn racing(name: &'static str, change: fn(Instruction<'_>) -> Option<String>) -> Kind {
    Kind { races: true, ..kind(name, change) }
}

pub static KINDS: [Kind; 22] = [
    kind("a factor of an fma", |one| one.with_operand("fma.", |of| (2, of[1]))),
    kind("the addend of an fma", |one| one.with_operand("fma.", |of| (3, of[1]))),
    kind("an fma towards zero", |one| one.with_operation(&[("fma.rn.f32", "fma.rz.f32")])),
    kind("an fma upwards", |one| one.with_operation(&[("fma.rn.f32", "fma.rp.f32")])),
    kind("a sum downwards", |one| {
        one.with_operation(&[("add.f32", "add.rm.f32"), ("add.rn.f32", "add.rm.f32")])
    }),
    kind("a product upwards", |one| {
        one.with_operation(&[("mul.f32", "mul.rp.f32"), ("mul.rn.f32", "mul.rp.f32")])
    }),
    kind("a difference for a sum", |one| {
        one.with_operation(&[("add.f32", "sub.f32"), ("add.rn.f32", "sub.rn.f32")])
    }),
    kind("a sum for a product", |one| {
        one.with_operation(&[("mul.f32", "add.f32"), ("mul.rn.f32", "add.rn.f32")])
    }),
    kind("a minimum for a maximum", |one| one.with_operation(&[("max.f32", "min.f32")])),
    kind("a quotient towards zero", |one| {
        one.with_operation(&[("div.rn.f32", "div.rz.f32"), ("div.full.f32", "div.rz.f32")])
    }),
    kind("a logarithm for a power", |one| {
        one.with_operation(&[
            ("ex2.approx.f32", "lg2.approx.f32"),
            ("ex2.approx.ftz.f32", "lg2.approx.ftz.f32"),
        ])
    }),
    kind("a bit of a number", |one| {
        let at = one.operands.iter().position(|operand| operand.starts_with("0f"))?;
        let bits = u32::from_str_radix(&one.operands[at][2..], 16).ok()?;
        Some(one.with(at, &format!("0f{:08X}", bits ^ 1)))
    }),
    kind("no store", |one| one.operation.starts_with("st.global").then(String::new)),
    kind("a store of zero", |one| match one.operation {
        "st.global.f32" => Some(one.with(1, "0f00000000")),
        "st.global.b32" => Some(one.with(1, "0")),
        _ => None,
    }),
    kind("a load of zero", |one| {
        let loads = one.operation.starts_with("ld.global") && one.operation.ends_with(".f32");
        (loads && !one.operands[0].starts_with('{'))
            .then(|| format!("mov.f32 {}, 0f00000000", one.operands[0]))
    }),
    kind("another lane", |one| one.with_operand("shfl.sync.bfly", |_| (2, "1"))),
    kind("no choice", |one| one.with_operand("selp.", |of| (1, of[2]))),
    racing("the lane for the thread", |one| {
        one.with_operand("mov.", |of| (1, same(of[1], "%tid.x", "%laneid")))
    }),
    racing("another axis of threads", |one| {
        one.with_operand("mov.", |of| (1, same(of[1], "%tid.x", "%tid.z")))
    }),
    racing("another axis of blocks", |one| {
        one.with_operand("mov.", |of| (1, same(of[1], "%ctaid.x", "%ctaid.z")))
    }),
    racing("another size of blocks", |one| {
        one.with_operand("mov.", |of| (1, same(of[1], "%ntid.x", "%ntid.z")))
    }),
    racing("no barrier", |one| one.operation.starts_with("bar").then(String::new)),
];

/// Returns `to` for `from`, and other operands as they are.
fn same<'o>(operand: &'o str, from: &str, to: &'o str) -> &'o str {
    if operand == from { to } else { operand }
}

/// An instruction without its predicate.
struct Instruction<'l> {
    operation: &'l str,
    operands: Vec<&'l str>,
}

impl<'l> Instruction<'l> {
    /// Returns the predicate of a line and its instruction.
    fn parse(line: &'l str) -> Option<(&'l str, Instruction<'l>)> {
        let text = line.trim().strip_suffix(';')?;
        let (predicate, text) = match text.starts_with('@') {
            true => text.split_once(char::is_whitespace)?,
            false => ("", text),
        };
        let (operation, operands) = text.trim().split_once(char::is_whitespace)?;
        let is_one = !operation.starts_with('.') && !operands.contains([';', '{']);
        let operands = operands.split(',').map(str::trim).collect();
        is_one.then_some((predicate, Instruction { operation, operands }))
    }

    fn with(&self, at: usize, operand: &str) -> String {
        let mut operands = self.operands.clone();
        operands[at] = operand;
        format!("{} {}", self.operation, operands.join(", "))
    }

    /// Changes an operand of an operation.
    fn with_operand<'o>(
        &'o self,
        operation: &str,
        change: impl FnOnce(&[&'o str]) -> (usize, &'o str),
    ) -> Option<String> {
        if !self.operation.starts_with(operation) {
            return None;
        }
        let (at, operand) = change(&self.operands);
        (self.operands[at] != operand).then(|| self.with(at, operand))
    }

    /// Changes the operation.
    fn with_operation(&self, pairs: &[(&str, &str)]) -> Option<String> {
        let (_, to) = pairs.iter().find(|(from, _)| *from == self.operation)?;
        Some(format!("{to} {}", self.operands.join(", ")))
    }
}

/// Returns the text with a random one of the instructions of a kind changed, if it has one.
pub fn change(text: &str, kind: &Kind, seed: u64) -> Option<String> {
    let changed: Vec<(usize, String)> = text
        .lines()
        .enumerate()
        .filter_map(|(at, line)| {
            let (predicate, instruction) = Instruction::parse(line)?;
            let new = (kind.change)(instruction)?;
            Some((at, if new.is_empty() { new } else { format!("{predicate} {new};") }))
        })
        .collect();
    if changed.is_empty() {
        return None;
    }
    let (at, new) = &changed[Random::new(seed).below(changed.len())];
    let lines = text.lines().enumerate().map(|(line, old)| if line == *at { new.as_str() } else { old });
    Some(lines.collect::<Vec<_>>().join("\n"))
}
