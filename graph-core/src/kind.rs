//! The kinds of statements: one enum from the macro's tokens to the driver's nodes.
//!
//! Each stage knows different facts about a statement: the macro its expressions, the build its values, the
//! emission the parameters of its node. [`StatementKind`] is generic over a [`Stage`], which names the type of these
//! facts for each kind. Matches on kinds have no wildcard, so the compiler finds every place that a new kind touches.
//! ARCHITECTURE.md lists them.

use std::convert::Infallible;

use crate::condition::Condition;
use crate::ids::{BufferId, CallId};

/// The types of the facts that a compiler stage knows about each kind of statement.
pub trait Stage {
    /// Facts about a kernel launch.
    type Launch;
    /// Facts about a `fill`.
    type Fill;
    /// Facts about a `copy`.
    type Copy;
    /// Facts about a call of a graph function. [`Infallible`] after expansion.
    type Call;
    /// Facts about a library call, whose nodes are captured.
    type Capture;
    /// Facts about the begin and the end of a conditional body.
    type Condition;
    /// Facts about a host function. [`Infallible`] in stages without them.
    type Host;
    /// Facts about an event record or an event wait. [`Infallible`] in stages without them.
    type Event;
    /// Facts about a wait, write or signal of a value or semaphore. [`Infallible`] in stages without them.
    type Sync;
    /// Facts about an `alloc` or a `free`. [`Infallible`] in stages without them.
    type Memory;
}

/// The kind of a statement, with the facts of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind<S: Stage = ProgramStage> {
    /// A kernel launch.
    Launch(S::Launch),
    /// `fill(&mut b, value)`: one access, a write.
    Fill(S::Fill),
    /// `copy(&a, &mut b)`: two accesses, a read and a write.
    Copy(S::Copy),
    /// A call of a graph function. Expansion replaces it by the statements of that function.
    Call(S::Call),
    /// A library call: the work that its body submits to a stream is captured into the graph.
    Capture(S::Capture),
    /// The begin of a conditional body. Its accesses are the operand and the accesses of the body.
    Condition(S::Condition),
    /// The end of the innermost open [`StatementKind::Condition`]. It has no node of its own.
    Join(S::Condition),
    /// `host(&a, &mut b, |a, b| ..)`: one access for each buffer, all in pinned memory.
    Host(S::Host),
    /// `record(&event)`: no access. It runs after all statements written before it.
    Record(S::Event),
    /// `wait(&event)`: no access. All statements written after it run after it.
    Wait(S::Event),
    /// `wait_value(&flag, value)` and similar. One access if the flag is a buffer. Ordered like event records and
    /// waits.
    Sync(SyncOperation, S::Sync),
    /// `let b = alloc::<T>(len)`.
    Alloc(S::Memory),
    /// `free(b)`.
    Free(S::Memory),
}

/// A statement that synchronises the graph with work outside it, by a value that advances with each launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncOperation {
    /// `wait_value(&flag, value)`.
    WaitValue,
    /// `write_value(&mut flag, value)`.
    WriteValue,
    /// `wait_semaphore(&semaphore, value)`.
    WaitSemaphore,
    /// `signal(&semaphore, value)`.
    Signal,
}

impl SyncOperation {
    /// All variants.
    pub const ALL: [SyncOperation; 4] = [
        SyncOperation::WaitValue,
        SyncOperation::WriteValue,
        SyncOperation::WaitSemaphore,
        SyncOperation::Signal,
    ];

    /// Returns its name in the language.
    pub fn name(self) -> &'static str {
        match self {
            SyncOperation::WaitValue => "wait_value",
            SyncOperation::WriteValue => "write_value",
            SyncOperation::WaitSemaphore => "wait_semaphore",
            SyncOperation::Signal => "signal",
        }
    }

    /// Returns true if the statement waits; false if it releases a waiter.
    pub fn waits(self) -> bool {
        matches!(self, SyncOperation::WaitValue | SyncOperation::WaitSemaphore)
    }

    /// Returns true for a value in memory; false for a semaphore.
    pub fn is_value(self) -> bool {
        matches!(self, SyncOperation::WaitValue | SyncOperation::WriteValue)
    }
}

/// An order with all other statements of the program, in addition to the order of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// It runs after all statements written before it.
    AfterAll,
    /// All statements written after it run after it.
    BeforeAll,
}

/// The stage of the program: accesses are stored beside the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProgramStage;

impl Stage for ProgramStage {
    type Launch = ();
    type Fill = ();
    type Copy = ();
    type Call = CallId;
    type Capture = ();
    type Condition = Condition;
    type Host = ();
    type Event = ();
    type Sync = ();
    type Memory = BufferId;
}

/// The stage of operations: only the kinds that have a node. Memory statements are emitted with their buffers
/// instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeStage;

impl Stage for NodeStage {
    type Launch = ();
    type Fill = ();
    type Copy = ();
    type Call = Infallible;
    type Capture = ();
    type Condition = ();
    type Host = ();
    type Event = ();
    type Sync = ();
    type Memory = Infallible;
}

/// The effect of a memory statement on the lifetime of its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime<B> {
    /// The lifetime begins.
    Begins(B),
    /// The lifetime ends.
    Ends(B),
}

impl<S: Stage> StatementKind<S> {
    /// Returns why a statement cannot be `#[switchable]`, and what helps. `in_body` is true in the body of a condition,
    /// and `decides` for a launch that sets a condition.
    pub fn refuse_switchable(&self, in_body: bool, decides: bool) -> Option<(String, &'static str)> {
        match self {
            StatementKind::Launch(_) | StatementKind::Fill(_) | StatementKind::Copy(_) if in_body => Some((
                "a statement in the body of an `if`, `while` or `match` on a buffer is not switchable"
                    .to_owned(),
                "the device decides about such a body: write the statement before it or after it",
            )),
            StatementKind::Launch(_) if decides => Some((
                "a launch that sets a condition is not switchable: the condition would have no value"
                    .to_owned(),
                "switch the statements that the condition decides about, or let a buffer decide, which keeps its value",
            )),
            StatementKind::Launch(_) | StatementKind::Fill(_) | StatementKind::Copy(_) => None,
            other => Some((
                format!("`{}` is not switchable", other.name()),
                "the driver disables launches, `fill` and `copy`: put the attribute on these",
            )),
        }
    }

    /// Returns its name in the language.
    pub fn name(&self) -> &'static str {
        match self {
            StatementKind::Launch(_) => "launch",
            StatementKind::Fill(_) => "fill",
            StatementKind::Copy(_) => "copy",
            StatementKind::Call(_) => "call",
            StatementKind::Capture(_) => "library call",
            StatementKind::Condition(_) => "condition",
            StatementKind::Join(_) => "join",
            StatementKind::Host(_) => "host",
            StatementKind::Record(_) => "record",
            StatementKind::Wait(_) => "wait",
            StatementKind::Sync(word, _) => word.name(),
            StatementKind::Alloc(_) => "alloc",
            StatementKind::Free(_) => "free",
        }
    }

    /// Returns the lifetime that the statement begins or ends. Memory statements by themselves order nothing.
    pub fn lifetime(&self) -> Option<Lifetime<&S::Memory>> {
        match self {
            StatementKind::Alloc(buffer) => Some(Lifetime::Begins(buffer)),
            StatementKind::Free(buffer) => Some(Lifetime::Ends(buffer)),
            StatementKind::Launch(_)
            | StatementKind::Fill(_)
            | StatementKind::Copy(_)
            | StatementKind::Call(_)
            | StatementKind::Capture(_)
            | StatementKind::Condition(_)
            | StatementKind::Join(_)
            | StatementKind::Host(_)
            | StatementKind::Record(_)
            | StatementKind::Wait(_)
            | StatementKind::Sync(..) => None,
        }
    }

    /// Returns its order with all other statements. `None` if only its accesses order it.
    pub fn fence(&self) -> Option<Fence> {
        match self {
            StatementKind::Record(_) => Some(Fence::AfterAll),
            StatementKind::Wait(_) => Some(Fence::BeforeAll),
            StatementKind::Sync(word, _) if word.waits() => Some(Fence::BeforeAll),
            StatementKind::Sync(..) => Some(Fence::AfterAll),
            StatementKind::Launch(_)
            | StatementKind::Fill(_)
            | StatementKind::Copy(_)
            | StatementKind::Call(_)
            | StatementKind::Capture(_) => None,
            StatementKind::Condition(_)
            | StatementKind::Join(_)
            | StatementKind::Host(_)
            | StatementKind::Alloc(_)
            | StatementKind::Free(_) => None,
        }
    }

    /// Returns the kind of its node. `None` for memory statements, and for calls, which expand to many nodes.
    pub fn node_kind(&self) -> Option<StatementKind<NodeStage>> {
        match self {
            StatementKind::Launch(_) => Some(StatementKind::Launch(())),
            StatementKind::Fill(_) => Some(StatementKind::Fill(())),
            StatementKind::Copy(_) => Some(StatementKind::Copy(())),
            StatementKind::Capture(_) => Some(StatementKind::Capture(())),
            StatementKind::Condition(_) => Some(StatementKind::Condition(())),
            StatementKind::Join(_) => Some(StatementKind::Join(())),
            StatementKind::Host(_) => Some(StatementKind::Host(())),
            StatementKind::Record(_) => Some(StatementKind::Record(())),
            StatementKind::Wait(_) => Some(StatementKind::Wait(())),
            StatementKind::Sync(word, _) => Some(StatementKind::Sync(*word, ())),
            StatementKind::Call(_) | StatementKind::Alloc(_) | StatementKind::Free(_) => None,
        }
    }

    /// Returns true if the statement allocates or frees.
    pub fn is_memory(&self) -> bool {
        self.lifetime().is_some()
    }

    /// Returns true if a declaration of a kernel or graph function says which operands `&mut` reads and writes.
    /// rustc then checks that declaration against the mode that [`check`](crate::check) infers.
    pub fn has_declaration(&self) -> bool {
        match self {
            StatementKind::Launch(_) | StatementKind::Call(_) => true,
            // The accesses of a capture are its declaration.
            StatementKind::Capture(_) => false,
            StatementKind::Condition(_) | StatementKind::Join(_) => false,
            // The function receives slices, so it may read all of them.
            StatementKind::Host(_)
            | StatementKind::Record(_)
            | StatementKind::Wait(_)
            | StatementKind::Sync(..) => false,
            StatementKind::Fill(_)
            | StatementKind::Copy(_)
            | StatementKind::Alloc(_)
            | StatementKind::Free(_) => false,
        }
    }

    /// Returns true if its node is allowed in a conditional body.
    pub fn is_allowed_in_body(&self) -> bool {
        match self {
            StatementKind::Host(_)
            | StatementKind::Record(_)
            | StatementKind::Wait(_)
            | StatementKind::Sync(..) => false,
            StatementKind::Launch(_)
            | StatementKind::Fill(_)
            | StatementKind::Copy(_)
            | StatementKind::Call(_)
            | StatementKind::Capture(_) => true,
            StatementKind::Condition(_)
            | StatementKind::Join(_)
            | StatementKind::Alloc(_)
            | StatementKind::Free(_) => true,
        }
    }

    /// Returns true for the begin and the end of a conditional body.
    pub fn is_body_border(&self) -> bool {
        match self {
            StatementKind::Condition(_) | StatementKind::Join(_) => true,
            StatementKind::Launch(_)
            | StatementKind::Fill(_)
            | StatementKind::Copy(_)
            | StatementKind::Call(_)
            | StatementKind::Capture(_) => false,
            StatementKind::Host(_)
            | StatementKind::Record(_)
            | StatementKind::Wait(_)
            | StatementKind::Sync(..) => false,
            StatementKind::Alloc(_) | StatementKind::Free(_) => false,
        }
    }

    /// Returns true for memset and memcpy nodes, whose ranges must not be empty.
    pub fn is_transfer(&self) -> bool {
        match self {
            StatementKind::Fill(_) | StatementKind::Copy(_) => true,
            StatementKind::Launch(_) | StatementKind::Call(_) | StatementKind::Capture(_) => false,
            StatementKind::Condition(_)
            | StatementKind::Join(_)
            | StatementKind::Alloc(_)
            | StatementKind::Free(_) => false,
            StatementKind::Host(_)
            | StatementKind::Record(_)
            | StatementKind::Wait(_)
            | StatementKind::Sync(..) => false,
        }
    }
}

/// The accesses that count as memory traffic of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// None: it moves no elements itself.
    Nothing,
    /// The ranges of all its accesses.
    Ranges,
    /// The extents of the kernel's parameters.
    Parameters,
    /// The buffers of a library call, without its workspace.
    Buffers,
}

impl StatementKind {
    /// Returns the accesses that count as its memory traffic.
    pub fn traffic(&self) -> Traffic {
        match self {
            StatementKind::Launch(()) => Traffic::Parameters,
            StatementKind::Fill(()) | StatementKind::Copy(()) => Traffic::Ranges,
            StatementKind::Capture(()) => Traffic::Buffers,
            StatementKind::Condition(_) | StatementKind::Join(_) | StatementKind::Call(_) => Traffic::Nothing,
            StatementKind::Alloc(_) | StatementKind::Free(_) => Traffic::Nothing,
            StatementKind::Host(())
            | StatementKind::Record(())
            | StatementKind::Wait(())
            | StatementKind::Sync(..) => Traffic::Nothing,
        }
    }

    /// Returns the language's name for the statement. `None` for launches and calls, which are written with the
    /// name of the callee.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            StatementKind::Fill(())
            | StatementKind::Copy(())
            | StatementKind::Alloc(_)
            | StatementKind::Free(_) => Some(self.name()),
            StatementKind::Host(())
            | StatementKind::Record(())
            | StatementKind::Wait(())
            | StatementKind::Sync(..) => Some(self.name()),
            StatementKind::Launch(())
            | StatementKind::Call(_)
            | StatementKind::Capture(())
            | StatementKind::Condition(_)
            | StatementKind::Join(_) => None,
        }
    }

    /// Returns the statement's own accesses, without the accesses of a conditional body.
    pub fn own_accesses<'a, A>(&self, accesses: &'a [A]) -> &'a [A] {
        let own = match self {
            StatementKind::Condition(condition) => condition.own_accesses(),
            StatementKind::Join(condition) => condition.own_accesses_after(),
            _ => return accesses,
        };
        accesses.get(..own).unwrap_or(accesses)
    }

    /// Returns the names of all statements that are part of the language.
    pub fn words() -> impl Iterator<Item = &'static str> {
        (0..).map_while(|tag| StatementKind::read(tag, || Some(0))).filter_map(|kind| kind.word())
    }

    /// Encodes the kind for a table: calls `number` with a tag, then with the index or condition.
    pub fn write(&self, number: &mut dyn FnMut(u32)) {
        let (tag, index) = match self {
            StatementKind::Launch(()) => (0, None),
            StatementKind::Fill(()) => (1, None),
            StatementKind::Copy(()) => (2, None),
            StatementKind::Alloc(buffer) => (3, Some(buffer.as_u32())),
            StatementKind::Free(buffer) => (4, Some(buffer.as_u32())),
            StatementKind::Call(call) => (5, Some(call.as_u32())),
            StatementKind::Capture(()) => (6, None),
            StatementKind::Condition(_) => (7, None),
            StatementKind::Join(_) => (8, None),
            StatementKind::Host(()) => (9, None),
            StatementKind::Record(()) => (10, None),
            StatementKind::Wait(()) => (11, None),
            StatementKind::Sync(SyncOperation::WaitValue, ()) => (12, None),
            StatementKind::Sync(SyncOperation::WriteValue, ()) => (13, None),
            StatementKind::Sync(SyncOperation::WaitSemaphore, ()) => (14, None),
            StatementKind::Sync(SyncOperation::Signal, ()) => (15, None),
        };
        number(tag);
        index.into_iter().for_each(&mut *number);
        if let StatementKind::Condition(condition) | StatementKind::Join(condition) = self {
            condition.write(number);
        }
    }

    /// Decodes a kind from its tag. `index` reads the next number after the tag. `None` if there is no such kind.
    pub fn read(tag: u32, mut index: impl FnMut() -> Option<u32>) -> Option<StatementKind> {
        Some(match tag {
            0 => StatementKind::Launch(()),
            1 => StatementKind::Fill(()),
            2 => StatementKind::Copy(()),
            3 => StatementKind::Alloc(BufferId::from_u32(index()?)),
            4 => StatementKind::Free(BufferId::from_u32(index()?)),
            5 => StatementKind::Call(CallId::from_u32(index()?)),
            6 => StatementKind::Capture(()),
            7 => StatementKind::Condition(Condition::read(&mut index)?),
            8 => StatementKind::Join(Condition::read(&mut index)?),
            9 => StatementKind::Host(()),
            10 => StatementKind::Record(()),
            11 => StatementKind::Wait(()),
            12 => StatementKind::Sync(SyncOperation::WaitValue, ()),
            13 => StatementKind::Sync(SyncOperation::WriteValue, ()),
            14 => StatementKind::Sync(SyncOperation::WaitSemaphore, ()),
            15 => StatementKind::Sync(SyncOperation::Signal, ()),
            _ => return None,
        })
    }
}

/// The number of nodes of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCounts {
    /// Launches of the user's kernels.
    pub kernels: usize,
    /// Memsets.
    pub fills: usize,
    /// Memcpys.
    pub copies: usize,
    /// Library calls; each may capture several nodes.
    pub calls: usize,
    /// Conditional nodes, each after the kernels that set its value.
    pub conditions: usize,
    /// Host statements.
    pub hosts: usize,
    /// Event records and event waits.
    pub events: usize,
    /// Waits for values and semaphores, value writes and semaphore signals.
    pub syncs: usize,
    /// No-op kernels that join many predecessors with many successors.
    pub hubs: usize,
    /// Memory alloc nodes.
    pub allocs: usize,
    /// Memory free nodes.
    pub frees: usize,
}

impl StatementKind<NodeStage> {
    /// Returns the counter for nodes of this kind. `None` if the kind has no node.
    pub fn count(self, counts: &mut NodeCounts) -> Option<&mut usize> {
        Some(match self {
            StatementKind::Launch(()) => &mut counts.kernels,
            StatementKind::Fill(()) => &mut counts.fills,
            StatementKind::Copy(()) => &mut counts.copies,
            StatementKind::Capture(()) => &mut counts.calls,
            StatementKind::Condition(()) => &mut counts.conditions,
            StatementKind::Host(()) => &mut counts.hosts,
            StatementKind::Record(()) | StatementKind::Wait(()) => &mut counts.events,
            StatementKind::Sync(..) => &mut counts.syncs,
            StatementKind::Join(()) => return None,
        })
    }

    /// Returns the name of its node in pictures and dumps.
    pub fn node(self) -> &'static str {
        match self {
            StatementKind::Launch(()) => "kernel",
            StatementKind::Fill(()) => "fill",
            StatementKind::Copy(()) => "copy",
            StatementKind::Capture(()) => "call",
            StatementKind::Condition(()) => "condition",
            StatementKind::Join(()) => "join",
            StatementKind::Host(()) => "host",
            StatementKind::Record(()) => "record",
            StatementKind::Wait(()) => "wait",
            StatementKind::Sync(word, ()) => word.name(),
        }
    }

    /// Returns the X11 name of the colour of its node in pictures.
    pub fn colour(self) -> &'static str {
        match self {
            StatementKind::Launch(()) => "lightblue",
            StatementKind::Fill(()) => "lightyellow",
            StatementKind::Copy(()) => "thistle",
            StatementKind::Capture(()) => "wheat",
            StatementKind::Condition(()) | StatementKind::Join(()) => "lightpink",
            StatementKind::Host(()) => "palegoldenrod",
            StatementKind::Record(()) | StatementKind::Wait(()) => "lightcyan",
            StatementKind::Sync(..) => "paleturquoise",
        }
    }
}
