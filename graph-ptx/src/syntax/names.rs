//! Name resolution in the scopes of a body.
//!
//! The parser does not resolve names. Analyses and rewriting build a [`Names`] per body and look names up by scope.

use crate::syntax::ast::{Body, Statement, Variable};
use std::collections::HashMap;

/// The declarations of a body, by scope and name.
///
/// A scope sees its own declarations and those of its enclosing scopes. PTX requires declaration before use; this is
/// not checked here. Registers of a range (`%r<5>`) are found by their number. Labels are resolved in the same way.
#[derive(Debug)]
pub struct Names<'b, 'a> {
    body: &'b Body<'a>,
    /// The declaring statement by scope and name.
    variables: HashMap<(u32, &'a str), u32>,
    ranges: HashMap<(u32, &'a str), u32>,
    labels: HashMap<(u32, &'a str), u32>,
}

/// The declaration that a name is bound to.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'b, 'a> {
    /// The declaration.
    pub variable: &'b Variable<'a>,
    /// Index of the declaring statement in the body. With `index`, it identifies a register.
    pub statement: u32,
    /// The number within a range; 0 for a single name.
    pub index: u64,
    /// The scope of the declaration.
    pub scope: u32,
}

impl<'b, 'a> Names<'b, 'a> {
    /// Collects the declarations of a body.
    pub fn new(body: &'b Body<'a>) -> Self {
        let mut names =
            Self { body, variables: HashMap::new(), ranges: HashMap::new(), labels: HashMap::new() };
        for (at, statement) in body.statements.iter().enumerate() {
            let at = at as u32;
            match statement {
                Statement::Variable(scope, variable) if variable.range.is_some() => {
                    names.ranges.insert((*scope, variable.name), at);
                }
                Statement::Variable(scope, variable) => {
                    names.variables.insert((*scope, variable.name), at);
                }
                Statement::Label(label) => {
                    names.labels.insert((label.scope, label.name), at);
                }
                Statement::Targets(targets) => {
                    names.labels.insert((targets.scope, targets.name), at);
                }
                _ => {}
            }
        }
        names
    }

    /// Returns the register or variable of the body that `name` means in `scope`. `None` for names that the body does
    /// not declare: special registers, parameters of the function and module variables.
    pub fn resolve(&self, scope: u32, name: &str) -> Option<Binding<'b, 'a>> {
        let number = number_of(name);
        let mut scope = scope;
        loop {
            if let Some(&at) = self.variables.get(&(scope, name)) {
                return self.binding(at, 0, scope);
            }
            if let Some((prefix, number)) = number
                && let Some(&at) = self.ranges.get(&(scope, prefix))
                && let Some(binding) = self.binding(at, number, scope)
            {
                return Some(binding);
            }
            scope = self.body.scopes.get(scope as usize)?.parent?;
        }
    }

    /// Returns a statement of the body.
    pub(crate) fn statement(&self, at: usize) -> &'b Statement<'a> {
        &self.body.statements[at]
    }

    fn binding(&self, at: u32, index: u64, scope: u32) -> Option<Binding<'b, 'a>> {
        match &self.body.statements[at as usize] {
            Statement::Variable(_, variable) if index < variable.range.unwrap_or(1) => {
                Some(Binding { variable, statement: at, index, scope })
            }
            _ => None,
        }
    }

    /// Returns the statement of the label or target list that `name` means in `scope`. Labels of an inner scope are
    /// not visible outside of it.
    pub fn label(&self, scope: u32, name: &str) -> Option<usize> {
        let mut scope = scope;
        loop {
            if let Some(&at) = self.labels.get(&(scope, name)) {
                return Some(at as usize);
            }
            scope = self.body.scopes.get(scope as usize)?.parent?;
        }
    }
}

/// Splits `%r12` into `%r` and 12. Returns `None` for names with a leading zero such as `%r012`: they are never in a
/// range.
fn number_of(name: &str) -> Option<(&str, u64)> {
    let bytes = name.as_bytes();
    let mut start = bytes.len();
    while start > 0 && bytes[start - 1].is_ascii_digit() {
        start -= 1;
    }
    let digits = &name[start..];
    if start == 0 || digits.is_empty() || (digits.len() > 1 && bytes[start] == b'0') {
        return None;
    }
    Some((&name[..start], digits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Type, parse};

    #[test]
    fn inner_scopes_hide_outer_names() {
        let text = ".version 8.0\n.target sm_80\n.entry k() {\n.reg .b32 %r<3>, t;\n{\n.reg .b64 t;\n mov.b32 %r1, \
            0;\n}\nL:\nret;\n}";
        let module = parse(text).unwrap();
        let body = module.entry("k").unwrap().body.as_ref().unwrap();
        let names = Names::new(body);
        assert_eq!(names.resolve(1, "t").unwrap().variable.ty, Type::B64);
        assert_eq!(names.resolve(0, "t").unwrap().variable.ty, Type::B32);
        let register = names.resolve(1, "%r2").unwrap();
        assert_eq!((register.index, register.scope), (2, 0));
        assert!(names.resolve(1, "%r3").is_none());
        assert!(names.resolve(0, "%r01").is_none());
        assert!(names.resolve(0, "%r").is_none());
        assert!(matches!(body.statements[names.label(1, "L").unwrap()], Statement::Label(_)));
    }
}
