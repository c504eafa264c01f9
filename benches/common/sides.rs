//! The sides of a comparison: one graph function, its launches as written, batched, overlapped, and everything.

#[allow(unused_macros)]
/// Defines graph functions once a side, in modules named after the sides. Before each stands `graph[..]` with its other
/// options, each followed by a comma.
macro_rules! each_side {
    (@ $side:ident $launches:tt
        $($(#[$meta:meta])* graph $options:tt fn $name:ident $arguments:tt $body:tt)*
    ) => {
        #[doc = concat!("The functions of the side `", stringify!($side), "`.")]
        pub mod $side {
            use super::*;
            $(each_side!(@ $launches $options $(#[$meta])* fn $name $arguments $body);)*
        }
    };
    (@ [$($launches:tt)*] [$($options:tt)*]
        $(#[$meta:meta])* fn $name:ident $arguments:tt $body:tt
    ) => {
        $(#[$meta])*
        #[cuweave::graph($($options)* $($launches)*)]
        pub fn $name $arguments $body
    };
    ($($functions:tt)*) => {
        each_side!(@ as_written [launches = "as-written"] $($functions)*);
        each_side!(@ batched [launches = "batched"] $($functions)*);
        each_side!(@ overlapped [launches = "overlapped"] $($functions)*);
        each_side!(@ everything [] $($functions)*);
    };
}

#[allow(unused_macros)]
/// Enters the sides of a function of `graphs` in a contest: with an expression that builds its graph of buffers, and
/// one of the views, in the order of the contest's results.
macro_rules! enter_sides {
    ($contest:ident, $function:ident, |$buffers:ident| $build:expr, |$args:ident| $results:expr) => {
        enter_sides!(@ as_written "as written", $contest, $function, $buffers, $build, $args, $results);
        enter_sides!(@ batched "batched", $contest, $function, $buffers, $build, $args, $results);
        enter_sides!(@ overlapped "overlapped", $contest, $function, $buffers, $build, $args, $results);
        enter_sides!(@ everything "everything", $contest, $function, $buffers, $build, $args, $results);
    };
    (@ $side:ident $name:literal, $contest:ident, $function:ident, $buffers:ident, $build:expr,
        $args:ident, $results:expr) => {{
        use graphs::$side::$function;
        #[allow(unused_mut)]
        let mut $buffers = $contest.buffers()?;
        let graph = $build?;
        let report = graph.report();
        let mut exec = graph.instantiate()?;
        exec.launch($contest.stream())?;
        let results = {
            let $args = exec.args();
            $contest.read(&$results)?
        };
        $contest.enter($name, &report, &results, move |stream| Ok(exec.launch(stream)?))?;
    }};
}
