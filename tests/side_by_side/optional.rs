//! Kernels with optional buffers, and with numbers that only occur in lengths.

use cuweave::builder::{Argument, Builder};
use cuweave::prelude::*;
use cuweave_testkit::device::{device, ramp};

#[cuweave::kernels("tests/kernels/optional.ptx")]
unsafe extern "ptx-kernel" {
    fn biased(x: &[f32; n], bias: Option<&[f32; n]>, out: &mut [MaybeUninit<f32>; n], n: u32);
    fn doubled(input: Option<&[f32; n]>, out: &mut [f32; n], n: u32);
    fn squared(
        x: &[f32; n],
        kept: Option<&mut [MaybeUninit<f32>; n]>,
        out: &mut [MaybeUninit<f32>; n],
        n: u32,
    );
    fn looked_up(
        ids: &[u32; n],
        #[contract] count: u32,
        rows: &[f32; count * width],
        out: &mut [MaybeUninit<f32>; n * width],
        width: u32,
        n: u32,
    );
}

#[cuweave::graph]
fn all(n: u32, x: &[f32; n], bias: &[f32; n], out: &mut [f32; 4 * n], kept: &mut [f32; n]) {
    biased[per_item(n)](&x, &bias, &mut out[..n], n);
    biased[per_item(n)](&x, None, &mut out[n..2 * n], n);
    squared[per_item(n)](&x, Some(&mut kept), &mut out[2 * n..3 * n], n);
    squared[per_item(n)](&x, None, &mut out[3 * n..], n);
    doubled[per_item(n)](Some(&bias), &mut kept, n);
    doubled[per_item(n)](None, &mut out[..n], n);
}

#[test]
fn a_launch_may_give_none() {
    let d = device();
    let n = 100;
    let (x, bias) = (d.upload(&ramp(n)), d.upload(&ramp(n)));
    let (mut out, mut kept) = (d.zeros::<f32>(4 * n), d.zeros::<f32>(n));
    let graph = all(&d.ctx, n as u32, &x, &bias, &mut out, &mut kept).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    let ramp = ramp(n);
    let expected = |of: &dyn Fn(f32) -> f32| ramp.iter().map(|&x| of(x)).collect::<Vec<f32>>();
    let square = |x: f32| (x + 1.0) * (x + 1.0);
    let out = d.download(&out);
    assert_eq!(out[..n], expected(&|x| 4.0 * x));
    assert_eq!(out[n..2 * n], expected(&|x| x));
    assert_eq!(out[2 * n..3 * n], expected(&square));
    assert_eq!(out[3 * n..], expected(&square));
    assert_eq!(d.download(&kept), expected(&|x| 2.0 * x));
}

#[test]
fn a_builders_launch_may_give_none() {
    let d = device();
    let n = 100;
    let (x, mut out) = (d.upload(&ramp(n)), d.zeros::<f32>(2 * n));
    let mut b = Builder::new(&d.ctx);
    let size = b.scalar("n", n as u32);
    let input = b.shared::<f32>("x", n as u64, &x);
    let given = b.exclusive::<f32>("out", 2 * n as u64, &mut out);
    let (mut first, mut second) = given.split_at_mut(n as u64);
    b.launch(biased {}, per_item(size), (&input, Argument::none(), &mut first, size)).expect("a launch");
    b.launch(biased {}, per_item(size), (&input, &input, &mut second, size)).expect("a launch");
    let mut exec = b.build().expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    let out = d.download(&out);
    let expected: Vec<f32> = ramp(n).iter().copied().chain(ramp(n).iter().map(|x| 2.0 * x)).collect();
    assert_eq!(out, expected);
}

#[cuweave::graph]
fn looked(
    rows: u32,
    width: u32,
    n: u32,
    ids: &[u32; n],
    table: &[f32; rows * width],
    out: &mut [f32; n * width],
) {
    looked_up[per_item(n * width)](&ids, rows, &table, &mut out, width, n);
}

#[test]
fn numbers_of_the_contract_are_for_lengths_alone() {
    let d = device();
    let (ids, table) = (d.upload(&[2u32, 0, 1]), d.upload(&ramp(12)));
    let mut out = d.zeros::<f32>(12);
    let graph = looked(&d.ctx, 3, 4, 3, &ids, &table, &mut out).expect("it builds");
    assert!(graph.report().to_string().contains("rows"), "its extent is vouched for: {}", graph.report());
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    let all = ramp(12);
    assert_eq!(d.download(&out), [&all[8..], &all[..4], &all[4..8]].concat());
}

#[cuweave::graph]
fn too_short(n: u32, ids: &[u32; n], table: &[f32; 2 * n], out: &mut [f32; n * n]) {
    looked_up[per_item(n * n)](&ids, 3, &table, &mut out, n, n);
}

#[test]
fn lengths_of_the_contract_are_checked() {
    let d = device();
    let (ids, table, mut out) = (d.upload(&[1u32, 0, 1]), d.upload(&ramp(6)), d.zeros::<f32>(9));
    let error = too_short(&d.ctx, 3, &ids, &table, &mut out).map(|_| ()).expect_err("6 elements are not 9");
    assert!(error.to_string().contains("rows"), "{error}");
}

/// A layer, with or without a bias.
#[cuweave::arguments]
struct Layer {
    n: u32,
    bias: Option<&[f32; n]>,
    kept: Option<&mut [f32; n]>,
}

#[cuweave::graph]
fn layer(n: u32, x: &[f32; n], bias: Option<&[f32; n]>, out: &mut [MaybeUninit<f32>; n]) {
    biased[per_item(n)](&x, bias, &mut out, n);
}

#[cuweave::graph]
fn layers(n: u32, x: &[f32; n], bias: Option<&[f32; n]>, list: &[Layer<'_>], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    layer(n, &x, &bias, &mut h);
    for one in &list {
        let y = alloc::<f32>(n);
        if n > 60 {
            biased[per_item(n)](&h, one.bias.as_ref(), &mut y, n);
        } else if let Some(b) = one.bias {
            biased[per_item(n)](&h, &b, &mut y, n);
        } else {
            biased[per_item(n)](&h, None, &mut y, n);
        }
        if let Some(kept) = one.kept {
            copy(&y, &mut kept[..n]);
        }
        copy(&y, &mut h);
    }
    match bias {
        Some(b) => doubled[per_item(n)](&b, &mut h, n),
        None => doubled[per_item(n)](None, &mut h, n),
    }
    copy(&h, &mut out);
}

/// The same on the host.
fn on_the_host(x: &[f32], bias: Option<&[f32]>, biases: &[Option<&[f32]>]) -> Vec<f32> {
    let add = |x: Vec<f32>, b: Option<&[f32]>| match b {
        Some(b) => x.iter().zip(b).map(|(x, b)| x + b).collect(),
        None => x,
    };
    let h = biases.iter().fold(add(x.to_vec(), bias), |h, b| add(h, *b));
    bias.map_or(h, <[f32]>::to_vec).iter().map(|x| 2.0 * x).collect()
}

#[test]
fn arguments_and_fields_may_be_none() {
    let d = device();
    for (n, given) in [(70, true), (70, false), (50, true), (50, false)] {
        let (x, bias, other) = (d.upload(&ramp(n)), d.upload(&vec![3.0; n]), d.upload(&vec![5.0; n]));
        let (mut kept, mut out) = (d.zeros::<f32>(n), d.zeros::<f32>(n));
        let list = vec![
            Layer::new(n as u32, None, Some(&mut kept)),
            Layer::new(n as u32, given.then_some(&other), None),
        ];
        let graph = layers(&d.ctx, n as u32, &x, given.then_some(&bias), list, &mut out).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&d.stream).expect("it is launched");
        drop(exec);
        let one = |value: f32| given.then(|| vec![value; n]);
        let (first, second) = (one(3.0), one(5.0));
        let expected = on_the_host(&ramp(n), first.as_deref(), &[None, second.as_deref()]);
        assert_eq!(d.download(&out), expected, "{given}");
        let added = if given { 3.0 } else { 0.0 };
        assert_eq!(d.download(&kept), ramp(n).iter().map(|x| x + added).collect::<Vec<_>>());
    }
}

#[test]
fn a_setter_exchanges_a_buffer_and_makes_none() {
    let d = device();
    let n = 64;
    let (x, bias, other) = (d.upload(&ramp(n)), d.upload(&vec![3.0; n]), d.upload(&vec![5.0; n]));
    let mut out = d.zeros::<f32>(n);
    let graph = layer(&d.ctx, n as u32, &x, Some(&bias), &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.bias().expect("there is one").set(&other).expect("it is set");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), ramp(n).iter().map(|x| x + 5.0).collect::<Vec<_>>());
    let graph = layer(&d.ctx, n as u32, &x, None, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let error = exec.bias().map(|_| ()).expect_err("there is none");
    assert!(error.to_string().contains("bias"), "{error}");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), ramp(n));
}

/// Fields are passed on to a kernel that writes, and to a function.
#[cuweave::graph]
fn fields(n: u32, list: &[Layer<'_>], x: &[f32; n], out: &mut [f32; 2 * n]) {
    for one in &list {
        squared[per_item(n)](&x, one.kept.as_mut(), &mut out[..n], n);
        if n > 30 {
            layer(n, &x, one.bias.as_ref(), &mut out[n..]);
        } else {
            layer(n, &x, &one.bias, &mut out[n..]);
        }
    }
}

#[test]
fn fields_are_given_on() {
    let d = device();
    for (n, given) in [(40, true), (40, false), (20, true), (20, false)] {
        let (x, bias) = (d.upload(&ramp(n)), d.upload(&vec![3.0; n]));
        let (mut kept, mut out) = (d.zeros::<f32>(n), d.zeros::<f32>(2 * n));
        let list = vec![Layer::new(n as u32, given.then_some(&bias), given.then_some(&mut kept))];
        let graph = fields(&d.ctx, n as u32, list, &x, &mut out).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&d.stream).expect("it is launched");
        drop(exec);
        let added = if given { 3.0 } else { 0.0 };
        let expected = ramp(n).iter().map(|x| x + added).collect::<Vec<_>>();
        assert_eq!(d.download(&out)[n..], expected, "{given}");
        let kept = d.download(&kept);
        assert_eq!(kept.iter().any(|&kept| kept != 0.0), given, "{kept:?}");
    }
}

/// Two launches that only a name orders.
#[cuweave::graph(launches = "as-written")]
fn named(n: u32, bias: Option<&[f32; n]>, x: &[f32; n], out: &mut [f32; n], other: &mut [f32; n]) {
    let first = biased[per_item(n)](&x, bias, &mut out, n);
    #[after(first)]
    biased[per_item(n)](&x, None, &mut other, n);
}

#[test]
fn a_launch_with_or_without_has_a_name() {
    let d = device();
    let n = 40;
    let (x, bias) = (d.upload(&ramp(n)), d.upload(&vec![3.0; n]));
    let (mut out, mut other) = (d.zeros::<f32>(n), d.zeros::<f32>(n));
    for given in [true, false] {
        let bias = given.then_some(&bias);
        let graph = named(&d.ctx, n as u32, bias, &x, &mut out, &mut other).expect("it builds");
        assert_eq!((graph.report().depth, graph.report().edges), (2, 1), "{}", graph.report());
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&d.stream).expect("it is launched");
        drop(exec);
        let added = if given { 3.0 } else { 0.0 };
        assert_eq!(d.download(&out), ramp(n).iter().map(|x| x + added).collect::<Vec<_>>(), "{given}");
        assert_eq!(d.download(&other), ramp(n));
    }
}

/// Choices whose arms never run in the same graph, ordered only by names.
#[cuweave::graph(order = "explicit")]
fn explicit(n: u32, twice: bool, bias: Option<&[f32; n]>, x: &[f32; n], out: &mut [f32; 2 * n]) {
    let given_on = biased[per_item(n)](&x, bias, &mut out[..n], n);
    if twice {
        #[after(given_on)]
        doubled[per_item(n)](None, &mut out[..n], n);
    } else {
        #[after(given_on)]
        copy(&x, &mut out[..n]);
    }
    match bias {
        Some(b) => biased[per_item(n)](&x, &b, &mut out[n..], n),
        None => biased[per_item(n)](&x, None, &mut out[n..], n),
    }
}

#[test]
fn arms_of_a_choice_need_no_order() {
    let d = device();
    let n = 40;
    let (x, bias, mut out) = (d.upload(&ramp(n)), d.upload(&vec![3.0; n]), d.zeros::<f32>(2 * n));
    for (given, twice) in [(true, true), (true, false), (false, true), (false, false)] {
        let graph =
            explicit(&d.ctx, n as u32, twice, given.then_some(&bias), &x, &mut out).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&d.stream).expect("it is launched");
        drop(exec);
        let biased: Vec<f32> = ramp(n).iter().map(|x| if given { x + 3.0 } else { *x }).collect();
        let first = if twice { biased.iter().map(|x| 2.0 * x).collect() } else { ramp(n) };
        assert_eq!(d.download(&out), [first, biased].concat(), "{given}, {twice}");
    }
}

/// Scales by 2 if no scale is given.
#[cuweave::graph]
fn scaled(n: u32, repeated: Option<u32>, x: &[f32; n], bias: Option<&[f32; n]>, out: &mut [f32; n]) {
    copy(&x, &mut out);
    if repeated.is_none() {
        doubled[per_item(n)](Some(&x), &mut out, n);
    }
    let h = alloc::<f32>(n);
    copy(&out, &mut h);
    biased[per_item(n)](&h, bias, &mut out, n);
}

#[cuweave::graph]
fn calls(n: u32, x: &[f32; n], out: &mut [f32; 2 * n]) {
    scaled(n, None, &x, None, &mut out[..n]);
    layer(n, &x, None, &mut out[n..]);
}

#[test]
fn a_call_may_give_none() {
    let d = device();
    let n = 33;
    let (x, mut out) = (d.upload(&ramp(n)), d.zeros::<f32>(2 * n));
    let graph = calls(&d.ctx, n as u32, &x, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    let expected: Vec<f32> = ramp(n).iter().map(|x| 2.0 * x).chain(ramp(n)).collect();
    assert_eq!(d.download(&out), expected);
}

#[cuweave::graph]
fn kept_or_not(n: u32, x: &[f32; n], kept: Option<&mut [f32; n]>, out: &mut [f32; n]) {
    squared[per_item(n)](&x, kept, &mut out, n);
}

#[cuweave::graph(launches = "as-written")]
fn given(
    n: u32,
    x: &[f32; n],
    bias: Option<&[f32; n]>,
    one: Layer<'_>,
    kept: &mut [f32; n],
    out: &mut [f32; 7 * n],
) {
    let b = alloc::<f32>(n);
    fill(&mut b, 100.0f32);
    layer(n, &x, Some(&x), &mut out[..n]);
    layer(n, &x, None, &mut out[n..2 * n]);
    layer(n, &x, Some(&b), &mut out[2 * n..3 * n]);
    if let Some(bias) = bias {
        layer(n, &x, Some(&bias), &mut out[3 * n..4 * n]);
        layer(n, &x, Some(bias), &mut out[4 * n..5 * n]);
    } else {
        fill(&mut out[3 * n..5 * n], 0.0f32);
    }
    layer(n, &x, one.bias.as_ref(), &mut out[5 * n..6 * n]);
    kept_or_not(n, &x, Some(&mut kept), &mut out[6 * n..]);
    fill(&mut b, 0.0f32);
}

#[test]
fn a_call_gives_some_buffer_or_none() {
    let d = device();
    let n = 64;
    let (x, bias) = (d.upload(&ramp(n)), d.upload(&vec![1000.0f32; n]));
    for with in [true, false] {
        let (mut kept, mut out) = (d.zeros::<f32>(n), d.zeros::<f32>(7 * n));
        let maybe = || with.then_some(&bias);
        let one = Layer::new(n as u32, maybe(), None);
        let graph = given(&d.ctx, n as u32, &x, maybe(), one, &mut kept, &mut out).expect("it builds");
        // A write after the calls waits for the one that reads.
        assert_eq!(graph.report().edges, 4, "{}", graph.report());
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&d.stream).expect("it is launched");
        drop(exec);
        let more = if with { 1000.0 } else { 0.0 };
        let sum = |by: f32| ramp(n).iter().map(|x| x + by).collect::<Vec<f32>>();
        let mut expected = [ramp(n).iter().map(|x| 2.0 * x).collect(), sum(0.0), sum(100.0)].concat();
        let branch = if with { sum(1000.0) } else { vec![0.0; n] };
        expected.extend([branch.clone(), branch, sum(more)].concat());
        expected.extend(ramp(n).iter().map(|x| (x + 1.0) * (x + 1.0)));
        assert_eq!(d.download(&out), expected);
        assert_eq!(d.download(&kept), sum(1.0));
    }
}
