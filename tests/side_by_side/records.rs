//! Records, slices of records and slices of buffers, compared with plain Rust.

use cuweave::prelude::*;
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

/// A step: y += by * x. The history keeps the previous x.
#[cuweave::arguments]
struct Step {
    n: u32,
    by: f32,
    x: &[f32; n],
    history: &mut [f32; 2 * n],
}

#[cuweave::graph]
fn steps(n: u32, y: &mut [f32; n], steps: &[Step<'_>]) {
    for step in &steps {
        axpy[per_item(n)](step.by, &step.x, &mut y, n);
        copy(&y, &mut step.history[step.n..2 * step.n]);
    }
}

#[test]
fn a_slice_of_records_is_as_long_as_the_vec() {
    let device = device();
    for count in [0_usize, 1, 2, 5] {
        let mut y = device.upload(&[1.0_f32; 8]);
        let xs: Vec<_> = (0..count).map(|at| device.upload(&[at as f32 + 1.0; 8])).collect();
        let histories: Vec<_> = (0..count).map(|_| device.zeros::<f32>(16)).collect();
        let records: Vec<Step<'_>> =
            xs.iter().zip(histories).map(|(x, history)| Step::new(8, 2.0, x, history)).collect();
        let graph = steps(&device.ctx, 8, &mut y, records).expect("it builds");
        assert_eq!(graph.report().launches, count);
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        let args = exec.into_args();
        let mut expected = 1.0;
        for (at, step) in args.steps.into_iter().enumerate() {
            expected += 2.0 * (at as f32 + 1.0);
            let history = device.download(&step.history.into_owned().expect("it is owned"));
            assert_eq!(history[..8], [0.0; 8]);
            assert_eq!(history[8..], [expected; 8], "{at}");
        }
        assert_eq!(device.download(&y), [expected; 8], "{count} steps");
    }
}

/// A layer of a model: nested records, and an array and a slice of buffers.
#[cuweave::arguments]
pub struct Layer {
    d: u32,
    factor: f32,
    w: &[f32; d],
    norm: Norm<'_>,
    pair: [&[f32; d]; 2],
    more: &[&[f32; d]],
    caches: &[&mut [f32; 2 * d]],
}

/// A norm.
#[cuweave::arguments]
#[derive(Debug)]
pub struct Norm {
    len: u32,
    eps: f32,
    gain: &mut [f32; len],
}

#[cuweave::arguments]
struct Model {
    layers: &[Layer<'_>],
    norm: Norm<'_>,
    heads: [Norm<'_>; 2],
}

#[cuweave::graph]
fn normed(n: u32, x: &mut [f32; n], norm: Norm<'_>) {
    axpy[per_item(n)](norm.eps, &norm.gain, &mut x, n);
    scale[per_item(n)](&mut norm.gain, 2.0, n);
}

#[cuweave::graph]
fn summed(n: u32, x: &mut [f32; n], parts: &[&[f32; n]]) {
    for part in &parts {
        axpy[per_item(n)](1.0, &part, &mut x, n);
    }
}

#[cuweave::graph]
fn paired(n: u32, x: &mut [f32; n], pair: [&[f32; n]; 2]) {
    axpy[per_item(n)](1.0, &pair[0], &mut x, n);
    axpy[per_item(n)](10.0, &pair[1], &mut x, n);
}

#[cuweave::graph]
fn layer(n: u32, x: &mut [f32; n], layer: Layer<'_>) {
    if layer.d == n {
        axpy[per_item(layer.d)](layer.factor, &layer.w, &mut x, layer.d);
    }
    normed(n, &mut x, record(layer.norm));
    paired(n, &mut x, record(layer.pair));
    summed(n, &mut x, record(layer.more));
    for (i, cache) in layer.caches.iter_mut().enumerate() {
        copy(&x, &mut cache[i * layer.d..(i + 1) * layer.d]);
    }
}

#[cuweave::graph]
fn model(n: u32, x: &mut [f32; n], model: Model<'_>, last: u32) {
    for (i, one) in model.layers.iter().enumerate() {
        layer(n, &mut x, one);
        let again = i + 1;
        if again < model.layers.len() {
            axpy[per_item(n)](again as f32, &model.layers[again].w, &mut x, n);
        }
    }
    normed(n, &mut x, record(model.norm));
    normed(n, &mut x, record(model.heads[1]));
    normed(n, &mut x, record(model.heads[last]));
}

/// `model` in plain Rust, for vectors whose elements are all equal.
struct Plain {
    w: f32,
    factor: f32,
    norm: (f32, f32),
    pair: [f32; 2],
    more: Vec<f32>,
    caches: Vec<[f32; 2]>,
}

fn plain(x: &mut f32, layers: &mut [Plain], norm: &mut (f32, f32), heads: &mut [(f32, f32); 2], last: usize) {
    let normed = |x: &mut f32, norm: &mut (f32, f32)| {
        *x += norm.0 * norm.1;
        norm.1 *= 2.0;
    };
    for i in 0..layers.len() {
        let layer = &mut layers[i];
        *x += layer.factor * layer.w;
        normed(x, &mut layer.norm);
        *x += layer.pair[0] + 10.0 * layer.pair[1];
        layer.more.iter().for_each(|more| *x += more);
        layer.caches.iter_mut().enumerate().for_each(|(i, cache)| cache[i] = *x);
        if i + 1 < layers.len() {
            *x += (i + 1) as f32 * layers[i + 1].w;
        }
    }
    normed(x, norm);
    normed(x, &mut heads[1]);
    normed(x, &mut heads[last]);
}

fn layers_of(count: usize) -> Vec<Plain> {
    let layer = |at: usize| {
        let value = at as f32;
        Plain {
            w: value + 1.0,
            factor: 0.5,
            norm: (0.25, value),
            pair: [value, 2.0],
            more: vec![1.0; at % 3],
            caches: vec![[0.0; 2]; at % 3],
        }
    };
    (0..count).map(layer).collect()
}

#[test]
fn records_nest_and_go_to_functions() {
    let device = device();
    let up = |value: f32| device.upload(&[value; 8]);
    for (count, last) in [(0, 0), (1, 1), (3, 0), (6, 1)] {
        let mut expected = layers_of(count);
        let bound = |(eps, gain): (f32, f32)| Norm::new(8, eps, up(gain));
        let layers = expected.iter().map(|layer| {
            let more: Vec<_> = layer.more.iter().map(|&more| up(more)).collect();
            let caches: Vec<_> = layer.caches.iter().map(|_| device.zeros::<f32>(16)).collect();
            let pair = layer.pair.map(&up);
            Layer::new(8, layer.factor, up(layer.w), bound(layer.norm), pair, more, caches)
        });
        let (mut norm, mut heads) = ((0.5, 3.0), [(0.5, 4.0), (0.25, 5.0)]);
        let record = Model::new(layers.collect(), bound(norm), heads.map(bound));
        let mut x = up(1.0);
        let mut exec = model(&device.ctx, 8, &mut x, record, last)
            .expect("it builds")
            .instantiate()
            .expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        device.stream.synchronize().expect("it ends");
        let mut value = 1.0;
        plain(&mut value, &mut expected, &mut norm, &mut heads, last as usize);
        let views = exec.args();
        assert_eq!(views.model.layers.len(), count);
        for (layer, views) in expected.iter().zip(&views.model.layers) {
            assert_eq!(device.download(&views.norm.gain), [layer.norm.1; 8]);
            assert_eq!((views.d, views.factor), (8, layer.factor));
            for (cache, view) in layer.caches.iter().zip(&views.caches) {
                let cache: Vec<f32> = cache.iter().flat_map(|&value| [value; 8]).collect();
                assert_eq!(device.download(view), cache);
            }
        }
        assert_eq!(device.download(&views.model.heads[1].gain), [heads[1].1; 8]);
        drop(views);
        let args = exec.into_args();
        assert_eq!(args.model.layers.len(), count);
        drop(args);
        assert_eq!(device.download(&x), [value; 8], "{count} layers");
    }
}

#[test]
fn names_in_the_dump_and_errors_are_those_of_the_elements() {
    let device = device();
    let up = |value: f32| device.upload(&[value; 8]);
    let bound = || Norm::new(8, 0.0, up(1.0));
    let short = || Norm::new(9, 0.0, up(1.0));
    let mut x = up(1.0);
    let record = Model::new(vec![], short(), [bound(), bound()]);
    let error = model(&device.ctx, 8, &mut x, record, 0).expect_err("it is too short");
    println!("{error}");
    assert!(error.to_string().contains("`model.norm.gain`"), "{error}");
    let record = Model::new(vec![], bound(), [bound(), bound()]);
    let error = model(&device.ctx, 8, &mut x, record, 2).expect_err("there are two heads");
    println!("{error}");
    assert!(matches!(error, cuweave::Error::Index { .. }), "{error}");
}

/// Slices and arrays of buffers, read and written, by loops and by indices.
#[cuweave::graph]
fn lists(n: u32, #[at_least(1)] xs: &[&[f32; n]], ys: &[&mut [f32; n]], w: [&[f32; n]; 2], by: u32) {
    copy(&xs[0], &mut ys[0]);
    for y in ys.iter_mut() {
        for (i, x) in xs.iter().enumerate() {
            axpy[per_item(n)](i as f32, x, y, n);
        }
    }
    for i in 0..by {
        axpy[per_item(n)](1.0, &w[i], &mut ys[i], n);
        scale[per_item(n)](&mut ys[ys.len() - 1], 2.0, n);
    }
    for (i, one) in w.iter().enumerate() {
        axpy[per_item(n)](i as f32, one, &mut ys[0], n);
    }
    summed(n, &mut ys[0], &xs);
    paired(n, &mut ys[0], w);
    fill(&mut ys[by][..n / 2], 7.0);
}

#[test]
fn lists_of_buffers() {
    let device = device();
    let xs = [3.0_f32, 4.0, 5.0];
    let mut expected = [3.0_f32, 1.0, 2.0];
    for y in &mut expected {
        xs.iter().enumerate().for_each(|(i, x)| *y += i as f32 * x);
    }
    let w = [10.0_f32, 20.0];
    for i in 0..2 {
        expected[i] += w[i];
        expected[2] *= 2.0;
    }
    expected[0] += w[1] + xs.iter().sum::<f32>() + w[0] + 10.0 * w[1];
    let x = xs.map(|x| device.upload(&[x; 8]));
    let y = [0.0, 1.0, 2.0].map(|y| device.upload(&[y; 8]));
    let bound = w.map(|w| device.upload(&[w; 8]));
    let graph = lists(&device.ctx, 8, x.iter().collect(), y.into(), bound.each_ref(), 2).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    device.stream.synchronize().expect("it ends");
    let views = exec.args();
    for (at, (y, expected)) in views.ys.iter().zip(expected).enumerate() {
        let mut expected = [expected; 8];
        if at == 2 {
            expected[..4].fill(7.0);
        }
        assert_eq!(device.download(y), expected, "{at}");
    }
}

#[cuweave::graph(launches = "as-written")]
fn paired_as_written(n: u32, x: &mut [f32; n], pair: [&[f32; n]; 2]) {
    paired(n, &mut x, pair);
}

/// A setter changes the nodes of statements that use any of the buffers, not only the first.
#[test]
fn an_array_is_set_as_a_whole() {
    let device = device();
    macro_rules! each {
        ($name:ident) => {{
            let mut x = device.upload(&[1.0_f32; 8]);
            let [a, b, c, d] = [2.0_f32, 3.0, 4.0, 5.0].map(|value| device.upload(&[value; 8]));
            let graph = $name(&device.ctx, 8, &mut x, [&a, &b]).expect("it builds");
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&device.stream).expect("it launches");
            exec.set_pair([&c, &d]).expect("other buffers of that length");
            assert_eq!(cuweave::certificate::check(&exec.certificate()), Ok(()));
            exec.launch(&device.stream).expect("it launches");
            exec.pair(1).expect("there are two").set(&a).expect("another buffer of that length");
            exec.launch(&device.stream).expect("it launches");
            drop(exec);
            assert_eq!(device.download(&x), [1.0 + 32.0 + 54.0 + 24.0; 8], stringify!($name));
        }};
    }
    each!(paired);
    each!(paired_as_written);
}

#[test]
fn indices_lie_in_their_lists_and_lists_are_long_enough() {
    let device = device();
    let build = |xs: usize, ys: usize, by| {
        let list = |count: usize| (0..count).map(|_| device.zeros::<f32>(8)).collect::<Vec<_>>();
        let w = [0, 1].map(|_| device.zeros::<f32>(8));
        lists(&device.ctx, 8, list(xs), list(ys), w, by).map(drop)
    };
    assert_eq!(build(1, 3, 2), Ok(()));
    let error = build(0, 3, 2).expect_err("too few");
    println!("{error}");
    assert!(matches!(error, cuweave::Error::AtLeast { least: 1, value: 0, .. }), "{error}");
    let error = build(1, 0, 0).expect_err("there is no `ys[0]`");
    println!("{error}");
    assert!(matches!(error, cuweave::Error::Index { index: 0, len: 0, .. }), "{error}");
    let error = build(1, 2, 2).expect_err("there is no `ys[2]`");
    println!("{error}");
    assert!(matches!(error, cuweave::Error::Index { index: 2, len: 2, .. }), "{error}");
    let error = build(1, 4, 3).expect_err("there is no `w[2]`");
    println!("{error}");
    assert!(matches!(error, cuweave::Error::Index { index: 2, len: 2, .. }), "{error}");
}

/// Scalars of records in configurations, arguments and calls. `d` determines a length.
#[cuweave::graph]
fn scaled(n: u32, x: &mut [f32; n], steps: &[Step<'_>], model: Model<'_>) {
    for step in &steps {
        let by = step.by * 2.0;
        axpy[per_item(n)](by, &step.x, &mut x, n);
    }
    for one in &model.layers {
        if one.factor > 0.0 {
            paired(n, &mut x, &one.pair);
        }
        summed(n, &mut x, &one.more);
        normed(n, &mut x, &one.norm);
    }
    normed(n, &mut x, &mut model.norm);
}

#[test]
fn elements_and_fields_are_set() {
    let device = device();
    let up = |value: f32| device.upload(&[value; 8]);
    let norm = |eps: f32| Norm::new(8, eps, up(1.0));
    let layer = |factor| {
        Layer::new(
            8,
            factor,
            up(0.0),
            norm(0.5),
            [up(1.0), up(2.0)],
            vec![up(4.0)],
            Vec::<cuweave::Buffer<f32>>::new(),
        )
    };
    let steps = (1..=3).map(|at| Step::new(8, at as f32, up(1.0), device.zeros(16))).collect();
    let model = Model::new(vec![layer(0.0), layer(1.0)], norm(2.0), [norm(0.0), norm(0.0)]);
    let mut exec = scaled(&device.ctx, 8, up(0.0), steps, model)
        .expect("it builds")
        .instantiate()
        .expect("it instantiates");
    let launched = |exec: &mut scaled::Exec<'_>| {
        exec.set_x(up(0.0)).expect("it is set");
        exec.model().norm().set_gain(up(1.0)).expect("it is set");
        for at in 0..2 {
            exec.model().layers(at).expect("it exists").norm().set_gain(up(1.0)).expect("it is set");
        }
        exec.launch(&device.stream).expect("it launches");
        device.stream.synchronize().expect("it ends");
        device.download(&exec.args().x)[7]
    };
    assert_eq!(launched(&mut exec), 12.0 + 4.0 + 0.5 + 21.0 + 4.0 + 0.5 + 2.0);
    exec.steps(1).expect("it exists").set_by(5.0).expect("it is set");
    assert_eq!(launched(&mut exec), 18.0 + 4.0 + 0.5 + 21.0 + 4.0 + 0.5 + 2.0);
    exec.steps(2).expect("it exists").set_x(up(10.0)).expect("it is set");
    assert_eq!(launched(&mut exec), 72.0 + 4.0 + 0.5 + 21.0 + 4.0 + 0.5 + 2.0);
    exec.model().norm().set_eps(3.0).expect("it is set");
    exec.model().layers(0).expect("it exists").norm().set_eps(1.5).expect("it is set");
    assert_eq!(launched(&mut exec), 72.0 + 4.0 + 1.5 + 21.0 + 4.0 + 0.5 + 3.0);
    let mut model = exec.model();
    let mut one = model.layers(1).expect("it exists");
    one.pair(1).expect("it exists").set(up(3.0)).expect("it is set");
    one.more(0).expect("it exists").set(up(5.0)).expect("it is set");
    assert!(matches!(one.pair(2), Err(cuweave::Error::Index { index: 2, len: 2, .. })));
    // A choice depends on it.
    let error = one.set_factor(2.0).expect_err("a choice depends on it");
    assert!(matches!(error, cuweave::Error::BuildAgain { .. }), "{error}");
    assert!(
        error.to_string().ends_with(" decides a length, a loop or a choice: build the graph again"),
        "{error}"
    );
    assert_eq!(launched(&mut exec), 72.0 + 4.0 + 1.5 + 31.0 + 5.0 + 0.5 + 3.0);
    let error = exec.steps(3).expect_err("there are three");
    println!("{error}");
    assert!(matches!(error, cuweave::Error::Index { index: 3, len: 3, .. }), "{error}");
    let error = exec.steps(0).expect("it exists").set_x(device.zeros::<f32>(7)).expect_err("too short");
    println!("{error}");
    assert!(error.to_string().contains("`steps[0].x`"), "{error}");
}

/// One element is computed from another, and a kernel may get the same element twice.
#[cuweave::graph]
fn mixed(n: u32, layers: &[Norm<'_>], i: u32, j: u32) {
    scale[per_item(n)](&mut layers[i].gain, 2.0, n);
    scale[per_item(n)](&mut layers[j].gain, 3.0, n);
    axpy[per_item(n)](1.0, &layers[i].gain, &mut layers[j].gain, n);
}

#[test]
fn elements_alias_where_their_indices_are_equal() {
    let device = device();
    let norms = || (0..3).map(|at| Norm::new(8, 0.0, device.upload(&[at as f32 + 1.0; 8]))).collect();
    let graph = mixed(&device.ctx, 8, norms(), 0, 2).expect("different elements");
    // The two products are independent.
    assert_eq!(graph.report().depth, 2);
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    device.stream.synchronize().expect("it ends");
    assert_eq!(device.download(&exec.args().layers[2].gain), [3.0 * 3.0 + 2.0; 8]);
    // The values of one build are not used for the next one.
    for (i, j, depth) in [(0, 1, Some(2)), (0, 2, Some(2)), (2, 0, Some(2)), (0, 0, None), (0, 3, None)] {
        let built = mixed(&device.ctx, 8, norms(), i, j).map(|graph| graph.report().depth);
        assert_eq!(built.as_ref().ok(), depth.as_ref(), "{i}, {j}: {built:?}");
    }
    let error = mixed(&device.ctx, 8, norms(), 1, 1).expect_err("one element twice");
    println!("{error}");
    assert!(error.to_string().contains("CW201") && error.to_string().contains("`layers[1].gain`"), "{error}");
}

/// Explicit order over elements: conflicts are known at build time.
#[cuweave::graph(order = "explicit")]
fn unordered(n: u32, layers: &[Norm<'_>], i: u32, j: u32) {
    scale[per_item(n)](&mut layers[i].gain, 2.0, n);
    scale[per_item(n)](&mut layers[j].gain, 3.0, n);
}

#[test]
fn explicit_order_is_checked_with_the_indices() {
    let device = device();
    let norms = || (0..2).map(|at| Norm::new(8, 0.0, device.upload(&[at as f32 + 1.0; 8]))).collect();
    assert!(unordered(&device.ctx, 8, norms(), 0, 1).is_ok());
    let error = unordered(&device.ctx, 8, norms(), 1, 1).expect_err("one element twice");
    println!("{error}");
    assert!(error.to_string().contains("CW202"), "{error}");
}

/// As for all arguments, the same buffer in two records is refused if one is written.
#[test]
fn one_buffer_in_two_records_is_shared_memory() {
    let device = device();
    let shared = cuweave::Buffer::<f32>::zeros(&device.stream, 8).expect("memory");
    let layers = vec![Norm::new(8, 0.0, &shared), Norm::new(8, 0.0, &shared)];
    let error = mixed(&device.ctx, 8, layers, 0, 1).expect_err("they overlap");
    println!("{error}");
    assert!(matches!(error, cuweave::Error::Overlap { .. }), "{error}");
    assert!(error.to_string().contains("`layers[0].gain`"), "{error}");
}

/// `layers` independent layers. They become few launches, in the same way as without records.
#[cuweave::graph]
fn independent(n: u32, layers: &[Norm<'_>]) {
    for layer in layers.iter() {
        normed_alone(n, layer);
    }
}

#[cuweave::graph]
fn normed_alone(n: u32, norm: Norm<'_>) {
    for _ in 0..3 {
        scale[per_item(n)](&mut norm.gain, 2.0, n);
    }
}

#[test]
fn calls_for_independent_elements_are_batched() {
    let device = device();
    let norms = (0..16).map(|_| Norm::new(8, 0.0, device.upload(&[1.0_f32; 8]))).collect();
    let graph = independent(&device.ctx, 8, norms).expect("it builds");
    let report = graph.report();
    assert_eq!((report.launches, report.depth), (48, 3), "{report}");
    assert_eq!(report.nodes(), 3, "{report}");
    assert!(graph.dot().contains("normed_alone[0].scale and 15 more"), "{}", graph.dot());
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    device.stream.synchronize().expect("it ends");
    for view in &exec.args().layers {
        assert_eq!(device.download(&view.gain), [8.0; 8]);
    }
}

/// A row of a cache, selected by a scalar of the record.
#[cuweave::arguments]
struct Row {
    row: u32,
    by: f32,
    x: &mut [f32; 8],
}

#[cuweave::graph]
fn scaled_row(row: u32, by: f32, out: &mut [f32; 8]) {
    scale[per_item(4)](&mut out[row * 4..(row + 1) * 4], by, 4);
}

#[cuweave::graph]
fn rows(row: u32, each: Row<'_>) {
    scaled_row(each.row, each.by, &mut each.x);
    scaled_row(row, 3.0, &mut each.x);
}

#[test]
fn a_range_moves_with_an_argument_and_not_with_a_scalar_of_a_record() {
    let device = device();
    let each = Row::new(0, 2.0, device.upload(&[1.0_f32; 8]));
    let mut exec = rows(&device.ctx, 1, each).expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    exec.set_row(0).expect("a range moves");
    exec.each().set_by(5.0).expect("no bound depends on it");
    let error = exec.each().set_row(1).expect_err("a range depends on it");
    assert!(matches!(error, cuweave::Error::BuildAgain { .. }), "{error}");
    let why = "moves a range, which scalars of records cannot: build the graph again";
    assert!(error.to_string().ends_with(why), "{error}");
    exec.launch(&device.stream).expect("it launches");
    device.stream.synchronize().expect("it ends");
    assert_eq!(device.download(&exec.args().each.x), [30.0, 30.0, 30.0, 30.0, 3.0, 3.0, 3.0, 3.0]);
}
