//! Module variables whose types differ from the PTX, or are not what the host can read.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/state.ptx")]
unsafe extern "ptx-kernel" {
    static counter: u64; //~ CW303
    #[link_name = "odd"]
    static ODD: [[bool; 4]; 4];
    fn state_get(out: &mut [u32; 1]);
}

fn main() -> cuweave::Result<()> {
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;
    ODD.set(&stream, &[1; 4])?; //~ E0308
    ODD.get(&stream)?; //~ E0277
    Ok(())
}
