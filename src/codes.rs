//! The error codes: one page each, with a wrong program, what the compiler says to it, and a right one.

macro_rules! pages {
    ($($code:ident $module:ident $severity:ident $title:literal;)*) => {$(
        #[doc = include_str!(concat!("../docs/errors/", stringify!($code), ".md"))]
        pub mod $module {}
    )*};
}

cuweave_core::error_codes!(pages!);
