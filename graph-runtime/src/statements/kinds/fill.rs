//! Fills: a memset node writes values of 1, 2 or 4 bytes. Most values of 8 bytes need an internal kernel.

use cuweave_core::index::{low, narrow, size};
use cuweave_core::ir::StatementId;
use cuweave_core::launches::LaunchShape;

use crate::cuda::{self, ElementRange, Memset, Node, Outcome, Word};
use crate::error::Result;
use crate::kernels::{FILL_ROWS, FILL64, Kernel, LaunchRecord, Modules};
use crate::statements::emission::{AddContext, EmissionContext, Parameters, SetContext};
use crate::statements::evaluator::Evaluator;
use crate::statements::rows::RowNumbers;

/// The maximum number of blocks of a fill kernel. Its threads loop with a stride over the elements.
const MAX_BLOCKS: u32 = 1 << 20;

/// Returns the configuration of a kernel whose threads loop with a stride over elements.
pub(super) fn shape_of(elements: u64, max_threads: u32) -> LaunchShape {
    let blocks = u32::try_from(elements.div_ceil(256)).unwrap_or(MAX_BLOCKS).clamp(1, MAX_BLOCKS);
    LaunchShape { grid: [blocks, 1, 1], block: [256.min(max_threads.max(1)), 1, 1], shared: 0 }
}

/// Writes the values of parameters to words.
pub(super) fn set_words(words: &mut [Word], first: u32, values: impl Iterator<Item = u64>) {
    for (word, value) in words[size(first)..].iter_mut().zip(values) {
        *word = cuda::address_word(value);
    }
}

/// The values of a fill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FillRecord {
    /// The value's bits.
    bits: u64,
    /// The size of the value in bytes: 1, 2, 4 or 8.
    size: u32,
    /// For 8 bytes and for rows, which may need a kernel: the index of the first word of the kernel's parameters.
    first: u32,
    /// True for rows with a pitch.
    pitched: bool,
}

impl FillRecord {
    /// Returns the kernel that fills with 8-byte values.
    fn kernel(self) -> &'static Kernel {
        if self.pitched { &FILL_ROWS } else { &FILL64 }
    }

    /// Evaluates a fill with a value.
    ///
    /// # Errors
    ///
    /// An empty range; a pitch above the device's limit.
    pub(super) fn evaluate<T: Fillable>(evaluator: &mut Evaluator<'_>, value: T) -> Result<FillRecord> {
        evaluator.check_not_empty()?;
        let access = evaluator.access(0)?;
        evaluator.check_pitch(access)?;
        let (size, first) = (narrow(size_of::<T>()), evaluator.words.len());
        let pitched = access.rows.is_some();
        let record = FillRecord { bits: value.bits(), size, first: narrow(first), pitched };
        evaluator.words.resize(first + record.words().1, cuda::address_word(0));
        Ok(record)
    }

    /// Returns the written bytes as a pattern of eight bytes.
    pub(crate) fn pattern(self) -> u64 {
        cuda::pattern(self.bits, self.size)
    }

    /// Returns the index of its first word and the number of its words.
    pub(super) fn words(&self) -> (usize, usize) {
        if self.size == 8 || self.pitched { (size(self.first), self.kernel().words) } else { (0, 0) }
    }

    /// Returns the record with its words at index `first`.
    pub(super) fn at(self, first: u32) -> FillRecord {
        FillRecord { first, ..self }
    }

    /// If no memset can do the fill, returns the launch of the fill kernel and writes its parameters to its words.
    pub(super) fn resolve(
        self,
        emission: &EmissionContext<'_>,
        statement: StatementId,
        modules: &mut Modules,
        words: &mut [Word],
    ) -> Result<Option<LaunchRecord>> {
        let FillRecord { bits, first, .. } = self;
        let fits_memset = self.size != 8 || bits >> 32 == bits & 0xffff_ffff;
        if fits_memset && !emission.as_kernels[statement] {
            return Ok(None);
        }
        let kernel = self.kernel();
        let ElementRange { address, len } = emission.elements_of(statement, 0);
        let rows = RowNumbers::of(&emission.program.statements[statement].accesses[0], emission.dims);
        let len = rows.map_or(len, RowNumbers::elements);
        let info = modules.function(emission.program.statements[statement].device, kernel)?;
        let rows = rows.iter().flat_map(|rows| [rows.width, rows.pitch, self.size.into()]);
        set_words(words, first, [address, bits, len].into_iter().chain(rows));
        Ok(Some(LaunchRecord {
            kernel,
            function: info.function,
            shape: shape_of(len, info.max_threads),
            first,
        }))
    }

    /// Returns the parameters of its memset node.
    pub(super) fn node(self, emission: &EmissionContext<'_>, statement: StatementId) -> Memset {
        let ElementRange { address: target, len } = emission.elements_of(statement, 0);
        let access = &emission.program.statements[statement].accesses[0];
        let rows = RowNumbers::of(access, emission.dims);
        let len = rows.map_or(len, |rows| rows.width);
        let (element, width) = if self.size == 8 { (4, len * 2) } else { (self.size, len) };
        let line = Memset::line(target, low(self.bits), element, width);
        let pitch = |rows: RowNumbers| rows.bytes(self.size.into()).bytes;
        rows.map_or(line, |rows| Memset { rows: rows.count, pitch: pitch(rows), ..line })
    }
}

impl Parameters for Memset {
    fn add(&self, AddContext { driver, context, graph, after, .. }: AddContext<'_>) -> Outcome<Node> {
        driver.add_fill(graph, after, self, context)
    }

    fn set(&self, SetContext { driver, context, exec, node, scratch, .. }: SetContext<'_>) -> Outcome<()> {
        driver.set_fill(exec, node, self, context, scratch)
    }
}

/// An element type that `fill` supports. Sealed: all bytes of a value must be initialised, and a user's type
/// may have padding.
#[diagnostic::on_unimplemented(
    message = "`fill` does not take elements of type `{Self}`",
    label = "the elements of this buffer are of type `{Self}`",
    note = "`fill` takes the integers of up to 64 bits, `f32`, `f64` and `bool`, and with feature `half` also \
        `half::f16` and `half::bf16`"
)]
pub trait Fillable: sealed::Sealed + Copy {
    /// Returns the value's bits, starting at the lowest byte.
    #[doc(hidden)]
    fn bits(self) -> u64;
}

mod sealed {
    /// Restricts [`Fillable`](super::Fillable) to the types here.
    pub trait Sealed {}
}

macro_rules! fillable {
    ($($ty:ty: |$value:ident| $bits:expr;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Fillable for $ty {
            #[inline]
            fn bits(self) -> u64 {
                let $value = self;
                $bits
            }
        }
    )*};
}
#[cfg(feature = "half")]
fillable! {
    half::f16: |value| value.to_bits().into();
    half::bf16: |value| value.to_bits().into();
}
fillable! {
    u8: |value| value.into();
    u16: |value| value.into();
    u32: |value| value.into();
    u64: |value| value;
    usize: |value| cuweave_core::index::wide(value);
    i8: |value| value.cast_unsigned().into();
    i16: |value| value.cast_unsigned().into();
    i32: |value| value.cast_unsigned().into();
    i64: |value| value.cast_unsigned();
    isize: |value| cuweave_core::index::wide(value.cast_unsigned());
    bool: |value| value.into();
    f32: |value| value.to_bits().into();
    f64: |value| value.to_bits();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_value_alone() {
        assert_eq!((-1_i8).bits(), 0xff);
        assert_eq!(i16::MIN.bits(), 0x8000);
        assert_eq!((-2_i32).bits(), 0xffff_fffe);
        assert_eq!((-1_i64).bits(), u64::MAX);
        assert_eq!(true.bits(), 1);
        assert_eq!((-0.0_f32).bits(), 0x8000_0000);
        assert_eq!(1.0_f64.bits(), 0x3ff0_0000_0000_0000);
    }
}
