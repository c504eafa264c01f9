//! The program: a graph function without syntax.
//!
//! The macro builds a [`Program`] from tokens, has it ordered and checked, and prints the checked one as a
//! `static` of the user's crate, which the runtime reads (see [`crate::table`]). One set of types serves both sides;
//! texts are [`Cow`]: owned while they are built, borrowed from the static once they are read.
//!
//! Invariants of every program:
//! - ids are indices into their lists; statements stand in program order, loops unrolled;
//! - an access names a buffer of the program, its range is two entries of `dims`.
//!
//! A [`Checked`](crate::check::Checked) one has no fault besides: every read is covered by earlier writes, no buffer is used
//! outside its life.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::ids::PartId;
pub use crate::ids::{BufferId, CallId, Device, DimId, StatementId};
use crate::index::{Index, Vector};
pub use crate::kind::{Kind, Lifetime};
pub use crate::structure::Text;

/// A list that is owned in the macro and borrowed in the printed table.
pub type List<T> = Cow<'static, [T]>;

/// A graph function after lowering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The function's name.
    pub name: Text,
    /// The source file, as the user's compiler names it.
    pub file: Text,
    /// The options of `#[graph(...)]`.
    pub options: Options,
    /// Source text of every length and range bound. Their values are computed by the generated code, in this
    /// order, as `u64` counts of elements.
    pub dims: Vector<DimId, Text>,
    /// Every buffer, arguments first.
    pub buffers: Vector<BufferId, Buffer>,
    /// Every statement in program order.
    pub statements: Vector<StatementId, Statement>,
    /// Parts of parts of buffers, each once: the build checks that they lie in them.
    pub views: List<View>,
    /// The buffers that leave the graph, in the order of the function's tail.
    pub outputs: List<BufferId>,
}

impl Program {
    /// Returns the device of a buffer that the graph allocates; `None` for one that the caller binds.
    pub fn device_of(&self, buffer: BufferId) -> Option<Device> {
        match self.buffers[buffer].origin {
            Origin::Alloc(statement) => self.statements.get(statement).map(|alloc| alloc.device),
            Origin::Device { .. } | Origin::Pinned { .. } | Origin::Taken | Origin::Part(_) => None,
        }
    }

    /// Returns the number of devices that its statements need: 1 without any. O(statements).
    pub fn devices(&self) -> usize {
        let last = self.statements.iter().map(|statement| statement.device.index()).max();
        last.map_or(1, |last| last + 1)
    }

    /// Returns the statements that access each of some buffers, rising; one with several accesses stands there as often.
    /// O(accesses).
    pub fn users(&self, buffers: impl IntoIterator<Item = BufferId>) -> BTreeMap<BufferId, Vec<StatementId>> {
        let mut users: BTreeMap<BufferId, Vec<StatementId>> =
            buffers.into_iter().map(|buffer| (buffer, Vec::new())).collect();
        if users.is_empty() {
            return users;
        }
        for (statement, declared) in self.statements.enumerate() {
            for access in declared.accesses.iter() {
                if let Some(list) = users.get_mut(&access.buffer) {
                    list.push(statement);
                }
            }
        }
        users
    }
}

/// The options of `#[graph(...)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The source of the order.
    pub order: Order,
    /// The lowering of allocations; `None` is the default.
    pub memory: Option<Memory>,
    /// The changes of launches that are allowed; `None` is the default, all.
    pub launches: Option<Launches>,
    /// The dimension (in bytes) of `budget = expr`.
    pub budget: Option<DimId>,
    /// The number in `devices = expr`; `None` for a function of one device.
    pub devices: Option<DimId>,
    /// True for a library call whose body describes a collective: on each device such calls run in the order of the program.
    pub collective: bool,
    /// True if the certificate of each graph is checked.
    pub check: bool,
    /// The line of the attribute; 0 where it is not known.
    pub line: u32,
}

/// The source of the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// From the accesses, in program order, plus `#[after]`.
    #[default]
    Inferred,
    /// From `#[after]` alone; the checker proves that it suffices.
    Explicit,
}

/// The lowering of allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// An alloc node and a free node for each buffer.
    Nodes,
    /// One alloc node and offsets.
    Arena,
    /// A plain allocation that the exec owns, and offsets.
    Owned,
}

/// The changes of launches that are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launches {
    /// Nothing.
    AsWritten,
    /// Independent launches of one kernel become one.
    Batched,
    /// Starts overlap.
    Overlapped,
    /// Launches one after another become one.
    Fused,
}

/// A buffer: an argument or an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name in the source; `w[2]` for an element of an array.
    pub name: Text,
    /// The line of its declaration.
    pub line: u32,
    /// The column there; 0 if it is not known.
    pub column: u32,
    /// Its file, if it is not the program's: that of a function that is called.
    pub file: Option<Text>,
    /// Its origin.
    pub origin: Origin,
    /// Its length in elements.
    pub len: DimId,
    /// `size_of` of its element; 0 in the macro, which cannot know it.
    pub element: u32,
    /// `align_of` of its element; 0 in the macro.
    pub align: u32,
}

/// The origin of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `let b = alloc::<T>(len)`: the statement.
    Alloc(StatementId),
    /// `&[T; len]`, `&mut [T; len]`: the caller's device memory.
    Device {
        /// True if the graph may write it.
        mutable: bool,
    },
    /// `&Pinned<[T; len]>`, `&mut Pinned<[T; len]>`: the caller's pinned host memory.
    Pinned {
        /// True if the graph may write it.
        mutable: bool,
    },
    /// `[T; len]`: an allocation that another graph returned and this one frees.
    Taken,
    /// An element of a list, or a field of a record. Not in flat programs.
    Part(PartId),
}

impl Origin {
    /// Returns true if the graph may write it.
    pub fn is_writable(self) -> bool {
        match self {
            Origin::Device { mutable } | Origin::Pinned { mutable } => mutable,
            Origin::Alloc(_) | Origin::Taken | Origin::Part(_) => true,
        }
    }

    /// Returns true for memory that the caller keeps.
    pub fn is_lent(self) -> bool {
        match self {
            Origin::Device { .. } | Origin::Pinned { .. } => true,
            Origin::Alloc(_) | Origin::Taken | Origin::Part(_) => false,
        }
    }

    /// Returns true for memory that the graph frees or hands over.
    pub fn is_owned(self) -> bool {
        match self {
            Origin::Alloc(_) | Origin::Taken => true,
            Origin::Device { .. } | Origin::Pinned { .. } | Origin::Part(_) => false,
        }
    }

    /// Returns true for memory of the host.
    pub fn is_pinned(self) -> bool {
        match self {
            Origin::Pinned { .. } => true,
            Origin::Alloc(_) | Origin::Device { .. } | Origin::Taken | Origin::Part(_) => false,
        }
    }
}

/// A part of a view of a buffer: of the result of `split_at_mut` or of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct View {
    /// The buffer.
    pub buffer: BufferId,
    /// The line of the statement that takes the part.
    pub line: u32,
    /// The column there; 0 if it is not known.
    pub column: u32,
    /// The file, if it is not that of the buffer's declaration.
    pub file: Option<&'static str>,
    /// Its first element, counted from the buffer's.
    pub lo: DimId,
    /// One past its last element.
    pub hi: DimId,
    /// The bounds of the view that it is a part of.
    pub of: (DimId, DimId),
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The name given by `let`, else the kernel's or `fill`, `copy`, `alloc`, `free`.
    pub name: Text,
    /// Its line.
    pub line: u32,
    /// Its column; 0 if it is not known.
    pub column: u32,
    /// Its file, if it is not the program's: that of a function that is called.
    pub file: Option<Text>,
    /// Its kind.
    pub kind: Kind,
    /// Its accesses, in the order of the arguments.
    pub accesses: List<Access>,
    /// The statements that its `#[after]` names.
    pub after: List<StatementId>,
    /// The number in `#[on(expr)]`, counted from the first device of the function. `None` in flat programs.
    pub on: Option<DimId>,
    /// The device of the graph that it runs on, or allocates on. The first one before expansion.
    pub device: Device,
}

/// One buffer argument of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The buffer.
    pub buffer: BufferId,
    /// The mode of the access.
    pub mode: Mode,
    /// First element.
    pub lo: DimId,
    /// One past the last element.
    pub hi: DimId,
    /// True if a later read is proved valid by this write of the whole range: the build then checks that the declared extent
    /// is the range's length.
    pub relied_on: bool,
}

/// The identity of an access: the statement, and the index in its accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessId {
    /// The statement.
    pub statement: StatementId,
    /// The index.
    pub index: u32,
}

/// The mode of an access, as the call and the order tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `&b`.
    Read,
    /// `&mut b` on elements that are all written already: the kernel may read and write.
    ReadWrite,
    /// `&mut b` on elements that are not all written: the kernel must write before it reads. Also the
    /// destination of `fill` and `copy`.
    Write,
    /// `atomic(&mut b)`.
    Atomic,
}

impl Mode {
    /// Returns true if two accesses of these modes to the same bytes need an order.
    pub fn conflicts(self, other: Mode) -> bool {
        use Mode::{Atomic, Read};
        !matches!((self, other), (Read, Read) | (Atomic, Atomic))
    }

    /// Returns true if the access writes.
    pub fn writes(self) -> bool {
        self != Mode::Read
    }
}

impl Buffer {
    /// Returns the name of the argument or allocation: `w` of `w[2]`.
    pub fn base_name(&self) -> &str {
        self.name.split('[').next().unwrap_or(&self.name)
    }
}
