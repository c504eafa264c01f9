//! Encoding of a function's structure.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::CallId;
use crate::index::Vector;
use crate::ir::{Program, StatementId, StatementKind};
use crate::structure::{
    Argument, ArgumentPart, Call, CallPosition, Choice, EnclosingLoop, Item, Loop, LoopRange, PathStep,
    Structure, Variable,
};

use super::bytes::{Reader, Writer};

impl<'p> Writer<'p> {
    /// Writes the structure.
    pub fn structure(&mut self, structure: &'p Structure) {
        self.items(&structure.body);
        self.list(structure.parts.iter(), Writer::part);
        self.list(structure.variables.iter(), |writer, variable| {
            writer.text(&variable.name);
            writer.ids(&variable.dims);
        });
        self.list(structure.calls.iter(), |writer, call| {
            writer.list(call.arguments.iter(), Writer::argument);
            writer.ids(&call.results);
            writer.list(call.around.iter(), |writer, &around| writer.around(around));
            match call.place {
                CallPosition::Only => writer.number(0),
                CallPosition::Line => writer.number(1),
                CallPosition::Column(column) => {
                    writer.number(2);
                    writer.number(column);
                }
            }
        });
        self.list(structure.returned.iter(), |writer, &(buffer, declared, actual)| {
            writer.id(buffer);
            writer.id(declared);
            writer.id(actual);
        });
        self.list(structure.leaf_variables.iter(), |writer, list| writer.ids(list));
        self.list(structure.at_least.iter(), |writer, (name, dim, least)| {
            writer.text(name);
            writer.id(*dim);
            writer.long(*least);
        });
        self.list(structure.at_most.iter(), |writer, (name, value, most)| {
            writer.text(name);
            writer.id(*value);
            writer.id(*most);
        });
        self.list(structure.leaf_scalars.iter(), |writer, list| writer.ids(list));
    }

    fn items(&mut self, items: &[Item]) {
        self.list(items.iter(), |writer, item| match item {
            Item::Statement(statement) => {
                writer.number(0);
                writer.id(*statement);
            }
            Item::Loop(each) => {
                writer.number(1);
                writer.number(each.line);
                writer.id(each.variable);
                match each.range {
                    LoopRange::Range(lo, hi) => {
                        writer.number(0);
                        writer.id(lo);
                        writer.id(hi);
                    }
                    LoopRange::Elements(part) => {
                        writer.number(1);
                        writer.id(part);
                    }
                }
                writer.items(&each.body);
            }
            Item::Choice(choice) => {
                writer.number(2);
                writer.number(choice.line);
                writer.number(choice.number);
                writer.list(choice.arms.iter(), |writer, arm| writer.items(arm));
            }
            Item::Rename { to, from } => {
                writer.number(3);
                writer.id(*to);
                writer.id(*from);
            }
            Item::Swap(a, b) => {
                writer.number(4);
                writer.id(*a);
                writer.id(*b);
            }
            Item::Needs(part) => {
                writer.number(5);
                writer.id(*part);
            }
        });
    }

    fn part(&mut self, part: &'p ArgumentPart) {
        self.id(part.argument);
        self.list(part.path.iter(), |writer, step| match step {
            PathStep::Index(dim) => {
                writer.number(0);
                writer.id(*dim);
            }
            PathStep::Field(name) => {
                writer.number(1);
                writer.text(name);
            }
        });
    }

    fn around(&mut self, around: EnclosingLoop) {
        match around {
            EnclosingLoop::Value(value) => {
                self.number(0);
                self.long(value.cast_unsigned());
            }
            EnclosingLoop::Up(variable) => {
                self.number(1);
                self.id(variable);
            }
            EnclosingLoop::Down(variable, lo, hi) => {
                self.number(2);
                self.id(variable);
                self.id(lo);
                self.id(hi);
            }
        }
    }

    fn argument(&mut self, argument: &Argument) {
        match argument {
            Argument::Scalar { of, value } => {
                self.number(0);
                self.ids(of);
                self.ids(value.as_slice());
            }
            Argument::Access(access) => {
                self.number(1);
                self.number(*access);
            }
            Argument::Moved(buffer) => {
                self.number(2);
                self.id(*buffer);
            }
            Argument::Part(part) => {
                self.number(3);
                self.id(*part);
            }
            Argument::Host(argument) => {
                self.number(4);
                self.id(*argument);
            }
        }
    }
}

/// The maximum nesting depth that is read. rustc rejects deeper source.
const MAX_NESTING: u32 = 128;

impl Reader {
    /// Reads the structure.
    pub fn structure(&mut self) -> Option<Structure> {
        Some(Structure {
            body: self.items(0)?,
            parts: self.list(Reader::part)?.into(),
            variables: self
                .list(|reader| Some(Variable { name: reader.text()?, dims: reader.ids()? }))?
                .into(),
            calls: self
                .list(|reader| {
                    Some(Call {
                        arguments: reader.list(Reader::argument)?,
                        results: reader.ids()?,
                        around: reader.list(Reader::around)?,
                        place: match reader.number()? {
                            0 => CallPosition::Only,
                            1 => CallPosition::Line,
                            2 => CallPosition::Column(reader.number()?),
                            _ => return None,
                        },
                    })
                })?
                .into(),
            returned: self.list(|reader| Some((reader.id()?, reader.id()?, reader.id()?)))?,
            leaf_variables: self.list(Reader::ids)?.into(),
            at_least: self.list(|reader| Some((reader.text()?, reader.id()?, reader.long()?)))?,
            at_most: self.list(|reader| Some((reader.text()?, reader.id()?, reader.id()?)))?,
            leaf_scalars: self.list(Reader::ids)?.into(),
        })
    }

    fn items(&mut self, depth: u32) -> Option<Vec<Item>> {
        if depth > MAX_NESTING {
            return None;
        }
        self.list(|reader| {
            Some(match reader.number()? {
                0 => Item::Statement(reader.id()?),
                1 => {
                    let (line, variable) = (reader.number()?, reader.id()?);
                    let range = match reader.number()? {
                        0 => LoopRange::Range(reader.id()?, reader.id()?),
                        1 => LoopRange::Elements(reader.id()?),
                        _ => return None,
                    };
                    Item::Loop(Loop { line, variable, range, body: reader.items(depth + 1)? })
                }
                2 => {
                    let (line, number) = (reader.number()?, reader.number()?);
                    Item::Choice(Choice {
                        line,
                        number,
                        arms: reader.list(|reader| reader.items(depth + 1))?,
                    })
                }
                3 => Item::Rename { to: reader.id()?, from: reader.id()? },
                4 => Item::Swap(reader.id()?, reader.id()?),
                5 => Item::Needs(reader.id()?),
                _ => return None,
            })
        })
    }

    fn part(&mut self) -> Option<ArgumentPart> {
        let argument = self.id()?;
        let path = self.list(|reader| {
            Some(match reader.number()? {
                0 => PathStep::Index(reader.id()?),
                1 => PathStep::Field(reader.text()?),
                _ => return None,
            })
        })?;
        Some(ArgumentPart { argument, path })
    }

    fn around(&mut self) -> Option<EnclosingLoop> {
        Some(match self.number()? {
            0 => EnclosingLoop::Value(self.long()?.cast_signed()),
            1 => EnclosingLoop::Up(self.id()?),
            2 => EnclosingLoop::Down(self.id()?, self.id()?, self.id()?),
            _ => return None,
        })
    }

    fn argument(&mut self) -> Option<Argument> {
        Some(match self.number()? {
            0 => Argument::Scalar { of: self.ids()?, value: self.ids()?.first().copied() },
            1 => Argument::Access(self.number()?),
            2 => Argument::Moved(self.id()?),
            3 => Argument::Part(self.id()?),
            4 => Argument::Host(self.id()?),
            _ => return None,
        })
    }
}

/// Sets the source position that distinguishes each call from others of its callee. `column` returns the column of
/// a statement. Calls at one position come from an unrolled loop. O(n log n).
pub fn distinguish_calls(
    program: &Program,
    column: impl Fn(StatementId) -> u32,
    calls: &mut Vector<CallId, Call>,
) {
    let mut places: BTreeMap<&str, BTreeMap<u32, BTreeSet<u32>>> = BTreeMap::new();
    let called = || {
        program.statements.enumerate().filter_map(|(at, statement)| match statement.kind {
            StatementKind::Call(call) => Some((at, statement, call)),
            _ => None,
        })
    };
    for (at, statement, _) in called() {
        places.entry(&*statement.name).or_default().entry(statement.line).or_default().insert(column(at));
    }
    for (at, statement, call) in called() {
        let Some(lines) = places.get(&*statement.name) else { continue };
        calls[call].place = match lines.get(&statement.line) {
            Some(columns) if columns.len() > 1 => CallPosition::Column(column(at)),
            _ if lines.len() > 1 => CallPosition::Line,
            _ => CallPosition::Only,
        };
    }
}
