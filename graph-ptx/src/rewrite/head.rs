//! Reads and raises the `.version` and `.target` directives.
//!
//! Raising is refused if it would change the meaning of the code: see [`raise`].

use super::edit::Edits;
use super::refusal::Refusal;
use crate::isa::Opcode;
use crate::syntax::{Function, Module, Span, Statement};

/// The minimum version and architecture that a text requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeadRequirements {
    /// The PTX version.
    pub version: (u32, u32),
    /// The architecture number: 90 for sm_90.
    pub architecture: u32,
}

/// No requirements.
pub(super) const NOTHING: HeadRequirements = HeadRequirements { version: (0, 0), architecture: 0 };
/// `griddepcontrol`: PTX ISA, "Parallel Synchronization and Communication Instructions: griddepcontrol".
pub(super) const WAIT: HeadRequirements = HeadRequirements { version: (7, 8), architecture: 90 };
/// `activemask`: PTX ISA, "Parallel Synchronization and Communication Instructions: activemask".
pub(super) const ACTIVEMASK: HeadRequirements = HeadRequirements { version: (6, 2), architecture: 30 };
/// More than 4,352 bytes of parameters: PTX ISA, ".param state space, kernel function parameters".
pub(super) const LARGE_PARAMETERS: HeadRequirements = HeadRequirements { version: (8, 1), architecture: 70 };

impl HeadRequirements {
    /// Returns the union of the requirements.
    pub fn and(self, other: HeadRequirements) -> HeadRequirements {
        HeadRequirements {
            version: self.version.max(other.version),
            architecture: self.architecture.max(other.architecture),
        }
    }
}

/// Returns the architecture number of `sm_90`, `sm_90a` or `sm_100f`.
fn architecture(target: &str) -> Option<u32> {
    target.strip_prefix("sm_")?.trim_end_matches(['a', 'f']).parse().ok()
}

/// Returns the architecture number of a module.
///
/// # Errors
/// The target is unknown.
pub(super) fn number(module: &Module<'_>) -> Result<u32, Refusal> {
    let target = module.target.first().copied().unwrap_or("");
    architecture(target).ok_or_else(|| Refusal::Head(format!("its `.target {target}` is not known")))
}

/// Adds the edits that raise the module's head to the requirements.
///
/// # Errors
/// The target is unknown, or raising it changes the meaning of the code or makes it invalid.
pub(super) fn raise(module: &Module<'_>, needs: HeadRequirements, edits: &mut Edits) -> Result<(), Refusal> {
    let target = module.target.first().copied().unwrap_or("");
    let Some(number) = architecture(target) else {
        return Err(Refusal::Head(format!("its `.target {target}` is not known")));
    };
    let raises_target = number < needs.architecture;
    // Each architecture requires a version: sm_90 requires 7.8.
    let raises_version = module.version < needs.version;
    if !raises_target && !raises_version {
        return Ok(());
    }
    if number < 70 && !module.entries().all(is_single) {
        let why = "code for it may count on warps that run in lockstep";
        return Err(Refusal::Head(format!("its `.target {target}` cannot be raised: {why}")));
    }
    if module.target.contains(&"map_f64_to_f32") {
        let why = "newer ones have no `map_f64_to_f32`";
        return Err(Refusal::Head(format!("its `.target {target}` cannot be raised: {why}")));
    }
    if module.version < (6, 4)
        && let Some((opcode, line)) = removed(module)
    {
        let (major, minor) = module.version;
        let why = format!("newer PTX has no `{opcode}`, as in line {line} of the PTX");
        return Err(Refusal::Head(format!("its `.version {major}.{minor}` cannot be raised: {why}")));
    }
    if raises_target {
        edits.replace(module.span_of(target), format!("sm_{}", needs.architecture));
    }
    if raises_version {
        let (major, minor) = needs.version;
        edits.replace(version_number(module), format!("{major}.{minor}"));
    }
    Ok(())
}

/// Returns true for a kernel with one thread per block: it cannot rely on lockstep.
fn is_single(entry: &Function<'_>) -> bool {
    entry.performance(".reqntid").is_some_and(|block| block.iter().all(|&extent| extent == 1))
}

/// Returns the first `shfl` or `vote` without `.sync`, which PTX 6.4 removed for sm_70 and newer.
fn removed<'a>(module: &Module<'a>) -> Option<(&'a str, u32)> {
    let bodies = module.functions().filter_map(|function| function.body.as_ref());
    bodies.flat_map(|body| &body.statements).find_map(|statement| match statement {
        Statement::Instruction(instruction)
            if matches!(instruction.op(), Opcode::Shfl | Opcode::Vote) && !instruction.has("sync") =>
        {
            Some((instruction.opcode, instruction.line))
        }
        _ => None,
    })
}

/// Returns the number of the `.version` directive, which is its last token.
fn version_number(module: &Module<'_>) -> Span {
    let span = module.version_span;
    let directive = module.source(span);
    let number = directive.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Span { start: span.start + number.len() as u32, end: span.end }
}

/// Returns the head of a new module.
pub(super) fn head(module: &Module<'_>, needs: HeadRequirements) -> Result<String, Refusal> {
    let mut edits = Edits::default();
    raise(module, needs, &mut edits)?;
    let whole = Span { start: module.version_span.start, end: module.version_span.end };
    let overlap = |_| Refusal::Overlap { line: 1 };
    let version = edits.apply(module.text, whole).map_err(overlap)?;
    let target = edits.apply(module.text, module.target_span).map_err(overlap)?;
    Ok(format!("{version}\n{target}\n.address_size {}\n", module.address_size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;

    fn raised(head: &str, body: &str) -> Result<String, Refusal> {
        let text = format!("{head}\n.entry k() {{ {body} ret; }}\n");
        let module = parse(&text).unwrap();
        let mut edits = Edits::default();
        raise(&module, WAIT, &mut edits)?;
        let all = Span { start: 0, end: text.len() as u32 };
        let raised = edits.apply(&text, all).unwrap();
        assert_eq!(parse(&raised).unwrap().entries().count(), 1);
        Ok(raised.split("\n.entry").next().unwrap().to_owned())
    }

    #[test]
    fn raises_no_more_than_it_must() {
        for (head, expected) in [
            (".version 7.8\n.target sm_90", ".version 7.8\n.target sm_90"),
            (".version 8.7 .target sm_100a, debug", ".version 8.7 .target sm_100a, debug"),
            (".version 8.4\n.target sm_90a", ".version 8.4\n.target sm_90a"),
            (".version 8.8\n.target sm_89", ".version 8.8\n.target sm_90"),
            (
                ".version 6.5 // old\n.target sm_75, texmode_independent",
                ".version 7.8 // old\n.target sm_90, texmode_independent",
            ),
        ] {
            assert_eq!(raised(head, "").unwrap(), expected);
        }
    }

    #[test]
    fn keeps_what_cannot_be_raised() {
        let why = |head: &str, body: &str| raised(head, body).unwrap_err().to_string();
        assert!(why(".version 6.0\n.target sm_60", "").contains("lockstep"));
        assert!(why(".version 8.0\n.target sm_61", "").contains("lockstep"));
        let shuffle = "shfl.down.b32 %r1, %r2, 1, 31;";
        assert!(
            why(".version 6.3\n.target sm_75", shuffle).contains("`shfl.down.b32`, as in line 3 of the PTX")
        );
        assert!(raised(".version 6.3\n.target sm_75", "shfl.sync.down.b32 %r1, %r2, 1, 31, -1;").is_ok());
        assert!(why(".version 8.0\n.target sm_80, map_f64_to_f32", "").contains("map_f64_to_f32"));
        assert!(why(".version 8.0\n.target compute_80", "").contains("compute_80"));
    }
    #[test]
    fn one_thread_is_in_lockstep_with_no_other() {
        for (directive, rises) in [
            (".reqntid 1", true),
            (".reqntid 1, 1, 1", true),
            (".reqntid 1, 2", false),
            (".maxntid 1", false),
        ] {
            let text = format!(
                ".version 6.0\n.target sm_50\n.entry a() .reqntid 1 {{ ret; }}\n.entry b() {directive} {{ ret; }}\n"
            );
            let mut edits = Edits::default();
            assert_eq!(raise(&parse(&text).unwrap(), WAIT, &mut edits).is_ok(), rises, "{directive}");
        }
    }
}
