//! The text report of a PTX file: its kernels with their parameters, accesses and module variables.
//!
//! The example `kernel_report` prints it.

use crate::analysis::access::Analysis;
use crate::analysis::facts::AccessClass;
use crate::analysis::hidden::hidden;
use crate::declare::{BlockRule, static_shared};
use crate::syntax::{Function, Module, Parameter, TypeClass};
use std::fmt::Write;

/// Formats a module: one paragraph per kernel, one line per parameter.
pub fn table(module: &Module<'_>) -> String {
    let mut analysis = Analysis::new(module);
    let mut text = String::new();
    let entries: Vec<&Function<'_>> = module.entries().collect();
    let found: Vec<_> = entries
        .iter()
        .map(|entry| {
            let pointers = analysis.pointers(entry);
            let kernel = analysis.kernel(entry.name, &pointers);
            (pointers, kernel)
        })
        .collect();
    let kernels: Vec<_> =
        entries.iter().zip(&found).map(|(entry, (_, kernel))| (entry.name, kernel)).collect();
    let state = hidden(&mut analysis, &kernels, &[]);
    for ((entry, (pointers, kernel)), state) in entries.iter().zip(&found).zip(&state) {
        let _ = writeln!(text, "{}, line {}{}", entry.name, entry.line, limits(entry));
        let name = entry.parameters.iter().map(|parameter| parameter.name.len()).max().unwrap_or(0);
        for (at, parameter) in entry.parameters.iter().enumerate() {
            let facts = &kernel.parameters[at];
            let mut what = match (pointers[at], &facts.base) {
                (true, _) => facts.access().name().to_owned(),
                (false, Some((_, Some(offset)))) => format!("a pointer at byte {offset}"),
                (false, Some((_, None))) => "pointers".to_owned(),
                (false, None) => "a value".to_owned(),
            };
            if facts.access() == AccessClass::Unknown
                && let Some(cause) = &facts.may_write
            {
                let _ = write!(what, ": line {}: {}", cause.line, cause.text);
            }
            if let Some(table) = &facts.table {
                let _ = write!(what, ", pointers: line {}: {}", table.site.line, table.site.text);
            }
            if facts.reads_first.is_some() && facts.access() != AccessClass::Reads {
                what.push_str(", reads first");
            }
            let _ = writeln!(text, "    {:name$}  {:<14}  {what}", parameter.name, kind(parameter));
        }
        for (what, names) in [("reads", &state.reads), ("writes", &state.writes)] {
            if !names.is_empty() {
                let _ = writeln!(text, "    {what} {} of the module", names.join(", "));
            }
        }
    }
    text
}

fn limits(entry: &Function<'_>) -> String {
    let mut text = String::new();
    let shared = static_shared(entry);
    if shared > 0 {
        let _ = write!(text, ", {shared} bytes of static shared memory");
    }
    let rule = BlockRule::from_entry(entry);
    if let Some([x, y, z]) = rule.required {
        let _ = write!(text, ", blocks of {x} x {y} x {z} threads");
    } else if let Some(most) = rule.max_threads {
        let _ = write!(text, ", blocks of at most {most} threads");
    }
    if let Some([x, y, z]) = rule.cluster {
        let _ = write!(text, ", clusters of {x} x {y} x {z} blocks");
    }
    if let Some([least, ..]) = entry.performance(".minnctapersm") {
        let _ = write!(text, ", at least {least} blocks a multiprocessor");
    }
    if let Some([most, ..]) = entry.performance(".maxnreg") {
        let _ = write!(text, ", at most {most} registers");
    }
    text
}

fn kind(parameter: &Parameter<'_>) -> String {
    match parameter.class() {
        TypeClass::Aggregate => format!("{} bytes", parameter.size()),
        _ => parameter.ty.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;

    #[test]
    fn a_kernel_is_a_paragraph() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 count;\n\
            .visible .entry scale(.param .u64 x, .param .f32 a, .param .u64 n)\n.maxntid 128, 2, 1\n{\n\
            .reg .f32 %f<3>; .reg .b64 %rd<5>; .shared .align 4 .b8 tile[64];\n\
            ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [n]; cvta.to.global.u64 %rd3, %rd1; add.s64 %rd4, %rd3, %rd2;\n\
            ld.global.f32 %f1, [%rd4]; st.global.f32 [%rd4], %f1; red.global.add.u32 [count], 1; ret;\n}";
        let expected = "scale, line 5, 64 bytes of static shared memory, blocks of at most 256 threads\n    \
            x  .u64            reads and writes, reads first\n    a  .f32            a value\n    \
            n  .u64            a value\n    reads count of the module\n    writes count of the module\n";
        assert_eq!(table(&parse(text).unwrap()), expected);
    }
}
