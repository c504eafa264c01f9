//! Source locations of the buffers and statements of a program.

use std::fmt;

use crate::ir::{BufferId, Program, StatementId};

/// A name in the user's source and its location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct SourceLocation {
    /// The name.
    pub name: String,
    /// The file, as the compiler named it.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column; 0 if unknown, as in graph functions.
    pub column: u32,
}

impl SourceLocation {
    /// Makes a location without a column.
    #[must_use]
    pub fn new(name: impl Into<String>, file: impl Into<String>, line: u32) -> SourceLocation {
        SourceLocation { name: name.into(), file: file.into(), line, column: 0 }
    }

    /// Sets the column.
    #[must_use]
    pub fn with_column(self, column: u32) -> SourceLocation {
        SourceLocation { column, ..self }
    }

    /// Sets the name.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> SourceLocation {
        SourceLocation { name: name.into(), ..self }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SourceLocation { name, file, line, column } = self;
        write!(f, "`{name}` ({file}:{line}")?;
        if *column == 0 { f.write_str(")") } else { write!(f, ":{column})") }
    }
}

/// Returns the location of a buffer's declaration.
#[must_use]
pub fn at_buffer(program: &Program, buffer: BufferId) -> Box<SourceLocation> {
    let declared = &program.buffers[buffer];
    let file = declared.file.as_ref().unwrap_or(&program.file);
    Box::new(SourceLocation::new(&*declared.name, &**file, declared.line).with_column(declared.column))
}

/// Returns the location of a statement.
#[must_use]
pub fn at_statement(program: &Program, statement: StatementId) -> Box<SourceLocation> {
    let statement = &program.statements[statement];
    let file = statement.file.as_ref().unwrap_or(&program.file);
    Box::new(SourceLocation::new(&*statement.name, &**file, statement.line).with_column(statement.column))
}

/// Returns the location of a graph function: the line of its first statement.
#[must_use]
pub fn at_function(program: &Program) -> Box<SourceLocation> {
    let line = program.statements.iter().next().map_or(0, |statement| statement.line);
    Box::new(SourceLocation::new(&*program.name, &*program.file, line))
}

/// Returns the location of the attribute of a graph function. Line 0 for a graph made by a builder.
#[must_use]
pub fn at_attribute(program: &Program) -> Box<SourceLocation> {
    Box::new(SourceLocation::new(&*program.name, &*program.file, program.options.line))
}
