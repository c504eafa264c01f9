//! Sizes that may be 0: statements without blocks or bytes are disabled nodes.

use cuweave::error::{PlanFault, SwitchFault};
use cuweave::prelude::*;
use cuweave::{Buffer, Error};
use cuweave_testkit::device::{device, pinned, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn set(x: &mut [MaybeUninit<f32>; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn copy_to(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

const MOST: usize = 700;
const REST: usize = 5;
/// No memset writes it.
const BITS: u64 = 0x1_0000_0002;

/// Statements over `n` elements between statements over `rest`, which are never empty.
#[cuweave::graph]
fn steps(
    rest: u32,
    max: u32,
    #[at_least(0)]
    #[at_most(max)]
    n: u32,
    a: f32,
    x: &[f32; n + rest],
    y: &mut [f32; n + rest],
    z: &mut [u64; n],
) {
    let h = alloc::<f32>(n);
    let t = alloc::<f32>(n + rest);
    fill(&mut z, BITS);
    fill(&mut t, 1.0);
    fill(&mut t[..n], 3.0);
    axpy[per_item(n + rest)](a, &t, &mut y, n + rest);
    copy_to[per_item(n)](&x[..n], &mut h, n);
    scale[(n.div_ceil(64), 64)](&mut h, a, n);
    axpy[per_item(n)](1.0, &h, &mut y[..n], n);
    copy(&h, &mut t[rest..n + rest]);
    fill(&mut h, 2.0);
    axpy[per_item(n + rest)](1.0, &t, &mut y, n + rest);
    axpy[per_item(n)](1.0, &h, &mut y[..n], n);
}

/// Does what a launch of `steps` does.
fn model(n: usize, a: f32, x: &[f32], y: &mut [f32]) {
    let mut t = vec![1.0; n + REST];
    t[..n].fill(3.0);
    y.iter_mut().zip(&t).for_each(|(y, t)| *y += a * t);
    let h: Vec<f32> = x[..n].iter().map(|x| x * a).collect();
    y.iter_mut().zip(&h).for_each(|(y, h)| *y += h);
    t[REST..].copy_from_slice(&h);
    y.iter_mut().zip(&t).for_each(|(y, t)| *y += t);
    y[..n].iter_mut().for_each(|y| *y += 2.0);
}

#[test]
fn one_exec_runs_for_0_and_all_other_values() {
    let device = device();
    let xs = ramp(MOST + REST);
    let x = Buffer::from_host(&device.stream, &xs).expect("a buffer");
    let y = Buffer::<f32>::zeros(&device.stream, MOST + REST).expect("a buffer");
    let z = Buffer::<u64>::zeros(&device.stream, MOST).expect("a buffer");
    let mut expected = vec![0.0f32; MOST + REST];
    for first in [0, 9] {
        let graph = steps(&device.ctx, REST as u32, MOST as u32, first, 2.0, &x, &y, &z).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        let mut a = 2.0;
        let mut random = 7u32;
        for round in 0..40 {
            random = random.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let n = match (round, random >> 28) {
                (0, _) => first as usize,
                (1, _) | (_, 0..6) => 0,
                (_, 6) => MOST,
                (_, 7) => 1,
                (_, 8) => 256,
                _ => (random >> 8) as usize % MOST,
            };
            match round % 3 {
                0 if round > 0 => exec.set_n(n as u32).expect("it is set"),
                1 => {
                    a += 1.0;
                    exec.set_a(a).expect("it is set");
                    exec.set_n(n as u32).expect("it is set");
                }
                2 => {
                    a -= 0.5;
                    exec.edit(|edit| {
                        edit.set_n(n as u32)?;
                        edit.set_a(a)
                    })
                    .expect("it is set");
                }
                _ => {}
            }
            z.copy_from_host(&device.stream, &[0; MOST]).expect("it is written");
            exec.launch(&device.stream).expect("it runs");
            let filled = z.to_host(&device.stream).expect("it is read");
            assert!(filled.iter().enumerate().all(|(at, &z)| z == if at < n { BITS } else { 0 }), "{n}");
            model(n, a, &xs, &mut expected);
            assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{round}: {n}");
            cuweave::certificate::check(&exec.certificate()).expect("the certificate holds");
            if round % 5 == 1 {
                let verified = exec.verify(&device.stream).expect("it is verified");
                assert!(verified.is_equal(), "{verified}");
            }
            if round % 8 == 1 {
                exec.profile(&device.stream, 1).expect("it is profiled");
                model(n, a, &xs, &mut expected);
                model(n, a, &xs, &mut expected);
                assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{round}: {n}");
            }
            if n == 0 {
                assert!(exec.dot().contains("disabled"), "{}", exec.dot());
                assert!(!exec.report().all().to_string().contains("is off"));
            }
        }
    }
}

/// Returns `n` elements of `x`, doubled.
#[cuweave::graph]
fn layer(n: u32, x: &[f32; n], y: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    axpy[per_item(n)](1.0, &h, &mut y, n);
}

/// Calls in loops, and an output.
#[cuweave::graph]
fn net(
    layers: u32,
    #[at_least(0)]
    #[at_most(300)]
    n: u32,
    x: &[f32; 2 * n],
    y: &mut [f32; n],
) -> [f32; n] {
    let out = alloc::<f32>(n);
    fill(&mut out, 0.0);
    for i in 0..layers {
        layer(n, &x[..n], &mut y);
        layer(n, &x[n..2 * n], &mut out);
    }
    axpy[per_item(n)](1.0, &y, &mut out, n);
    out
}

#[test]
fn calls_loops_and_outputs_may_be_empty() {
    let device = device();
    let most = 300;
    let xs = ramp(2 * most);
    let x = device.upload(&xs);
    let y = Buffer::<f32>::zeros(&device.stream, most).expect("a buffer");
    let mut exec = net(&device.ctx, 3, 0, &x, &y).expect("it builds").instantiate().expect("an exec");
    let mut expected = vec![0.0f32; most];
    for (round, n) in [0, 300, 0, 1, 256, 0, 300].into_iter().enumerate() {
        if round > 0 {
            exec.set_n(n as u32).expect("it is set");
        }
        let out = exec.launch(&device.stream).expect("it runs");
        expected.iter_mut().zip(&xs).take(n).for_each(|(y, x)| *y += 3.0 * x);
        let want: Vec<f32> = (0..n).map(|at| 3.0 * xs[n + at] + expected[at]).collect();
        assert_eq!((out.len(), out.is_empty()), (n, n == 0));
        if n > 0 {
            assert_eq!(device.stream.clone_dtoh(&out.as_view()).expect("read"), want, "{n}");
        }
        drop(out);
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{n}");
        cuweave::certificate::check(&exec.certificate()).expect("the certificate holds");
        let verified = exec.verify(&device.stream).expect("it is verified");
        assert!(verified.is_equal(), "{verified}");
    }
}

/// A launch and a fill with switches, whose size may be 0.
#[cuweave::graph]
fn switched(
    #[at_least(0)]
    #[at_most(64)]
    n: u32,
    x: &mut [f32; 64],
) {
    scale[per_item(64)](&mut x, 2.0, 64);
    #[switchable]
    let extra = scale[per_item(n)](&mut x[..n], 3.0, n);
    #[switchable]
    let clear = fill(&mut x[..n], 1.0);
    scale[per_item(64)](&mut x, 5.0, 64);
}

#[test]
fn a_switch_and_a_size_both_disable_a_node() {
    let device = device();
    let mut expected = vec![1.0f32; 64];
    let x = Buffer::from_host(&device.stream, &expected).expect("a buffer");
    let mut exec = switched(&device.ctx, 0, &x).expect("it builds").instantiate().expect("an exec");
    let mut on = [true; 2];
    let rounds = [
        (0, 0, true),
        (0, 0, false),
        (9, 1, false),
        (9, 0, true),
        (0, 1, true),
        (64, 0, false),
        (0, 0, true),
    ];
    for (round, (n, at, switched)) in
        rounds.into_iter().chain([(3, 1, false), (0, 0, true), (3, 1, true)]).enumerate()
    {
        // The two changes commute.
        if round % 2 == 0 {
            exec.set_n(n as u32).expect("it is set");
        }
        exec.enable(["extra", "clear"][at], switched).expect("it is switched");
        assert_eq!(exec.is_enabled(["extra", "clear"][at]).expect("it is known"), switched);
        exec.set_n(n as u32).expect("it is set");
        on[at] = switched;
        exec.launch(&device.stream).expect("it runs");
        for (at, x) in expected.iter_mut().enumerate() {
            *x *= 2.0;
            if at < n {
                *x = if on[1] {
                    1.0
                } else if on[0] {
                    3.0 * *x
                } else {
                    *x
                };
            }
            *x *= 5.0;
        }
        assert_eq!(x.to_host(&device.stream).expect("it is read"), expected, "{round}: {n}");
        let verified = exec.verify(&device.stream).expect("it is verified");
        assert!(verified.is_equal(), "{verified}");
        // Values stay exact.
        expected.fill(1.0);
        x.copy_from_host(&device.stream, &expected).expect("it is written");
    }
}

/// The launch has no blocks at 0, and must write 8 elements.
#[cuweave::graph]
fn short(
    #[at_least(0)]
    #[at_most(100)]
    n: u32,
    y: &mut [f32; 8],
) {
    let h = alloc::<f32>(8);
    set[(n, 64)](&mut h, 1.0, 8);
    axpy[per_item(8)](1.0, &h, &mut y, 8);
}

/// The device decides about the empty launch.
#[cuweave::graph]
fn decided(
    #[at_least(0)]
    #[at_most(100)]
    n: u32,
    flag: &[u32; 1],
    y: &mut [f32; n],
) {
    if flag {
        scale[per_item(n)](&mut y, 2.0, n);
    }
}

/// The length of a buffer is 0 without a size of 0.
#[cuweave::graph]
fn shorter(
    #[at_least(1)]
    #[at_most(100)]
    n: u32,
    y: &mut [f32; n],
) {
    let h = alloc::<f32>(n - 1);
    fill(&mut h, 1.0);
    axpy[per_item(n - 1)](1.0, &h, &mut y[..n - 1], n - 1);
}

#[test]
fn what_cannot_be_empty_is_refused() {
    let device = device();
    let y = Buffer::<f32>::zeros(&device.stream, 100).expect("a buffer");
    let error = short(&device.ctx, 50, &y).expect_err("h is not written at 0");
    assert!(matches!(&error, Error::Short(short) if short.written == 0 && short.extent == 8), "{error}");

    let flag = device.upload(&[1u32]);
    let error = decided(&device.ctx, 50, &flag, &y).expect_err("its node is in a body");
    let Error::Plan(fault) = &error else { panic!("{error}") };
    let PlanFault::EmptyStatement { size, reason, .. } = &**fault else { panic!("{error}") };
    assert_eq!((size.as_str(), reason), ("n", &SwitchFault::InBody));
    assert!(error.to_string().contains("`scale`"), "{error}");

    let error = shorter(&device.ctx, 50, &y).expect_err("h has no elements at 1");
    let Error::SmallestSizes(_, reason) = &error else { panic!("{error}") };
    assert!(matches!(**reason, Error::ZeroLength { .. }), "{error}");
}

#[test]
fn a_refused_edit_leaves_empty_statements_as_they_were() {
    let device = device();
    let xs = ramp(MOST + REST);
    let x = Buffer::from_host(&device.stream, &xs).expect("a buffer");
    let y = Buffer::<f32>::zeros(&device.stream, MOST + REST).expect("a buffer");
    let z = Buffer::<u64>::zeros(&device.stream, MOST).expect("a buffer");
    let graph = steps(&device.ctx, REST as u32, MOST as u32, 0, 2.0, &x, &y, &z).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let mut expected = vec![0.0f32; MOST + REST];
    for n in [0, 3, 0] {
        exec.set_n(n as u32).expect("it is set");
        let refused = exec.edit(|edit| {
            edit.set_n(if n == 0 { 8 } else { 0 })?;
            edit.set_n(MOST as u32 + 1)
        });
        assert!(matches!(refused, Err(Error::Range { .. })), "{refused:?}");
        exec.launch(&device.stream).expect("it runs");
        model(n, 2.0, &xs, &mut expected);
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{n}");
    }
}

/// `y` may be bound anew while the statements are empty.
#[cuweave::graph]
fn bound(
    #[at_least(0)]
    #[at_most(64)]
    n: u32,
    x: &[f32; n],
    y: &mut [f32; n],
) {
    copy(&x, &mut y);
    scale[per_item(n)](&mut y, 2.0, n);
}

#[test]
fn buffers_are_set_while_statements_are_empty() {
    let device = device();
    let x = device.upload(&ramp(64));
    let [first, second] = [(), ()].map(|()| Buffer::<f32>::zeros(&device.stream, 64).expect("a buffer"));
    let mut exec = bound(&device.ctx, 64, x, &first).expect("it builds").instantiate().expect("an exec");
    exec.set_n(0).expect("it is set");
    exec.set_y(&second).expect("it is bound");
    exec.launch(&device.stream).expect("it runs");
    exec.set_n(10).expect("it is set");
    exec.launch(&device.stream).expect("it runs");
    assert_eq!(first.to_host(&device.stream).expect("it is read"), [0.0; 64]);
    let expected: Vec<f32> = (0..64).map(|at| if at < 10 { 2.0 * ramp(64)[at] } else { 0.0 }).collect();
    assert_eq!(second.to_host(&device.stream).expect("it is read"), expected);
}

/// Launches that two sizes empty, together or alone, and one that none empties.
#[cuweave::graph]
fn grids(
    #[at_least(0)]
    #[at_most(20)]
    n: u32,
    #[at_least(0)]
    #[at_most(20)]
    m: u32,
    #[at_most(3)] k: u32,
    x: &mut [f32; n * m + 1],
    y: &mut [f32; n + m],
    z: &mut [f32; n * k],
    w: &mut [f32; k],
) {
    scale[per_item(n * m + 1)](&mut x, 2.0, n * m + 1);
    scale[per_item(n * m)](&mut x[..n * m], 3.0, n * m);
    scale[per_item(n + m)](&mut y, 5.0, n + m);
    scale[(n, k)](&mut z, 7.0, n * k);
    scale[per_item(k)](&mut w, 2.0, k);
}

#[test]
fn several_sizes_empty_statements() {
    let device = device();
    let new = |len: usize| Buffer::from_host(&device.stream, &vec![1.0f32; len]).expect("a buffer");
    let (x, y, z, w) = (new(401), new(40), new(60), new(3));
    let graph = grids(&device.ctx, 0, 0, 1, &x, &y, &z, &w).expect("it builds");
    let mut exec = graph.instantiate().expect("an exec");
    let mut random = 3u32;
    for (round, (n, m, k)) in [(0, 0, 1), (0, 5, 1), (5, 0, 2), (20, 20, 3), (0, 0, 3)]
        .into_iter()
        .chain((0..30).map(|_| {
            random = random.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let value = |at: u32| (random >> at & 31).saturating_sub(11);
            (value(4), value(12), 1 + (random >> 20) % 3)
        }))
        .enumerate()
    {
        if round > 0 {
            exec.edit(|edit| {
                edit.set_n(n)?;
                edit.set_m(m)?;
                edit.set_k(k)
            })
            .expect("it is set");
        }
        for buffer in [&x, &y, &z, &w] {
            let ones = vec![1.0f32; buffer.len()];
            buffer.copy_from_host(&device.stream, &ones).expect("it is written");
        }
        exec.launch(&device.stream).expect("it runs");
        let [n, m, k] = [n, m, k].map(|size| size as usize);
        let check = |buffer: &Buffer<f32>, value: &dyn Fn(usize) -> f32| {
            let expected: Vec<f32> = (0..buffer.len()).map(value).collect();
            assert_eq!(buffer.to_host(&device.stream).expect("it is read"), expected, "{n} {m} {k}");
        };
        let at_most = |len: usize, value: f32| move |at: usize| if at < len { value } else { 1.0 };
        check(&x, &|at| at_most(n * m, 3.0)(at) * at_most(n * m + 1, 2.0)(at));
        check(&y, &at_most(n + m, 5.0));
        check(&z, &at_most(n * k, 7.0));
        check(&w, &at_most(k, 2.0));
    }
}

/// A host statement sees an empty range; statements that sizes do not empty lie around.
#[cuweave::graph]
fn told(
    #[at_least(0)]
    #[at_most(16)]
    n: u32,
    seen: &std::sync::Mutex<Vec<usize>>,
    x: &[f32; n],
    to: &mut Pinned<[f32; n]>,
) {
    copy(&x, &mut to);
    host(&seen, &to, |seen, to| seen.lock().expect("no panic").push(to.len()));
}

#[test]
fn copies_to_the_host_may_be_empty() {
    let device = device();
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let x = device.upload(&ramp(16));
    let to = pinned(&device.ctx, &[-1.0f32; 16]);
    let mut exec =
        told(&device.ctx, 0, seen.clone(), x, to).expect("it builds").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("it runs");
    exec.set_n(3).expect("it is set");
    exec.launch(&device.stream).expect("it runs");
    exec.set_n(0).expect("it is set");
    exec.launch(&device.stream).expect("it runs");
    exec.synchronize().expect("it ends");
    assert_eq!(*seen.lock().expect("no panic"), [0, 3, 0]);
    let copied = exec.args().to.as_slice().expect("it is read");
    assert_eq!((&copied[..3], copied[3]), (&ramp(3)[..], -1.0));
}

#[test]
fn emptied_statements_have_nodes_and_full_edges_of_their_own() {
    let device = device();
    let x = device.upload(&ramp(MOST + REST));
    let (y, z) = (device.zeros::<f32>(MOST + REST), device.zeros::<u64>(MOST));
    let graph = steps(&device.ctx, REST as u32, MOST as u32, 1, 2.0, x, y, z).expect("it builds");
    let operations = cuweave::__private::operations(&graph);
    let at = |name: &str, nth: usize| {
        let mut named = operations.list.ids().filter(|&at| operations.list[at].name == name);
        named.nth(nth).expect("it has a node")
    };
    for at in [at("copy_to", 0), at("scale", 0), at("copy", 0)] {
        let operation = &operations.list[at];
        assert_eq!((operation.sources.len(), operation.programmatic), (1, None));
        assert!(operations.list.iter().all(|one| one.programmatic != Some(at)));
    }
    // A disabled memset node orders nothing, so an edge leads around it.
    let parts = operations.list.ids().filter(|&at| operations.list[at].name == "fill");
    let behind = parts
        .filter(|&fill| operations.list[fill].after.iter().any(|&one| operations.list[one].name == "fill"));
    let behind: Vec<_> = behind.collect();
    let [part] = behind[..] else { panic!("{behind:?}") };
    let whole = operations.list[part].after.iter().find(|&&one| operations.list[one].name == "fill");
    let whole = *whole.expect("it has a predecessor");
    let users: Vec<_> = operations.list.iter().filter(|one| one.after.contains(&part)).collect();
    assert!(!users.is_empty() && users.iter().all(|one| one.after.contains(&whole)));
}
