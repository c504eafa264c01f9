//! Hygiene: users may redefine names. There are tests without a prelude, next to traits whose methods have common
//! names, and with functions, arguments and types that are named like those of generated code.

#![allow(unsafe_code, reason = "library calls and blocks of kernels are `unsafe`")]
#![allow(clippy::all, reason = "the names are unlucky on purpose")]

use crate::support::{device, ramp};

/// A program with every form of the language, in the scope that the given items create.
macro_rules! everything {
    ($(#[$attribute:meta])* $name:ident $($item:item)*) => {
        $(#[$attribute])*
        #[allow(dead_code, reason = "it is compiled; a part of it runs")]
        pub mod $name {
            $($item)*

    use ::cuweave::prelude::{CallStream, alloc, fill, copy, free, per_item, atomic, host, record, wait,
        Atomic, MaybeUninit, Pinned};

    #[::cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
        pub fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
        pub fn scale(x: &mut [f32; n], a: f32, n: u32);
        pub fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
        pub fn count_up(total: &[Atomic<u32>; n], n: u32);
    }

    #[::cuweave::arguments]
    pub struct Inner {
        pub n: u32,
        pub q: &[f32; n],
    }

    #[::cuweave::arguments]
    pub struct Layer {
        pub n: u32,
        pub by: f32,
        pub q: &[f32; n],
        pub out: &mut [f32; n],
        pub parts: [&[f32; n]; 2],
        pub list: &[&mut [f32; n]],
        pub inner: Inner<'_>,
        pub inners: [Inner<'_>; 2],
        pub more: &[Inner<'_>],
    }

    pub struct Log(pub u32);

    #[::cuweave::call]
    pub unsafe fn library(stream: &CallStream, log: &Log, n: u32, x: &[f32; n], out: &mut
        [MaybeUninit<f32>; n], scratch: [f32; n]) -> ::core::result::Result<(), ::std::string::String> {
        let _ = (log.0, x, out, scratch, stream, n);
        ::core::result::Result::Ok(())
    }

    #[::cuweave::graph]
    pub fn inner(n: u32, by: f32, x: &mut [f32; n], layer: Layer<'_>) -> [f32; n] {
        scale[per_item(n)](&mut x, by, n);
        let h = alloc::<f32>(n);
        copy_to[per_item(n)](&layer.q, &mut h, n);
        h
    }

    #[::cuweave::graph(budget = 1 << 30)]
    pub fn everything(
        n: u32,
        #[at_least(1)] steps: u32,
        mode: u32,
        by: f32,
        x: &[f32; n],
        #[prefetch(device)] out: &mut [f32; n],
        total: &mut [u32; n],
        flag: &mut [u32; 1],
        pinned: &mut Pinned<[f32; n]>,
        arrays: [&mut [f32; n]; 3],
        list: &[&mut [f32; n]],
        layer: Layer<'_>,
        layers: [Layer<'_>; 2],
        more: &[Layer<'_>],
        taken: [f32; n],
        log: &Log,
        event: &::cuweave::cudarc::driver::CudaEvent,
        kept: &Log,
    ) -> ([f32; n], [f32; n]) {
        let a = alloc::<f32>(n);
        set[per_item(n)](&mut a, by, n);
        let b = alloc::<f32>(n);
        fill(&mut b, 1.0);
        swap(&mut a, &mut b);
        for _ in 0..steps {
            let named = scale[((n + 31) / 32, 32u32, 0)](&mut a, by * 2.0, n);
            #[after(named)]
            scale[per_item(n)](&mut b, by, n);
        }
        for i in 0..3 {
            scale[per_item(n)](&mut arrays[i], i as f32, n);
        }
        for item in list.iter_mut().rev() {
            scale[per_item(n)](&mut item, 2.0, n);
        }
        for (i, item) in more.iter().enumerate() {
            scale[per_item(item.n)](&mut item.out, i as f32 + item.by, item.n);
        }
        if mode == 1 {
            copy(&x, &mut out);
        } else if mode == 2 {
            fill(&mut out, 2.0);
        }
        match mode {
            0 | 3..=5 => fill(&mut out, 3.0),
            _ => {}
        }
        count_up[per_item(n)](atomic(&mut total), n);
        'solve: while flag {
            fill(&mut flag, 0u32);
        }
        if flag { fill(&mut out, 1.0); }
        let h = inner(n, by, &mut out, record(layer));
        free(h);
        let k = inner(n, by, &mut out, record(layers[1]));
        free(k);
        library(&log, n, &x, &mut out);
        copy(&x, &mut pinned);
        host(&kept, &mut pinned, move |kept, pinned| { let _ = (kept.0, pinned); });
        record(&event);
        wait(&event);
        copy(&taken, &mut out);
        (a, b)
    }
        }
    };
}

everything!(
    #[no_implicit_prelude]
    without_a_prelude
);

/// The user's traits, implemented for all types.
#[allow(dead_code, reason = "nothing calls them")]
mod hostile {
    macro_rules! hostile {
        ($($method:ident)*) => {
            pub trait ByValue: Sized {
                $(fn $method(self) {})*
            }
            impl<T> ByValue for T {}
            pub trait ByReference {
                $(fn $method(&self) {})*
            }
            impl<T: ?Sized> ByReference for T {}
        };
    }
    hostile!(
        into into_iter clone clone_from len iter iter_mut as_ref as_mut borrow borrow_mut map collect
            to_string to_owned try_into unwrap expect next cmp eq fmt default from drop deref add sub mul
            take value handle lend field finish finish_non_exhaustive debug_struct visit count describe
            before get set launch call part element of at new view_mut view core core_mut part_mut run
            buffer resource scalar outlined hidden written unproved updates structure record arguments
            turns views synchronize upload report host wait copy fill is_empty first last index
            with_capacity push extend rev enumerate zip chain find filter and_then ok ok_or map_err
            next_multiple_of checked_add max min
    );
}

everything!(
    #[allow(unused_imports, reason = "the traits stand in the way")]
    beside_hostile_traits
    use super::hostile::{ByReference as _, ByValue as _};
);

/// Binds and launches a part of the program.
macro_rules! runs {
    ($module:ident) => {{
        use $module::{Inner, Layer, inner};
        let device = device();
        let q = device.upload(&ramp(8));
        let [mut x, mut out, mut list] = [(); 3].map(|()| device.upload(&ramp(8)));
        let one = || Inner::new(8, &q);
        let layer =
            Layer::new(8, 1.0, &q, &mut out, [&q, &q], vec![&mut list], one(), [one(), one()], vec![one()]);
        assert!(format!("{layer:?}").contains("inners"));
        let mut exec =
            inner(&device.ctx, 8, 2.0, &mut x, layer).expect("it builds").instantiate().expect("an exec");
        exec.layer().inners(1).expect("a second one").set_q(&q).expect("another buffer");
        exec.layer().list(0).expect("a first one");
        let output = exec.launch(&device.stream).expect("it launches");
        assert_eq!(device.download(&output), ramp(8));
        drop(output);
        drop(exec);
        assert_eq!(device.download(&x), ramp(8).iter().map(|x| x * 2.0).collect::<Vec<_>>());
    }};
}

#[test]
fn without_a_prelude_a_program_is_the_same() {
    runs!(without_a_prelude);
}

#[test]
fn beside_hostile_traits_a_program_is_the_same() {
    runs!(beside_hostile_traits);
}

/// Functions, arguments and fields with unfortunate names.
#[no_implicit_prelude]
pub mod names {
    #![allow(non_snake_case, dead_code, non_camel_case_types)]
    use ::cuweave::prelude::{alloc, copy, fill, per_item};
    pub struct Inner;
    #[::cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn scale(x: &mut [f32; n], a: f32, n: u32);
    }
    macro_rules! named {
        ($($name:ident)*) => {$(
            #[::cuweave::graph]
            pub fn $name(n: u32, x: &mut [f32; n], y: &[f32; n]) -> [f32; n] {
                let h = alloc::<f32>(n);
                copy(&y, &mut h);
                scale[per_item(n)](&mut x, 2.0, n);
                h
            }
        )*};
    }
    named!(Exec Args Views ViewsMut Values Graph Result Option Some None Ok Err Vec Box String Token Dim
        Body Table Arc std core alloc_ cuweave cudarc Self_ r#match r#type r#fn build launch new __table
        f self_ Iterator Clone Debug Sized Send Infallible main drop clone into Default f32_ usize_ bool_
        Refused Output ctx args a0 A0 P T E Item Type);
    macro_rules! fields {
        ($($name:ident)*) => {
            #[::cuweave::arguments]
            pub struct Record { pub n: u32, pub q: &[f32; n], $(pub $name: &mut [f32; n],)* }
            #[::cuweave::graph]
            pub fn arguments(n: u32, $($name: &mut [f32; n],)* record: Record<'_>) {
                $(fill(&mut $name, 1.0);)*
                $(fill(&mut record.$name, 1.0);)*
            }
            pub mod scalars {
                use ::cuweave::prelude::fill;
                #[::cuweave::arguments]
                pub struct Scalars { pub many: u32, pub q: &mut [f32; many], $(pub $name: f32,)* }
                #[::cuweave::graph]
                pub fn scalars(x: &mut [f32; 1], $($name: f32,)* record_: Scalars<'_>) {
                    $(fill(&mut x, $name);)*
                    $(fill(&mut record_.q, record_.$name);)*
                }
            }
        };
    }
    fields!(Exec Args Views ViewsMut Values Graph Result Vec Box String Token Dim r#match r#type r#fn
        build launch new __table f exec core core_mut visitor field name count number argument args ctx
        evaluation step turns values part set element index first lender at shown given enter capture
        stream function memory kept_0 one all len is_empty into self_ P T __P a0 __A0 token output report
        upload synchronize launches profile dot svg page views views_mut into_args args_mut arguments
        scalars drop clone default fmt u32 f32 bool usize i64 u64 str);
}

#[test]
fn functions_have_the_names_of_generated_types() {
    let device = device();
    let (mut x, y) = (device.upload(&ramp(4)), device.upload(&ramp(4)));
    macro_rules! launch {
        ($($name:ident)*) => {$(
            let graph = names::$name(&device.ctx, 4, &mut x, &y).expect("it builds");
            let mut exec = graph.instantiate().expect("an exec");
            assert_eq!(device.download(&exec.launch(&device.stream).expect("it launches")), ramp(4));
            drop(exec);
        )*};
    }
    launch!(Exec Args r#match);
    assert_eq!(device.download(&x), ramp(4).iter().map(|x| x * 8.0).collect::<Vec<_>>());
}

/// The user's types have the same names as those in a graph function's module.
#[no_implicit_prelude]
#[allow(dead_code, reason = "it is compiled")]
pub mod types {
    use ::cuweave::prelude::{CallStream, MaybeUninit, alloc, copy, fill};
    #[::cuweave::arguments]
    pub struct Args {
        pub n: u32,
        pub q: &mut [f32; n],
    }
    #[::cuweave::arguments]
    pub struct Exec {
        pub n: u32,
        pub args: Args<'_>,
        pub list: &[Args<'_>],
    }
    #[derive(::core::clone::Clone, ::core::marker::Copy, Debug)]
    pub struct Values(pub f32);
    pub struct Views(pub f32);
    pub type ViewsMut = f32;

    #[::cuweave::call]
    pub unsafe fn library(
        stream: &CallStream,
        values: Values,
        views: &Views,
        n: u32,
        x: &[f32; n],
        out: &mut [MaybeUninit<ViewsMut>; n],
    ) {
        let _ = (values.0, views.0, x, out, stream, n);
    }

    #[::cuweave::graph]
    pub fn function(
        n: u32,
        values: Values,
        views: &Views,
        x: &mut [ViewsMut; n],
        exec: Exec<'_>,
        execs: [Exec<'_>; 2],
        args: &[Args<'_>],
        lists: &[&[ViewsMut; n]],
    ) -> [ViewsMut; n] {
        let h = alloc::<ViewsMut>(n);
        fill(&mut h, values.0);
        fill(&mut x, views.0);
        library(values, &views, n, &x, &mut h);
        fill(&mut exec.args.q, 1.0);
        fill(&mut execs[1].args.q, 1.0);
        fill(&mut args[0].q, 1.0);
        copy(&lists[0], &mut x);
        h
    }
}
