//! The kinds of statements: one enum from the macro's tokens to the driver's nodes.
//!
//! Each stage knows other facts about a statement: the macro its expressions, the build its values, the emission the
//! parameters of its node. [`Kind`] is generic over the [`Stage`], which lists these facts a kind. Matches on kinds have no
//! wildcard, so the compiler finds the places that a new kind touches; ARCHITECTURE.md lists them.

use std::convert::Infallible;

use crate::condition::Condition;
use crate::ids::{BufferId, CallId};

/// The facts that a stage of the compiler knows about each kind of statement.
pub trait Stage {
    /// About a kernel launch.
    type Launch;
    /// About a `fill`.
    type Fill;
    /// About a `copy`.
    type Copy;
    /// About a call of a graph function. [`Infallible`] from expansion on.
    type Call;
    /// About a library call: its nodes are captured.
    type Capture;
    /// About the begin and the end of a body of a conditional node.
    type Condition;
    /// About a host statement: a function that the host runs. [`Infallible`] where there is none.
    type Host;
    /// About the record of an event, or the wait for one. [`Infallible`] where there is none.
    type Event;
    /// About a wait for a value or a semaphore, or the write or signal of one. [`Infallible`] where there is none.
    type Sync;
    /// About an `alloc` or a `free`. [`Infallible`] in stages that have none.
    type Memory;
}

/// A statement's kind, with the facts of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind<S: Stage = Written> {
    /// A kernel launch.
    Launch(S::Launch),
    /// `fill(&mut b, value)`: one access, a write.
    Fill(S::Fill),
    /// `copy(&a, &mut b)`: two accesses, a read and a write.
    Copy(S::Copy),
    /// A call of a graph function: its statements stand in its place once it is expanded.
    Call(S::Call),
    /// A library call: the work that its body gives to a stream is captured into the graph.
    Capture(S::Capture),
    /// The begin of a body of a conditional node: its accesses are the operand, and those of the body.
    Condition(S::Condition),
    /// The end of the body of the last [`Kind::Condition`] without one. It has no node of its own.
    Join(S::Condition),
    /// `host(&a, &mut b, |a, b| ..)`: an access for each buffer, which is pinned memory.
    Host(S::Host),
    /// `record(&event)`: no access. It comes after all that is written before it.
    Record(S::Event),
    /// `wait(&event)`: no access. All that is written after it comes after it.
    Wait(S::Event),
    /// `wait_value(&flag, value)` and its like: an access if the flag is a buffer. Ordered as records and waits of events are.
    Sync(SyncWord, S::Sync),
    /// `let b = alloc::<T>(len)`.
    Alloc(S::Memory),
    /// `free(b)`.
    Free(S::Memory),
}

/// A word that makes the graph meet work outside of it, by a value that advances with each launch.
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
    /// All words.
    pub const ALL: [SyncWord; 4] =
        [SyncWord::WaitValue, SyncWord::WriteValue, SyncWord::WaitSemaphore, SyncWord::Signal];

    /// Returns the word of the language.
    pub fn name(self) -> &'static str {
        match self {
            SyncWord::WaitValue => "wait_value",
            SyncWord::WriteValue => "write_value",
            SyncWord::WaitSemaphore => "wait_semaphore",
            SyncWord::Signal => "signal",
        }
    }

    /// Returns true if the statement waits; false if others wait for it.
    pub fn waits(self) -> bool {
        matches!(self, SyncWord::WaitValue | SyncWord::WaitSemaphore)
    }

    /// Returns true if it is about a value in memory; false for a semaphore.
    pub fn is_value(self) -> bool {
        matches!(self, SyncWord::WaitValue | SyncWord::WriteValue)
    }
}

/// The order of a statement with all others of its program, beside that of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// It comes after all that is written before it.
    BehindAll,
    /// All that is written after it comes after it.
    BeforeAll,
}

/// The stage of the program: a statement's accesses stand beside its kind.
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

/// The stage of operations: the kinds that have a node of their own. Memory statements are placed with their buffers.
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
    /// Returns the word of the language for it.
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

    /// Returns the lifetime that the statement begins or ends. Such statements order nothing by themselves.
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

    /// Returns its order with all other statements; `None` if accesses alone order it.
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

    /// Returns the kind of its node; `None` for memory statements, and for calls, which have many.
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

    /// Returns true if the declaration of a kernel or of a graph function says what is read and written through `&mut`: rustc
    /// holds it against the mode that [`check`](crate::check) settles.
    pub fn has_declaration(&self) -> bool {
        match self {
            Kind::Launch(_) | Kind::Call(_) => true,
            // Its accesses are those of its declaration.
            Kind::Capture(_) => false,
            Kind::Condition(_) | Kind::Join(_) => false,
            // The function is given slices: it may read all of them.
            Kind::Host(_) | Kind::Record(_) | Kind::Wait(_) | Kind::Sync(..) => false,
            Kind::Fill(_) | Kind::Copy(_) | Kind::Alloc(_) | Kind::Free(_) => false,
        }
    }

    /// Returns true if its node may stand in the body of a conditional node.
    pub fn stands_in_bodies(&self) -> bool {
        match self {
            Kind::Host(_) | Kind::Record(_) | Kind::Wait(_) | Kind::Sync(..) => false,
            Kind::Launch(_) | Kind::Fill(_) | Kind::Copy(_) | Kind::Call(_) | Kind::Capture(_) => true,
            Kind::Condition(_) | Kind::Join(_) | Kind::Alloc(_) | Kind::Free(_) => true,
        }
    }

    /// Returns true for the begin and the end of a body of a conditional node.
    pub fn is_body(&self) -> bool {
        match self {
            Kind::Condition(_) | Kind::Join(_) => true,
            Kind::Launch(_) | Kind::Fill(_) | Kind::Copy(_) | Kind::Call(_) | Kind::Capture(_) => false,
            Kind::Host(_) | Kind::Record(_) | Kind::Wait(_) | Kind::Sync(..) => false,
            Kind::Alloc(_) | Kind::Free(_) => false,
        }
    }

    /// Returns true for memset and memcpy nodes, whose ranges have at least one element.
    pub fn is_transfer(&self) -> bool {
        match self {
            Kind::Fill(_) | Kind::Copy(_) => true,
            Kind::Launch(_) | Kind::Call(_) | Kind::Capture(_) => false,
            Kind::Condition(_) | Kind::Join(_) | Kind::Alloc(_) | Kind::Free(_) => false,
            Kind::Host(_) | Kind::Record(_) | Kind::Wait(_) | Kind::Sync(..) => false,
        }
    }
}

/// The accesses whose bytes a statement is counted to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// None: it moves no elements of its own.
    Nothing,
    /// The ranges of all its accesses.
    Ranges,
    /// The extents of the kernel's parameters.
    Parameters,
    /// The buffers of a library call without its scratch.
    Buffers,
}

impl Kind {
    /// Returns the accesses whose bytes it is counted to move.
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

    /// Returns the word that a statement of this kind is a call of; `None` for launches and calls, which name what they run.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Kind::Fill(()) | Kind::Copy(()) | Kind::Alloc(_) | Kind::Free(_) => Some(self.name()),
            Kind::Host(()) | Kind::Record(()) | Kind::Wait(()) | Kind::Sync(..) => Some(self.name()),
            Kind::Launch(()) | Kind::Call(_) | Kind::Capture(()) | Kind::Condition(_) | Kind::Join(_) => None,
        }
    }

    /// Returns the part of its accesses that are its own: not those of a body.
    pub fn own_accesses<'a, A>(&self, accesses: &'a [A]) -> &'a [A] {
        let own = match self {
            Kind::Condition(condition) => condition.own_accesses(),
            Kind::Join(condition) => condition.own_accesses_behind(),
            _ => return accesses,
        };
        accesses.get(..own).unwrap_or(accesses)
    }

    /// Returns the words that statements are calls of.
    pub fn words() -> impl Iterator<Item = &'static str> {
        (0..).map_while(|tag| Kind::read(tag, || Some(0))).filter_map(|kind| kind.word())
    }

    /// Calls `number` with the numbers that stand for it in tables: a tag, then its index or condition.
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

    /// Returns the kind of a tag; `index` reads the next of the numbers that follow it. `None` if there is no such kind.
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
    /// Library calls, each of as many nodes as it captures.
    pub calls: usize,
    /// Conditional nodes, each behind one kernel or several that set its value.
    pub conditions: usize,
    /// Host statements.
    pub hosts: usize,
    /// Records of events and waits for them.
    pub events: usize,
    /// Waits for values and semaphores, their writes and signals.
    pub syncs: usize,
    /// No-op kernels in the middle of wide joins.
    pub hubs: usize,
    /// Memory alloc nodes.
    pub allocs: usize,
    /// Memory free nodes.
    pub frees: usize,
}

impl Kind<Runs> {
    /// Returns the count of nodes of its kind; `None` if it has no node of its own.
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

    /// Returns the colour of its node in pictures, by the names of X11.
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
