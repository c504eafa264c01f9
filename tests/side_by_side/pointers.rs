//! Kernels with tables of pointers, to which launches pass lists of buffers.

use cudarc::driver::CudaSlice;
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, device, ramp};
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/pointers.ptx")]
unsafe extern "ptx-kernel" {
    fn summed(xs: &[Ptr<[f32; len]>; n], out: &mut [MaybeUninit<f32>; len], n: u32, len: u32);
    fn scaled(xs: &[PtrMut<[f32; len]>; n], by: f32, n: u32, len: u32);
    fn squares(xs: &[Ptr<[f32; len]>; n], ys: &[PtrMut<[f32; len]>; n], n: u32, len: u32);
    fn doubled(xs: &[u64; n], out: &mut [MaybeUninit<u64>; n], n: u32);
}

const LEN: usize = 100;

/// Returns ramps, scaled by 1, 10, 100, ..
fn upload<const N: usize>(d: &Device) -> [CudaSlice<f32>; N] {
    std::array::from_fn(|at| d.upload(&times(10f32.powi(at as i32))))
}

fn times(by: f32) -> Vec<f32> {
    ramp(LEN).iter().map(|x| by * x).collect()
}

#[cuweave::graph]
fn sum_of_a_list(n: u32, len: u32, xs: &[&[f32; len]], out: &mut [f32; len]) {
    summed[per_item(len)](&xs, &mut out, n, len);
}

#[cuweave::graph]
fn sum_of_an_array(len: u32, xs: [&[f32; len]; 3], out: &mut [f32; len]) {
    summed[per_item(len)](&xs, &mut out, 3, len);
}

#[test]
fn a_list_is_a_table_of_pointers() {
    let d = device();
    let (xs, mut out) = (upload::<3>(&d), d.zeros::<f32>(LEN));
    let graph = sum_of_a_list(&d.ctx, 3, LEN as u32, xs.iter().collect(), &mut out).expect("it builds");
    assert!(cuweave::certificate::check(&graph.certificate()).is_ok());
    let report = graph.report().all().to_string();
    assert!(report.contains("`entry`") && report.contains("3 times"), "the entries are one launch: {report}");
    assert!(report.contains("summed.xs: how the buffers that it points to are used"), "{report}");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), times(111.0));
}

#[test]
fn an_array_is_a_table_of_pointers() {
    let d = device();
    let (xs, mut out) = (upload::<3>(&d), d.zeros::<f32>(LEN));
    let graph = sum_of_an_array(&d.ctx, LEN as u32, xs.each_ref(), &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), times(111.0));
}

#[cuweave::graph]
fn written(
    n: u32,
    len: u32,
    by: f32,
    xs: &[&mut [f32; len]],
    ys: [&mut [f32; len]; 2],
    out: &mut [f32; len],
) {
    scaled[per_item(len)](&mut xs, by, n, len);
    squares[per_item(len)](&xs, &mut ys, 2, len);
    summed[per_item(len)](&ys, &mut out, 2, len);
}

#[test]
fn the_buffers_of_a_list_are_written() {
    let d = device();
    let (mut xs, mut ys, mut out) = (upload::<2>(&d), upload::<2>(&d), d.zeros::<f32>(LEN));
    let graph = written(&d.ctx, 2, LEN as u32, 3.0, xs.iter_mut().collect(), ys.each_mut(), &mut out);
    let graph = graph.expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    exec.set_by(0.5).expect("it is set");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&xs[1]), times(15.0));
    let squares: Vec<f32> =
        ramp(LEN).iter().map(|x| (1.5 * x) * (1.5 * x) + (15.0 * x) * (15.0 * x)).collect();
    assert_eq!(d.download(&out), squares);
}

#[test]
fn setters_rebind_what_tables_point_to() {
    let d = device();
    let (xs, mut out) = (upload::<3>(&d), d.zeros::<f32>(LEN));
    let (one, three) = (d.upload(&times(1000.0)), [2.0, 20.0, 200.0].map(|by| d.upload(&times(by))));
    let graph = sum_of_a_list(&d.ctx, 3, LEN as u32, xs.iter().collect(), &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    exec.xs(1).expect("it exists").set(&one).expect("it is set");
    assert_eq!(cuweave::certificate::check(&exec.certificate()), Ok(()));
    exec.launch(&d.stream).expect("it is launched");
    // Only some of them are summed.
    exec.set_n(2).expect("it is set");
    exec.launch(&d.stream).expect("it is launched");
    let error = exec.set_n(4).expect_err("there are three").to_string();
    assert!(error.contains("xs.pointers") && error.contains('4') && error.contains('3'), "{error}");
    let error =
        exec.xs(0).expect("it exists").set(d.zeros::<f32>(LEN - 1)).expect_err("it is short").to_string();
    assert!(error.contains("xs[0]") && error.contains("99"), "{error}");
    drop(exec);
    assert_eq!(d.download(&out), times(1001.0));

    let mut out = d.zeros::<f32>(LEN);
    let graph = sum_of_an_array(&d.ctx, LEN as u32, xs.each_ref(), &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.set_xs(three.each_ref()).expect("they are set");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), times(222.0));
}

#[cuweave::graph]
fn ordered(len: u32, xs: [&mut [f32; len]; 2], out: &mut [f32; len], apart: &mut [f32; len]) {
    fill(&mut xs[1], 1.0);
    fill(&mut apart, 2.0);
    summed[per_item(len)](&xs, &mut out, 2, len);
    fill(&mut xs[0], 3.0);
}

#[test]
fn the_elements_order_the_launch() {
    let d = device();
    let ([mut a, mut b], mut out, mut apart) = (upload::<2>(&d), d.zeros::<f32>(LEN), d.zeros::<f32>(LEN));
    let graph = ordered(&d.ctx, LEN as u32, [&mut a, &mut b], &mut out, &mut apart).expect("it builds");
    let certificate = graph.certificate();
    let node = |name: &str| {
        let named = |node: &cuweave::certificate::certificate::Node| node.name.starts_with(name);
        certificate.plan.nodes.iter().position(named).unwrap_or_else(|| panic!("{name}: {certificate}"))
    };
    let edges: Vec<(usize, usize)> = certificate.plan.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    // The alloc precedes the table entries. These, and the fill of `xs[1]`, precede the sum, which precedes the
    // fill and the free.
    assert_eq!(edges.len(), 5, "{certificate}");
    let sum = node("summed");
    assert_eq!(edges.iter().filter(|edge| edge.1 == sum).count(), 2, "{certificate}");
    assert_eq!(edges.iter().filter(|edge| edge.0 == sum).count(), 2, "{certificate}");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), ramp(LEN).iter().map(|x| x + 1.0).collect::<Vec<f32>>());
    assert_eq!(d.download(&a), vec![3.0; LEN]);
}

#[cuweave::graph]
fn looped(n: u32, len: u32, xs: &[&mut [f32; len]], out: &mut [f32; len]) {
    for by in 2..4 {
        for i in 0..n {
            fill(&mut xs[i], 1.0);
        }
        scaled[per_item(len)](&mut xs, by as f32, n, len);
        summed[per_item(len)](&xs, &mut out, n, len);
    }
}

#[test]
fn tables_in_loops_are_temporaries_of_their_turns() {
    let d = device();
    let (mut xs, mut out) = (upload::<3>(&d), d.zeros::<f32>(LEN));
    let graph = looped(&d.ctx, 3, LEN as u32, xs.iter_mut().collect(), &mut out).expect("it builds");
    assert!(cuweave::certificate::check(&graph.certificate()).is_ok());
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), vec![9.0; LEN]);
}

#[cuweave::graph]
fn decided(n: u32, len: u32, flag: &[u32; 1], xs: &[&[f32; len]], out: &mut [f32; len]) {
    fill(&mut out, 0.0);
    if &flag {
        summed[per_item(len)](&xs, &mut out, n, len);
    }
}

#[test]
fn tables_are_made_in_bodies_that_the_device_decides_about() {
    let d = device();
    for flag in [0, 1] {
        let (xs, mut out) = (upload::<2>(&d), d.zeros::<f32>(LEN));
        let given = d.upload(&[flag]);
        let graph = decided(&d.ctx, 2, LEN as u32, &given, xs.iter().collect(), &mut out).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&d.stream).expect("it is launched");
        drop(exec);
        assert_eq!(d.download(&out), times(11.0 * flag as f32));
    }
}

#[cuweave::graph]
fn short(n: u32, len: u32, k: u32, xs: &[&[f32; k]], out: &mut [f32; len]) {
    summed[per_item(len)](&xs, &mut out, n, len);
}

#[test]
fn lengths_are_checked() {
    let d = device();
    let (xs, mut out) = (upload::<2>(&d), d.zeros::<f32>(LEN));
    let len = LEN as u32;
    let error =
        sum_of_a_list(&d.ctx, 3, len, xs.iter().collect(), &mut out).map(drop).expect_err("two are there");
    assert!(matches!(error, cuweave::Error::Extent { extent: 3, len: 2, .. }), "{error}");
    let short_ones = [d.zeros::<f32>(7), d.zeros::<f32>(7)];
    let error = short(&d.ctx, 2, len, 7, short_ones.iter().collect(), &mut out)
        .map(drop)
        .expect_err("they are short");
    assert!(matches!(&error, cuweave::Error::Extent { extent: 100, len: 7, .. }), "{error}");
    assert!(error.to_string().contains("xs[0]"), "{error}");
}

#[test]
fn a_builder_takes_no_tables() {
    use cuweave::builder::Builder;
    let d = device();
    let (x, mut out) = (d.zeros::<f32>(LEN), d.zeros::<f32>(LEN));
    let mut b = Builder::new(&d.ctx);
    let (n, len) = (b.scalar("n", 1u32), b.scalar("len", LEN as u32));
    let (x, mut out) =
        (b.shared::<f32>("x", LEN as u64, &x), b.exclusive::<f32>("out", LEN as u64, &mut out));
    let error = b.launch(summed {}, per_item(len), (&x, &mut out, n, len)).map(drop).expect_err("no list");
    assert!(error.to_string().contains("table of pointers"), "{error}");
}

#[cuweave::graph]
fn temporaries(len: u32, x: &[f32; len], out: &mut [f32; len]) {
    let h = alloc::<f32>(2 * len);
    let y = alloc::<f32>(len);
    copy(&x, &mut h[..len]);
    fill(&mut h[len..], 1.0);
    fill(&mut y, 0.0);
    squares[per_item(len)](&[&h[len..], &x], &[&mut y, &mut h[..len]], 1, len);
    summed[per_item(len)](&[&h[..len], &y, &x, &h[len..]], &mut out, 4, len);
}

#[test]
fn a_written_list_is_a_table_of_pointers() {
    let d = device();
    let (x, mut out) = (d.upload(&ramp(LEN)), d.zeros::<f32>(LEN));
    let graph = temporaries(&d.ctx, LEN as u32, &x, &mut out).expect("it builds");
    assert!(cuweave::certificate::check(&graph.certificate()).is_ok());
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), ramp(LEN).iter().map(|x| x + 1.0 + x + 1.0).collect::<Vec<f32>>());
}

#[cuweave::graph]
fn unwritten(len: u32, k: u32, x: &[f32; len], out: &mut [f32; len]) {
    let y = alloc::<f32>(len);
    for i in 0..k {
        fill(&mut y[i..i + 1], 0.0);
    }
    squares[per_item(len)](&[&x], &[&mut y[..k]], 1, len);
    copy(&x, &mut out);
}

#[cuweave::graph]
fn moved(len: u32, at: u32, x: &[f32; 2 * len], out: &mut [f32; len]) {
    summed[per_item(len)](&[&x[at..at + len], &x[..len]], &mut out, 2, len);
}

#[test]
fn setters_move_what_tables_point_to() {
    let d = device();
    let (x, mut out) = (d.upload(&ramp(2 * LEN)), d.zeros::<f32>(LEN));
    let graph = moved(&d.ctx, LEN as u32, 0, &x, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    exec.set_at(40).expect("it is set");
    assert_eq!(cuweave::certificate::check(&exec.certificate()), Ok(()));
    exec.launch(&d.stream).expect("it is launched");
    exec.set_at(LEN as u32 + 1).expect_err("it is beyond");
    drop(exec);
    let all = ramp(2 * LEN);
    let expected: Vec<f32> = all[40..40 + LEN].iter().zip(&all).map(|(one, other)| one + other).collect();
    assert_eq!(d.download(&out), expected);
}

#[cuweave::graph]
fn one_of_them(len: u32, xs: &[&mut [f32; len]]) {
    summed[per_item(len)](&xs, &mut xs[0], 1, len);
}

#[test]
fn what_tables_point_to_is_written_before_and_is_apart() {
    let d = device();
    let (mut x, mut out) = (d.zeros::<f32>(LEN), d.zeros::<f32>(LEN));
    let error = unwritten(&d.ctx, LEN as u32, 3, &x, &mut out).map(drop).expect_err("it is short");
    assert!(matches!(error, cuweave::Error::Extent { extent: 100, len: 3, .. }), "{error}");
    let error = one_of_them(&d.ctx, LEN as u32, vec![&mut x]).map(drop).expect_err("they are one");
    assert!(error.to_string().contains("CW20"), "{error}");
}

#[cuweave::graph(order = "explicit")]
fn by_hand(len: u32, xs: [&mut [f32; len]; 2], out: &mut [f32; len]) {
    let first = fill(&mut xs[1], 1.0);
    #[after(first)]
    let sum = summed[per_item(len)](&xs, &mut out, 2, len);
    #[after(sum)]
    fill(&mut xs[0], 3.0);
}

#[test]
fn explicit_order_is_that_of_the_launch() {
    let d = device();
    let ([mut a, mut b], mut out) = (upload::<2>(&d), d.zeros::<f32>(LEN));
    let graph = by_hand(&d.ctx, LEN as u32, [&mut a, &mut b], &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), ramp(LEN).iter().map(|x| x + 1.0).collect::<Vec<f32>>());
}

#[cuweave::graph]
fn chosen(len: u32, i: u32, xs: &[&[f32; len]], ys: [&[f32; len]; 2], out: &mut [f32; len]) {
    summed[per_item(len)](&[&xs[0], &ys[i], &xs[i + 1]], &mut out, 3, len);
}

#[cuweave::graph]
fn called(len: u32, i: u32, xs: &[&[f32; len]], ys: [&[f32; len]; 2], out: &mut [f32; len]) {
    let h = alloc::<f32>(len);
    fill(&mut h, 0.0);
    for at in 0..2 {
        chosen(len, at, xs, ys, &mut out);
        sum_of_a_list(3, len, xs, &mut h);
    }
    summed[per_item(len)](&[&h, &xs[i]], &mut out, 2, len);
}

#[test]
fn parts_of_lists_are_elements_of_a_table() {
    let d = device();
    let (xs, ys) = (upload::<3>(&d), [d.upload(&times(7.0)), d.upload(&times(3.0))]);
    let mut out = d.zeros::<f32>(LEN);
    let given = (xs.iter().collect(), ys.each_ref());
    let graph = chosen(&d.ctx, LEN as u32, 1, given.0, given.1, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), times(104.0));
    let given = (xs.iter().collect(), ys.each_ref());
    let graph = called(&d.ctx, LEN as u32, 2, given.0, given.1, &mut out).expect("it builds");
    assert!(cuweave::certificate::check(&graph.certificate()).is_ok());
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), times(211.0));
}

#[cuweave::graph]
fn of_its_own(n: u32, len: u32, ours: &[Ptr<f32>; n], out: &mut [f32; len]) {
    summed[per_item(len)](&ours, &mut out, n, len);
}

#[test]
fn a_table_is_made_of_a_list_alone() {
    let d = device();
    // SAFETY: nothing reads it, since no graph is built with it.
    let ours = unsafe { d.stream.alloc::<Ptr<f32>>(2) }.expect("memory");
    let mut out = d.zeros::<f32>(LEN);
    let error = of_its_own(&d.ctx, 2, LEN as u32, &ours, &mut out).map(drop).expect_err("it is no list");
    assert!(error.to_string().contains("no list of buffers"), "{error}");
}

macro_rules! chains {
    ($($name:ident($option:ident = $value:literal);)*) => {
        $(
            #[cuweave::graph($option = $value)]
            fn $name(n: u32, len: u32, xs: &[&[f32; len]], out: &mut [f32; len]) {
                let a = alloc::<f32>(len);
                let b = alloc::<f32>(len);
                let c = alloc::<f32>(len);
                summed[per_item(len)](&xs, &mut a, n, len);
                summed[per_item(len)](&[&a, &xs[0]], &mut b, 2, len);
                summed[per_item(len)](&[&b, &a], &mut c, 2, len);
                scaled[per_item(len)](&[&mut c, &mut b], 2.0, 2, len);
                summed[per_item(len)](&[&c], &mut out, 1, len);
            }
        )*

        #[test]
        fn lowerings_launches_and_budgets() {
            let d = device();
            $({
                let (xs, mut out) = (upload::<3>(&d), d.zeros::<f32>(LEN));
                let graph = $name(&d.ctx, 3, LEN as u32, xs.iter().collect(), &mut out).expect(stringify!($name));
                assert_eq!(cuweave::certificate::check(&graph.certificate()), Ok(()), stringify!($name));
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(&d.stream).expect("it is launched");
                let profile = exec.profile(&d.stream, 1).expect("a profile");
                assert!(profile.to_string().contains("scaled"), "{profile}");
                drop(exec);
                assert_eq!(d.download(&out), times(446.0), stringify!($name));
            })*
        }
    };
}
chains! {
    nodes(memory = "nodes");
    arena(memory = "arena");
    owned(memory = "owned");
    fused(launches = "fused");
    overlapped(launches = "overlapped");
    as_written(launches = "as-written");
    within(budget = 4096);
}

#[test]
fn an_empty_list_is_no_table() {
    let (d, none) = (device(), Vec::<&CudaSlice<f32>>::new());
    let mut out = d.zeros::<f32>(LEN);
    let error = arena(&d.ctx, 3, LEN as u32, none, &mut out).map(drop).expect_err("there is none");
    assert!(error.to_string().contains("`xs`") && error.to_string().contains("0 elements"), "{error}");
}

/// A list in a record.
#[cuweave::arguments]
struct Layer {
    n: u32,
    many: &[&[f32; n]],
}

#[cuweave::graph]
fn layers(n: u32, len: u32, list: &[Layer<'_>], out: &mut [f32; len]) {
    for layer in &list {
        sum_of_a_list(n, len, record(layer.many), &mut out);
    }
}

#[test]
fn a_list_of_a_record_is_handed_on() {
    let d = device();
    let (xs, mut out) = (upload::<3>(&d), d.zeros::<f32>(LEN));
    let layer = Layer::new(LEN as u32, xs.iter().collect());
    let graph = layers(&d.ctx, 3, LEN as u32, vec![layer], &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), times(111.0));
}

#[cuweave::graph(devices = 2)]
fn second(len: u32, xs: [&[f32; len]; 3], out: &mut [f32; len]) {
    #[on(1)]
    summed[per_item(len)](&xs, &mut out, 3, len);
}

#[test]
#[ignore = "run by the next test in a process of its own"]
fn on_the_second_device() {
    let d = device();
    if cudarc::driver::CudaContext::device_count().expect("a count") < 2 {
        println!("not run: it needs two devices");
        return;
    }
    let contexts = [0, 1].map(|device| cuweave::context(device).expect("a context"));
    let (xs, mut out) = (upload::<3>(&d), d.zeros::<f32>(LEN));
    let graph = second(&contexts, LEN as u32, xs.each_ref(), &mut out).expect("it builds");
    let certificate = graph.certificate();
    assert!(certificate.source.statements.iter().all(|statement| statement.device == 1), "{certificate}");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), times(111.0));
}

#[test]
fn a_table_is_on_the_device_of_its_launch() {
    apart("pointers::on_the_second_device", &[("CUWEAVE_SIM_DEVICES", "2")]);
}
