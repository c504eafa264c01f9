//! The bytes of a function's structure.

use crate::structure::{Argument, Call, Choice, Item, Loop, Part, Step, Structure, Turns, Variable};

use super::bytes::{Reader, Writer};

impl<'p> Writer<'p> {
    fn numbers(&mut self, numbers: &[u32]) {
        self.list(numbers.iter(), |writer, &number| writer.number(number));
    }

    /// Writes the nesting of statements.
    pub fn structure(&mut self, structure: &'p Structure) {
        self.items(&structure.body);
        self.list(structure.parts.iter(), Writer::part);
        self.list(structure.variables.iter(), |writer, variable| {
            writer.text(&variable.name);
            writer.numbers(&variable.dims);
        });
        self.list(structure.calls.iter(), |writer, call| {
            writer.list(call.arguments.iter(), Writer::argument);
            writer.numbers(&call.results);
        });
        self.list(structure.returned.iter(), |writer, &(buffer, declared, actual)| {
            writer.numbers(&[buffer, declared, actual]);
        });
        self.list(structure.leaf_variables.iter(), |writer, list| writer.numbers(list));
    }

    fn items(&mut self, items: &[Item]) {
        self.list(items.iter(), |writer, item| match item {
            Item::Statement(statement) => {
                writer.number(0);
                writer.number(*statement);
            }
            Item::Loop(each) => {
                writer.number(1);
                writer.number(each.line);
                writer.number(each.variable);
                match each.turns {
                    Turns::Range(lo, hi) => writer.numbers(&[lo, hi]),
                    Turns::Elements(part) => writer.numbers(&[part]),
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
                writer.number(*to);
                writer.number(*from);
            }
            Item::Swap(a, b) => {
                writer.number(4);
                writer.number(*a);
                writer.number(*b);
            }
        });
    }

    fn part(&mut self, part: &'p Part) {
        self.number(part.argument);
        self.list(part.path.iter(), |writer, step| match step {
            Step::Index(dim) => {
                writer.number(0);
                writer.number(*dim);
            }
            Step::Field(name) => {
                writer.number(1);
                writer.text(name);
            }
        });
    }

    fn argument(&mut self, argument: &Argument) {
        match argument {
            Argument::Scalar(scalars) => {
                self.number(0);
                self.numbers(scalars);
            }
            Argument::Access(access) => {
                self.number(1);
                self.number(*access);
            }
            Argument::Moved(buffer) => {
                self.number(2);
                self.number(*buffer);
            }
            Argument::Part(part) => {
                self.number(3);
                self.number(*part);
            }
        }
    }
}

/// The deepest nesting that is read: rustc takes no deeper source.
const DEEPEST: u32 = 128;

impl Reader {
    fn numbers(&mut self) -> Option<Vec<u32>> {
        self.list(Reader::number)
    }

    /// Reads the nesting of statements.
    pub fn structure(&mut self) -> Option<Structure> {
        Some(Structure {
            body: self.items(0)?,
            parts: self.list(Reader::part)?,
            variables: self
                .list(|reader| Some(Variable { name: reader.text()?, dims: reader.numbers()? }))?,
            calls: self.list(|reader| {
                Some(Call { arguments: reader.list(Reader::argument)?, results: reader.numbers()? })
            })?,
            returned: self.list(|reader| match *reader.numbers()? {
                [buffer, declared, actual] => Some((buffer, declared, actual)),
                _ => None,
            })?,
            leaf_variables: self.list(Reader::numbers)?,
        })
    }

    fn items(&mut self, depth: u32) -> Option<Vec<Item>> {
        if depth > DEEPEST {
            return None;
        }
        self.list(|reader| {
            Some(match reader.number()? {
                0 => Item::Statement(reader.number()?),
                1 => {
                    let (line, variable) = (reader.number()?, reader.number()?);
                    let turns = match *reader.numbers()? {
                        [lo, hi] => Turns::Range(lo, hi),
                        [part] => Turns::Elements(part),
                        _ => return None,
                    };
                    Item::Loop(Loop { line, variable, turns, body: reader.items(depth + 1)? })
                }
                2 => {
                    let (line, number) = (reader.number()?, reader.number()?);
                    Item::Choice(Choice {
                        line,
                        number,
                        arms: reader.list(|reader| reader.items(depth + 1))?,
                    })
                }
                3 => Item::Rename { to: reader.number()?, from: reader.number()? },
                4 => Item::Swap(reader.number()?, reader.number()?),
                _ => return None,
            })
        })
    }

    fn part(&mut self) -> Option<Part> {
        let argument = self.number()?;
        let path = self.list(|reader| {
            Some(match reader.number()? {
                0 => Step::Index(reader.number()?),
                1 => Step::Field(reader.text()?),
                _ => return None,
            })
        })?;
        Some(Part { argument, path })
    }

    fn argument(&mut self) -> Option<Argument> {
        Some(match self.number()? {
            0 => Argument::Scalar(self.numbers()?),
            1 => Argument::Access(self.number()?),
            2 => Argument::Moved(self.number()?),
            3 => Argument::Part(self.number()?),
            _ => return None,
        })
    }
}
