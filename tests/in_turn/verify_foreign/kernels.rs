//! Kernels of the corpus, each with a launch on buffers of 1,024 elements.

use cuweave::builder::{Builder, Handle};

mod basic {
    #[cuweave::kernels("tests/ptx-corpus/nvrtc/basic.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn saxpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn saxpy_strided(a: f32, x: &[f32; n], y: &mut [f32; n], n: i32);
        pub fn vector_add4(a: &[f32; 4 * n4], b: &[f32; 4 * n4], out: &mut [f32; 4 * n4], n4: i32);
        pub fn split_sign(x: &[f32; n], pos: &mut [f32; n], neg: &mut [f32; n], n: u32);
        pub fn stencil3(input: &[f32; n], out: &mut [f32; n], n: i32);
        pub fn heat2d(u: &[f32; nx * ny], next: &mut [f32; nx * ny], nx: i32, ny: i32, k: f32);
        pub fn transpose_tiled(
            input: &[f32; rows * cols],
            out: &mut [f32; rows * cols],
            rows: i32,
            cols: i32,
        );
        pub fn choose_read(a: &[f32; n], b: &[f32; n], out: &mut [f32; n], which: i32, n: u32);
        pub fn swap_arrays(a: &mut [f32; n], b: &mut [f32; n], n: u32);
    }
}

mod nn {
    #[cuweave::kernels("tests/ptx-corpus/nvrtc/nn.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn softmax_rows(x: &[f32; 1024], out: &mut [f32; 1024], cols: i32);
        pub fn softmax_in_place(x: &mut [f32; 1024], cols: i32);
        pub fn rms_norm(x: &[f32; 1024], w: &[f32; 1024], out: &mut [f32; 1024], cols: i32, eps: f32);
        pub fn gelu(x: &[f32; n], out: &mut [f32; n], n: i32);
        pub fn swiglu(gate: &[f32; n], up: &[f32; n], out: &mut [f32; n], n: i32);
        pub fn matmul_naive(a: &[f32; m * k], b: &[f32; k * n], c: &mut [f32; m * n], m: i32, n: i32, k: i32);
        pub fn matmul_tiled(
            a: &[f32; m * k],
            b: &[f32; k * n],
            c: &mut [f32; m * n],
            m: i32,
            n: i32,
            k: i32,
            alpha: f32,
            beta: f32,
        );
        pub fn rope(q: &mut [f32; 1024], cosines: &[f32; 32], sines: &[f32; 32], heads: i32, dim: i32);
    }
}

mod more {
    #[cuweave::kernels("tests/ptx-corpus/nvrtc/more.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn median(x: &[f32; w * h], out: &mut [f32; w * h], w: i32, h: i32);
    }
}

mod triton {
    #[cuweave::kernels("tests/ptx-corpus/triton/triton_add.80.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn triton_add(
            x: &[f32; n],
            y: &[f32; n],
            out: &mut [f32; n],
            n: i32,
            profile: &[u8; 0],
            scratch: &[u8; 0],
        );
    }
}

/// The elements of each buffer: 32 rows of 32.
pub const N: u32 = 1024;
const ROWS: i32 = 32;
/// The number of kernels.
pub const KERNELS: u32 = 19;

/// Launches the kernel with this number, in one of two configurations. It writes `x`, and some kernels also `y`. It
/// reads `p`, and some also `q`. `none` is for parameters that Triton adds and the kernel does not use.
pub fn launch(b: &mut Builder<'_>, kernel: u32, wide: bool, [x, y, p, q]: [Handle; 4], none: Handle) {
    let (n, of) = (N as i32, if wide { (4, 256) } else { (8, 128) });
    let square = ((2, 2), (16, 16));
    let launched = match kernel {
        0 => b.launch(basic::saxpy {}, of, (1.5f32, &p, x.write(), N)),
        1 => b.launch(basic::saxpy_strided {}, (2, 128), (-0.75f32, &p, x.write(), n)),
        2 => b.launch(basic::vector_add4 {}, (2, 128), (&p, &q, x.write(), n / 4)),
        3 => b.launch(basic::split_sign {}, of, (&p, x.write(), y.write(), N)),
        4 => b.launch(basic::stencil3 {}, of, (&p, x.write(), n)),
        5 => b.launch(basic::heat2d {}, square, (&p, x.write(), ROWS, ROWS, 0.125f32)),
        6 => b.launch(basic::transpose_tiled {}, ((1, 1), (32, 8)), (&p, x.write(), ROWS, ROWS)),
        7 => b.launch(basic::choose_read {}, of, (&p, &q, x.write(), i32::from(wide), N)),
        8 => b.launch(basic::swap_arrays {}, of, (x.write(), y.write(), N)),
        9 => b.launch(nn::softmax_rows {}, (ROWS as u32, 64), (&p, x.write(), ROWS)),
        10 => b.launch(nn::softmax_in_place {}, (ROWS as u32, 64), (x.write(), ROWS)),
        11 => b.launch(nn::rms_norm {}, (ROWS as u32, 32), (&p, &q, x.write(), ROWS, 1e-3f32)),
        12 => b.launch(nn::gelu {}, of, (&p, x.write(), n)),
        13 => b.launch(nn::swiglu {}, of, (&p, &q, x.write(), n)),
        14 => b.launch(nn::matmul_naive {}, square, (&p, &q, x.write(), ROWS, ROWS, ROWS)),
        15 => {
            let scales = (0.25f32, 0.5f32);
            let arguments = (&p, &q, x.write(), ROWS, ROWS, ROWS, scales.0, scales.1);
            b.launch(nn::matmul_tiled {}, square, arguments)
        }
        16 => {
            let (cosines, sines) = (p.range(0u32, 32u32), q.range(64u32, 96u32));
            b.launch(nn::rope {}, (4, 128), (x.write(), cosines.read(), sines.read(), 16, 64))
        }
        17 => b.launch(more::median {}, square, (&p, x.write(), ROWS, ROWS)),
        _ => b.launch(triton::triton_add {}, (4, 128), (&p, &q, x.write(), n, &none, &none)),
    };
    launched.expect("a launch");
}
