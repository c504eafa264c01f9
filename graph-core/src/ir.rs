//! The program: a graph function without syntax.
//!
//! The macro builds a [`Program`] from tokens, orders and checks it, and prints the result as a `static` of the
//! user's crate. The runtime reads that static (see [`crate::table`]). Both sides share these types. Texts and
//! lists are [`Cow`]s: owned while they are built, borrowed when they are read from the static.
//!
//! Invariants of every program:
//! - ids are indices into their lists;
//! - statements are in program order, with loops unrolled;
//! - an access names a buffer of the program, and its range is given by two entries of `dims`.
//!
//! In a [`Checked`](crate::check::Checked) program, earlier writes cover every read, and no buffer is used outside
//! its lifetime.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::ids::ArgumentPartId;
pub use crate::ids::{BufferId, CallId, Device, DimId, StatementId};
use crate::index::{Index, Vector};
pub use crate::kind::{Lifetime, StatementKind};
pub use crate::structure::Text;

/// A list that is owned in the macro and borrowed from the printed table.
pub type List<T> = Cow<'static, [T]>;

/// A graph function after lowering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The function's name.
    pub name: Text,
    /// The source file, as the user's compiler names it.
    pub file: Text,
    /// The options of `#[graph(..)]`.
    pub options: Options,
    /// Source text of every length and range bound. The generated code computes their values in this order, as
    /// `u64` counts of elements.
    pub dims: Vector<DimId, Text>,
    /// Every buffer, arguments first.
    pub buffers: Vector<BufferId, Buffer>,
    /// Every statement in program order.
    pub statements: Vector<StatementId, Statement>,
    /// Ranges taken of ranges, without duplicates. The build checks that each lies in its parent range.
    pub views: List<View>,
    /// The buffers that the graph returns, in the order of the function's tail.
    pub outputs: List<BufferId>,
    /// The devices that may use allocations of others, whatever the statements say.
    pub grants: List<Grant>,
}

/// `#[access(expr)]` on an allocation: another device may use its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The allocation.
    pub buffer: BufferId,
    /// The expression, counted from the first device of the function. `None` in flat programs.
    pub on: Option<DimId>,
    /// The device. The first device before expansion.
    pub device: Device,
}

impl Program {
    /// Returns the device of a buffer that the graph allocates. `None` for a buffer that the caller binds.
    pub fn device_of(&self, buffer: BufferId) -> Option<Device> {
        match self.buffers[buffer].origin {
            Origin::Alloc(statement) => self.statements.get(statement).map(|alloc| alloc.device),
            Origin::Device { .. } | Origin::Pinned { .. } | Origin::Taken | Origin::Part(_) => None,
        }
    }

    /// Returns the text of an access to rows: `b[lo..].rows(h, w, pitch)`.
    pub fn rows_text(&self, access: &Access, rows: &Rows) -> String {
        let (buffer, lo) = (&self.buffers[access.buffer].name, &*self.dims[access.lo]);
        let from = if lo == "0" { String::new() } else { format!("[{lo}..]") };
        format!("{buffer}{from}{}", rows.text(&self.dims))
    }

    /// Returns the number of devices that the statements need, at least 1. O(statements).
    pub fn devices(&self) -> usize {
        let last = self.statements.iter().map(|statement| statement.device.index()).max();
        last.map_or(1, |last| last + 1)
    }

    /// Returns the condition that kernels set and that a conditional reads. `None` if it reads memory, and in the
    /// macro.
    pub fn own_condition(&self, conditional: StatementId) -> Option<BufferId> {
        let buffer = self.statements[conditional].accesses.first()?.buffer;
        self.buffers[buffer].is_condition().then_some(buffer)
    }

    /// Returns the statements that access each of the given buffers, ascending. A statement with several accesses
    /// of a buffer is listed once for each access. O(accesses).
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

/// The options of `#[graph(..)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where the order comes from.
    pub order: Order,
    /// How allocations are lowered. `None` is the default.
    pub memory: Option<Memory>,
    /// The only launch transformation that is allowed. `None` is the default: all are.
    pub launches: Option<Launches>,
    /// The dimension (in bytes) of `budget = expr`.
    pub budget: Option<DimId>,
    /// The dimension of `width = expr`: the maximum number of nodes side by side. `None` is the default.
    pub width: Option<DimId>,
    /// The dimension of `devices = expr`. `None` for a single-device function.
    pub devices: Option<DimId>,
    /// True for a library call that is a collective: on each device, collectives run in program order.
    pub collective: bool,
    /// True if the certificate of each graph is checked.
    pub check: bool,
    /// The line of the attribute; 0 if unknown.
    pub line: u32,
}

/// Where the order comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// From the accesses, in program order, plus `#[after]`.
    #[default]
    Inferred,
    /// From `#[after]` alone; the checker proves that it suffices.
    Explicit,
}

/// How allocations are lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// An alloc node and a free node for each buffer.
    Nodes,
    /// One alloc node for all buffers, which are at offsets in it.
    Arena,
    /// A plain allocation owned by the exec, with the buffers at offsets in it.
    Owned,
}

/// The only launch transformation that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launches {
    /// None.
    AsWritten,
    /// Independent launches of one kernel are merged into one launch.
    Batched,
    /// A launch may start before its predecessor has ended (programmatic edges).
    Overlapped,
    /// Consecutive launches are fused into one launch.
    Fused,
}

/// A buffer: an argument or an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name in the source; `w[2]` for an element of an array.
    pub name: Text,
    /// The line of its declaration.
    pub line: u32,
    /// The column of its declaration; 0 if unknown.
    pub column: u32,
    /// The file, if the buffer is declared in another file than the program: in a called function.
    pub file: Option<Text>,
    /// Where its memory comes from.
    pub origin: Origin,
    /// The length in elements.
    pub len: DimId,
    /// `size_of` of the element type; 0 in the macro, which cannot know it.
    pub element: u32,
    /// `align_of` of the element type; 0 in the macro.
    pub align: u32,
}

/// Where the memory of a buffer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `let b = alloc::<T>(len)`: this statement allocates it.
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
    /// `[T; len]`: an allocation returned by another graph, which this graph frees or returns.
    Taken,
    /// An array element or a record field. Not in flat programs.
    Part(ArgumentPartId),
}

impl Origin {
    /// Returns true if the graph may write it.
    pub fn is_writable(self) -> bool {
        match self {
            Origin::Device { mutable } | Origin::Pinned { mutable } => mutable,
            Origin::Alloc(_) | Origin::Taken | Origin::Part(_) => true,
        }
    }

    /// Returns true if the caller keeps the memory.
    pub fn is_borrowed(self) -> bool {
        match self {
            Origin::Device { .. } | Origin::Pinned { .. } => true,
            Origin::Alloc(_) | Origin::Taken | Origin::Part(_) => false,
        }
    }

    /// Returns true if the graph frees the memory or returns it.
    pub fn is_owned(self) -> bool {
        match self {
            Origin::Alloc(_) | Origin::Taken => true,
            Origin::Device { .. } | Origin::Pinned { .. } | Origin::Part(_) => false,
        }
    }

    /// Returns true if the memory is pinned host memory.
    pub fn is_pinned(self) -> bool {
        match self {
            Origin::Pinned { .. } => true,
            Origin::Alloc(_) | Origin::Device { .. } | Origin::Taken | Origin::Part(_) => false,
        }
    }
}

/// A range of a range of a buffer: a further split of a result of `split_at_mut`, or of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct View {
    /// The buffer.
    pub buffer: BufferId,
    /// The line of the statement that takes the range.
    pub line: u32,
    /// The column of that statement; 0 if unknown.
    pub column: u32,
    /// The file, if it differs from the file of the buffer's declaration.
    pub file: Option<&'static str>,
    /// The first element, counted from the start of the buffer.
    pub lo: DimId,
    /// One past the last element.
    pub hi: DimId,
    /// The bounds of the range that this one must lie in.
    pub of: (DimId, DimId),
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The name given by `let`; otherwise the kernel's name or `fill`, `copy`, `alloc`, `free`.
    pub name: Text,
    /// Its line.
    pub line: u32,
    /// Its column; 0 if unknown.
    pub column: u32,
    /// The file, if the statement is in another file than the program: in a called function.
    pub file: Option<Text>,
    /// Its kind.
    pub kind: StatementKind,
    /// Its accesses, in argument order.
    pub accesses: List<Access>,
    /// The statements that its `#[after]` names.
    pub after: List<StatementId>,
    /// The expression of `#[on(expr)]`, counted from the first device of the function. `None` in flat programs.
    pub on: Option<DimId>,
    /// The device that it runs on, or allocates on. The first device before expansion.
    pub device: Device,
    /// True if it has `#[switchable]`: an exec may disable its node. Its writes count as writes that may not happen.
    pub switchable: bool,
}

/// One buffer argument of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The buffer.
    pub buffer: BufferId,
    /// The mode of the access.
    pub mode: Mode,
    /// The first element.
    pub lo: DimId,
    /// One past the last element.
    pub hi: DimId,
    /// True if the proof that a later read is valid relies on this access to write the whole range. The build then
    /// checks that the declared extent equals the length of the range.
    pub relied_on: bool,
    /// The rows in the range that a pitched `copy` or `fill` touches. `None` if it touches the whole range.
    pub rows: Option<Rows>,
}

impl Access {
    /// Changes the access to that of a statement that may not run: elements that it does not write keep their values.
    pub fn may_be_left_out(&mut self) {
        if self.mode == Mode::Write {
            self.mode = Mode::ReadWrite;
        }
    }
}

/// The rows of a pitched access, `b.rows(count, width, pitch).planes(planes, height)`. The first row begins where the
/// access begins, and the last one ends where the access ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The rows of each plane.
    pub count: DimId,
    /// The elements of a row.
    pub width: DimId,
    /// The elements from the start of a row to the start of the next one.
    pub pitch: DimId,
    /// The planes.
    pub planes: DimId,
    /// The rows from the start of a plane to the start of the next one.
    pub height: DimId,
}

impl Rows {
    /// Returns its five numbers in the order of the fields.
    pub fn dims(&self) -> [DimId; 5] {
        [self.count, self.width, self.pitch, self.planes, self.height]
    }

    /// Returns its text: `.rows(h, w, pitch)`, with `.planes(..)` if it has several planes.
    pub fn text(&self, dims: &Vector<DimId, Text>) -> String {
        let Rows { count, width, pitch, planes, height } = *self;
        let rows = format!(".rows({}, {}, {})", dims[count], dims[width], dims[pitch]);
        match &*dims[planes] {
            "1" => rows,
            planes => format!("{rows}.planes({planes}, {})", dims[height]),
        }
    }

    /// Makes rows of five numbers in the order of the fields.
    pub fn from_dims([count, width, pitch, planes, height]: [DimId; 5]) -> Rows {
        Rows { count, width, pitch, planes, height }
    }
}

/// Identifies an access: its statement, and its index among the accesses of that statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessId {
    /// The statement.
    pub statement: StatementId,
    /// The index.
    pub index: u32,
}

/// How an access uses its elements, derived from the call and the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `&b`.
    Read,
    /// `&mut b` on elements that are all initialised: the kernel may read and write.
    ReadWrite,
    /// `&mut b` on elements that are not all initialised: the kernel must write before it reads. Also the
    /// destination of `fill` and `copy`.
    Write,
    /// `atomic(&mut b)`.
    Atomic,
}

impl Mode {
    /// Returns true if two accesses with these modes to the same bytes need an order.
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
    /// Returns true for the condition of a node, which kernels set and which has no memory. The macro does not know
    /// sizes, and so no conditions.
    pub fn is_condition(&self) -> bool {
        self.element == 0 && self.align != 0
    }

    /// Returns the name of the argument or allocation, without an index: `w` for `w[2]`.
    pub fn base_name(&self) -> &str {
        self.name.split('[').next().unwrap_or(&self.name)
    }
}
