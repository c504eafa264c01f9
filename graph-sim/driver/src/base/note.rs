//! Names that the program gives to nodes and buffers.

/// A name and its source location.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Note {
    pub name: String,
    /// The source file; empty if unknown.
    pub file: String,
    /// The line; 0 if unknown.
    pub line: u32,
}

impl Note {
    /// Returns the name and the source location, for reports.
    pub fn describe(&self) -> String {
        match (self.file.is_empty(), self.line) {
            (true, _) => format!("`{}`", self.name),
            (false, 0) => format!("`{}` ({})", self.name, self.file),
            (false, line) => format!("`{}` ({}:{line})", self.name, self.file),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Note;

    #[test]
    fn notes_name_what_is_known() {
        let mut note = Note { name: "relu".into(), ..Note::default() };
        assert_eq!(note.describe(), "`relu`");
        note.file = "src/nn.rs".into();
        note.line = 7;
        assert_eq!(note.describe(), "`relu` (src/nn.rs:7)");
    }
}
