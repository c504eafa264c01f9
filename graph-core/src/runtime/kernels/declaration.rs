//! Kernels as `#[kernels]` declares them.

use crate::index::size;
use crate::runtime::token::Token;

use super::module::Module;
use super::param::Param;

/// A kernel's declaration.
#[derive(Debug)]
pub struct Kernel {
    /// Its name.
    pub name: &'static str,
    /// The module of its kernels block.
    pub module: &'static Module,
    /// Its parameters.
    pub params: &'static [Param],
    /// The number of words of its parameter values.
    pub words: usize,
    /// A bit mask of the words among the first 64 that are addresses of buffers.
    addresses: u64,
    /// The module-level variables that it reads and that some kernel writes.
    pub hidden_reads: &'static [&'static str],
    /// The module-level variables that it writes.
    pub hidden_writes: &'static [&'static str],
    /// The elements that it writes: an encoded `cuweave_ptx::coverage::Outline`, or empty.
    pub outline: &'static [u8],
}

impl Kernel {
    /// Returns a kernel that uses no written variables.
    pub const fn new(name: &'static str, module: &'static Module, params: &'static [Param]) -> Kernel {
        let (mut words, mut at, mut addresses) = (0, 0, 0);
        while at < params.len() {
            if words < 64 && !params[at].is_scalar() {
                addresses |= 1 << words;
            }
            words += params[at].words();
            at += 1;
        }
        Kernel { name, module, params, words, addresses, hidden_reads: &[], hidden_writes: &[], outline: &[] }
    }

    /// Returns the indices of words that are addresses of buffers, in the order of the parameters.
    #[inline]
    pub(crate) fn address_words(&self) -> AddressWords<'_> {
        AddressWords { kernel: self, left: self.addresses, next: None }
    }

    /// Returns true if it uses module-level variables that some kernel writes.
    pub(crate) fn shares_state(&self) -> bool {
        !(self.hidden_reads.is_empty() && self.hidden_writes.is_empty())
    }

    /// Sets the outline of the elements that it writes.
    pub const fn outlined(mut self, outline: &'static [u8]) -> Kernel {
        self.outline = outline;
        self
    }

    /// Sets the module-level variables that it reads and writes.
    pub const fn hidden(mut self, reads: &'static [&'static str], writes: &'static [&'static str]) -> Kernel {
        self.hidden_reads = reads;
        self.hidden_writes = writes;
        self
    }
}

/// A kernel's item, which `#[kernels]` generates. Nothing else can implement it, since only generated code can name a
/// [`Token`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "a launch names a kernel that a `#[kernels]` block declares"
)]
pub trait KernelItem {
    /// Returns the kernel's declaration.
    fn kernel(token: Token) -> &'static Kernel;
}

/// The iterator of [`Kernel::address_words`]: over the bits of the mask, then over the parameters beyond its 64 words.
pub(crate) struct AddressWords<'k> {
    kernel: &'k Kernel,
    left: u64,
    /// The next parameter beyond the mask, and its word.
    next: Option<(usize, usize)>,
}

impl Iterator for AddressWords<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.left != 0 {
            let word = size(self.left.trailing_zeros());
            self.left &= self.left - 1;
            return Some(word);
        }
        if self.kernel.words <= 64 { None } else { self.behind() }
    }
}

impl AddressWords<'_> {
    #[cold]
    fn behind(&mut self) -> Option<usize> {
        let params = self.kernel.params;
        let (mut at, mut word) = self.next.unwrap_or_default();
        while let Some(param) = params.get(at) {
            let here = word;
            (at, word) = (at + 1, word + param.words());
            if here >= 64 && !param.is_scalar() {
                self.next = Some((at, word));
                return Some(here);
            }
        }
        self.next = Some((at, word));
        None
    }
}
