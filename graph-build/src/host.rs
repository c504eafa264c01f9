//! Finds and blanks out host code: functions, classes and variables that are not device code.
//!
//! NVRTC compiles device code only, but files written for nvcc mix both. Functions and variables that are
//! certainly host code are removed before compiling; other declarations only if NVRTC reports an error in
//! them. Nothing marked `__global__`, `__device__` or `__constant__`, directly or through a macro, is ever
//! removed. Removed text is overwritten with blanks, so the remaining code keeps its lines and columns. The
//! parser is approximate: it recognises declarations by their tokens ([`crate::tokens`]), without
//! preprocessing.

use crate::tokens::{self, Token, TokenKind, Tokens};
use std::collections::HashSet;
use std::ops::Range;

/// The words that mark device code, or constants that host and device share.
const MARKS: [&str; 9] = [
    "__device__",
    "__global__",
    "__constant__",
    "__shared__",
    "__managed__",
    "__grid_constant__",
    "constexpr",
    "consteval",
    "__nv_pure__",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeclarationKind {
    Function,
    Class,
    /// A variable, prototype, alias or other declaration.
    Other,
}

/// A declaration in a source.
#[derive(Debug)]
struct Declaration {
    sort: DeclarationKind,
    range: Range<usize>,
    /// The body of a function. For a constructor it starts at the initialiser list.
    body: Option<Range<usize>>,
    /// True if it is, or may be, device code.
    is_device: bool,
    /// True if it is certainly host code.
    is_host: bool,
    /// True if it is declared with parameters and without a value, or must be kept (`typedef`, `using`,
    /// ..).
    is_prototype: bool,
    /// The index of its enclosing class.
    class: Option<usize>,
    name: Option<String>,
}

/// A declaration that was removed.
pub struct RemovedDeclaration {
    pub name: String,
    /// The line of the declaration, counted from 1.
    pub line: usize,
    /// The error that caused its removal. None if it is certainly host code.
    pub error: Option<String>,
}

/// A source text with its declarations.
pub struct Source {
    text: String,
    units: Vec<Declaration>,
    /// The functions, classes and variables removed so far, for messages.
    pub removed: Vec<RemovedDeclaration>,
    /// Indices into `units` of the removed declarations.
    removed_units: HashSet<usize>,
}

/// The macros that all sources of a compilation define.
pub struct Macros {
    /// The words that mark device code, including macros.
    marks: HashSet<String>,
    /// The macros that expand to whole declarations: their replacement contains a brace or a semicolon.
    declare: HashSet<String>,
    all: HashSet<String>,
}

/// Collects the macros of the sources. Marks are propagated through nested macros to a fixpoint.
pub fn macros<'t>(texts: impl Iterator<Item = &'t str>) -> Macros {
    let mut macros: Vec<(String, Vec<String>)> = Vec::new();
    for text in texts {
        for (name, replacement) in tokens::tokenize(text).macros {
            let words = tokens::tokenize(replacement);
            let words =
                words.all.iter().map(|token| replacement[token.start..token.end].to_owned()).collect();
            macros.push((name.to_owned(), words));
        }
    }
    let closure = |mut found: HashSet<String>| loop {
        let before = found.len();
        for (name, words) in &macros {
            if words.iter().any(|word| found.contains(word)) {
                found.insert(name.clone());
            }
        }
        if found.len() == before {
            break found;
        }
    };
    let marks = closure(MARKS.into_iter().map(str::to_owned).collect());
    let declare = closure(["{", ";"].into_iter().map(str::to_owned).collect());
    Macros { marks, declare, all: macros.into_iter().map(|(name, _)| name).collect() }
}

impl Source {
    /// Reads a source.
    pub fn new(text: &str, macros: &Macros) -> Source {
        let tokens = tokens::tokenize(text);
        let mut reader = DeclarationParser { text, tokens: &tokens, macros, units: Vec::new() };
        reader.declarations(0, tokens.all.len(), None);
        let units = reader.units;
        Source { text: text.to_owned(), units, removed: Vec::new(), removed_units: HashSet::new() }
    }

    /// Returns the text as edited so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if anything was removed.
    pub fn is_changed(&self) -> bool {
        !self.removed_units.is_empty()
    }

    /// Removes everything that is certainly host code.
    pub fn remove_host_code(&mut self) {
        for at in 0..self.units.len() {
            if self.units[at].is_host {
                self.remove(at, false, None);
            }
        }
    }

    /// Removes the declaration at a line and column (counted from 1) because of an error there, unless it
    /// may be device code. Returns true if it was removed.
    pub fn remove_at(&mut self, line: u32, column: Option<usize>, error: &str) -> bool {
        let Some(start) = self.line_start(line) else { return false };
        let rest = self.text[start..].lines().next().unwrap_or_default();
        let column = column.unwrap_or_else(|| 1 + rest.chars().take_while(|c| c.is_whitespace()).count());
        let offset = start + rest.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum::<usize>();
        let holds = |unit: &Declaration| unit.range.start <= offset && offset < unit.range.end;
        // Members follow their class, so the last match is the innermost one.
        let Some(at) = self.units.iter().rposition(holds) else { return false };
        let unit = &self.units[at];
        if unit.is_device || self.removed_units.contains(&at) {
            return false;
        }
        let in_body = unit.body.as_ref().is_some_and(|body| body.contains(&offset));
        match (unit.sort, unit.class) {
            // Data members determine the size of the class: the class can only be removed as a whole.
            (DeclarationKind::Other, Some(class)) if !unit.is_prototype => {
                let is_device = self.units[class].is_device || self.removed_units.contains(&class);
                if !is_device {
                    self.remove(class, false, Some(error));
                }
                !is_device
            }
            (DeclarationKind::Function, Some(_)) => {
                self.remove(at, in_body, Some(error));
                true
            }
            _ => {
                self.remove(at, false, Some(error));
                true
            }
        }
    }

    fn line_start(&self, line: u32) -> Option<usize> {
        let number = (line as usize).checked_sub(1)?;
        let starts = [0].into_iter().chain(self.text.match_indices('\n').map(|(at, _)| at + 1));
        starts.into_iter().nth(number)
    }

    /// Overwrites a declaration, or only a function's body, with blanks. Preprocessor directives stay.
    fn remove(&mut self, at: usize, body_only: bool, error: Option<&str>) {
        if !self.removed_units.insert(at) {
            return;
        }
        let unit = &self.units[at];
        let range = match &unit.body {
            Some(body) if body_only => body.clone(),
            _ => unit.range.clone(),
        };
        if let Some(name) = &unit.name {
            let line = 1 + self.text[..unit.range.start].matches('\n').count();
            self.removed.push(RemovedDeclaration {
                name: name.clone(),
                line,
                error: error.map(str::to_owned),
            });
        }
        let mut blank = String::with_capacity(range.len());
        let (mut in_directive, mut at_line_start) = (false, false);
        for c in self.text[range.clone()].chars() {
            match c {
                '\n' => {
                    let joined = blank.trim_end_matches('\r').ends_with('\\');
                    in_directive &= joined;
                    at_line_start = true;
                }
                '#' if at_line_start => in_directive = true,
                c if !c.is_whitespace() => at_line_start = false,
                _ => {}
            }
            if in_directive || c == '\n' || c == '\r' || c == '\t' {
                blank.push(c);
            } else {
                (0..c.len_utf8()).for_each(|_| blank.push(' '));
            }
        }
        if body_only {
            blank.replace_range(..1, ";");
        }
        self.text.replace_range(range, &blank);
    }
}

/// Parses declarations into `units`.
struct DeclarationParser<'t> {
    text: &'t str,
    tokens: &'t Tokens<'t>,
    macros: &'t Macros,
    units: Vec<Declaration>,
}

/// A declaration's tokens before its body or its end.
#[derive(Default)]
struct DeclarationHead {
    is_device: bool,
    /// True if one of its words may be a macro that marks device code.
    may_be_device: bool,
    is_template: bool,
    is_class: bool,
    has_parameters: bool,
    has_value: bool,
    /// The colon of a constructor's initialiser list, a token index.
    colon: Option<usize>,
    name: Option<String>,
    is_qualified: bool,
    must_keep: bool,
}

impl<'t> DeclarationParser<'t> {
    fn token(&self, at: usize) -> Option<&'t Token> {
        self.tokens.all.get(at)
    }

    fn word(&self, at: usize) -> &'t str {
        match self.token(at) {
            Some(token) if token.kind == TokenKind::Word => &self.text[token.start..token.end],
            _ => "",
        }
    }

    fn is(&self, at: usize, mark: u8) -> bool {
        self.token(at).is_some_and(|token| token.kind == TokenKind::Mark(mark))
    }

    /// Returns the index after the token that closes the bracket at `at`.
    fn skip(&self, at: usize, end: usize) -> usize {
        let mut depth = 0;
        for next in at..end {
            match self.tokens.all[next].kind {
                TokenKind::Mark(b'(' | b'[' | b'{') => depth += 1,
                TokenKind::Mark(b')' | b']' | b'}') => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                return next + 1;
            }
        }
        end
    }

    /// Returns the index after the `>` that closes the `<` at `at`.
    fn skip_angles(&self, at: usize, end: usize) -> usize {
        let (mut depth, mut next) = (0, at);
        while next < end {
            match self.tokens.all[next].kind {
                TokenKind::Mark(b'<') => depth += 1,
                TokenKind::Mark(b'>') => depth -= 1,
                TokenKind::Mark(b'(' | b'[' | b'{') => {
                    next = self.skip(next, end);
                    continue;
                }
                TokenKind::Mark(b';') => return next,
                _ => {}
            }
            next += 1;
            if depth == 0 {
                return next;
            }
        }
        end
    }

    fn declarations(&mut self, from: usize, end: usize, class: Option<usize>) {
        let mut at = from;
        while at < end {
            let next = self.declaration(at, end, class);
            at = next.max(at + 1);
        }
    }

    /// Parses one declaration. Returns the index of the token after it.
    fn declaration(&mut self, at: usize, end: usize, class: Option<usize>) -> usize {
        match self.word(at) {
            "namespace" | "inline" | "extern" if self.opens_scope(at, end).is_some() => {
                let open = self.opens_scope(at, end).unwrap_or(at);
                let close = self.skip(open, end);
                self.declarations(open + 1, close.saturating_sub(1), class);
                return close;
            }
            "public" | "private" | "protected" if self.is(at + 1, b':') => return at + 2,
            // A macro such as `OP(float, add)` that expands to declarations. It needs no semicolon.
            word if self.is(at + 1, b'(') && self.macros.declare.contains(word) => {
                let close = self.skip(at + 1, end);
                if !self.is(close, b'{') && !self.is(close, b'(') {
                    let head = DeclarationHead {
                        is_device: self.macros.marks.contains(word),
                        must_keep: true,
                        ..DeclarationHead::default()
                    };
                    return self.add_declaration(at, close, &head, None, class);
                }
            }
            _ => {}
        }
        if self.is(at, b';') || self.is(at, b'}') {
            return at + 1;
        }
        let mut head = DeclarationHead::default();
        let mut next = at;
        if self.word(next) == "template" && self.is(next + 1, b'<') {
            head.is_template = true;
            while self.word(next) == "template" && self.is(next + 1, b'<') {
                next = self.skip_angles(next + 1, end);
            }
        }
        while next < end {
            match self.tokens.all[next].kind {
                TokenKind::Mark(b';') => return self.add_declaration(at, next + 1, &head, None, class),
                TokenKind::Mark(b'}') => return next,
                TokenKind::Mark(b'{') => match self.brace(next, &head) {
                    BraceRole::Value => next = self.skip(next, end),
                    BraceRole::Class => {
                        let number = self.units.len();
                        let close = self.skip(next, end);
                        let last =
                            (close..end).find(|&last| self.is(last, b';')).map_or(end, |last| last + 1);
                        self.add_declaration(at, last, &head, None, class);
                        self.units[number].sort = DeclarationKind::Class;
                        self.declarations(next + 1, close.saturating_sub(1), Some(number));
                        self.units[number].is_device |=
                            self.units[number + 1..].iter().any(|unit| unit.is_device);
                        return last;
                    }
                    BraceRole::Body => {
                        let close = self.skip(next, end);
                        return self.add_declaration(
                            at,
                            close,
                            &head,
                            Some(head.colon.unwrap_or(next)),
                            class,
                        );
                    }
                },
                _ => next = self.parse_head_token(next, end, &mut head),
            }
        }
        end
    }

    /// Returns the index of the brace in `namespace a {` or `extern "C" {`.
    fn opens_scope(&self, at: usize, end: usize) -> Option<usize> {
        let from = if self.word(at) == "inline" { at + 1 } else { at };
        match self.word(from) {
            "namespace" => (from + 1..end.min(from + 16)).find(|&next| self.is(next, b'{')).filter(|&open| {
                (from + 1..open)
                    .all(|next| !self.is(next, b'=') && !self.is(next, b';') && !self.is(next, b'('))
            }),
            "extern" => (self.token(from + 1)?.kind == TokenKind::Literal && self.is(from + 2, b'{'))
                .then_some(from + 2),
            _ => None,
        }
    }

    fn is_macro(&self, word: &str) -> bool {
        self.macros.all.contains(word)
            || self.macros.marks.contains(word)
            || word.len() > 1
                && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    }

    /// Parses one token of a head. Returns the index of the next one.
    fn parse_head_token(&self, at: usize, end: usize, head: &mut DeclarationHead) -> usize {
        let word = self.word(at);
        if !head.has_value {
            head.is_device |= self.macros.marks.contains(word);
            head.may_be_device |= self.is_macro(word);
            // A macro with arguments that is defined elsewhere may expand to anything.
            head.is_device |= self.is_macro(word) && self.is(at + 1, b'(') && !self.macros.all.contains(word);
        }
        match word {
            "class" | "struct" | "union" | "enum" if !head.has_parameters => head.is_class = true,
            "typedef" | "using" | "namespace" | "static_assert" | "friend" | "asm" => head.must_keep = true,
            "const" if !head.has_parameters => head.must_keep = true,
            "operator" => {
                head.name = Some(word.to_owned());
                // The first pair of parentheses in `operator()(..)` is part of the name.
                if self.is(at + 1, b'(') && self.is(at + 2, b')') {
                    return at + 3;
                }
                // For other operators the name is a run of punctuation.
                let marks =
                    (at + 1..end).take_while(|&next| !self.is(next, b'(') && self.word(next).is_empty());
                return at + 1 + marks.count();
            }
            _ => {}
        }
        match self.tokens.all[at].kind {
            TokenKind::Word => {
                if !head.has_parameters && !head.has_value {
                    head.name = Some(word.to_owned());
                    head.is_qualified = at > 1 && self.is(at - 1, b':') && self.is(at - 2, b':');
                }
                let has_arguments = matches!(
                    word,
                    "__launch_bounds__"
                        | "__cluster_dims__"
                        | "__maxnreg__"
                        | "alignas"
                        | "__align__"
                        | "decltype"
                        | "__attribute__"
                        | "noexcept"
                );
                if has_arguments && self.is(at + 1, b'(') {
                    if !head.has_parameters {
                        head.name = None;
                    }
                    return self.skip(at + 1, end);
                }
                at + 1
            }
            TokenKind::Mark(b'(') => {
                head.has_parameters |= !head.has_value;
                self.skip(at, end)
            }
            TokenKind::Mark(b'[') => self.skip(at, end),
            TokenKind::Mark(b'<') if !head.has_value => self.skip_angles(at, end),
            TokenKind::Mark(b'=') => {
                head.has_value = true;
                at + 1
            }
            TokenKind::Mark(b':') => {
                let double = self.is(at + 1, b':') || at > 0 && self.is(at - 1, b':');
                if !double && head.has_parameters && head.colon.is_none() {
                    head.colon = Some(at);
                }
                at + 1
            }
            _ => at + 1,
        }
    }

    fn brace(&self, at: usize, head: &DeclarationHead) -> BraceRole {
        let follows_name = at > 0 && (!self.word(at - 1).is_empty() || self.is(at - 1, b'>'));
        let is_qualifier = matches!(
            self.word(at.saturating_sub(1)),
            "const" | "noexcept" | "override" | "final" | "mutable" | "try"
        );
        if head.has_value {
            BraceRole::Value
        } else if head.has_parameters {
            if head.colon.is_some() && follows_name && !is_qualifier {
                BraceRole::Value
            } else {
                BraceRole::Body
            }
        } else if head.is_class {
            BraceRole::Class
        } else {
            BraceRole::Value
        }
    }

    /// Adds the declaration that ends before the token `end`. Returns `end`.
    fn add_declaration(
        &mut self,
        from: usize,
        end: usize,
        head: &DeclarationHead,
        body: Option<usize>,
        class: Option<usize>,
    ) -> usize {
        let start = self.tokens.all[from].start;
        let last = self.tokens.all[end - 1].end;
        let sort = if body.is_some() { DeclarationKind::Function } else { DeclarationKind::Other };
        let is_plain = !head.is_device
            && !head.may_be_device
            && !head.is_template
            && class.is_none()
            && !head.is_qualified;
        let is_variable = sort == DeclarationKind::Other
            && !head.must_keep
            && !head.is_class
            && (head.has_value || !head.has_parameters);
        self.units.push(Declaration {
            sort,
            range: start..last,
            body: body.map(|body| self.tokens.all[body].start..last),
            is_device: head.is_device,
            is_host: is_plain && head.name.is_some() && (sort == DeclarationKind::Function || is_variable),
            is_prototype: head.has_parameters && !head.has_value || head.must_keep,
            class,
            name: head.name.clone(),
        });
        end
    }
}

enum BraceRole {
    /// The initialiser of a variable or member.
    Value,
    Class,
    Body,
}
