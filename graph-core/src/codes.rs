//! The registry of error codes: one row each, which the compiler, the macros, the pages and the tests read.

use std::fmt;

/// Passes the registry to a macro: the code, the name of its page's module, the severity and the title of each.
#[doc(hidden)]
#[macro_export]
macro_rules! error_codes {
    ($($macro:tt)*) => {
        $($macro)* {
            CW001 cw001 Error "not in the language";
            CW101 cw101 Error "a buffer is read that nothing has written";
            CW102 cw102 Error "used after it is freed";
            CW103 cw103 Error "freed twice";
            CW104 cw104 Error "freed although the graph does not own it";
            CW105 cw105 Error "returned although freed, or twice";
            CW106 cw106 Warning "allocated and never used, or written and never read";
            CW107 cw107 Error "returned but never written";
            CW108 cw108 Error "discarded, and then read or left unwritten";
            CW201 cw201 Error "one launch borrows a buffer mutably and also otherwise";
            CW202 cw202 Error "explicit order: two accesses conflict and nothing orders them";
            CW203 cw203 Error "explicit order: an access is not ordered after the alloc, or not before the free";
            CW204 cw204 Error "the order has a cycle";
            CW205 cw205 Error "written through an argument that is borrowed shared";
            CW206 cw206 Error "`#[after]` names no node";
            CW301 cw301 Error "no such kernel or variable in the PTX";
            CW302 cw302 Error "the number of parameters differs";
            CW303 cw303 Error "a parameter is of another kind";
            CW304 cw304 Error "declared read-only but the PTX writes through it";
            CW305 cw305 Error "declared write-only but read first";
            CW306 cw306 Error "a launch configuration that no device, or not this kernel, can take";
            CW307 cw307 Error "PTX missing, or not PTX that can be read";
            CW308 cw308 Error "a declared extent is smaller than what the PTX accesses";
            CW309 cw309 Error "elements with invalid bits that may not be written";
            CW310 cw310 Error "`Multimem` declared but accessed otherwise, or the reverse";
            CW401 cw401 Error "an argument does not fit its parameter, in a builder";
            CW402 cw402 Error "a handle of another builder";
        }
    };
}

/// The effect of a diagnostic on the user's build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The crate does not compile, or the graph is not built.
    Error,
    /// The crate compiles.
    Warning,
}

macro_rules! registry {
    ($($code:ident $module:ident $severity:ident $title:literal;)*) => {
        /// An error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {$(
            #[doc = concat!($title, ".")]
            $code,
        )*}

        impl Code {
            /// All codes, in ascending order.
            pub const ALL: &'static [Code] = &[$(Code::$code),*];

            /// Returns the code as messages print it: `CW101`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Code::$code => stringify!($code),)*
                }
            }

            /// Returns the effect on the user's build.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self {
                    $(Code::$code => Severity::$severity,)*
                }
            }

            /// Returns the title of the page.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self {
                    $(Code::$code => $title,)*
                }
            }

            /// Returns the address of the page.
            #[must_use]
            pub const fn url(self) -> &'static str {
                match self {
                    $(Code::$code => {
                        concat!("https://docs.rs/cuweave/latest/cuweave/codes/", stringify!($module), "/")
                    })*
                }
            }
        }
    };
}

error_codes!(registry!);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
