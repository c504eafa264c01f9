//! The items that statements name. Every kernel and every graph function has a constant `__ITEM`, which
//! generated code finds by the path `name::__ITEM`. For any other name it finds the one of [`no_item`].
//!
//! The types of these constants determine rustc's message for a name that does not fit the statement.

use crate::token::Token;

use super::declaration::{Kernel, KernelItem};

/// The `__ITEM` of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelPath<K>(pub K);

/// The `__ITEM` of a graph function.
#[derive(Clone, Copy, Debug)]
pub struct GraphPath<G>(pub G);

/// The `__ITEM` of any other name.
#[derive(Clone, Copy, Debug)]
pub struct NoPath;

/// A name that `name[config](..)` can launch.
#[diagnostic::on_unimplemented(
    message = "CW001: only kernels are launched by `name[config](..)`",
    label = "no kernel of this name is in scope",
    note = "a kernel is declared in a block with `#[cuweave::kernels]`",
    note = "see https://docs.rs/cuweave/latest/cuweave/codes/cw001/"
)]
pub trait Launched {
    /// The type of the kernel's item.
    type Item;

    /// Returns the item.
    fn item(self) -> Self::Item;
}

impl<K: KernelItem> Launched for KernelPath<K> {
    type Item = K;

    fn item(self) -> K {
        self.0
    }
}

impl<G: HasConfiguration> Launched for GraphPath<G> {
    type Item = G::Item;

    fn item(self) -> G::Item {
        self.0.none()
    }
}

/// A graph function in `name[config](..)`. Never implemented: no graph function has a launch configuration.
#[diagnostic::on_unimplemented(
    message = "CW001: a graph function has no launch configuration",
    label = "this is a graph function, not a kernel: call it without the brackets, as in `name(..)`",
    note = "see https://docs.rs/cuweave/latest/cuweave/codes/cw001/"
)]
pub trait HasConfiguration {
    /// Never defined.
    type Item;

    /// Never called.
    fn none(self) -> Self::Item;
}

/// A name that `name(..)` can call.
#[diagnostic::on_unimplemented(
    message = "CW001: only graph functions are called by `name(..)`",
    label = "no function of this name with `#[cuweave::graph]` is in scope",
    note = "an ordinary function of scalars is called in an expression: `let m: u32 = half(n);`, `per_item(half(n))`",
    note = "see https://docs.rs/cuweave/latest/cuweave/codes/cw001/"
)]
pub trait Called {
    /// The type of the graph function's item.
    type Item;

    /// Returns the item.
    fn item(self) -> Self::Item;
}

impl<G> Called for GraphPath<G> {
    type Item = G;

    fn item(self) -> G {
        self.0
    }
}

/// The item of a graph function. States if the function contains a host statement or an event, which the body
/// of a conditional node cannot.
pub trait HoldsHost {
    /// True if the function, or one that it calls, contains one.
    const HOST: bool;
}

impl<G: HoldsHost> GraphPath<G> {
    /// Returns true if the function contains a host statement or an event.
    pub const fn holds_host(&self) -> bool {
        G::HOST
    }
}

impl<K> KernelPath<K> {
    /// Returns false: a kernel contains none.
    pub const fn holds_host(&self) -> bool {
        false
    }
}

impl NoPath {
    /// Returns false: calling such a name is an error anyway.
    pub const fn holds_host(&self) -> bool {
        false
    }
}

impl<K: NeedsNoConfiguration> Called for KernelPath<K> {
    type Item = K::Item;

    fn item(self) -> K::Item {
        self.0.none()
    }
}

/// A kernel in `name(..)`. Never implemented: every kernel needs a launch configuration.
#[diagnostic::on_unimplemented(
    message = "CW001: the kernel `{Self}` is launched without a configuration",
    label = "write it in brackets: `{Self}[per_item(n)](..)` or `{Self}[(grid, block)](..)`",
    note = "see https://docs.rs/cuweave/latest/cuweave/codes/cw001/"
)]
pub trait NeedsNoConfiguration {
    /// Never defined.
    type Item;

    /// Never called.
    fn none(self) -> Self::Item;
}

/// The type of an argument that was rejected.
#[derive(Clone, Copy, Debug)]
pub struct Refused;

/// Returns the declaration of a kernel's item.
pub fn kernel_of<K: KernelItem>(_: &K) -> &'static Kernel {
    K::kernel(Token)
}

/// The fallback items, for a name that is neither a kernel nor a graph function, and for items that a graph
/// function lacks.
pub mod no_item {
    pub use super::limits::*;

    /// The fallback `__ITEM`.
    pub const __ITEM: super::NoPath = super::NoPath;

    pub use super::AnyArgument as __Item;
}

/// The fallback `__Item`, whose arguments can all be set: rustc reports the name where it is called.
#[derive(Debug)]
pub struct AnyArgument;

/// The fallback for types that are not kernels.
pub trait NoItem {
    /// The fallback `__ITEM`.
    const __ITEM: NoPath = NoPath;
}

impl<T> NoItem for T {}

/// The fallback limits of launch configurations for a name that is not a kernel: there are none.
pub mod limits {
    /// Accepts every grid.
    pub const fn __admits_grid(_: u32, _: u32, _: u32) -> bool {
        true
    }

    /// Accepts every block.
    pub const fn __admits_block(_: u32, _: u32, _: u32) -> bool {
        true
    }

    /// Accepts every amount of shared memory.
    pub const fn __admits_shared(_: u32) -> bool {
        true
    }

    /// Unused: every grid is accepted.
    pub const __GRIDS: &str = "";
    /// Unused: every block is accepted.
    pub const __BLOCKS: &str = "";
    /// Unused: every amount is accepted.
    pub const __SHARED: &str = "";
}
