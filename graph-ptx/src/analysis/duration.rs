//! Values that decide on the duration of a kernel through the trip counts of its loops.
//!
//! A value decides if it may reach the guard of a branch, or of an exit, that stands within a loop of the kernel or leads
//! past one; or if it is passed to a function that the kernel calls. Values are followed from register to register without
//! regard to the order of the instructions, and through local memory as one. So a parameter may be named that decides
//! nothing, and one that decides is not left out. What a kernel loads from other memory is data, of which nothing is known
//! beforehand.

use std::collections::BTreeMap;

use crate::isa::Opcode;
use crate::syntax::{Body, Function, Instruction, Operand, Space, Statement};

/// The deciding values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deciding {
    /// One flag a parameter, in the order of the declaration.
    pub parameters: Vec<bool>,
    /// True if loaded data decides.
    pub data: bool,
    /// True if it has no loop, calls nothing, and is of 256 instructions at most.
    pub brief: bool,
}

/// The maximum number of instructions of a brief kernel: without loops they take less time than a launch.
const BRIEF: usize = 256;

/// Finds the values that decide on the duration of a kernel.
///
/// # Complexity
///
/// Linear in the body for each round of values that go through a loop: three or four in practice, at most as many as
/// there are registers.
pub fn deciding(function: &Function<'_>) -> Deciding {
    let count = function.parameters.len();
    let mut deciding = Deciding { parameters: vec![false; count], data: false, brief: false };
    let Some(body) = &function.body else { return deciding };
    let mut tracing = Tracing { function, reach: BTreeMap::new() };
    while tracing.round(body) {}
    let loops = Loops::of(body);
    deciding.brief = !loops.within.contains(&true)
        && instructions(body).count() <= BRIEF
        && instructions(body).all(|(_, instruction)| instruction.op() != Opcode::Call);
    for (at, instruction) in instructions(body) {
        let names: Vec<&str> = match instruction.op() {
            Opcode::Call => instruction.operands.iter().flat_map(names).collect(),
            // Stores to the parameters of a call.
            Opcode::St if instruction.space() == Some(Space::Param) => {
                instruction.operands.iter().flat_map(names).collect()
            }
            Opcode::Bra | Opcode::Brx | Opcode::Ret | Opcode::Exit
                if loops.are_decided_at(at, instruction) =>
            {
                let operands = instruction.operands.iter().flat_map(names);
                operands.chain(instruction.guard.map(|guard| guard.register)).collect()
            }
            _ => continue,
        };
        for &value in names.iter().filter_map(|name| tracing.reach.get(name)).flatten() {
            match deciding.parameters.get_mut(value) {
                Some(parameter) => *parameter = true,
                None => deciding.data = true,
            }
        }
    }
    deciding
}

/// Stands for all of local memory.
const LOCAL: &str = ".local";

struct Tracing<'f, 'a> {
    function: &'f Function<'a>,
    /// The parameters whose values may be in a register, rising; data counts as one behind the last.
    reach: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> Tracing<'_, 'a> {
    /// Propagates once through all instructions. True if a set grew.
    fn round(&mut self, body: &Body<'a>) -> bool {
        let mut changed = false;
        for (_, instruction) in instructions(body) {
            let operands = instruction.operands.as_slice();
            let (space, load) = (instruction.space(), matches!(instruction.op(), Opcode::Ld | Opcode::Ldu));
            if instruction.op() == Opcode::St && space == Some(Space::Local) {
                let from: Vec<&str> = operands.iter().skip(1).flat_map(names).collect();
                changed |= self.flow(&from, &[LOCAL]);
                continue;
            }
            let Some((to, from)) = operands.split_first() else { continue };
            let to = names(to);
            let mut from: Vec<&str> = from.iter().flat_map(names).collect();
            match space {
                Some(Space::Local) if load => from = vec![LOCAL],
                Some(Space::Param) if load => {}
                _ if load
                    || matches!(
                        instruction.op(),
                        Opcode::Atom | Opcode::Tex | Opcode::Tld4 | Opcode::Suld
                    ) =>
                {
                    changed |= self.spread(&[self.function.parameters.len()], &to);
                    continue;
                }
                _ if matches!(instruction.op(), Opcode::St | Opcode::Red | Opcode::Bra | Opcode::Call) => {
                    continue;
                }
                _ => {}
            }
            // A value that is only sometimes written depends on the guard.
            from.extend(instruction.guard.map(|guard| guard.register));
            changed |= self.flow(&from, &to);
        }
        changed
    }

    fn flow(&mut self, from: &[&'a str], to: &[&'a str]) -> bool {
        let mut values: Vec<usize> = Vec::new();
        for name in from {
            values.extend(self.reach.get(name).into_iter().flatten());
            values.extend(self.function.parameter(name));
        }
        self.spread(&values, to)
    }

    fn spread(&mut self, values: &[usize], to: &[&'a str]) -> bool {
        let mut changed = false;
        for name in to.iter().filter(|_| !values.is_empty()) {
            let list = self.reach.entry(name).or_default();
            let before = list.len();
            list.extend_from_slice(values);
            list.sort_unstable();
            list.dedup();
            changed |= list.len() > before;
        }
        changed
    }
}

fn instructions<'b, 'a>(body: &'b Body<'a>) -> impl Iterator<Item = (usize, &'b Instruction<'a>)> {
    body.statements.iter().enumerate().filter_map(|(at, statement)| match statement {
        Statement::Instruction(instruction) => Some((at, instruction)),
        _ => None,
    })
}

/// The names in an operand, those in its address too.
fn names<'a>(operand: &Operand<'a>) -> Vec<&'a str> {
    match operand {
        Operand::Name(name) | Operand::Not(name) | Operand::Offset { name, .. } => vec![name],
        Operand::Pair(first, second) => vec![first, second],
        Operand::Vector(list) | Operand::List(list) => list.iter().flat_map(names).collect(),
        Operand::Address(address) => address.base.into_iter().collect(),
        Operand::Tensor(address, list) => {
            address.base.into_iter().chain(list.iter().flat_map(names)).collect()
        }
        Operand::Integer(_) | Operand::Single(_) | Operand::Double(_) | Operand::Sink => Vec::new(),
    }
}

/// The loops of a body: each from a label to a branch back to it.
struct Loops<'a> {
    labels: BTreeMap<&'a str, usize>,
    /// By statement: true in a loop.
    within: Vec<bool>,
    /// By statement: the number of statements in loops before it.
    before: Vec<usize>,
}

impl<'a> Loops<'a> {
    fn of(body: &Body<'a>) -> Loops<'a> {
        let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, statement) in body.statements.iter().enumerate() {
            match statement {
                Statement::Label(label) => {
                    labels.insert(label.name, at);
                }
                // A table of targets stands for the first of them; it may stand before them.
                Statement::Targets(targets) => {
                    let is = |statement: &Statement<'_>| matches!(statement, Statement::Label(label) if targets.targets.contains(&label.name));
                    let first = body.statements.iter().position(is);
                    labels.insert(targets.name, first.unwrap_or(at));
                }
                _ => {}
            }
        }
        let mut depth = vec![0i32; body.statements.len() + 1];
        for (at, instruction) in instructions(body) {
            if matches!(instruction.op(), Opcode::Bra | Opcode::Brx)
                && let Some(target) = target(&labels, instruction).filter(|&target| target < at)
            {
                depth[target] += 1;
                depth[at + 1] -= 1;
            }
        }
        let mut open = 0;
        let within: Vec<bool> = depth[..body.statements.len()]
            .iter()
            .map(|change| {
                open += change;
                open > 0
            })
            .collect();
        let mut count = 0;
        let mut before = vec![0];
        before.extend(within.iter().map(|&within| {
            count += usize::from(within);
            count
        }));
        Loops { labels, within, before }
    }

    /// True if a branch or an exit decides how often, or whether, a loop runs.
    fn are_decided_at(&self, at: usize, instruction: &Instruction<'a>) -> bool {
        // An exit leads to the end.
        let end = self.within.len();
        let to = match instruction.op() {
            Opcode::Bra | Opcode::Brx => target(&self.labels, instruction).unwrap_or(end),
            _ => end,
        };
        self.within[at] || self.before[to.max(at)] > self.before[at]
    }
}

/// Where a branch leads: the first of its targets.
fn target(labels: &BTreeMap<&str, usize>, instruction: &Instruction<'_>) -> Option<usize> {
    instruction.operands.iter().flat_map(names).filter_map(|name| labels.get(name).copied()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(body: &str) -> bool {
        let text = text(PARAMETERS, body);
        deciding(crate::syntax::parse(&text).expect("it is PTX").entry("k").expect("it has the kernel")).data
    }

    fn brief(body: &str) -> bool {
        let text = text(PARAMETERS, body);
        deciding(crate::syntax::parse(&text).expect("it is PTX").entry("k").expect("it has the kernel")).brief
    }

    fn of(parameters: &str, body: &str) -> Vec<bool> {
        let text = text(parameters, body);
        let module = crate::syntax::parse(&text).expect("it is PTX");
        deciding(module.entry("k").expect("it has the kernel")).parameters
    }

    fn text(parameters: &str, body: &str) -> String {
        format!(
            ".version 8.4\n.target sm_70\n.address_size 64\n.visible .entry k({parameters})\n{{\n\
             .reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n{body}\nret;\n}}"
        )
    }

    const PARAMETERS: &str = ".param .u64 x, .param .u32 n, .param .u32 offset, .param .f32 a";

    #[test]
    fn the_bound_of_a_loop_decides_and_an_offset_does_not() {
        let body = "ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [offset];\n\
            mov.u32 %r3, 0; mul.lo.s32 %r5, %r1, 4; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n\
            L: ld.global.u32 %r4, [%rd3]; add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r5; @%p1 bra L;";
        assert_eq!(of(PARAMETERS, body), [false, true, false, false]);
    }

    #[test]
    fn a_guard_outside_of_loops_decides_nothing() {
        let body = "ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 bra E;\n\
            ld.param.u64 %rd1, [x]; st.global.u32 [%rd1], %r2;\nE:";
        assert_eq!(of(PARAMETERS, body), [false; 4]);
    }

    #[test]
    fn values_are_followed_through_local_memory_and_guards() {
        let body = ".local .b32 s; ld.param.u32 %r1, [n]; st.local.u32 [s], %r1; mov.u32 %r2, 0;\n\
            ld.param.f32 %f1, [a]; setp.gt.f32 %p2, %f1, 0f00000000; mov.u32 %r6, 1; @%p2 mov.u32 %r6, 2;\n\
            L: add.s32 %r2, %r2, %r6; ld.local.u32 %r3, [s]; setp.lt.s32 %p1, %r2, %r3; @!%p1 bra E; bra L;\nE:";
        assert_eq!(of(PARAMETERS, body), [false, true, false, true]);
    }

    #[test]
    fn what_is_passed_to_a_function_decides() {
        let body = "ld.param.u32 %r1, [offset];\n{ .param .b32 p; st.param.b32 [p], %r1; call.uni f, (p); }";
        assert_eq!(of(PARAMETERS, body), [false, false, true, false]);
    }

    #[test]
    fn a_branch_past_a_loop_decides() {
        let body = "ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra E;\n\
            mov.u32 %r3, 0; L: add.s32 %r3, %r3, 1; setp.lt.s32 %p2, %r3, 9; @%p2 bra L;\nE:";
        assert_eq!(of(PARAMETERS, body), [false, true, false, false]);
        let exit = "ld.param.u32 %r1, [offset]; setp.eq.u32 %p1, %r1, 0; @%p1 ret;\n\
            mov.u32 %r3, 0; L: add.s32 %r3, %r3, 1; setp.lt.s32 %p2, %r3, 9; @%p2 bra L;";
        assert_eq!(of(PARAMETERS, exit), [false, false, true, false]);
    }

    #[test]
    fn what_goes_straight_to_its_end_is_brief() {
        let add = "add.s32 %r1, %r1, 1;";
        assert!(brief(&format!("mov.u32 %r1, %tid.x; setp.gt.s32 %p1, %r1, 9; @%p1 bra E; {add}\nE:")));
        assert!(!brief(&format!("L: {add} setp.lt.s32 %p1, %r1, 9; @%p1 bra L;")));
        assert!(!brief("call.uni f;"));
        assert!(brief(&add.repeat(BRIEF - 1)) && !brief(&add.repeat(BRIEF)));
    }

    #[test]
    fn data_decides_where_it_bounds_a_loop() {
        let load = "ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1]; mov.u32 %r2, 0;\n";
        let bound = "L: add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, %r1; @%p1 bra L;";
        assert!(data(&format!("{load}{bound}")));
        let fixed = "L: add.s32 %r2, %r2, 1; add.s32 %r1, %r1, %r2; setp.lt.s32 %p1, %r2, 9; @%p1 bra L;";
        assert!(!data(&format!("{load}{fixed}")));
        assert!(!data(&format!("{load}setp.lt.s32 %p1, %r1, 0; @%p1 bra E; st.global.u32 [%rd1], %r2;\nE:")));
        let claimed = "ld.param.u64 %rd1, [x];\n\
            L: atom.global.add.u32 %r1, [%rd1], 1; setp.lt.u32 %p1, %r1, 100; @%p1 bra L;";
        assert!(data(claimed));
    }
}
