//! The sides of a comparison: a graph function with its launches as written, batched, overlapped, and with all
//! changes.

#[allow(unused_macros)]
/// Defines graph functions once for each side, in modules named after the sides. `graph[..]` before each function
/// holds its other options, each followed by a comma.
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
/// Enters the sides of a function in `graphs` into a contest. Takes an expression that builds the graph from
/// buffers, and one that returns the views in the order of the contest's results. If an iteration is more than a
/// launch, a third expression gets the exec, the index of the iteration (starting at 0) and the stream.
macro_rules! enter_sides {
    ($contest:ident, $function:ident, |$buffers:ident| $build:expr, |$args:ident| $results:expr) => {
        enter_sides!(
            $contest, $function, |$buffers| $build, |$args| $results,
            |exec, _turn, stream| exec.launch(stream)?
        )
    };
    ($contest:ident, $function:ident, |$buffers:ident| $build:expr, |$args:ident| $results:expr,
        |$exec:ident, $turn:ident, $stream:ident| $launch:expr
    ) => {
        enter_sides!(@ [as_written batched overlapped everything]
            ($contest, $function, $buffers, $build, $args, $results, $exec, $turn, $stream, $launch));
        if $contest.compares_rules() {
            $crate::common::sides::change_to_earlier_rules();
            enter_sides!(@ everything
                ($contest, $function, $buffers, $build, $args, $results, $exec, $turn, $stream, $launch));
        }
    };
    (@ [$($side:ident)*] $rest:tt) => {
        $(enter_sides!(@ $side $rest);)*
    };
    (@ $side:ident ($contest:ident, $function:ident, $buffers:ident, $build:expr, $args:ident, $results:expr,
        $exec:ident, $turn:ident, $stream:ident, $launch:expr)
    ) => {{
        use graphs::$side::$function;
        #[allow(unused_mut)]
        let mut $buffers = $contest.buffers()?;
        let graph = $build?;
        let report = graph.report();
        $contest.see(cuweave::__private::operations(&graph));
        let mut $exec = graph.instantiate()?;
        {
            let ($turn, $stream) = (0, $contest.stream());
            $launch;
        }
        let results = {
            let $args = $exec.args();
            $contest.read(&$results)?
        };
        let mut turns = 0_usize;
        $contest.enter(&stringify!($side).replace('_', " "), &report, &results, move |$stream| {
            turns += 1;
            let $turn = turns;
            $launch;
            Ok(())
        })?;
    }};
}

/// Makes the next build on this thread use earlier launch rules, which do not stack chains.
pub fn change_to_earlier_rules() {
    cuweave::__private::change_next_rules(|_, _, rules| rules.tuning.chains.stacked = None);
}

/// Defines each function in two modules: `for_all` values of the size before the semicolon, and `for_one` value.
#[allow(unused_macros)]
macro_rules! for_all_and_one {
    ($($(#[$meta:meta])* fn $name:ident($size:ident; $($rest:tt)*) $body:block)*) => {
        /// A graph for all values.
        pub mod for_all {
            use super::*;
            $($(#[$meta])* #[cuweave::graph] pub fn $name(most: u32, #[at_most(most)] $size: u32, $($rest)*) $body)*
        }
        /// A graph for one value.
        pub mod for_one {
            use super::*;
            $($(#[$meta])* #[cuweave::graph] pub fn $name($size: u32, $($rest)*) $body)*
        }
    };
}
