//! 96 small unordered kernels with different code.

use cuweave::prelude::*;

macro_rules! different {
    ($($kernel:ident $at:tt)*) => {
        #[cuweave::kernels("benches/kernels/different.ptx")]
        unsafe extern "ptx-kernel" {
            $(fn $kernel(x: &mut [f32; n], n: u32);)*
        }

        each_side! {
            /// Each kernel uses its own buffer.
            graph[] fn all_different(n: u32, xs: [&mut [f32; n]; 96]) {
                $($kernel[per_item(n)](&mut xs[$at], n);)*
            }
        }

        /// The kernels' names.
        pub const DIFFERENT: [&std::ffi::CStr; 96] = [$(name(concat!(stringify!($kernel), "\0"))),*];
    };
}

const fn name(text: &str) -> &std::ffi::CStr {
    match std::ffi::CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

each_different!(different 96);
