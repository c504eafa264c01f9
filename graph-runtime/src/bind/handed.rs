//! The outputs that a launch consumes, as a tuple.

use crate::error::Result;

use super::output::HandedOutput;

/// The outputs that a launch consumes: a tuple.
pub trait HandedOutputs {
    /// Calls `what` with the outputs, in order.
    #[doc(hidden)]
    fn with(&mut self, what: &mut dyn FnMut(&mut [&mut dyn HandedOutput]) -> Result<()>) -> Result<()>;
}

impl HandedOutputs for () {
    fn with(&mut self, what: &mut dyn FnMut(&mut [&mut dyn HandedOutput]) -> Result<()>) -> Result<()> {
        what(&mut [])
    }
}

macro_rules! tuples {
    ($($first:ident $($rest:ident)*;)*) => {$(
        impl<$first: HandedOutput, $($rest: HandedOutput),*> HandedOutputs for ($first, $($rest,)*) {
            #[allow(non_snake_case)]
            fn with(&mut self, what: &mut dyn FnMut(&mut [&mut dyn HandedOutput]) -> Result<()>) -> Result<()> {
                let ($first, $($rest,)*) = self;
                what(&mut [$first, $($rest),*])
            }
        }
    )*};
}
tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}
