//! Rejects kernels that use textures or surfaces.
//!
//! A graph orders launches by their buffers, and cannot see the memory that a handle refers to.

use super::declaration::{Difference, Finding};
use crate::isa::{HiddenEffect, row};
use crate::syntax::{Function, Instruction, Module, Operand, Statement};
use std::collections::BTreeSet;

/// Returns the error about the first texture or surface instruction of a kernel, or of a function that it may call
/// (CW303).
pub(super) fn check(module: &Module<'_>, entry: &Function<'_>, kernel: usize) -> Option<Finding> {
    let mut seen = BTreeSet::from([entry.name]);
    let mut functions = vec![entry];
    while let Some(function) = functions.pop() {
        for instruction in instructions(function) {
            if matches!(row(instruction.op()).hidden, HiddenEffect::Texture) {
                return Some(finding(module, entry, kernel, instruction));
            }
            for operand in &instruction.operands {
                let Operand::Name(name) = operand else { continue };
                if let Some(called) = module.function(name).filter(|called| seen.insert(called.name)) {
                    functions.push(called);
                }
            }
        }
    }
    None
}

fn instructions<'m, 'a>(function: &'m Function<'a>) -> impl Iterator<Item = &'m Instruction<'a>> {
    let statements = function.body.iter().flat_map(|body| &body.statements);
    statements.filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction),
        _ => None,
    })
}

fn finding(module: &Module<'_>, entry: &Function<'_>, kernel: usize, at: &Instruction<'_>) -> Finding {
    let (surface, what) = match at.mnemonic() {
        "suld" | "sust" | "sured" | "suq" => (true, "surfaces"),
        _ => (false, "textures"),
    };
    let help = if surface {
        "read and write memory through a pointer, and declare that as a buffer"
    } else {
        "read the memory through a pointer, `const float *__restrict__` or `__ldg`, which uses the same cache, and \
         declare that as a buffer; filtering and clamping are the kernel's then"
    };
    Finding {
        difference: Difference::Kind,
        kernel: Some(kernel),
        parameter: None,
        message: format!("`{}` uses {what}, which no declaration can name: `{}`", entry.name, at.opcode),
        notes: vec![
            format!("line {} of the PTX: `{}`", at.line, module.source(at.span)),
            "a graph orders launches by the buffers that they are given, and does not see the memory behind a \
                handle".to_owned(),
        ],
        help: Some(help.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use crate::declare::{Declaration, Difference, Finding, check};
    use crate::syntax::parse;

    fn findings(text: &str) -> Vec<Finding> {
        let text = format!(".version 8.0\n.target sm_90\n.address_size 64\n{text}");
        let declaration = Declaration {
            name: "k".to_owned(),
            parameters: Vec::new(),
            rounded: Vec::new(),
            quotients: Vec::new(),
            tables: Vec::new(),
        };
        check(&parse(&text).unwrap(), &[declaration], &[]).0
    }

    #[test]
    fn the_instruction_and_the_remedy_are_said() {
        let found = findings(
            ".func reads() { .reg .f32 %f<5>; .reg .b64 %rd<2>; \
                tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}]; ret; }
.entry k() { call reads; ret; }
.entry other() { .reg .b32 %r<2>; .reg .b64 %rd<2>; suld.b.1d.b32.trap {%r1}, [%rd1, {%r1}]; ret; }",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].difference, found[0].kernel, found[0].parameter),
            (Difference::Kind, Some(0), None)
        );
        assert_eq!(found[0].message, "`k` uses textures, which no declaration can name: `tex.2d.v4.f32.f32`");
        assert!(
            found[0].notes[0].starts_with("line 4 of the PTX: `tex.2d.v4.f32.f32 {%f1,"),
            "{:?}",
            found[0].notes
        );
        assert!(found[0].help.as_ref().unwrap().contains("`__ldg`"));
        let found = findings(
            ".entry k() { .reg .b32 %r<2>; .reg .b64 %rd<2>; sust.b.1d.b32.trap [%rd1, {%r1}], {%r1}; ret; }",
        );
        assert!(
            found[0].message.contains("uses surfaces")
                && found[0].help.as_ref().unwrap().contains("a pointer")
        );
        assert!(findings(".func reads() { txq.width.b32 a, [b]; }\n.entry k() { ret; }").is_empty());
    }
}
