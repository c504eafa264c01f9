//! Every element type with every reduction.

use cuweave::nccl::{Communicator, Reduce, all_reduce};
use cuweave::prelude::*;
use half::{bf16, f16};

use crate::library::{devices, silent};

macro_rules! types {
    ($($name:ident: $ty:ty, $of:expr;)*) => {
        $(#[cuweave::graph(devices = 2)]
        fn $name(n: u32, by: Reduce, comm: &Communicator, a: &mut [$ty; n], b: &mut [$ty; n]) {
            all_reduce(&comm, &mut a, by, n);
            #[on(1)]
            all_reduce(&comm, &mut b, by, n);
        })*

        #[test]
        #[ignore = "run with the library of the tests, or on real devices"]
        fn every_type_with_every_reduction() {
            let Some((contexts, streams)) = devices(2) else { return };
            let comm = Communicator::of_all(&contexts).expect("a communicator");
            let expected = [
                (Reduce::Sum, 8), (Reduce::Prod, 12), (Reduce::Max, 6), (Reduce::Min, 2), (Reduce::Avg, 4),
            ];
            $(
                let of: fn(i32) -> $ty = $of;
                for (by, result) in expected {
                    let mut a = streams[0].clone_htod(&[of(2); 33]).expect("ok");
                    let mut b = streams[1].clone_htod(&[of(6); 33]).expect("ok");
                    let graph = $name(&contexts, 33, by, &comm, &mut a, &mut b).expect("it builds");
                    let mut exec = graph.instantiate().expect("it instantiates");
                    exec.launch(&streams[0]).expect("it launches");
                    exec.synchronize().expect("it ends");
                    drop(exec);
                    for (stream, x) in [(&streams[0], &a), (&streams[1], &b)] {
                        assert_eq!(stream.clone_dtoh(x).expect("ok"), [of(result); 33], "{by:?}");
                    }
                }
            )*
            silent();
        }
    };
}
types! {
    of_i8: i8, |x| x as i8;
    of_u8: u8, |x| x as u8;
    of_i32: i32, |x| x;
    of_u32: u32, |x| x as u32;
    of_i64: i64, |x| x.into();
    of_u64: u64, |x| x as u64;
    of_f32: f32, |x| x as f32;
    of_f64: f64, |x| x.into();
    of_f16: f16, |x| f16::from_f32(x as f32);
    of_bf16: bf16, |x| bf16::from_f32(x as f32);
}
