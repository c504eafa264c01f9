//! The kinds of statements: one enum from the macro's tokens to the driver's nodes.
//!
//! Each stage knows different facts about a statement: the macro its expressions, the build its values, the
//! emission the parameters of its node. [`Kind`] is generic over a [`Stage`], which names the type of these facts
//! for each kind. Matches on kinds have no wildcard, so the compiler finds every place that a new kind touches.
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
pub enum Kind<S: Stage = Written> {
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
    /// The end of the innermost open [`Kind::Condition`]. It has no node of its own.
    Join(S::Condition),
    /// `host(&a, &mut b, |a, b| ..)`: one access for each buffer, all in pinned memory.
    Host(S::Host),
    /// `record(&event)`: no access. It runs after all statements written before it.
    Record(S::Event),
    /// `wait(&event)`: no access. All statements written after it run after it.
    Wait(S::Event),
    /// `wait_value(&flag, value)` and similar. One access if the flag is a buffer. Ordered like event records and
    /// waits.
    Sync(SyncWord, S::Sync),
    /// `let b = alloc::<T>(len)`.
    Alloc(S::Memory),
    /// `free(b)`.
    Free(S::Memory),
}

/// A statement that synchronises the graph with work outside it, by a value that advances with each launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncWord {
    /// `wait_value(&flag, value)`.
    WaitValue,
    /// `write_value(&mut flag, value)`.
    WriteValue,
    /// `wait_semaphore(&semaphore, value)`.
    WaitSemaphore,
    /// `signal(&semaphore, value)`.
    Signal,
}

impl SyncWord {
    /// All variants.
    pub const ALL: [SyncWord; 4] =
        [SyncWord::WaitValue, SyncWord::WriteValue, SyncWord::WaitSemaphore, SyncWord::Signal];

    /// Returns its name in the language.
    pub fn name(self) -> &'static str {
        match self {
            SyncWord::WaitValue => "wait_value",
            SyncWord::WriteValue => "write_value",
            SyncWord::WaitSemaphore => "wait_semaphore",
            SyncWord::Signal => "signal",
        }
    }

    /// Returns true if the statement waits; false if it releases a waiter.
    pub fn waits(self) -> bool {
        matches!(self, SyncWord::WaitValue | SyncWord::WaitSemaphore)
    }

    /// Returns true for a value in memory; false for a semaphore.
    pub fn is_value(self) -> bool {
        matches!(self, SyncWord::WaitValue | SyncWord::WriteValue)
    }
}

/// An order with all other statements of the program, in addition to the order of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// It runs after all statements written before it.
    BehindAll,
    /// All statements written after it run after it.
    BeforeAll,
}

/// The stage of the program: accesses are stored beside the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Written;

impl Stage for Written {
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
pub struct Runs;

impl Stage for Runs {
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

impl<S: Stage> Kind<S> {
    /// Returns its name in the language.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Launch(_) => "launch",
            Kind::Fill(_) => "fill",
            Kind::Copy(_) => "copy",
            Kind::Call(_) => "call",
            Kind::Capture(_) => "library call",
            Kind::Condition(_) => "condition",
            Kind::Join(_) => "join",
            Kind::Host(_) => "host",
            Kind::Record(_) => "record",
            Kind::Wait(_) => "wait",
            Kind::Sync(word, _) => word.name(),
            Kind::Alloc(_) => "alloc",
            Kind::Free(_) => "free",
        }
    }

    /// Returns the lifetime that the statement begins or ends. Memory statements by themselves order nothing.
    pub fn lifetime(&self) -> Option<Lifetime<&S::Memory>> {
        match self {
            Kind::Alloc(buffer) => Some(Lifetime::Begins(buffer)),
            Kind::Free(buffer) => Some(Lifetime::Ends(buffer)),
            Kind::Launch(_)
            | Kind::Fill(_)
            | Kind::Copy(_)
            | Kind::Call(_)
            | Kind::Capture(_)
            | Kind::Condition(_)
            | Kind::Join(_)
            | Kind::Host(_)
            | Kind::Record(_)
            | Kind::Wait(_)
            | Kind::Sync(..) => None,
        }
    }

    /// Returns its order with all other statements. `None` if only its accesses order it.
    pub fn meeting(&self) -> Option<Meeting> {
        match self {
            Kind::Record(_) => Some(Meeting::BehindAll),
            Kind::Wait(_) => Some(Meeting::BeforeAll),
            Kind::Sync(word, _) if word.waits() => Some(Meeting::BeforeAll),
            Kind::Sync(..) => Some(Meeting::BehindAll),
            Kind::Launch(_) | Kind::Fill(_) | Kind::Copy(_) | Kind::Call(_) | Kind::Capture(_) => None,
            Kind::Condition(_) | Kind::Join(_) | Kind::Host(_) | Kind::Alloc(_) | Kind::Free(_) => None,
        }
    }

    /// Returns the kind of its node. `None` for memory statements, and for calls, which expand to many nodes.
    pub fn runs(&self) -> Option<Kind<Runs>> {
        match self {
            Kind::Launch(_) => Some(Kind::Launch(())),
            Kind::Fill(_) => Some(Kind::Fill(())),
            Kind::Copy(_) => Some(Kind::Copy(())),
            Kind::Capture(_) => Some(Kind::Capture(())),
            Kind::Condition(_) => Some(Kind::Condition(())),
            Kind::Join(_) => Some(Kind::Join(())),
            Kind::Host(_) => Some(Kind::Host(())),
            Kind::Record(_) => Some(Kind::Record(())),
            Kind::Wait(_) => Some(Kind::Wait(())),
            Kind::Sync(word, _) => Some(Kind::Sync(*word, ())),
            Kind::Call(_) | Kind::Alloc(_) | Kind::Free(_) => None,
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
            Kind::Launch(_) | Kind::Call(_) => true,
            // The accesses of a capture are its declaration.
            Kind::Capture(_) => false,
            Kind::Condition(_) | Kind::Join(_) => false,
            // The function receives slices, so it may read all of them.
            Kind::Host(_) | Kind::Record(_) | Kind::Wait(_) | Kind::Sync(..) => false,
            Kind::Fill(_) | Kind::Copy(_) | Kind::Alloc(_) | Kind::Free(_) => false,
        }
    }

    /// Returns true if its node is allowed in a conditional body.
    pub fn stands_in_bodies(&self) -> bool {
        match self {
            Kind::Host(_) | Kind::Record(_) | Kind::Wait(_) | Kind::Sync(..) => false,
            Kind::Launch(_) | Kind::Fill(_) | Kind::Copy(_) | Kind::Call(_) | Kind::Capture(_) => true,
            Kind::Condition(_) | Kind::Join(_) | Kind::Alloc(_) | Kind::Free(_) => true,
        }
    }

    /// Returns true for the begin and the end of a conditional body.
    pub fn is_body(&self) -> bool {
        match self {
            Kind::Condition(_) | Kind::Join(_) => true,
            Kind::Launch(_) | Kind::Fill(_) | Kind::Copy(_) | Kind::Call(_) | Kind::Capture(_) => false,
            Kind::Host(_) | Kind::Record(_) | Kind::Wait(_) | Kind::Sync(..) => false,
            Kind::Alloc(_) | Kind::Free(_) => false,
        }
    }

    /// Returns true for memset and memcpy nodes, whose ranges must not be empty.
    pub fn is_transfer(&self) -> bool {
        match self {
            Kind::Fill(_) | Kind::Copy(_) => true,
            Kind::Launch(_) | Kind::Call(_) | Kind::Capture(_) => false,
            Kind::Condition(_) | Kind::Join(_) | Kind::Alloc(_) | Kind::Free(_) => false,
            Kind::Host(_) | Kind::Record(_) | Kind::Wait(_) | Kind::Sync(..) => false,
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

impl Kind {
    /// Returns the accesses that count as its memory traffic.
    pub fn traffic(&self) -> Traffic {
        match self {
            Kind::Launch(()) => Traffic::Parameters,
            Kind::Fill(()) | Kind::Copy(()) => Traffic::Ranges,
            Kind::Capture(()) => Traffic::Buffers,
            Kind::Condition(_) | Kind::Join(_) | Kind::Call(_) => Traffic::Nothing,
            Kind::Alloc(_) | Kind::Free(_) => Traffic::Nothing,
            Kind::Host(()) | Kind::Record(()) | Kind::Wait(()) | Kind::Sync(..) => Traffic::Nothing,
        }
    }

    /// Returns the language's name for the statement. `None` for launches and calls, which are written with the
    /// name of the callee.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Kind::Fill(()) | Kind::Copy(()) | Kind::Alloc(_) | Kind::Free(_) => Some(self.name()),
            Kind::Host(()) | Kind::Record(()) | Kind::Wait(()) | Kind::Sync(..) => Some(self.name()),
            Kind::Launch(()) | Kind::Call(_) | Kind::Capture(()) | Kind::Condition(_) | Kind::Join(_) => None,
        }
    }

    /// Returns the statement's own accesses, without the accesses of a conditional body.
    pub fn own_accesses<'a, A>(&self, accesses: &'a [A]) -> &'a [A] {
        let own = match self {
            Kind::Condition(condition) => condition.own_accesses(),
            Kind::Join(condition) => condition.own_accesses_behind(),
            _ => return accesses,
        };
        accesses.get(..own).unwrap_or(accesses)
    }

    /// Returns the names of all statements that are part of the language.
    pub fn words() -> impl Iterator<Item = &'static str> {
        (0..).map_while(|tag| Kind::read(tag, || Some(0))).filter_map(|kind| kind.word())
    }

    /// Encodes the kind for a table: calls `number` with a tag, then with the index or condition.
    pub fn write(&self, number: &mut dyn FnMut(u32)) {
        let (tag, index) = match self {
            Kind::Launch(()) => (0, None),
            Kind::Fill(()) => (1, None),
            Kind::Copy(()) => (2, None),
            Kind::Alloc(buffer) => (3, Some(buffer.as_u32())),
            Kind::Free(buffer) => (4, Some(buffer.as_u32())),
            Kind::Call(call) => (5, Some(call.as_u32())),
            Kind::Capture(()) => (6, None),
            Kind::Condition(_) => (7, None),
            Kind::Join(_) => (8, None),
            Kind::Host(()) => (9, None),
            Kind::Record(()) => (10, None),
            Kind::Wait(()) => (11, None),
            Kind::Sync(SyncWord::WaitValue, ()) => (12, None),
            Kind::Sync(SyncWord::WriteValue, ()) => (13, None),
            Kind::Sync(SyncWord::WaitSemaphore, ()) => (14, None),
            Kind::Sync(SyncWord::Signal, ()) => (15, None),
        };
        number(tag);
        index.into_iter().for_each(&mut *number);
        if let Kind::Condition(condition) | Kind::Join(condition) = self {
            condition.write(number);
        }
    }

    /// Decodes a kind from its tag. `index` reads the next number after the tag. `None` if there is no such kind.
    pub fn read(tag: u32, mut index: impl FnMut() -> Option<u32>) -> Option<Kind> {
        Some(match tag {
            0 => Kind::Launch(()),
            1 => Kind::Fill(()),
            2 => Kind::Copy(()),
            3 => Kind::Alloc(BufferId::from_u32(index()?)),
            4 => Kind::Free(BufferId::from_u32(index()?)),
            5 => Kind::Call(CallId::from_u32(index()?)),
            6 => Kind::Capture(()),
            7 => Kind::Condition(Condition::read(&mut index)?),
            8 => Kind::Join(Condition::read(&mut index)?),
            9 => Kind::Host(()),
            10 => Kind::Record(()),
            11 => Kind::Wait(()),
            12 => Kind::Sync(SyncWord::WaitValue, ()),
            13 => Kind::Sync(SyncWord::WriteValue, ()),
            14 => Kind::Sync(SyncWord::WaitSemaphore, ()),
            15 => Kind::Sync(SyncWord::Signal, ()),
            _ => return None,
        })
    }
}

/// The number of nodes of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
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

impl Kind<Runs> {
    /// Returns the counter for nodes of this kind. `None` if the kind has no node.
    pub fn count(self, counts: &mut Counts) -> Option<&mut usize> {
        Some(match self {
            Kind::Launch(()) => &mut counts.kernels,
            Kind::Fill(()) => &mut counts.fills,
            Kind::Copy(()) => &mut counts.copies,
            Kind::Capture(()) => &mut counts.calls,
            Kind::Condition(()) => &mut counts.conditions,
            Kind::Host(()) => &mut counts.hosts,
            Kind::Record(()) | Kind::Wait(()) => &mut counts.events,
            Kind::Sync(..) => &mut counts.syncs,
            Kind::Join(()) => return None,
        })
    }

    /// Returns the name of its node in pictures and dumps.
    pub fn node(self) -> &'static str {
        match self {
            Kind::Launch(()) => "kernel",
            Kind::Fill(()) => "fill",
            Kind::Copy(()) => "copy",
            Kind::Capture(()) => "call",
            Kind::Condition(()) => "condition",
            Kind::Join(()) => "join",
            Kind::Host(()) => "host",
            Kind::Record(()) => "record",
            Kind::Wait(()) => "wait",
            Kind::Sync(word, ()) => word.name(),
        }
    }

    /// Returns the X11 name of the colour of its node in pictures.
    pub fn colour(self) -> &'static str {
        match self {
            Kind::Launch(()) => "lightblue",
            Kind::Fill(()) => "lightyellow",
            Kind::Copy(()) => "thistle",
            Kind::Capture(()) => "wheat",
            Kind::Condition(()) | Kind::Join(()) => "lightpink",
            Kind::Host(()) => "palegoldenrod",
            Kind::Record(()) | Kind::Wait(()) => "lightcyan",
            Kind::Sync(..) => "paleturquoise",
        }
    }
}
