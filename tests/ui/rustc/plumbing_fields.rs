//! The contents of an exec are out of reach: no other buffer is bound behind its back, no output is read as another type.

#![forbid(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream};
use cuweave::bind::BoundShared;
use cuweave::prelude::*;

#[cuweave::graph]
fn bytes(n: u32, y: &[u8; n]) -> [u8; n] {
    let h = alloc::<u8>(n);
    copy(&y, &mut h);
    h
}

fn rebind(exec: &mut bytes::Exec<'_>, z: CudaSlice<u8>, stream: &Arc<CudaStream>) -> cuweave::Result<()> {
    exec.0.set_buffer(0, BoundShared::Arc(Arc::new(z)), |args| &mut args.y)?; //~ E0609
    exec.core.launch(stream, ())?; //~ E0616
    let flags = exec.core.output::<bool>(0)?; //~ E0616
    drop(flags);
    Ok(())
}

fn main() {}
