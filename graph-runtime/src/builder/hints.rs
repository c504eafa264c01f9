//! Hints about managed memory of a builder's arguments: `#[advise(..)]`, `#[prefetch(..)]` and
//! `#[discard]` in graph functions.

use cuweave_core::codes::Code;
use cuweave_core::ir::{BufferId, Origin};

use crate::bind::{Advice, Hint, HintLocation, Location};
use crate::error::Result;

use super::declarations::Builder;
use super::handle::{CallSite, Handle, View};
use super::hint::BuilderHint;
use super::program::{self, Program};

impl Builder<'_> {
    /// Gives advice about the managed memory of an argument, or of a part of one: `#[advise(read_mostly)]`,
    /// `#[advise(read_mostly, lo..hi)]`. It is given once, when memory is bound, and again if a setter moves the
    /// part. Several calls give several pieces of advice.
    ///
    /// # Errors
    ///
    /// A handle of another builder (CW402); an argument other than `&[T; len]` or `&mut [T; len]`, a second
    /// preferred location for a whole argument, or the same advice twice (CW001). The build reports memory that is
    /// not managed, a part that is not within its argument, and a location that this advice cannot name.
    #[track_caller]
    pub fn advise(&mut self, argument: impl Into<View>, advice: Advice) -> Result<&mut Self> {
        self.program.hint(CallSite::caller(), "advise", &argument.into(), advice.into())?;
        Ok(self)
    }

    /// Moves the pages of an argument's managed memory, or of a part of it, to a location before each launch:
    /// `#[prefetch(device)]`, `#[prefetch(device, lo..hi)]`.
    ///
    /// # Errors
    ///
    /// The errors of [`advise`](Builder::advise); a second location for a whole argument (CW001).
    #[track_caller]
    pub fn prefetch(&mut self, argument: impl Into<View>, to: Location) -> Result<&mut Self> {
        let hint = Hint::Prefetch(HintLocation::At(to));
        self.program.hint(CallSite::caller(), "prefetch", &argument.into(), hint)?;
        Ok(self)
    }

    /// Drops the contents of an argument's managed memory before each launch: `#[discard]`.
    /// [`build`](Builder::build) checks that the graph writes all of it before it reads any of it (CW108).
    ///
    /// # Errors
    ///
    /// The errors of [`advise`](Builder::advise); an argument that is only read (CW001).
    #[track_caller]
    pub fn discard(&mut self, argument: &Handle) -> Result<&mut Self> {
        self.program.hint(CallSite::caller(), "discard", &argument.into(), Hint::Discard)?;
        Ok(self)
    }
}

impl Program {
    /// Adds a hint to an argument.
    fn hint(&mut self, place: CallSite, name: &str, argument: &View, hint: Hint) -> Result<()> {
        let site = program::StatementSite { place, name };
        let buffer = self.resolve_buffer(&site, argument.handle)?;
        self.check_depth(&site, argument)?;
        for part in &argument.parts {
            self.check(&site, &part.lo)?;
            part.hi.iter().try_for_each(|hi| self.check(&site, hi))?;
        }
        let new = BuilderHint::new(hint, argument);
        let declared = &self.buffers[buffer];
        let text = &declared.name;
        let is = |other: &BuilderHint| other.is_repeated_by(&new);
        let (message, help) = match declared.origin {
            Origin::Device { mutable: false } if hint == Hint::Discard => (
                format!("`{text}` is only read, and its contents are discarded"),
                "declare it by `exclusive`, and write all of it",
            ),
            Origin::Device { .. } if self.hints_of(buffer).iter().any(is) => match hint {
                Hint::PreferredLocation(_) => (
                    format!("`{name}` gives `{text}` a second preferred location"),
                    "delete one of the two calls",
                ),
                _ => (format!("`{name}` is called twice for `{text}`"), "delete one of the two calls"),
            },
            Origin::Device { .. } => {
                self.hints.push((buffer, new));
                return Ok(());
            }
            _ => (
                format!("`{name}` is about managed memory, which cannot be bound to `{text}`"),
                "give it an argument that `shared` or `exclusive` returned",
            ),
        };
        Err(self.refuse(&site, Code::CW001, &message, Some(help)))
    }

    /// Returns the hints of a buffer, in the order of the calls.
    pub fn hints_of(&self, buffer: BufferId) -> Vec<BuilderHint> {
        let own = self.hints.iter().filter(|(hinted, _)| *hinted == buffer);
        own.map(|(_, hint)| hint.clone()).collect()
    }
}
