//! Chains of 100 empty kernels on one device and on two, and copies between the two.

use cuweave::prelude::*;

use super::graphs::touch;

/// The length of the chains.
pub const LENGTH: u32 = 100;

/// A chain on the first device.
#[cuweave::graph(devices = 2, launches = "as-written")]
pub fn one(x: &mut [u32; 1]) {
    for _ in 0..100 {
        touch[(1, 1)](&mut x);
    }
}

/// A concurrent chain on each device.
#[cuweave::graph(devices = 2, launches = "as-written")]
pub fn each(x: &mut [u32; 1], y: &mut [u32; 1]) {
    for _ in 0..100 {
        touch[(1, 1)](&mut x);
        #[on(1)]
        touch[(1, 1)](&mut y);
    }
}

/// A chain that alternates between the devices.
#[cuweave::graph(devices = 2, launches = "as-written")]
pub fn alternating(x: &mut [u32; 1]) {
    for _ in 0..50 {
        touch[(1, 1)](&mut x);
        #[on(1)]
        touch[(1, 1)](&mut x);
    }
}

/// A chain whose second half is on the other device.
#[cuweave::graph(devices = 2, launches = "as-written")]
pub fn halves(x: &mut [u32; 1]) {
    for _ in 0..50 {
        touch[(1, 1)](&mut x);
    }
    #[on(1)]
    for _ in 0..50 {
        touch[(1, 1)](&mut x);
    }
}

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

macro_rules! through {
    ($memory:literal $name:ident) => {
        /// out = `y + 2 x + 2 (1 + x)`. Device 1 reads an operand and a temporary of device 0, and device 0 reads a
        /// temporary of device 1.
        #[cuweave::graph(devices = 2, memory = $memory)]
        pub fn $name(n: u32, x: &[f32; n], y: &mut [f32; n], out: &mut [f32; n]) {
            let h = alloc::<f32>(n);
            fill(&mut h, 1.0);
            axpy[per_item(n)](1.0, &x, &mut h, n);
            #[on(1)]
            let there = alloc::<f32>(n);
            #[on(1)]
            {
                copy(&y, &mut there);
                axpy[per_item(n)](2.0, &x, &mut there, n);
                axpy[per_item(n)](2.0, &h, &mut there, n);
            }
            axpy[per_item(n)](1.0, &there, &mut out, n);
        }
    };
}
through!("nodes" through_nodes);
through!("owned" through_owned);

/// A copy to a temporary of the other device and back.
#[cuweave::graph(devices = 2)]
pub fn there_and_back(n: u32, x: &mut [u32; n]) {
    #[on(1)]
    let there = alloc::<u32>(n);
    #[on(1)]
    copy(&x, &mut there);
    copy(&there, &mut x);
}
