//! Detects sums of two products: the assembler may contract either product.
//!
//! `mul` and `add` without a rounding modifier may become one `fma`, which rounds once instead of twice. For a sum of
//! one product and another value the assembler decides the same in every variant of a kernel
//! (`benches/results/contraction.md`). For a sum of two products it contracts one of them, and not necessarily the
//! same one if the surrounding code differs.
//!
//! A product is contracted into its sums if they are its only uses and are in its basic block. If a use disappears,
//! such as a store that nothing reads, a product that was rounded before may be contracted.
//!
//! Approximate quotients and reciprocals count as products: the last step of their code is one.

use crate::analysis::code::{Globals, NONE, Source, SsaFunction, Step};
use crate::analysis::effect::{self, Effect};
use crate::analysis::ssa;
use crate::analysis::taint::{Labels, Rules, Taint, Transfer};
use crate::isa::{self, Arithmetic, Bitwise, Float, Opaque, Opcode, Operation};
use crate::syntax::{Function, Instruction, StateSpace, Statement, Type, TypeClass};
use std::collections::BTreeSet;

/// The taint label of a product.
const PRODUCT: Labels = 1;

/// Returns the line of the first sum or difference of two products where none of the three has a rounding modifier.
/// In a function that is too large for the analysis, every value counts as a product.
///
/// # Complexity
///
/// Linear in the body.
pub(super) fn sum_of_products(function: &Function<'_>) -> Option<u32> {
    let statements = function.body.iter().flat_map(|body| &body.statements);
    let instructions = || {
        statements.clone().filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        })
    };
    let first_sum = instructions().find(|instruction| is_sum(instruction))?;
    if function.entry && !instructions().any(is_product) {
        return None;
    }
    let Some(code) = ssa::build(function, &Globals::none()) else { return Some(first_sum.line) };
    let taint = products(&code, function);
    let of_products = |step: &&Step<'_, '_>| {
        let products = step.sources.iter().filter(|source| match source {
            Source::Place(..) => source.value().is_some_and(|value| taint.value(value) == PRODUCT),
            Source::Memory(..) | Source::Constant(_) | Source::Special(_) | Source::Other(_) => false,
        });
        products.count() > 1
    };
    let sums = code.steps.iter().filter(|step| step.instruction.is_some_and(is_sum)).filter(of_products);
    sums.filter_map(|step| step.instruction).min_by_key(|sum| sum.span.start).map(|sum| sum.line)
}

/// Returns true if the contraction of a product may change when the kernel changes. That is the case for a product
/// that reaches a sum, both without a rounding modifier, and that has another use or is in another basic block: with
/// fewer uses or fewer blocks the two could become one `fma`. Returns true for an entry with sums and products that
/// is too large for the analysis.
///
/// # Complexity
///
/// Linear in the body, for each product that reaches a sum.
pub(super) fn depends_on_uses(function: &Function<'_>) -> bool {
    let statements = function.body.iter().flat_map(|body| &body.statements);
    let instructions = || {
        statements.clone().filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        })
    };
    if !instructions().any(is_product) || !instructions().any(is_sum) {
        return false;
    }
    let Some(code) = ssa::build(function, &Globals::none()) else { return true };
    let products = code.steps.iter().filter(|step| step.instruction.is_some_and(is_product));
    products.flat_map(|step| step.defines.iter().map(move |&value| (step, value))).any(|(step, value)| {
        value != NONE && !is_in_sums_alone(&code, step, value) && reaches_sum(&code, value)
    })
}

/// Returns true if all uses of a product are sums in its basic block.
fn is_in_sums_alone(code: &SsaFunction<'_, '_>, product: &Step<'_, '_>, value: u32) -> bool {
    let uses = code.users[value as usize].iter().map(|&user| &code.steps[user as usize]);
    let is_guarded = |step: &Step<'_, '_>| step.guard.is_some();
    !is_guarded(product)
        && uses.into_iter().all(|user| {
            user.instruction.is_some_and(is_sum) && user.block == product.block && !is_guarded(user)
        })
}

/// Returns true if a sum may have the product, up to its sign, as an operand.
fn reaches_sum(code: &SsaFunction<'_, '_>, product: u32) -> bool {
    let mut work = vec![product];
    let mut seen = BTreeSet::new();
    while let Some(value) = work.pop() {
        for &user in &code.users[value as usize] {
            let step = &code.steps[user as usize];
            if step.instruction.is_some_and(is_sum) {
                return true;
            }
            let keeps = step.instruction.is_none_or(|instruction| match effect::effect(instruction) {
                Effect::Compute => keeps_products(instruction),
                // A product in thread-local memory is not followed; it may reach a sum.
                Effect::Store => {
                    !matches!(instruction.space(), Some(StateSpace::Global | StateSpace::Shared))
                }
                _ => false,
            });
            if !keeps || !seen.insert(user) {
                continue;
            }
            if step.instruction.is_some_and(|instruction| effect::effect(instruction) == Effect::Store) {
                return true;
            }
            work.extend(step.defines.iter().copied().filter(|&value| value != NONE));
        }
    }
    false
}

/// Finds the values that are products without a rounding modifier.
fn products<'c, 'm, 'a>(
    code: &'c SsaFunction<'m, 'a>,
    function: &Function<'_>,
) -> Taint<'c, 'm, 'a, ProductRules> {
    let blocks = 0..code.cfg.blocks.len() as u32;
    let mut taint = Taint::new(code, blocks, ProductRules { entry: function.entry });
    let mut steps = code.steps.iter().filter_map(|step| step.instruction);
    // The memory and the registers passed to a function may hold products.
    if !function.entry || steps.any(|instruction| effect::effect(instruction) == Effect::Call) {
        taint.label_memory(PRODUCT);
    }
    code.arguments
        .iter()
        .filter(|&&value| value != NONE)
        .for_each(|&value| taint.label_value(value, PRODUCT));
    taint.settle();
    taint
}

fn is_product(instruction: &Instruction<'_>) -> bool {
    let operation = isa::row(instruction.op()).operation;
    let multiplies = matches!(operation, Operation::Arithmetic(Arithmetic::Mul | Arithmetic::Div))
        || instruction.op() == Opcode::Rcp && !instruction.has("ftz");
    multiplies && is_bare(instruction)
}

fn is_sum(instruction: &Instruction<'_>) -> bool {
    let operation = isa::row(instruction.op()).operation;
    (operation == Operation::Arithmetic(Arithmetic::Add)
        || operation == Operation::Arithmetic(Arithmetic::Sub))
        && is_bare(instruction)
}

/// Returns true if an instruction works on floats and has no rounding modifier.
fn is_bare(instruction: &Instruction<'_>) -> bool {
    let float = |ty: Type| ty.class() == TypeClass::Float || ty.name().contains("f16");
    (instruction.types().any(float) || instruction.has("f32x2"))
        && !["rn", "rz", "rm", "rp", "rna"].iter().any(|modifier| instruction.has(modifier))
}

/// Returns true if the result of an instruction is one of its operands, up to its sign.
fn keeps_products(instruction: &Instruction<'_>) -> bool {
    match isa::row(instruction.op()).operation {
        Operation::Move
        | Operation::Arithmetic(Arithmetic::Neg | Arithmetic::Abs)
        | Operation::Selection(_)
        | Operation::Float(Float::Copysign)
        | Operation::Bitwise(Bitwise::Permute)
        | Operation::Opaque(Opaque::Shuffle) => true,
        Operation::None
        | Operation::Convert
        | Operation::Address
        | Operation::SharedAddress
        | Operation::Arithmetic(_)
        | Operation::Float(_)
        | Operation::Bitwise(_)
        | Operation::Comparison(_)
        | Operation::Opaque(_) => false,
    }
}

/// Taint rules: follow products through operations that only change the sign.
struct ProductRules {
    entry: bool,
}

impl Rules for ProductRules {
    fn transfer(&self, step: &Step<'_, '_>) -> Transfer {
        let Some(instruction) = step.instruction else { return Transfer::Reads };
        match effect::effect(instruction) {
            Effect::Call => return Transfer::Only(PRODUCT),
            Effect::Store => return Transfer::Reads,
            Effect::Load if self.is_followed(instruction) => return Transfer::Reads,
            Effect::Load
            | Effect::Compute
            | Effect::Memory
            | Effect::Texture(_)
            | Effect::Control
            | Effect::Alloca
            | Effect::Unknown => {}
        }
        if is_product(instruction) {
            Transfer::Only(PRODUCT)
        } else if keeps_products(instruction) {
            Transfer::Reads
        } else {
            Transfer::Only(0)
        }
    }

    fn parameter(&self, _: u32) -> Labels {
        if self.entry { 0 } else { PRODUCT }
    }

    fn is_followed(&self, instruction: &Instruction<'_>) -> bool {
        matches!(instruction.space(), Some(StateSpace::Local | StateSpace::Param) | None)
    }

    fn through_branches(&self) -> bool {
        false
    }
}
