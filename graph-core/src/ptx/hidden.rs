//! Hidden state: the module-level variables that order kernels although no argument shows it.
//!
//! A variable that no kernel of the file writes orders nothing: the strings of a printf, tables. A kernel that stores
//! to an address that nobody follows may write every variable whose address some kernel, or an initialiser, gives away.

use super::access::{Analysis, Kernel};
use super::{Space, mentions};
use std::collections::BTreeSet;

/// The variables of a kernel that order it, by name, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// It reads them, and some kernel of the file writes them.
    pub reads: Vec<String>,
    /// It writes them.
    pub writes: Vec<String>,
}

/// Of kernels of a module: their names, and what was found of them. A name that is no kernel has no hidden state.
pub fn hidden(analysis: &mut Analysis<'_, '_>, kernels: &[(&str, &Kernel)]) -> Vec<Hidden> {
    let module = analysis.module();
    let touches = |kernel: &Kernel| {
        !kernel.variables_read.is_empty()
            || !kernel.variables_written.is_empty()
            || kernel.writes_anywhere
            || kernel.reads_anywhere
    };
    let none = vec![Hidden::default(); kernels.len()];
    let globals: BTreeSet<&str> = analysis
        .variables()
        .filter(|variable| variable.space == Space::Global)
        .map(|variable| variable.name)
        .collect();
    if globals.is_empty() || !kernels.iter().any(|(_, kernel)| touches(kernel)) {
        return none;
    }
    // Of every kernel of the file, since each may write.
    let mut all: Vec<Kernel> = Vec::new();
    for entry in module.entries() {
        if kernels.iter().all(|(name, _)| *name != entry.name) {
            let pointers: Vec<bool> =
                entry.parameters.iter().map(|parameter| parameter.may_be_pointer()).collect();
            all.push(analysis.kernel(entry.name, &pointers));
        }
    }
    let others = all.iter().chain(kernels.iter().map(|(_, kernel)| *kernel));
    let mut escaped: BTreeSet<String> = analysis
        .variables()
        .flat_map(mentions::addresses)
        .filter(|name| globals.contains(name))
        .map(str::to_owned)
        .collect();
    for kernel in others.clone() {
        escaped
            .extend(kernel.variables_escaped.iter().filter(|name| globals.contains(name.as_str())).cloned());
    }
    let writes_of = |kernel: &Kernel| {
        let mut writes = kernel.variables_written.clone();
        if kernel.writes_anywhere {
            writes.extend(escaped.iter().cloned());
        }
        writes.retain(|name| globals.contains(name.as_str()));
        writes
    };
    let mut written = BTreeSet::new();
    for kernel in others {
        written.extend(writes_of(kernel));
    }
    let of = |(_, kernel): &(&str, &Kernel)| {
        let mut reads = kernel.variables_read.clone();
        if kernel.reads_anywhere {
            reads.extend(escaped.iter().cloned());
        }
        reads.retain(|name| written.contains(name));
        Hidden { reads: reads.into_iter().collect(), writes: writes_of(kernel).into_iter().collect() }
    };
    kernels.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn of(body: &str, names: &[&str]) -> Vec<Hidden> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 counter;\n.global .u32 other;\n\
             .global .align 1 .b8 text[3] = {{97, 98, 0}};\n.global .u64 link = generic(other);\n{body}"
        );
        let module = parse(&text).unwrap();
        let mut analysis = Analysis::new(&module);
        let kernels: Vec<Kernel> = names.iter().map(|name| analysis.kernel(name, &[true])).collect();
        let kernels: Vec<(&str, &Kernel)> = names.iter().copied().zip(&kernels).collect();
        hidden(&mut analysis, &kernels)
    }

    const SET: &str =
        ".entry set() { .reg .b32 %r<3>; mov.u32 %r1, 1; st.global.u32 [counter], %r1; ret; }\n";
    const GET: &str = ".entry get(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd<4>; mov.u64 %rd1, counter; \
         ld.global.u32 %r1, [%rd1]; ld.param.u64 %rd2, [p]; ld.global.b8 %r2, [text+1]; st.global.u32 [%rd2], %r1; ret; }\n";

    #[test]
    fn what_some_kernel_writes_orders_its_readers() {
        let found = of(&format!("{SET}{GET}"), &["get", "set"]);
        assert_eq!(found[0], Hidden { reads: vec!["counter".into()], writes: vec![] });
        assert_eq!(found[1], Hidden { reads: vec![], writes: vec!["counter".into()] });
        // The writer counts also where it is not declared.
        assert_eq!(of(&format!("{SET}{GET}"), &["get"])[0].reads, ["counter"]);
    }

    #[test]
    fn what_nobody_writes_orders_nothing() {
        assert_eq!(of(GET, &["get"])[0], Hidden::default());
    }

    #[test]
    fn callees_count() {
        let text = ".func f() { st.global.u32 [counter], 1; ret; }\n.entry k() { call f; ret; }\n";
        assert_eq!(of(text, &["k"])[0].writes, ["counter"]);
    }

    #[test]
    fn a_store_that_is_not_followed_may_hit_what_is_given_away() {
        let text =
            ".entry k() { .reg .b64 %rd<3>; ld.global.u64 %rd1, [link]; st.global.u32 [%rd1], 1; ret; }\n";
        assert_eq!(of(text, &["k"])[0].writes, ["other"]);
    }
}
