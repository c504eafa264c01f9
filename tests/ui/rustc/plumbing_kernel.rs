//! A type with the functions of a kernel's item, which catch what generated code gives them, is no kernel.

#![forbid(unsafe_code)]
#![allow(non_camel_case_types)]

use std::any::Any;
use std::marker::PhantomData;

use cuweave::prelude::*;

struct fake<K>(PhantomData<K>);

impl<K: 'static> fake<K> {
    fn kernel<T: 'static>(token: T) -> K {
        *(Box::new(token) as Box<dyn Any>).downcast().expect("the same type")
    }

    fn __launch<A: 'static>(argument: A) -> K {
        *(Box::new(argument) as Box<dyn Any>).downcast().expect("the same type")
    }
}

type Fake = fake<u32>;

#[cuweave::graph]
fn launched(n: u32, x: &mut [f32; n]) {
    Fake[per_item(n)](&mut x); //~ E0277
}

fn main() {}
