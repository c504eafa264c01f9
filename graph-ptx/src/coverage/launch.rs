//! The inputs and verdicts of the coverage analysis: a launch, the extents to cover, the results.

use std::fmt;

/// A launch whose writes are analysed.
#[derive(Clone, Copy)]
pub struct LaunchInputs<'l> {
    /// The number of blocks in each dimension.
    pub grid: [u32; 3],
    /// The number of threads of a block in each dimension.
    pub block: [u32; 3],
    /// Returns the bits of a scalar parameter, by index. `None` if the value is unknown.
    pub scalar: &'l dyn Fn(u32) -> Option<u64>,
    /// The values that are known by their ranges only.
    pub ranged: RangedInputs<'l>,
}

/// The values of a launch that may be any number of a range. The analysis then holds for all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct RangedInputs<'l> {
    /// Scalar parameters, by index.
    pub scalars: &'l [(u32, RangedValue)],
    /// The number of blocks along each axis. `grid` has the largest number.
    pub grid: [Option<RangedValue>; 3],
}

/// A value that may be any number of a range. Values with the same number are equal, in all launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RangedValue {
    /// The number that identifies it.
    pub number: u32,
    /// The smallest value.
    pub least: u64,
    /// The largest value.
    pub most: u64,
}

/// The elements of a parameter that must be written.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The number of elements.
    pub elements: u64,
    /// The size of an element in bytes.
    pub size: u32,
    /// True if elements have no padding. An element with an unwritten byte then counts as unwritten.
    pub dense: bool,
}

/// The part of a parameter's extent that a launch writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every element.
    Covered,
    /// Not every element.
    Short {
        /// The number of written elements.
        written: u64,
        /// The first element that is not written.
        missing: u64,
    },
    /// Unknown, for this reason.
    Unknown(UnknownAccess),
}

/// The reason that the accesses of a launch are unknown. Loads and stores are named by their instruction and line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownAccess {
    /// The extent is larger than any memory.
    LargeExtent,
    /// The writes are in too many pieces.
    ManyPieces,
    /// Unwritten bytes may be padding.
    Padding,
    /// The kernel takes too many steps.
    ManySteps,
    /// The accesses of the blocks are not affine.
    Irregular,
    /// The accesses have too many forms.
    ManyForms,
    /// A part of the kernel that the slice does not contain, as text.
    Kernel(String),
    /// A branch around an access depends on an unknown value.
    Branch {
        /// The instruction that it depends on, if known.
        on: Option<String>,
    },
    /// A thread may end before its access.
    MayEnd {
        /// The instruction.
        at: String,
    },
    /// The guard of an access is unknown.
    Guard {
        /// The access.
        access: String,
        /// The instruction that determines it, if known.
        by: Option<String>,
    },
    /// The address of an access is unknown.
    Address {
        /// The access.
        access: String,
        /// The instruction that determines it, if known.
        by: Option<String>,
    },
}

impl fmt::Display for UnknownAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (access, does, by) = match self {
            UnknownAccess::LargeExtent => return f.write_str("the extent is larger than any memory"),
            UnknownAccess::ManyPieces => {
                return f.write_str("the written bytes are in too many pieces");
            }
            UnknownAccess::Padding => {
                return f.write_str("some bytes of its elements are not written, which may be padding");
            }
            UnknownAccess::ManySteps => return f.write_str("it takes too many steps to follow"),
            UnknownAccess::Irregular => return f.write_str("the blocks access it irregularly"),
            UnknownAccess::ManyForms => return f.write_str("it is accessed in too many ways"),
            UnknownAccess::Kernel(why) => return f.write_str(why),
            UnknownAccess::Branch { on } => {
                let on = on.as_deref().unwrap_or("what is not followed");
                return write!(f, "a branch depends on {on}");
            }
            UnknownAccess::MayEnd { at } => return write!(f, "a thread may end at {at}"),
            UnknownAccess::Guard { access, by } => (access, "is conditional on", by),
            UnknownAccess::Address { access, by } => (access, "has an address that depends on", by),
        };
        match by {
            Some(by) => write!(f, "{access} {does} {by}"),
            None => write!(f, "{access} {does} unanalysed arithmetic"),
        }
    }
}
