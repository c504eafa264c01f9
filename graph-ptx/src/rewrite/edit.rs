//! Text edits by byte range: collected in any order, applied once.

use crate::syntax::Span;

/// Edits in any order. They must not overlap; insertions at the same position keep their order.
#[derive(Debug, Default)]
pub(super) struct Edits {
    edits: Vec<(Span, String)>,
}

impl Edits {
    pub fn replace(&mut self, span: Span, with: impl Into<String>) {
        self.edits.push((span, with.into()));
    }

    pub fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.replace(Span { start: at, end: at }, text);
    }

    /// Returns the part `within` of the text with the edits applied.
    ///
    /// # Errors
    ///
    /// The byte at which two edits overlap, or at which an edit leaves the part.
    pub fn apply(&mut self, text: &str, within: Span) -> Result<String, u32> {
        self.edits.sort_by_key(|(span, _)| (span.start, span.end));
        let mut out = String::with_capacity((within.end - within.start) as usize);
        let mut at = within.start;
        for (span, with) in &self.edits {
            if span.end < within.start || span.start > within.end {
                continue;
            }
            let before = (span.start >= at && span.end <= within.end)
                .then(|| text.get(at as usize..span.start as usize))
                .flatten();
            let Some(before) = before else { return Err(span.start) };
            out.push_str(before);
            out.push_str(with);
            at = span.end;
        }
        out.push_str(text.get(at as usize..within.end as usize).ok_or(at)?);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    #[test]
    fn changes_are_made_in_the_order_of_the_text() {
        let mut edits = Edits::default();
        edits.replace(span(4, 7), "TWO");
        edits.insert(0, "a ");
        edits.insert(0, "b ");
        edits.insert(9, ".");
        assert_eq!(edits.apply("one two !", span(0, 9)), Ok("a b one TWO !.".to_owned()));
        assert_eq!(edits.apply("one two !", span(4, 8)), Ok("TWO ".to_owned()));
    }

    #[test]
    fn changes_that_overlap_are_found() {
        let mut edits = Edits::default();
        edits.replace(span(0, 5), "");
        edits.replace(span(4, 7), "");
        assert_eq!(edits.apply("one two !", span(0, 9)), Err(4));
        let mut edits = Edits::default();
        edits.replace(span(4, 7), "");
        assert_eq!(edits.apply("one two !", span(0, 6)), Err(4));
    }
}
