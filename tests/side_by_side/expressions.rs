//! The user's expressions in lengths, configurations and arguments. They are arbitrary Rust code, so they may
//! panic, and may return a different value each time.

#![deny(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use cuweave::Error;
use cuweave::prelude::*;
use cuweave_testkit::device::{device, ramp};
#[allow(unsafe_code)]
#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

/// Panics at 13.
fn checked(a: f32) -> f32 {
    assert!(a != 13.0, "unlucky");
    a
}

/// Runs a closure that must panic.
fn panics<T>(what: impl FnOnce() -> T) {
    assert!(catch_unwind(AssertUnwindSafe(what)).is_err(), "it does not panic");
}

#[cuweave::graph]
fn scaled(n: u32, a: f32, x: &mut [f32; n], y: &mut [f32; n]) {
    scale[per_item(n)](&mut x, a, n);
    scale[per_item(n)](&mut y, checked(a), n);
}

#[test]
fn a_panic_in_a_setter_leaves_arguments_and_nodes_as_they_were() {
    let device = device();
    let (mut x, mut y) = (device.upload(&ramp(8)), device.upload(&ramp(8)));
    let graph = scaled(&device.ctx, 8, 2.0, &mut x, &mut y).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    panics(|| exec.set_a(13.0));
    assert_eq!(exec.args().a, 2.0);
    exec.launch(&device.stream).expect("the exec is as it was");
    let twice: Vec<f32> = ramp(8).iter().map(|x| x * 2.0).collect();
    assert_eq!(device.download(&exec.args().x), twice);
    assert_eq!(device.download(&exec.args().y), twice);
    exec.set_a(0.5).expect("another value");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&exec.args().x), ramp(8));
    assert_eq!(device.download(&exec.args().y), ramp(8));
}

static THREADS_OR_NONE: AtomicU32 = AtomicU32::new(8);

fn threads_or_none() -> u32 {
    let threads = THREADS_OR_NONE.load(Ordering::Relaxed);
    assert!(threads != 0, "no threads");
    threads
}

#[cuweave::graph]
fn configured(a: f32, x: &mut [f32; 8]) {
    scale[(1, threads_or_none())](&mut x, a, 8);
}

#[test]
fn a_panic_in_a_configuration_leaves_the_exec_as_it_was() {
    let device = device();
    let mut x = device.upload(&ramp(8));
    let mut exec = configured(&device.ctx, 3.0, &mut x).expect("it builds").instantiate().expect("an exec");
    THREADS_OR_NONE.store(0, Ordering::Relaxed);
    panics(|| exec.set_a(4.0));
    assert_eq!(exec.args().a, 3.0);
    exec.launch(&device.stream).expect("the exec is as it was");
    assert_eq!(device.download(&exec.args().x), ramp(8).iter().map(|x| x * 3.0).collect::<Vec<_>>());
    drop(exec);
    panics(|| configured(&device.ctx, 3.0, &mut x).map(drop));
    THREADS_OR_NONE.store(8, Ordering::Relaxed);
    let mut exec = configured(&device.ctx, 1.0, &mut x).expect("it builds").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("it launches");
}

/// Returns an even length, or panics.
fn even(n: u32) -> u32 {
    assert!(n.is_multiple_of(2), "odd");
    n
}

#[cuweave::graph]
fn of_even_length(n: u32, x: &mut [f32; even(n)]) {
    fill(&mut x, 1.0);
}

#[test]
fn a_panic_at_build_leaves_nothing_behind() {
    let device = device();
    let mut x = device.upload(&ramp(8));
    for _ in 0..3 {
        panics(|| of_even_length(&device.ctx, 7, &mut x).map(drop));
    }
    let mut exec = of_even_length(&device.ctx, 8, &mut x).expect("it builds").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&x), [1.0; 8]);
}

macro_rules! batch_of_changing_configurations {
    ($test:ident $function:ident $threads:ident $static:ident $first:ident $second:ident) => {
        static $static: AtomicU32 = AtomicU32::new(8);

        fn $threads() -> u32 {
            $static.load(Ordering::Relaxed)
        }

        #[cuweave::graph(launches = "batched")]
        fn $function(a: f32, b: f32, x: &mut [f32; 8], y: &mut [f32; 8]) {
            scale[(1, $threads())](&mut x, a, 8);
            scale[(1, $threads())](&mut y, b, 8);
        }

        #[test]
        fn $test() {
            let device = device();
            let (mut x, mut y) = (device.upload(&ramp(8)), device.upload(&ramp(8)));
            let graph = $function(&device.ctx, 1.0, 1.0, &mut x, &mut y).expect("it builds");
            assert_eq!(graph.report().kernels, 1, "the two launches are a batch");
            let mut exec = graph.instantiate().expect("it instantiates");
            // The configuration differs from that of the other member, which is not evaluated again.
            $static.store(4, Ordering::Relaxed);
            let error = exec.$first(2.0).expect_err("the members differ");
            assert!(matches!(&error, Error::BuildAgain { at, .. } if at.name == "scale"), "{error}");
            let error = exec.$second(2.0).expect_err("the members differ");
            assert!(matches!(&error, Error::BuildAgain { .. }), "{error}");
            assert_eq!((exec.args().a, exec.args().b), (1.0, 1.0));
            exec.launch(&device.stream).expect("the exec is as it was");
            assert_eq!(device.download(&exec.args().x), ramp(8));
            assert_eq!(device.download(&exec.args().y), ramp(8));
            $static.store(8, Ordering::Relaxed);
            exec.$first(2.0).expect("the configuration as it was");
            exec.$second(2.0).expect("the configuration as it was");
            exec.launch(&device.stream).expect("it launches");
            let twice: Vec<f32> = ramp(8).iter().map(|x| x * 2.0).collect();
            assert_eq!(device.download(&exec.args().x), twice);
            assert_eq!(device.download(&exec.args().y), twice);
        }
    };
}
batch_of_changing_configurations!(
    a_batch_whose_first_member_changes in_a_batch threads_in_a_batch IN_A_BATCH set_a set_b
);
batch_of_changing_configurations!(
    a_batch_whose_second_member_changes in_another_batch threads_in_another_batch IN_ANOTHER_BATCH set_b set_a
);

static DEPTH: AtomicU32 = AtomicU32::new(1);

fn depth() -> u32 {
    DEPTH.load(Ordering::Relaxed)
}

#[cuweave::graph(launches = "batched")]
fn in_depth(a: f32, x: &mut [f32; 8], y: &mut [f32; 8]) {
    scale[((1, 1, depth()), 8)](&mut x, a, 8);
    scale[((1, 1, depth()), 8)](&mut y, a, 8);
}

/// The members have equal configurations, but the common extent determines the number of members.
#[test]
fn a_batch_whose_members_all_change() {
    let device = device();
    let (mut x, mut y) = (device.upload(&ramp(8)), device.upload(&ramp(8)));
    let graph = in_depth(&device.ctx, 1.0, &mut x, &mut y).expect("it builds");
    assert_eq!(graph.report().kernels, 1, "the two launches are a batch");
    let mut exec = graph.instantiate().expect("it instantiates");
    DEPTH.store(2, Ordering::Relaxed);
    let error = exec.set_a(2.0).expect_err("another grid");
    let text = "is one of 2 launches that are batched, and its configuration was (1 x 1 x 1, 8 x 1 x 1, 0 B) when \
                the graph was built and is (1 x 1 x 2, 8 x 1 x 1, 0 B) now: build the graph again";
    assert!(error.to_string().ends_with(text), "{error}");
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).expect("a short text")
}

/// Declared with four elements, but allocated with six.
#[cuweave::graph]
fn of_two_texts() -> [f32; length("x::y")] {
    let h = alloc::<f32>(length("x :: y"));
    fill(&mut h, 0.0);
    h
}

#[cuweave::graph]
fn of_one_text() -> [f32; length("x :: y")] {
    let h = alloc::<f32>(length("x :: y"));
    fill(&mut h, 0.0);
    h
}

#[test]
fn texts_in_lengths_are_compared_as_they_stand() {
    let device = device();
    let error = of_two_texts(&device.ctx).expect_err("two lengths");
    assert!(matches!(error, Error::ReturnedLength { declared: 4, actual: 6, .. }), "{error}");
    let mut exec = of_one_text(&device.ctx).expect("one length").instantiate().expect("it instantiates");
    let h = exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&h), [0.0; 6]);
}

static ASKED: AtomicU32 = AtomicU32::new(0);

/// Returns a different value each time.
fn next() -> u32 {
    4 + ASKED.fetch_add(1, Ordering::Relaxed)
}

#[cuweave::graph]
fn asked_once(x: &mut [f32; next()]) -> [f32; next()] {
    let h = alloc::<f32>(next());
    fill(&mut h[..next()], 1.0);
    copy(&h, &mut x[..next()]);
    h
}

#[test]
fn an_expression_of_a_length_is_evaluated_once() {
    let device = device();
    let mut x = device.upload(&ramp(4));
    drop(asked_once(&device.ctx, &mut x).expect("all lengths are one"));
    assert_eq!(ASKED.load(Ordering::Relaxed), 1);
}

fn number(text: &str) -> u32 {
    text.parse().expect("a number")
}

/// The argument only occurs inside strings.
#[cuweave::graph]
fn mentioned_in_a_text(k: u32, len: u32, x: &mut [f32; number(&format!("{len}"))]) {
    scale[(1, 8)](&mut x, number(&format!("{k:>4}").trim()) as f32, 8);
}

#[test]
fn an_argument_that_a_text_captures_is_used_there() {
    let device = device();
    let mut x = device.upload(&ramp(8));
    let graph = mentioned_in_a_text(&device.ctx, 2, 8, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.set_k(3).expect("a value");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&exec.args().x), ramp(8).iter().map(|x| x * 3.0).collect::<Vec<_>>());
}

/// The loop variable in macros and closures, and shadowed by an expression.
#[cuweave::graph]
fn turns(x: &mut [f32; 8]) {
    for i in 0..4 {
        fill(
            &mut x[i * 2..u32::max(i * 2, number(&format!("{i}")) * 2) + 1],
            number(&format!("{}", i)) as f32,
        );
        fill(
            &mut x[i * 2 + 1..{
                let i = i + 1;
                i * 2
            }],
            (|i: u32| i as f32)(7),
        );
    }
}

#[test]
fn the_variable_of_a_loop_means_what_it_means_in_rust() {
    let device = device();
    let mut x = device.zeros::<f32>(8);
    cuweave_testkit::run!(device, turns(&device.ctx, &mut x));
    assert_eq!(device.download(&x), [0.0, 7.0, 1.0, 7.0, 2.0, 7.0, 3.0, 7.0]);
}

static LEAVES: AtomicU32 = AtomicU32::new(0);

/// The first statement's configuration may return early from the function in which generated code evaluates it.
#[cuweave::graph]
fn left(a: f32, x: &mut [f32; 8], y: &mut [f32; 4]) {
    scale[{
        if LEAVES.load(Ordering::Relaxed) == 1 {
            return Ok(());
        }
        (1u32, 8u32)
    }](&mut x, a, 8);
    scale[(1, 4)](&mut y, a, 4);
}

#[test]
fn an_expression_that_returns_from_generated_code_is_an_error() {
    let device = device();
    let (mut x, mut y) = (device.upload(&ramp(8)), device.upload(&ramp(4)));
    LEAVES.store(1, Ordering::Relaxed);
    let error = left(&device.ctx, 2.0, &mut x, &mut y).expect_err("it is not evaluated");
    assert!(matches!(&error, Error::Config { at, .. } if at.name == "scale"), "{error}");
    LEAVES.store(0, Ordering::Relaxed);
    let mut exec = left(&device.ctx, 2.0, &mut x, &mut y).expect("it builds").instantiate().expect("an exec");
    LEAVES.store(1, Ordering::Relaxed);
    let error = exec.set_a(4.0).expect_err("it is not evaluated");
    assert!(matches!(&error, Error::Config { at, .. } if at.name == "scale"), "{error}");
    exec.launch(&device.stream).expect("the exec is as it was");
    assert_eq!(device.download(&exec.args().x), ramp(8).iter().map(|x| x * 2.0).collect::<Vec<_>>());
    assert_eq!(device.download(&exec.args().y), [0.0, 2.0, 4.0, 6.0]);
}

/// A constant of the program, used by name and by the program's macro.
const LEN: u32 = 4;

macro_rules! with_a_length {
    ($name:ident, $len:expr) => {
        #[cuweave::graph]
        fn $name(out: &mut [f32; LEN]) {
            let h = alloc::<f32>($len);
            fill(&mut h[..$len], 3.0);
            copy(&h[..LEN], &mut out);
        }
    };
}
with_a_length!(of_a_macro, LEN);

#[test]
fn a_constant_is_one_wherever_it_is_named() {
    let device = device();
    let mut out = device.zeros::<f32>(4);
    cuweave_testkit::run!(device, of_a_macro(&device.ctx, &mut out));
    assert_eq!(device.download(&out), [3.0; 4]);
}

#[cuweave::graph]
fn shown(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    copy(&x, &mut out);
}

#[test]
fn graphs_execs_and_what_they_are_bound_to_can_be_shown() {
    let device = device();
    let graph = shown(&device.ctx, 4, device.upload(&ramp(4)), device.zeros::<f32>(4)).expect("it builds");
    assert_eq!(format!("{graph:?}"), r#"Graph { function: "shown", operations: 1, .. }"#);
    let mut exec: shown::Exec<'static> = graph.instantiate().expect("it instantiates");
    assert_eq!(format!("{exec:?}"), r#"Exec { function: "shown", operations: 1, .. }"#);
    assert_eq!(format!("{:?} {:?}", exec.args(), exec.args().n), "Views { .. } 4");
    assert_eq!(format!("{:?}", exec.args_mut()), "ViewsMut { .. }");
    let args = format!("{:?}", exec.into_args());
    assert!(
        args.starts_with(r#"Args { x: BoundShared { bound: "Owned", len: 4, .. }, out: BoundExclusive {"#),
        "{args}"
    );
}

/// A record and a function with a sum of 1,000 terms in every place where the language takes an expression.
macro_rules! long {
    ($one:ident [] $($terms:tt)*) => {
        #[cuweave::arguments]
        struct Long {
            $one: u32,
            two: u64,
            x: &mut [f32; (two - 1) * 1000 + ($($terms)*) - 1000],
        }

        #[cuweave::graph(budget = $($terms)*)]
        fn long($one: u32, by: f32, record: Long<'_>, x: &mut [f32; $($terms)*]) {
            let named = $($terms)*;
            fill(&mut x[0..$($terms)*], 2.0);
            scale[per_item($($terms)*)](&mut x[..named], by, $($terms)*);
            scale[($($terms)*, 32)](&mut x, by, $($terms)* - 999);
            if $($terms)* == 1000 {
                fill(&mut x[0..1], 5.0);
            }
            for i in 998..$($terms)* {
                fill(&mut x[i..i + 1], 7.0);
            }
            let mut t = alloc::<f32>($($terms)* - 990);
            copy(&x[990..$($terms)*], &mut t);
            copy(&t, &mut record.x[..10]);
        }
    };
    ($one:ident [10 $($more:tt)*] $($t:tt)*) => {
        long!($one [$($more)*] $($t)* + $($t)* + $($t)* + $($t)* + $($t)* + $($t)* + $($t)* + $($t)* + $($t)* + $($t)*);
    };
}
long!(one [10 10 10] one);

#[test]
fn a_sum_of_a_thousand_terms_is_an_expression() {
    let device = device();
    let (mut x, mut y) = (device.zeros::<f32>(1000), device.zeros::<f32>(1000));
    let record = Long::new(1, 2, &mut y);
    let graph = long(&device.ctx, 1, 3.0, record, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    let mut expected = vec![6.0; 1000];
    expected[0] = 5.0;
    expected[998..].fill(7.0);
    assert_eq!(device.download(&x), expected);
    assert_eq!(device.download(&y)[..10], expected[990..]);
}
