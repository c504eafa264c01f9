//! Kernels as `#[kernels]` declares them: statics in generated code, with the facts that the macro read from
//! their PTX.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cuweave_core::index::size;

use crate::token::Token;

use super::module::Module;
use super::param::Param;

/// The variants of declarations for launches that omit optional buffers, keyed by the declaration's address and
/// the mask of omitted buffers.
static WITHOUT: Mutex<BTreeMap<(usize, u64), &'static Kernel>> = Mutex::new(BTreeMap::new());

/// A kernel's declaration.
#[derive(Debug)]
pub struct Kernel {
    /// Its name in Rust.
    pub name: &'static str,
    /// Its name in the module.
    pub entry: &'static str,
    /// The module of its kernels block.
    pub module: &'static Module,
    /// Its parameters.
    pub params: &'static [Param],
    /// The number of words that its parameter values take.
    pub words: usize,
    /// Bit i is set if word i is the address of a buffer, for the first 64 words.
    addresses: u64,
    /// The module variables that it reads and that some kernel writes.
    pub hidden_reads: &'static [&'static str],
    /// The module variables that it writes.
    pub hidden_writes: &'static [&'static str],
    /// The encoded `cuweave_ptx::coverage::BackwardSlice` of the elements that it writes. May be empty.
    pub outline: &'static [u8],
    /// The encoded outline of its accesses through parameters without proved extents. May be empty.
    pub accesses: &'static [u8],
    /// True if the blocks of its grid synchronise with each other.
    pub cooperative: bool,
    /// The declared numbers that the kernel itself does not take: their positions in the declaration, and their
    /// names.
    pub contract: &'static [(u32, &'static str)],
    /// Bit i is set if launches of this declaration omit buffer i. The parameters of omitted buffers are
    /// scalars here.
    pub absent: u64,
}

impl Kernel {
    /// Returns a kernel that uses no written module variables.
    pub const fn new(name: &'static str, module: &'static Module, params: &'static [Param]) -> Kernel {
        let (mut words, mut at, mut addresses) = (0, 0, 0);
        while at < params.len() {
            if words < 64 && !params[at].is_scalar() {
                addresses |= 1 << words;
            }
            words += params[at].words();
            at += 1;
        }
        Kernel {
            name,
            entry: name,
            module,
            params,
            words,
            addresses,
            hidden_reads: &[],
            hidden_writes: &[],
            outline: &[],
            accesses: &[],
            cooperative: false,
            contract: &[],
            absent: 0,
        }
    }

    /// Returns the indices of the words that are addresses of buffers, in the order of the parameters.
    #[inline]
    pub(crate) fn address_words(&self) -> AddressWords<'_> {
        AddressWords { kernel: self, left: self.addresses, next: None }
    }

    /// Returns true if it takes a table of pointers, and so accesses memory beyond its parameters.
    pub(crate) fn takes_tables(&self) -> bool {
        self.params.iter().any(|param| param.table)
    }

    /// Returns true if it uses module variables that some kernel writes.
    pub(crate) fn shares_state(&self) -> bool {
        !(self.hidden_reads.is_empty() && self.hidden_writes.is_empty())
    }

    /// Sets its name in the module, if that differs from the name in Rust.
    pub const fn linked(mut self, entry: &'static str) -> Kernel {
        self.entry = entry;
        self
    }

    /// Sets the outline of the elements that it writes.
    pub const fn outlined(mut self, outline: &'static [u8]) -> Kernel {
        self.outline = outline;
        self
    }

    /// Sets the outline of its accesses through parameters without proved extents.
    pub const fn accessing(mut self, accesses: &'static [u8]) -> Kernel {
        self.accesses = accesses;
        self
    }

    /// Marks it as cooperative: its blocks synchronise with each other.
    pub const fn cooperative(mut self) -> Kernel {
        self.cooperative = true;
        self
    }

    /// Sets the declared numbers that the kernel itself does not take.
    pub const fn contract(mut self, contract: &'static [(u32, &'static str)]) -> Kernel {
        self.contract = contract;
        self
    }

    /// Returns the position of a parameter in the declaration.
    pub(crate) fn declared_at(&self, parameter: u32) -> u32 {
        self.contract.iter().fold(parameter, |at, &(number, _)| at + u32::from(number <= at))
    }

    /// Returns the whole declaration: each name, with the parameter if the kernel takes it.
    pub(crate) fn declared(&self) -> Vec<(&'static str, Option<&'static Param>)> {
        let mut declared: Vec<_> = self.params.iter().map(|param| (param.name, Some(param))).collect();
        for &(at, name) in self.contract {
            declared.insert(size(at).min(declared.len()), (name, None));
        }
        declared
    }

    /// Returns the declaration for launches that omit the optional buffers in the mask `absent`. Created once
    /// for each mask, and never freed.
    pub(crate) fn without(&'static self, absent: u64) -> &'static Kernel {
        if absent == 0 {
            return self;
        }
        let mut made = WITHOUT.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry((std::ptr::from_ref(self).addr(), absent)).or_insert_with(|| {
            let mut buffers = 0;
            let param = |param: &Param| {
                buffers += u32::from(!param.is_scalar());
                let is_absent =
                    !param.is_scalar() && absent.checked_shr(buffers - 1).is_some_and(|bits| bits & 1 == 1);
                if is_absent { param.absent() } else { *param }
            };
            let params: Vec<Param> = self.params.iter().map(param).collect();
            let Kernel { params, addresses, .. } = Kernel::new(self.name, self.module, params.leak());
            Box::leak(Box::new(Kernel { params, addresses, absent, ..*self }))
        })
    }

    /// Sets the buffers that its launches omit: their parameters are scalars.
    pub(crate) const fn with_absent(mut self, absent: u64) -> Kernel {
        self.absent = absent;
        self
    }

    /// Sets the module variables that it reads and writes.
    pub const fn hidden(mut self, reads: &'static [&'static str], writes: &'static [&'static str]) -> Kernel {
        self.hidden_reads = reads;
        self.hidden_writes = writes;
        self
    }
}

/// The item of a kernel, which `#[kernels]` generates. Nothing else can implement it, since only generated code
/// can name a [`Token`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "a launch names a kernel that a `#[kernels]` block declares"
)]
pub trait KernelItem {
    /// Returns the kernel's declaration.
    fn kernel(token: Token) -> &'static Kernel;
}

/// The iterator of [`Kernel::address_words`]: first the bits of the mask, then the parameters beyond its 64
/// words.
pub(crate) struct AddressWords<'k> {
    kernel: &'k Kernel,
    left: u64,
    /// The next parameter beyond the mask, with its first word.
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
        if self.kernel.words <= 64 { None } else { self.next_beyond_mask() }
    }
}

impl AddressWords<'_> {
    #[cold]
    fn next_beyond_mask(&mut self) -> Option<usize> {
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
