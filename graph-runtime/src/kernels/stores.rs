//! The instructions of a kernel as written that write its buffers, for messages.

use cuweave_ptx as ptx;

use super::declaration::Kernel;

/// Returns, for each buffer parameter, the instructions that write or may write it. The list is empty for machine code,
/// and for a kernel that is too large to be analysed.
#[cold]
pub(crate) fn stores(kernel: &Kernel) -> Vec<Vec<ptx::Site>> {
    let Ok(module) = ptx::parse_bytes(kernel.module.image()) else { return Vec::new() };
    let pointers: Vec<bool> = kernel.params.iter().map(|param| !param.is_scalar()).collect();
    let kinds = ptx::ParameterKinds { pointers: &pointers, ..ptx::ParameterKinds::default() };
    let stores = ptx::Analysis::new(&module).stores(kernel.entry, kinds);
    stores.into_iter().zip(pointers).filter(|(_, pointer)| *pointer).map(|(sites, _)| sites).collect()
}
