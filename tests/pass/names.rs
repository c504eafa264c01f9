//! Names that a user may choose, however unfortunate: generated code must not collide with any of them.

use cuweave::{graph, kernels};

use crate::support::{device, ramp, run};

mod unlucky {
    #![allow(dead_code, non_camel_case_types, reason = "these items only stand in the way")]

    use cuweave::prelude::*;

    pub struct Graph;
    pub struct Option;
    pub struct Result;
    pub struct Some;
    pub struct Ok;
    pub struct Err;
    pub struct Vec;
    pub struct Arc;
    pub struct Box;
    pub struct String;
    pub struct Into;
    pub struct Default;
    pub enum std {}
    pub enum core {}
    pub enum cudarc {}
    pub const PROGRAM: f32 = 2.0;

    pub mod ir {
        use cuweave::prelude::*;

        #[cuweave::kernels("tests/kernels/common.ptx")]
        unsafe extern "ptx-kernel" {
            pub fn scale(x: &mut [f32; n], a: f32, n: u32);
            pub fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
        }
    }
    use ir::copy_to;

    #[cuweave::graph]
    pub fn step(
        ctx: u32,
        args: f32,
        statement: f32,
        graph: &[f32; ctx],
        exec: &mut [f32; ctx],
        result: &mut [f32; ctx],
        r#type: &mut [f32; ctx],
    ) {
        let config = alloc::<f32>(ctx);
        copy_to[per_item(ctx)](&graph, &mut config, ctx);
        ir::scale[per_item(ctx)](&mut config, args * PROGRAM, ctx);
        copy_to[per_item(ctx)](&config, &mut exec, ctx);
        copy(&exec, &mut result);
        ir::scale[per_item(ctx)](&mut result, statement, ctx);
        copy(&result, &mut r#type);
    }
}

#[test]
fn arguments_and_items_with_unlucky_names() {
    let device = device();
    let x = device.upload(&ramp(10));
    let (mut a, mut b, mut c) = (device.zeros::<f32>(10), device.zeros::<f32>(10), device.zeros::<f32>(10));
    run!(device, unlucky::step(&device.ctx, 10, 1.0, 3.0, &x, &mut a, &mut b, &mut c));
    assert_eq!(device.download(&a), ramp(10).iter().map(|x| x * 2.0).collect::<Vec<_>>());
    assert_eq!(device.download(&c), ramp(10).iter().map(|x| x * 6.0).collect::<Vec<_>>());
}

/// The attributes are imported by `use` without the prelude: the words of the language are not items.
mod without_prelude {
    use super::{graph, kernels};
    use std::mem::MaybeUninit;

    #[kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    }

    /// Documented.
    #[graph]
    #[allow(non_snake_case, reason = "attributes of the user stay where they are")]
    #[inline]
    pub(crate) fn add_all(n: u32, add: &[f32; n], alloc: &[f32; n], copy: &mut [f32; n]) {
        let fill = alloc::<f32>(n);
        add[per_item(n)](&add, &alloc, &mut fill, n);
        copy(&fill, &mut copy);
    }
}

#[test]
fn buffers_named_like_the_words_of_the_language() {
    let device = device();
    let x = device.upload(&ramp(10));
    let mut out = device.zeros::<f32>(10);
    run!(device, without_prelude::add_all(&device.ctx, 10, &x, &x, &mut out));
    assert_eq!(device.download(&out), ramp(10).iter().map(|x| x * 2.0).collect::<Vec<_>>());
}

/// Two graph functions in one module, one of them named like a kernel of another module.
mod several {
    use cuweave::prelude::*;

    mod k {
        #[cuweave::kernels("tests/kernels/common.ptx")]
        unsafe extern "ptx-kernel" {
            pub fn scale(x: &mut [f32; n], a: f32, n: u32);
        }
    }

    #[cuweave::graph]
    pub fn scale(n: u32, x: &mut [f32; n]) {
        k::scale[per_item(n)](&mut x, 2.0, n);
    }

    #[cuweave::graph]
    pub fn twice(n: u32, x: &mut [f32; n]) {
        k::scale[per_item(n)](&mut x, 2.0, n);
        k::scale[per_item(n)](&mut x, 2.0, n);
    }
}

#[test]
fn several_graph_functions_in_a_module() {
    let device = device();
    let mut x = device.upload(&ramp(10));
    run!(device, several::scale(&device.ctx, 10, &mut x));
    run!(device, several::twice(&device.ctx, 10, &mut x));
    assert_eq!(device.download(&x), ramp(10).iter().map(|x| x * 8.0).collect::<Vec<_>>());
}

/// Records with the same names as the parameters of generated types and functions.
mod records {
    #![allow(non_camel_case_types, reason = "a style of the user's")]

    #[cuweave::arguments]
    pub struct P {
        pub n: u32,
        x: &[f32; n],
        y: &mut [f32; n],
    }
    #[cuweave::arguments]
    pub struct A0 {
        pub p: P<'_>,
        all: &[P<'_>],
    }
    #[derive(Clone, Copy)]
    pub struct A1(pub f32);

    #[cuweave::graph]
    pub fn inner(a: A0<'_>, by: A1, n: u32, x: &[f32; n], y: &mut [f32; n]) {
        copy(&a.p.x, &mut a.p.y);
        super::unlucky::ir::scale[(1, 32)](&mut a.p.y, by.0, n);
        copy(&x, &mut y);
        for p in &a.all {
            copy(&p.x, &mut p.y);
        }
    }

    #[cuweave::graph]
    pub fn outer(a: A0<'_>, by: A1, n: u32, x: &[f32; n], y: &mut [f32; n]) {
        inner(a, by, n, &x, &mut y);
    }
}

#[test]
fn records_with_unlucky_names() {
    use records::{A0, A1, P};
    let device = device();
    let (x, other) = (device.upload(&ramp(4)), device.upload(&[1.0_f32; 4]));
    let part = || P::new(4, &x, device.zeros::<f32>(4));
    let out = device.zeros::<f32>(4);
    let graph = records::outer(&device.ctx, A0::new(part(), vec![part()]), A1(3.0), 4, &x, out);
    let mut exec = graph.expect("builds").instantiate().expect("it instantiates");
    exec.a().p().set_x(&other).expect("it is set");
    exec.a().all(0).expect("it has one").set_x(&other).expect("it is set");
    exec.launch(&device.stream).expect("it launches");
    let args = exec.into_args();
    assert_eq!(args.a.p.n, 4);
}
