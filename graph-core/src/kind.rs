//! The kinds of statements: one enum from the macro's tokens to the driver's nodes.
//!
//! Each stage knows other facts about a statement: the macro its expressions, the build its values, the emission the
//! parameters of its node. [`Kind`] is generic over the [`Stage`], which lists these facts a kind. Matches on kinds have no
//! wildcard, so the compiler finds the places that a new kind touches; ARCHITECTURE.md lists them.

use std::convert::Infallible;

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
    /// `let b = alloc::<T>(len)`.
    Alloc(S::Memory),
    /// `free(b)`.
    Free(S::Memory),
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
            Kind::Alloc(_) => "alloc",
            Kind::Free(_) => "free",
        }
    }

    /// Returns the lifetime that the statement begins or ends. Such statements order nothing by themselves.
    pub fn lifetime(&self) -> Option<Lifetime<&S::Memory>> {
        match self {
            Kind::Alloc(buffer) => Some(Lifetime::Begins(buffer)),
            Kind::Free(buffer) => Some(Lifetime::Ends(buffer)),
            Kind::Launch(_) | Kind::Fill(_) | Kind::Copy(_) | Kind::Call(_) | Kind::Capture(_) => None,
        }
    }

    /// Returns the kind of its node; `None` for memory statements, and for calls, which have many.
    pub fn runs(&self) -> Option<Kind<Runs>> {
        match self {
            Kind::Launch(_) => Some(Kind::Launch(())),
            Kind::Fill(_) => Some(Kind::Fill(())),
            Kind::Copy(_) => Some(Kind::Copy(())),
            Kind::Capture(_) => Some(Kind::Capture(())),
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
            Kind::Fill(_) | Kind::Copy(_) | Kind::Alloc(_) | Kind::Free(_) => false,
        }
    }

    /// Returns true for memset and memcpy nodes, whose ranges have at least one element.
    pub fn is_transfer(&self) -> bool {
        match self {
            Kind::Fill(_) | Kind::Copy(_) => true,
            Kind::Launch(_) | Kind::Call(_) | Kind::Capture(_) | Kind::Alloc(_) | Kind::Free(_) => false,
        }
    }
}

impl Kind {
    /// Returns the word that a statement of this kind is a call of; `None` for launches and calls, which name what they run.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Kind::Fill(()) | Kind::Copy(()) | Kind::Alloc(_) | Kind::Free(_) => Some(self.name()),
            Kind::Launch(()) | Kind::Call(_) | Kind::Capture(()) => None,
        }
    }

    /// Returns the words that statements are calls of.
    pub fn words() -> impl Iterator<Item = &'static str> {
        (0..).map_while(|tag| Kind::read(tag, || Some(0))).filter_map(|kind| kind.word())
    }

    /// Returns the tag that stands for it in tables, and the index that follows the tag there.
    pub fn written_as(&self) -> (u32, Option<u32>) {
        match self {
            Kind::Launch(()) => (0, None),
            Kind::Fill(()) => (1, None),
            Kind::Copy(()) => (2, None),
            Kind::Alloc(buffer) => (3, Some(buffer.as_u32())),
            Kind::Free(buffer) => (4, Some(buffer.as_u32())),
            Kind::Call(call) => (5, Some(call.as_u32())),
            Kind::Capture(()) => (6, None),
        }
    }

    /// Returns the kind of a tag; `index` reads the index that follows it. `None` if there is no such kind.
    pub fn read(tag: u32, index: impl FnOnce() -> Option<u32>) -> Option<Kind> {
        Some(match tag {
            0 => Kind::Launch(()),
            1 => Kind::Fill(()),
            2 => Kind::Copy(()),
            3 => Kind::Alloc(BufferId::from_u32(index()?)),
            4 => Kind::Free(BufferId::from_u32(index()?)),
            5 => Kind::Call(CallId::from_u32(index()?)),
            6 => Kind::Capture(()),
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
    /// No-op kernels in the middle of wide joins.
    pub hubs: usize,
    /// Memory alloc nodes.
    pub allocs: usize,
    /// Memory free nodes.
    pub frees: usize,
}

impl Kind<Runs> {
    /// Returns the count of nodes of its kind.
    pub fn count(self, counts: &mut Counts) -> &mut usize {
        match self {
            Kind::Launch(()) => &mut counts.kernels,
            Kind::Fill(()) => &mut counts.fills,
            Kind::Copy(()) => &mut counts.copies,
            Kind::Capture(()) => &mut counts.calls,
        }
    }

    /// Returns the name of its node in pictures and dumps.
    pub fn node(self) -> &'static str {
        match self {
            Kind::Launch(()) => "kernel",
            Kind::Fill(()) => "fill",
            Kind::Copy(()) => "copy",
            Kind::Capture(()) => "call",
        }
    }

    /// Returns the colour of its node in pictures, by the names of X11.
    pub fn colour(self) -> &'static str {
        match self {
            Kind::Launch(()) => "lightblue",
            Kind::Fill(()) => "lightyellow",
            Kind::Copy(()) => "thistle",
            Kind::Capture(()) => "wheat",
        }
    }
}
