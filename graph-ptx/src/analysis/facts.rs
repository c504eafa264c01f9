//! The facts that the analysis finds about a kernel and its parameters, as types.

use crate::analysis::bits::Stored;
use crate::analysis::effect::How;
use crate::analysis::elements::Use;
use crate::analysis::mentions::Reached;
use crate::analysis::update::Update;
use crate::poly::Poly;
use crate::syntax::{Instruction, Module};
use std::collections::BTreeSet;

/// An instruction, to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its line in the file.
    pub line: u32,
    /// Its text, on one line.
    pub text: String,
}

/// The accesses of a kernel through a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Neither read nor written.
    Nothing,
    /// Read, and never written.
    Reads,
    /// Written, and never read.
    Writes,
    /// Read and written.
    ReadsAndWrites,
    /// Updated by atomics, and not stored to otherwise.
    Atomics,
    /// Not proved.
    Unknown,
}

impl Access {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Access::Nothing => "nothing",
            Access::Reads => "reads",
            Access::Writes => "writes",
            Access::ReadsAndWrites => "reads and writes",
            Access::Atomics => "atomics",
            Access::Unknown => "unknown",
        }
    }
}

/// The facts about a parameter. Each site is the first in the file.
#[derive(Clone, Debug, Default)]
pub struct Parameter {
    /// A load that goes, or may go, through it.
    pub reads: Option<Site>,
    /// A store that goes through it.
    pub writes: Option<Site>,
    /// An atomic that goes through it.
    pub atomics: Option<Site>,
    /// An instruction that may write through it.
    pub may_write: Option<Site>,
    /// The effect of the order of such launches on the result.
    pub updates: Update,
    /// A load, or an atomic, that comes before every store that could reach it.
    pub reads_first: Option<Site>,
    /// For a parameter that is no pointer: an access whose address is these bits, and their offset in it.
    pub base: Option<(Site, i64)>,
    /// A bound in bytes for each access, if every access has one.
    pub reach: Option<Vec<Reach>>,
    /// The bounds that some launch meets: an extent of fewer bytes is a fault.
    pub met: Vec<Reach>,
    /// An access that has no bound.
    pub unbounded: Option<Site>,
    /// The first access of each width of floats, by its type or by what its bits are used as: bytes of one float, and the access.
    pub floats: Vec<(u32, Site)>,
    /// The elements of all accesses; `None` where not all are found.
    pub elements: Option<Elements>,
    /// For a parameter that no access surely goes through: the first instruction that takes its bits for a number, or may.
    pub number: Option<Number>,
}

/// The elements that a kernel moves through a parameter: one site, the first in the file, for each of a kind.
#[derive(Clone, Debug, Default)]
pub struct Elements {
    /// The uses of the bits of accesses.
    pub uses: Vec<(Use, Site)>,
    /// The bits that stores bring there.
    pub stores: Vec<(Stored, Site)>,
}

impl Elements {
    /// Adds an access, and the values that it stores.
    pub(crate) fn add(&mut self, used: Use, stored: Vec<Stored>, site: &Site) {
        add(&mut self.uses, used, site);
        stored.into_iter().for_each(|stored| add(&mut self.stores, stored, site));
    }
}

fn add<T: PartialEq>(list: &mut Vec<(T, Site)>, found: T, site: &Site) {
    match list.iter_mut().find(|(known, _)| *known == found) {
        Some((_, first)) if first.line <= site.line => {}
        Some((_, first)) => *first = site.clone(),
        None => list.push((found, site.clone())),
    }
}

/// An instruction that takes the bits of a pointer for a number.
#[derive(Clone, Debug)]
pub struct Number {
    /// The instruction.
    pub site: Site,
    /// True if an address could not be meant.
    pub certain: bool,
}

/// A bound of an access: it stays below this many bytes from the pointer.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Over the kernel's parameters, by their index. Each of them is a bound.
    pub bytes: Vec<Poly>,
    /// The access.
    pub site: Site,
}

impl Parameter {
    /// The verdict.
    pub fn access(&self) -> Access {
        match (&self.writes, &self.atomics, &self.may_write, &self.reads) {
            (Some(_), None, _, None) => Access::Writes,
            (Some(_), ..) => Access::ReadsAndWrites,
            (None, Some(_), None, _) => Access::Atomics,
            (None, Some(_), Some(_), _) | (None, None, Some(_), _) => Access::Unknown,
            (None, None, None, Some(_)) => Access::Reads,
            (None, None, None, None) => Access::Nothing,
        }
    }
}

/// The facts about a kernel.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// In the order of its parameters.
    pub parameters: Vec<Parameter>,
    /// Variables of the module that it or its callees read, by name.
    pub variables_read: BTreeSet<String>,
    /// Those that they write.
    pub variables_written: BTreeSet<String>,
    /// Those whose address it gives away.
    pub(crate) variables_escaped: BTreeSet<String>,
    /// It writes to addresses that are not followed.
    pub(crate) writes_anywhere: bool,
    /// It reads them.
    pub(crate) reads_anywhere: bool,
}

impl Kernel {
    /// Adds variables that code which is not followed may read, write and give away.
    pub(crate) fn add(&mut self, reached: &Reached<'_>) {
        for set in [&mut self.variables_read, &mut self.variables_written, &mut self.variables_escaped] {
            set.extend(reached.variables.iter().map(|&name| name.to_owned()));
        }
    }
}

/// An access through a pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touched {
    pub instance: u32,
    pub step: u32,
    pub how: How,
    /// Its address is this pointer and an offset, whatever path is taken.
    pub definite: bool,
}

/// An instance and a step of it.
pub(crate) type At = (u32, u32);

/// An instruction as a reason names it.
pub(crate) fn quoted(site: &Site) -> String {
    format!("`{}` (line {} of the PTX)", site.text, site.line)
}

/// An instruction on one line.
pub(crate) fn site(module: &Module<'_>, instruction: &Instruction<'_>) -> Site {
    let text = module.source(instruction.span).split_whitespace().collect::<Vec<_>>().join(" ");
    Site { line: instruction.line, text }
}
