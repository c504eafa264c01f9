//! Adjusts the help of diagnostics to the user's source, which the core does not know.

use cuweave_core::codes::Code;
use cuweave_core::diagnostic::{Diagnostic, DiagnosticSite};
use cuweave_core::ir::{Mode, Program, StatementKind};

/// Rewrites a help that suggests `#[after(x)]` if no `let` introduces the name `x`.
pub fn name_edge_source(diagnostic: &mut Diagnostic, names: &[String]) {
    let Some(help) = &diagnostic.help else { return };
    let Some(name) = between(help, "#[after(", ")]") else { return };
    if name == ".." || names.iter().any(|known| known == name) {
        return;
    }
    let edge = diagnostic.notes.iter().find(|note| note.starts_with("the missing edge"));
    let places: Vec<&str> = edge.map_or(Vec::new(), |edge| edge.split(" -> ").collect());
    let lines: Vec<Option<&str>> = places.iter().map(|place| between(place, "(line ", ")")).collect();
    diagnostic.help = Some(match lines[..] {
        [Some(one), Some(other)] if one == other => {
            "explicit order cannot name another iteration of a loop: write the iterations one after the other, or \
             leave the order to be inferred"
                .to_owned()
        }
        [Some(line), ..] => {
            format!("name the statement on line {line} by `let a = ..;`, and put `#[after(a)]` on this one")
        }
        _ => "name the statement by `let a = ..;`, and put `#[after(a)]` on this one".to_owned(),
    });
}

/// Extends the help of CW101: if the buffer is never borrowed by `&mut`, perhaps this launch was meant to
/// write it. Only rustc sees the kernel's declaration, so the macro cannot tell.
pub fn suggest_mutable_borrow(diagnostic: &mut Diagnostic, program: &Program) {
    let (Code::CW101, DiagnosticSite::Access(id), Some(help)) =
        (diagnostic.code, diagnostic.site, &diagnostic.help)
    else {
        return;
    };
    let statement = &program.statements[id.statement];
    let access = usize::try_from(id.index).ok().and_then(|index| statement.accesses.get(index));
    let Some(access) = access.filter(|access| access.mode == Mode::Read) else { return };
    let mut accesses = program.statements.iter().flat_map(|statement| statement.accesses.iter());
    let written = accesses.any(|other| other.buffer == access.buffer && other.mode.writes());
    if !written
        && matches!(
            statement.kind,
            StatementKind::Launch(_) | StatementKind::Capture(_) | StatementKind::Call(_)
        )
    {
        let (user, buffer) = (&statement.name, &program.buffers[access.buffer].name);
        diagnostic.help = Some(format!("{help}; if `{user}` writes it, pass `&mut {buffer}`"));
    }
}

fn between<'t>(text: &'t str, from: &str, to: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(from)?;
    Some(rest.split_once(to)?.0)
}
