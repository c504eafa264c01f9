//! The results of the analysis: facts about a kernel and its parameters.
//!
//! `access` computes them. `declare` compares them with a kernel's declaration, and `report` prints them.

use crate::analysis::bits::StoredBits;
use crate::analysis::code::StepId;
use crate::analysis::effect::AccessKind;
use crate::analysis::elements::BitUse;
use crate::analysis::flow::SsaCache;
use crate::analysis::mentions::Reached;
use crate::analysis::update::Update;
use crate::poly::Poly;
use crate::syntax::{FloatFormat, Instruction, Module};
use std::collections::BTreeSet;

/// An instruction, as quoted in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its line in the file.
    pub line: u32,
    /// Its text on one line.
    pub text: String,
}

/// The classification of a kernel's accesses through a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessClass {
    /// Neither read nor written.
    Nothing,
    /// Read, and never written.
    Reads,
    /// Written, and never read.
    Writes,
    /// Read and written.
    ReadsAndWrites,
    /// Updated only by atomics.
    Atomics,
    /// Not proved.
    Unknown,
}

impl AccessClass {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            AccessClass::Nothing => "nothing",
            AccessClass::Reads => "reads",
            AccessClass::Writes => "writes",
            AccessClass::ReadsAndWrites => "reads and writes",
            AccessClass::Atomics => "atomics",
            AccessClass::Unknown => "unknown",
        }
    }
}

/// The facts about a parameter. Each site is the first one in the file.
#[derive(Clone, Debug, Default)]
pub struct ParameterFacts {
    /// A load that goes, or may go, through the parameter.
    pub reads: Option<Site>,
    /// A store that goes through the parameter.
    pub writes: Option<Site>,
    /// An atomic that goes through the parameter.
    pub atomics: Option<Site>,
    /// An instruction that may write through the parameter.
    pub may_write: Option<Site>,
    /// The accesses by `multimem`, whose addresses are those of multicast objects.
    pub multimem: ClassSites,
    /// All other accesses.
    pub plain: ClassSites,
    /// How its updates commute.
    pub updates: Update,
    /// A load or atomic that precedes every store that can reach it.
    pub reads_first: Option<Site>,
    /// For a parameter that is not a pointer: an access whose base address is made of the parameter's bits, and the
    /// byte offset of those bits in the parameter, if known.
    pub base: Option<(Site, Option<i64>)>,
    /// For a pointer: an access whose base address is loaded through it.
    pub table: Option<IndirectBase>,
    /// A bound in bytes for each access; `None` if some access has no bound.
    pub reach: Option<Vec<AccessBound>>,
    /// The bounds that some launch reaches. A declared extent of fewer bytes is an error.
    pub tight: Vec<AccessBound>,
    /// An access without a bound, and the reason.
    pub unbounded: Option<(Site, Unbounded)>,
    /// The first access for each float format, known from its type or from the use of its bits.
    pub floats: Vec<(FloatFormat, Site)>,
    /// The elements of all accesses; `None` if the analysis stopped at a limit.
    pub elements: Option<Elements>,
    /// For a parameter without a definite access: the first instruction that uses its bits, or may use them, as a
    /// number.
    pub number: Option<NumberUse>,
}

/// The first accesses of a class through a parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassSites {
    /// One that goes through the parameter.
    pub definite: Option<Site>,
    /// One that may go through it.
    pub possible: Option<Site>,
}

/// The elements that a kernel moves through a parameter. Each site is the first one in the file.
#[derive(Clone, Debug, Default)]
pub struct Elements {
    /// The uses of the accesses' bits.
    pub uses: Vec<(BitUse, Site)>,
    /// The stored bits.
    pub stores: Vec<(StoredBits, Site)>,
}

impl Elements {
    /// Adds an access and its stored values.
    pub(crate) fn add(&mut self, used: BitUse, stored: Vec<StoredBits>, site: &Site) {
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

/// An access whose base address is loaded from memory.
#[derive(Clone, Debug)]
pub struct IndirectBase {
    /// The access.
    pub site: Site,
    /// A parameter that is not a pointer and whose bits are added to the loaded value. Either of them may be the
    /// base.
    pub beside: Option<u32>,
    /// A store or an atomic whose base address is definitely loaded through the parameter.
    pub writes: Option<Site>,
}

/// An instruction that uses the bits of a pointer as a number.
#[derive(Clone, Debug)]
pub struct NumberUse {
    /// The instruction.
    pub site: Site,
    /// True if the bits cannot be an address.
    pub certain: bool,
}

/// An upper bound of an access in bytes from the pointer.
#[derive(Clone, Debug)]
pub struct AccessBound {
    /// The bounds over the kernel's parameters, by index. Every one of them holds.
    pub bytes: Vec<Poly>,
    /// The bounds by vector start.
    pub starts: Vec<VectorBound>,
    /// The access.
    pub site: Site,
}

/// An upper bound of an access: it ends at or before byte `times * start + rest` from the pointer.
#[derive(Clone, Debug)]
pub struct VectorBound {
    /// The start is less than this.
    pub below: Poly,
    /// A power of two that divides the start.
    pub multiple: u32,
    /// A power of two that divides the start without its thread index: the kernel works on tiles of this size or of a
    /// divisor.
    pub tile: u32,
    /// Has no negative coefficient.
    pub times: Poly,
    /// The end of an access whose start is 0.
    pub rest: Poly,
    /// The size of the access in bytes.
    pub size: u32,
}

impl VectorBound {
    /// Returns the bound of the access. `to` must divide [`Self::multiple`]; `rounded` must be [`Self::below`]
    /// rounded up to a multiple of `to`. [`Self::below`].
    pub fn bound(&self, rounded: &Poly, to: i128) -> Option<Poly> {
        self.times.times(&rounded.minus(&Poly::constant(to))?)?.plus(&self.rest)
    }
}

impl ParameterFacts {
    /// Returns the classification of the accesses.
    pub fn access(&self) -> AccessClass {
        match (&self.writes, &self.atomics, &self.may_write, &self.reads) {
            (Some(_), None, _, None) => AccessClass::Writes,
            (Some(_), ..) => AccessClass::ReadsAndWrites,
            (None, Some(_), None, _) => AccessClass::Atomics,
            (None, Some(_), Some(_), _) | (None, None, Some(_), _) => AccessClass::Unknown,
            (None, None, None, Some(_)) => AccessClass::Reads,
            (None, None, None, None) => AccessClass::Nothing,
        }
    }
}

/// The facts about a kernel.
#[derive(Clone, Debug, Default)]
pub struct KernelFacts {
    /// The facts about its parameters, in order.
    pub parameters: Vec<ParameterFacts>,
    /// Variables of the module that the kernel or its callees read, by name.
    pub variables_read: BTreeSet<String>,
    /// Variables that the kernel or its callees write.
    pub variables_written: BTreeSet<String>,
    /// Variables whose address escapes.
    pub(crate) variables_escaped: BTreeSet<String>,
    /// True if the kernel writes to untracked addresses.
    pub(crate) writes_anywhere: bool,
    /// True if the kernel reads from untracked addresses.
    pub(crate) reads_anywhere: bool,
}

impl KernelFacts {
    /// Returns true if it accesses addresses that are not followed to a parameter.
    #[must_use]
    pub fn has_untracked_accesses(&self) -> bool {
        self.writes_anywhere || self.reads_anywhere
    }

    /// Adds the variables that unanalysed code may read, write or let escape.
    pub(crate) fn add(&mut self, reached: &Reached<'_>) {
        for set in [&mut self.variables_read, &mut self.variables_written, &mut self.variables_escaped] {
            set.extend(reached.variables.iter().map(|&name| name.to_owned()));
        }
    }
}

/// An access through a pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointerAccess {
    pub at: StepId,
    pub how: AccessKind,
    /// True if the address is this pointer plus an offset on every path.
    pub definite: bool,
}

/// Formats an instruction as messages quote it.
pub(crate) fn quoted(site: &Site) -> String {
    format!("`{}` (line {} of the PTX)", site.text, site.line)
}

/// Returns the site of an instruction.
pub(crate) fn site(module: &Module<'_>, instruction: &Instruction<'_>) -> Site {
    let text = module.source(instruction.span).split_whitespace().collect::<Vec<_>>().join(" ");
    Site { line: instruction.line, text }
}

/// The reason that an access has no bound over the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unbounded {
    /// The access does not go through one address based on one pointer, or it is in a called function.
    Form,
    /// A special register that no comparison bounds.
    Special(String),
    /// A number loaded from memory.
    Loaded(Site),
    /// A number that changes in a loop or differs between paths, and that no comparison bounds.
    Joined,
    /// A result that is not a sum or product.
    Computed(Site),
    /// A part of a parameter, or a parameter that is not an integer.
    Part,
    /// The expression is too large.
    Large,
}

/// Returns the conservative facts about a kernel that cannot be analysed.
pub(super) fn unknown(codes: &SsaCache<'_, '_>, name: &str) -> KernelFacts {
    let Some(function) = codes.module.entry(name) else { return KernelFacts::default() };
    let site = Site { line: function.line, text: format!(".entry {name}") };
    let parameter =
        ParameterFacts { may_write: Some(site.clone()), reads: Some(site), ..ParameterFacts::default() };
    let mut kernel = KernelFacts {
        parameters: vec![parameter; function.parameters.len()],
        writes_anywhere: true,
        reads_anywhere: true,
        ..KernelFacts::default()
    };
    kernel.add(&codes.mentions().reached_from([function.name]));
    kernel
}
