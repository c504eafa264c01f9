//! A loop over a scalar creates the same operations and results as the same loop over literals, which the macro
//! unrolls.

use cuweave::prelude::*;
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

/// Declares a function with a number of iterations, and compares it with the same function with literal bounds.
macro_rules! programs {
    ($($name:ident, $turns:ident => $body:tt;)*) => {
        mod looped {
            use super::*;
            $(programs!(@one $name (turns: u32) turns $turns $body);)*
        }
        programs!(@literal one 1 $($name $turns $body)*);
        programs!(@literal two 2 $($name $turns $body)*);
        programs!(@literal three 3 $($name $turns $body)*);
        programs!(@literal six 6 $($name $turns $body)*);

        $(
            #[test]
            fn $name() {
                let device = device();
                programs!(@compare device $name one 1);
                programs!(@compare device $name two 2);
                programs!(@compare device $name three 3);
                programs!(@compare device $name six 6);
            }
        )*
    };
    (@literal $module:ident $count:literal $($name:ident $turns:ident $body:tt)*) => {
        mod $module {
            use super::*;
            $(programs!(@one $name () $count $turns $body);)*
        }
    };
    (@one $name:ident ($($argument:ident: $ty:ty)?) $count:tt $turns:ident { $($body:tt)* }) => {
        programs!(@put $name $turns ($($argument: $ty)?) $count [] $($body)*);
    };
    (@put $name:ident $n:ident ($($argument:ident: $ty:ty)?) $count:tt [$($before:tt)*] for $i:tt in 0..COUNT
        $turn:tt $($after:tt)*) => {
        #[cuweave::graph]
        pub fn $name($n: u32, $($argument: $ty,)? x: &[f32; 8 * $n], y: &mut [f32; 8 * $n]) {
            $($before)*
            for $i in 0..$count $turn
            $($after)*
        }
    };
    (@put $name:ident $n:ident $arguments:tt $count:tt [$($before:tt)*] $next:tt $($after:tt)*) => {
        programs!(@put $name $n $arguments $count [$($before)* $next] $($after)*);
    };
    (@compare $device:ident $name:ident $module:ident $count:literal) => {
        let x: Vec<f32> = (0..64).map(|at| at as f32).collect();
        let x = $device.upload(&x);
        let mut results = Vec::new();
        let (mut one, mut other) = ($device.zeros::<f32>(64), $device.zeros::<f32>(64));
        let mut texts = Vec::new();
        {
            let graph = looped::$name(&$device.ctx, 8, $count, &x, &mut one).expect("it builds");
            texts.push(format!("{} {:?}", graph.report().launches, cuweave::__private::operations(&graph)));
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&$device.stream).expect("it launches");
        }
        {
            let graph = $module::$name(&$device.ctx, 8, &x, &mut other).expect("it builds");
            texts.push(format!("{} {:?}", graph.report().launches, cuweave::__private::operations(&graph)));
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&$device.stream).expect("it launches");
        }
        results.push($device.download(&one));
        results.push($device.download(&other));
        assert_eq!(texts[0], texts[1], "{} turns", $count);
        assert_eq!(results[0], results[1], "{} turns", $count);
    };
}

programs! {
    chain, n => {
        copy(&x, &mut y);
        for i in 0..COUNT { scale[per_item(n)](&mut y[..n], (i + 2) as f32, n); }
    };
    rows, n => {
        copy(&x, &mut y);
        for i in 0..COUNT {
            scale[per_item(n)](&mut y[i * n..(i + 1) * n], (i + 2) as f32, n);
        }
        scale[per_item(8 * n)](&mut y, 0.5, 8 * n);
    };
    neighbours, n => {
        copy(&x, &mut y);
        for i in 0..COUNT {
            axpy[per_item(n)](1.0, &x[i * n..(i + 1) * n], &mut y[(i + 1) * n..(i + 2) * n], n);
            scale[per_item(n)](&mut y[i * n..(i + 1) * n], 2.0, n);
        }
    };
    temporaries, n => {
        copy(&x, &mut y);
        for i in 0..COUNT {
            let t = alloc::<f32>(n * (i + 1));
            fill(&mut t, i as f32);
            scale[per_item(n)](&mut t[i * n..(i + 1) * n], 2.0, n);
            axpy[per_item(n)](1.0, &t[i * n..(i + 1) * n], &mut y[..n], n);
        }
    };
    strides, n => {
        set[per_item(8 * n)](&mut y, 1.0, 8 * n);
        for i in 0..COUNT {
            copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut y[(7 - i) * n..(8 - i) * n], n);
        }
    };
}
