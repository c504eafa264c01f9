//! The error codes: one page each, with a wrong program, the compiler's message for it, and a right program.

macro_rules! pages {
    ($($code:ident $module:ident $severity:ident $title:literal;)*) => {$(
        #[cfg_attr(not(doctest), doc = include_str!("links.md"))]
        #[doc = include_str!(concat!("../docs/errors/", stringify!($code), ".md"))]
        pub mod $module {}
    )*};
}

cuweave_core::error_codes!(pages!);
