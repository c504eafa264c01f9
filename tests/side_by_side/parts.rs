//! Graph functions whose structure is decided at build time: loops over scalars, and choices.

use cuweave::prelude::*;
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

/// x is multiplied by 2, `steps` times.
#[cuweave::graph]
fn doubled(n: u32, steps: u32, x: &mut [f32; n]) {
    for _ in 0..steps {
        scale[per_item(n)](&mut x, 2.0, n);
    }
}

#[test]
fn a_loop_is_as_long_as_the_build_says() {
    let device = device();
    for steps in [0_u32, 1, 2, 5] {
        let mut x = device.upload(&[1.0_f32; 8]);
        let graph = doubled(&device.ctx, 8, steps, &mut x).expect("it builds");
        assert_eq!(graph.report().launches, steps as usize);
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        assert_eq!(device.download(&x), [(1 << steps) as f32; 8]);
    }
}

/// Row by row into a temporary, which is then read as a whole. The rows are independent.
#[cuweave::graph]
fn rows(n: u32, count: u32, out: &mut [f32; n * count]) {
    let h = alloc::<f32>(n * count);
    for i in 0..count {
        set[per_item(n)](&mut h[i * n..(i + 1) * n], i as f32, n);
    }
    copy(&h, &mut out);
}

#[test]
fn rows_that_turns_write_are_read_together() {
    let device = device();
    let mut out = device.zeros::<f32>(12);
    let graph = rows(&device.ctx, 4, 3, &mut out).expect("it builds");
    let report = graph.report();
    assert_eq!((report.launches, report.depth), (3, 2), "{report}");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    let expected: Vec<f32> = (0..12).map(|at| (at / 4) as f32).collect();
    assert_eq!(device.download(&out), expected);
}

/// The values of each layer, which are read from the last to the first. The first iteration writes its range with
/// other bounds than the later ones.
#[cuweave::graph]
fn kept(n: u32, layers: u32, x: &[f32; n], last: &mut [f32; n], sum: &mut [f32; n]) {
    let by_equal = alloc::<f32>(layers * n);
    let by_less = alloc::<f32>(layers * n);
    for i in 0..layers {
        if i == 0 {
            copy_to[per_item(n)](&x, &mut by_equal[0..n], n);
        } else {
            copy_to[per_item(n)](&by_equal[(i - 1) * n..i * n], &mut by_equal[i * n..(i + 1) * n], n);
            scale[per_item(n)](&mut by_equal[i * n..(i + 1) * n], 2.0, n);
        }
        if i > 0 {
            copy_to[per_item(n)](&by_less[(i - 1) * n..i * n], &mut by_less[i * n..(i + 1) * n], n);
        } else {
            copy_to[per_item(n)](&x, &mut by_less[..n], n);
        }
    }
    copy(&by_equal[(layers - 1) * n..layers * n], &mut last);
    for i in (0..layers).rev() {
        axpy[per_item(n)](1.0, &by_equal[i * n..(i + 1) * n], &mut sum, n);
        axpy[per_item(n)](-1.0, &by_less[i * n..(i + 1) * n], &mut sum, n);
    }
}

#[test]
fn layers_keep_their_values_for_a_second_loop() {
    let device = device();
    for layers in 1..5_u32 {
        let x = device.upload(&[3.0_f32; 8]);
        let (mut last, mut sum) = (device.zeros::<f32>(8), device.zeros::<f32>(8));
        let graph = kept(&device.ctx, 8, layers, &x, &mut last, &mut sum).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        assert_eq!(device.download(&last), [3.0 * (1 << (layers - 1)) as f32; 8]);
        assert_eq!(device.download(&sum), [3.0 * ((1 << layers) - 1 - layers) as f32; 8]);
    }
    device.nothing_reported();
}

/// A sum of rows: the first is copied, and the others are added.
#[cuweave::graph]
fn summed(n: u32, count: u32, x: &[f32; n * count], out: &mut [f32; n]) {
    let acc = alloc::<f32>(n);
    for i in 0..count {
        if i == 0 {
            copy_to[per_item(n)](&x[..n], &mut acc, n);
        } else {
            axpy[per_item(n)](1.0, &x[i * n..(i + 1) * n], &mut acc, n);
        }
    }
    if count == 0 {
        set[per_item(n)](&mut out, 0.0, n);
    } else {
        copy(&acc, &mut out);
    }
}

#[test]
fn the_first_turn_may_differ() {
    let device = device();
    let x = device.upload(&(0..12).map(|at| at as f32).collect::<Vec<f32>>());
    let mut out = device.zeros::<f32>(4);
    let mut exec =
        summed(&device.ctx, 4, 3, &x, &mut out).expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&out), [12.0, 15.0, 18.0, 21.0]);
}

/// Nested loops with scalars that depend on the loop variables, and a choice by `match`.
#[cuweave::graph]
fn nested(n: u32, outer: u32, inner: u32, mode: u32, x: &mut [f32; n]) {
    for i in 1..=outer {
        for j in i..inner {
            match mode {
                0 => scale[per_item(n)](&mut x, (i * 10 + j) as f32, n),
                1 | 2 => {
                    scale[per_item(n)](&mut x, 2.0, n);
                    scale[per_item(n)](&mut x, 0.5, n);
                }
                _ => {}
            }
        }
    }
}

#[test]
fn loops_in_loops_see_their_variables() {
    let device = device();
    let product: f32 = (1..=2_u32).flat_map(|i| (i..4).map(move |j| (i * 10 + j) as f32)).product();
    for (mode, expected, launches) in [(0, product, 5), (2, 1.0, 10), (7, 1.0, 0)] {
        let mut x = device.upload(&[1.0_f32; 8]);
        let graph = nested(&device.ctx, 8, 2, 4, mode, &mut x).expect("it builds");
        assert_eq!(graph.report().launches, launches);
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        assert_eq!(device.download(&x), [expected; 8], "mode {mode}");
    }
}

/// Two alternating buffers: each step reads what the previous one wrote.
#[cuweave::graph]
fn relay(n: u32, steps: u32, x: &[f32; n], out: &mut [f32; n]) {
    let bytes = n / 2 * 2;
    let a = alloc::<f32>(bytes);
    let b = alloc::<f32>(bytes);
    copy_to[per_item(n)](&x[..bytes], &mut a, bytes);
    for i in 0..steps {
        copy_to[per_item(n)](&a, &mut b, bytes);
        let k = i + 2;
        scale[per_item(n)](&mut b, k as f32, bytes);
        swap(&mut a, &mut b);
    }
    copy(&a, &mut out[..bytes]);
}

#[test]
fn names_take_turns() {
    let device = device();
    for steps in 0..5_u32 {
        let x = device.upload(&[1.0_f32; 8]);
        let mut out = device.zeros::<f32>(8);
        let graph = relay(&device.ctx, 8, steps, &x, &mut out).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let expected: u32 = (0..steps).map(|i| i + 2).product();
        assert_eq!(device.download(&out), [expected as f32; 8], "{steps} steps");
    }
}

/// In each iteration, a new allocation takes over the name of the previous one.
#[cuweave::graph]
fn handed_on(n: u32, steps: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    for _ in 0..steps {
        let next = alloc::<f32>(n);
        copy_to[per_item(n)](&h, &mut next, n);
        scale[per_item(n)](&mut next, 3.0, n);
        h = next;
    }
    h
}

#[test]
fn a_name_is_given_another_buffer() {
    let device = device();
    for steps in [0_u32, 1, 4] {
        let x = device.upload(&[1.0_f32; 8]);
        let graph = handed_on(&device.ctx, 8, steps, &x).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        let out = exec.launch(&device.stream).expect("it launches");
        assert_eq!(device.download(&out), [3.0_f32.powi(steps as i32); 8], "{steps} steps");
    }
}

/// y = a x + y; then y is scaled.
#[cuweave::graph]
fn step(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    axpy[per_item(n)](a, &x, &mut y, n);
    scale[per_item(n)](&mut y, 2.0, n);
}

/// Copies, and returns the copy.
#[cuweave::graph]
fn copied(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    h
}

/// Takes an allocation over and writes an uninitialized one.
#[cuweave::graph]
fn moved(n: u32, h: [f32; n], to: &mut [MaybeUninit<f32>; n]) {
    scale[per_item(n)](&mut h, 0.5, n);
    copy_to[per_item(n)](&h, &mut to, n);
}

/// Calls in a loop and outside, of functions that return and take over buffers.
#[cuweave::graph]
fn program(n: u32, steps: u32, a: f32, x: &[f32; n], out: &mut [f32; n]) {
    let y = copied(n, &x);
    for i in 0..steps {
        step(n, a + i as f32, &x, &mut y);
    }
    let half = alloc::<f32>(n);
    moved(n, y, &mut half);
    copy(&half, &mut out);
}

#[test]
fn functions_call_functions() {
    let device = device();
    for steps in [0_u32, 1, 3] {
        let x = device.upload(&[1.0_f32; 8]);
        let mut out = device.zeros::<f32>(8);
        let graph = program(&device.ctx, 8, steps, 2.0, &x, &mut out).expect("it builds");
        let report = graph.report();
        assert_eq!(report.launches, 3 + 2 * steps as usize, "{report}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        device.stream.synchronize().expect("it ends");
        let value = |a: f32| (0..steps).fold(1.0, |y, i| (y + a + i as f32) * 2.0) * 0.5;
        assert_eq!(device.download(&exec.args().out), [value(2.0); 8], "{steps} steps");
        // A setter affects the callees.
        exec.set_a(3.0).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
        assert_eq!(device.download(&exec.args().out), [value(3.0); 8], "{steps} steps");
    }
}

/// Scalars that affect a callee, a loop and a choice through a `let`.
#[cuweave::graph]
fn by_names(n: u32, a: f32, steps: u32, mode: u32, x: &mut [f32; n]) {
    let twice = a * 2.0;
    let more = steps + 1;
    let third = mode % 3;
    for i in 0..2 {
        let factor = twice + i as f32;
        scaled(n, factor, &mut x);
    }
    doubled(n, more, &mut x);
    if third == 1 {
        scale[per_item(n)](&mut x, 0.5, n);
    }
}

#[cuweave::graph]
fn scaled(n: u32, a: f32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, a, n);
}

#[test]
fn setters_reach_through_names() {
    let device = device();
    let mut x = device.upload(&[1.0_f32; 8]);
    let graph = by_names(&device.ctx, 8, 1.0, 0, 1, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    device.stream.synchronize().expect("it ends");
    assert_eq!(device.download(&exec.args().x), [6.0; 8]);
    exec.set_a(2.0).expect("it is set");
    exec.launch(&device.stream).expect("it launches");
    device.stream.synchronize().expect("it ends");
    assert_eq!(device.download(&exec.args().x), [6.0 * 20.0; 8]);
}

/// Names that rotate among three buffers, and a name that is handed over and reassigned in an iteration.
#[cuweave::graph]
fn rotated(n: u32, steps: u32, x: &[f32; n], out: &mut [f32; n], last: &mut [f32; n]) {
    let a = copied(n, &x);
    let b = alloc::<f32>(n);
    let c = alloc::<f32>(n);
    let h = copied(n, &x);
    for _ in 0..steps {
        copy_to[per_item(n)](&a, &mut b, n);
        scale[per_item(n)](&mut b, 2.0, n);
        swap(&mut a, &mut b);
        swap(&mut b, &mut c);
        let next = alloc::<f32>(n);
        moved(n, h, &mut next);
        h = next;
    }
    copy(&a, &mut out);
    copy(&h, &mut last);
}

#[test]
fn names_that_turns_give_other_buffers_are_read_behind_the_loop() {
    let device = device();
    for steps in 0..5_u32 {
        let x = device.upload(&[1.0_f32; 8]);
        let (mut out, mut last) = (device.zeros::<f32>(8), device.zeros::<f32>(8));
        let graph = rotated(&device.ctx, 8, steps, &x, &mut out, &mut last).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        assert_eq!(device.download(&out), [2.0_f32.powi(steps as i32); 8], "{steps} steps");
        assert_eq!(device.download(&last), [0.5_f32.powi(steps as i32); 8], "{steps} steps");
    }
}

/// An iteration rebinds a name to a longer buffer.
#[cuweave::graph]
fn grown(n: u32, more: u32, steps: u32, x: &[f32; n + more], out: &mut [f32; n]) {
    let h = copied(n, &x[..n]);
    for _ in 0..steps {
        let next = copied(n + more, &x);
        h = next;
    }
    copy(&h, &mut out);
}

#[test]
fn a_name_stands_for_buffers_of_one_length() {
    let device = device();
    let x = device.upload(&[1.0_f32; 8]);
    let mut out = device.zeros::<f32>(8);
    for (more, steps, right) in [(0, 2, true), (4, 0, true), (4, 1, false)] {
        let built = grown(&device.ctx, 8 - more, more, steps, &x, &mut out);
        match built {
            Ok(_) => assert!(right, "{more} more, {steps} steps"),
            Err(error) => {
                assert!(!right, "{error}");
                assert!(error.to_string().contains("`h` and `next` differ in length"), "{error}");
            }
        }
    }
}

/// Most iterations have no statement.
#[cuweave::graph]
fn sparse(n: u32, turns: u64, x: &mut [f32; n]) {
    for i in 0..turns {
        if i == 5 {
            scale[per_item(n)](&mut x, 2.0, n);
        }
    }
}

#[test]
fn loops_without_statements_end() {
    let device = device();
    let mut x = device.upload(&[1.0_f32; 8]);
    assert_eq!(sparse(&device.ctx, 8, 1000, &mut x).expect("it builds").report().launches, 1);
    let error = sparse(&device.ctx, 8, u64::MAX, &mut x).expect_err("it is refused");
    assert!(matches!(error, cuweave::Error::TooLarge { .. }), "{error}");
}

#[test]
fn a_fault_in_a_bound_of_a_loop_names_the_loop() {
    #[cuweave::graph]
    fn closed(n: u32, last: u64, x: &mut [f32; n]) {
        for _ in 0..=last {
            scale[per_item(n)](&mut x, 2.0, n);
        }
    }
    let device = device();
    let mut x = device.upload(&[1.0_f32; 8]);
    let error = closed(&device.ctx, 8, u64::MAX, &mut x).expect_err("it is refused").to_string();
    assert!(error.starts_with("a bound of a loop or a part of `closed`"), "{error}");
}

/// A part of a part that grows with the iterations.
#[cuweave::graph]
fn growing(n: u32, first: u32, count: u32, out: &mut [f32; n]) {
    for i in first..count {
        let row = &mut out[..i + 1];
        let part = &mut row[..2];
        set[per_item(2)](part, 1.0, 2);
    }
}

/// A part whose bounds are undefined if its arm is not taken.
#[cuweave::graph]
fn before(n: u32, k: u32, out: &mut [f32; n]) {
    let row = &mut out[..n];
    if k > 0 {
        set[per_item(1)](&mut row[k - 1..k], 1.0, 1);
    }
}

#[test]
fn parts_of_parts_lie_in_them_in_each_turn() {
    let device = device();
    let mut out = device.zeros::<f32>(8);
    assert!(growing(&device.ctx, 8, 1, 3, &mut out).is_ok());
    let error = growing(&device.ctx, 8, 0, 3, &mut out).expect_err("turn 0 has one element");
    assert!(matches!(error, cuweave::Error::ViewRange { .. }), "{error}");
    println!("{error}");
    assert!(before(&device.ctx, 8, 0, &mut out).is_ok());
    assert!(before(&device.ctx, 8, 8, &mut out).is_ok());
    let error = before(&device.ctx, 8, 9, &mut out).expect_err("one element too many");
    println!("{error}");
}

/// A scalar under another name, used by a loop and a call.
#[cuweave::graph]
fn renamed_scalar(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    let m = n;
    let b = a;
    for i in 0..2 {
        let j = i;
        step(m, b + j as f32, &x, &mut y);
    }
}

#[test]
fn a_scalar_has_two_names() {
    let device = device();
    let x = device.upload(&[1.0_f32; 8]);
    let mut y = device.zeros::<f32>(8);
    let graph = renamed_scalar(&device.ctx, 8, 3.0, &x, &mut y).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&y), [((3.0 * 2.0) + 4.0) * 2.0; 8]);
}
