//! Launch configurations of a builder: expressions over its scalars, and their values.

use std::collections::BTreeSet;

use cudarc::driver::LaunchConfig;
use cuweave_core::launches::LaunchShape;

use crate::build::ScalarValue;
use crate::error::ConfigFault;
use crate::statements::{BlockLimits, Config, Dim, PerItem, ToDim, per_item};

use super::size::{Integer, MentionedScalars, Scalar, Size, SizeFault, ToSize};

/// A launch configuration over the scalars of a builder.
#[derive(Clone, Debug)]
pub enum Configuration {
    /// Constant extents.
    Fixed(LaunchConfig),
    /// One thread per item, for a number of items without scalars.
    PerItem(PerItem),
    /// One thread per item, for a number of items that depends on scalars.
    PerSize(Size),
    /// Grid, block and dynamic shared memory.
    Sizes(Box<ShapeSizes>),
}

/// Grid, block and dynamic shared memory over the scalars of a builder.
#[derive(Clone, Debug)]
pub struct ShapeSizes {
    grid: [Size; 3],
    block: [Size; 3],
    shared: Size,
}

impl Configuration {
    fn grid(&self) -> &[Size] {
        match self {
            Configuration::Fixed(_) | Configuration::PerItem(_) => &[],
            Configuration::PerSize(items) => std::slice::from_ref(items),
            Configuration::Sizes(sizes) => &sizes.grid,
        }
    }

    fn block(&self) -> impl Iterator<Item = &Size> {
        let sizes = match self {
            Configuration::Sizes(sizes) => Some(sizes.block.iter().chain([&sizes.shared])),
            Configuration::Fixed(_) | Configuration::PerItem(_) | Configuration::PerSize(_) => None,
        };
        sizes.into_iter().flatten()
    }

    pub(super) fn check(&self, builder: u64) -> Result<(), SizeFault> {
        self.grid().iter().chain(self.block()).try_for_each(|size| size.check(builder))
    }

    /// Returns the scalars that it mentions.
    pub(super) fn mentions(&self) -> MentionedScalars {
        let (mut grid, mut block) = (BTreeSet::new(), BTreeSet::new());
        self.grid().iter().for_each(|size| size.mentions(&mut grid));
        self.block().for_each(|size| size.mentions(&mut block));
        MentionedScalars { all: &grid | &block, grid, block }
    }

    /// Evaluates the configuration for these values of the scalars.
    pub(super) fn with(&self, scalars: &[ScalarValue]) -> EvaluatedConfiguration {
        match self {
            Configuration::Fixed(config) => EvaluatedConfiguration::Fixed(*config),
            Configuration::PerItem(config) => EvaluatedConfiguration::PerItem(*config),
            Configuration::PerSize(items) => EvaluatedConfiguration::PerItem(per_item(items.value(scalars))),
            Configuration::Sizes(sizes) => {
                let ShapeSizes { grid, block, shared } = &**sizes;
                let triple = |[x, y, z]: &[Size; 3]| (x.value(scalars), y.value(scalars), z.value(scalars));
                EvaluatedConfiguration::Sizes(triple(grid), triple(block), shared.value(scalars))
            }
        }
    }
}

type DimTriple = (Dim, Dim, Dim);

/// A configuration whose scalars have values.
pub(super) enum EvaluatedConfiguration {
    Fixed(LaunchConfig),
    PerItem(PerItem),
    Sizes(DimTriple, DimTriple, Dim),
}

impl Config for EvaluatedConfiguration {
    fn shape(self, limits: BlockLimits) -> Result<LaunchShape, ConfigFault> {
        match self {
            EvaluatedConfiguration::Fixed(config) => config.shape(limits),
            EvaluatedConfiguration::PerItem(config) => config.shape(limits),
            EvaluatedConfiguration::Sizes(grid, block, shared) => (grid, block, shared).shape(limits),
        }
    }
}

/// A type of launch configurations: `(grid, block)` or `(grid, block, shared_bytes)` of integers, [`Scalar`]s,
/// [`Size`]s or tuples of them, a `LaunchConfig`, or `per_item(n)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a launch configuration of a builder",
    note = "a configuration is `(grid, block)` or `(grid, block, shared_bytes)` of integers, `Scalar`s, `Size`s or \
        tuples of them, a `LaunchConfig`, or `per_item(n)`"
)]
pub trait ToConfiguration {
    /// Converts it to a configuration.
    fn to_configuration(self) -> Configuration;
}

impl ToConfiguration for Configuration {
    fn to_configuration(self) -> Configuration {
        self
    }
}

impl ToConfiguration for LaunchConfig {
    fn to_configuration(self) -> Configuration {
        Configuration::Fixed(self)
    }
}

impl ToConfiguration for PerItem {
    fn to_configuration(self) -> Configuration {
        Configuration::PerItem(self)
    }
}

impl<G: ToExtents, B: ToExtents> ToConfiguration for (G, B) {
    fn to_configuration(self) -> Configuration {
        (self.0, self.1, 0u64).to_configuration()
    }
}

impl<G: ToExtents, B: ToExtents, S: ToSize> ToConfiguration for (G, B, S) {
    fn to_configuration(self) -> Configuration {
        let (grid, block, shared) = (self.0.to_extents(), self.1.to_extents(), self.2.to_size());
        Configuration::Sizes(Box::new(ShapeSizes { grid, block, shared }))
    }
}

/// One, two or three extents of a grid or a block.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a grid nor a block",
    note = "a grid or a block is an integer, a `Scalar` or a `Size`, or a tuple of up to three"
)]
pub trait ToExtents {
    /// Converts it to three extents.
    fn to_extents(self) -> [Size; 3];
}

impl<X: ToSize> ToExtents for X {
    fn to_extents(self) -> [Size; 3] {
        [self.to_size(), 1u64.to_size(), 1u64.to_size()]
    }
}

impl<X: ToSize> ToExtents for (X,) {
    fn to_extents(self) -> [Size; 3] {
        self.0.to_extents()
    }
}

impl<X: ToSize, Y: ToSize> ToExtents for (X, Y) {
    fn to_extents(self) -> [Size; 3] {
        [self.0.to_size(), self.1.to_size(), 1u64.to_size()]
    }
}

impl<X: ToSize, Y: ToSize, Z: ToSize> ToExtents for (X, Y, Z) {
    fn to_extents(self) -> [Size; 3] {
        [self.0.to_size(), self.1.to_size(), self.2.to_size()]
    }
}

/// A number of items for `per_item`: an integer, or an expression over a builder's scalars.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a number of items")]
pub trait Items {
    /// The configuration.
    type Config;

    /// Returns the configuration with one thread per item.
    fn per_item(self) -> Self::Config;
}

impl<T: ToDim> Items for T {
    type Config = PerItem;

    fn per_item(self) -> PerItem {
        per_item(self)
    }
}

macro_rules! items {
    ($({$($generics:tt)*} $ty:ty;)*) => {$(
        impl<$($generics)*> Items for $ty {
            type Config = Configuration;

            fn per_item(self) -> Configuration {
                Configuration::PerSize(self.to_size())
            }
        }
    )*};
}
items! {
    {} Size;
    {} &Size;
    {T: Integer} Scalar<T>;
}
