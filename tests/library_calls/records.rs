//! Calls over records, slices of records and of buffers: results, addresses and setters.

use cudarc::driver::CudaSlice;
use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::library::{Library, rescale, scaled, sum};

/// A layer: x -> a x + bias.
#[cuweave::arguments]
struct Layer {
    n: u32,
    a: f32,
    bias: &[f32; n],
    norms: &[&[f32; n]],
}

#[cuweave::graph]
fn apply(layer: Layer<'_>, library: &Library, x: &[f32; layer.n], out: &mut [MaybeUninit<f32>; layer.n]) {
    let h = alloc::<f32>(layer.n);
    scaled(&library, &x, &mut h, layer.a, layer.n);
    sum(&library, &h, &layer.bias, &mut out, layer.n);
    for norm in &layer.norms {
        let t = alloc::<f32>(layer.n);
        sum(&library, &out, &norm, &mut t, layer.n);
        copy(&t, &mut out);
    }
}

#[cuweave::graph]
fn model(n: u32, library: &Library, layers: &[Layer<'_>], x: &mut [f32; n]) {
    for layer in &layers {
        let h = alloc::<f32>(n);
        apply(layer, &library, &x, &mut h);
        copy(&h, &mut x);
    }
}

#[test]
fn calls_take_the_fields_of_records() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let n = 6u32;
    for (count, norms) in [(0usize, 0usize), (1, 0), (3, 2)] {
        let bias: Vec<_> = (0..count).map(|i| device.upload(&[i as f32; 6])).collect();
        let norm = device.upload(&[0.5f32; 6]);
        let layers = bias.iter().map(|bias| Layer::new(n, 2.0, bias, vec![&norm; norms])).collect::<Vec<_>>();
        let mut x = device.upload(&[1.0f32; 6]);
        let graph = model(&device.ctx, n, &library, layers, &mut x).expect("it builds");
        assert_eq!(graph.report().calls, count * (2 + norms));
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let expected = (0..count).fold(1.0f32, |x, i| 2.0 * x + i as f32 + 0.5 * norms as f32);
        assert_eq!(device.download(&x), [expected; 6], "{count} layers, {norms} norms");
    }
}

#[test]
fn what_a_call_was_captured_with_has_no_setter_in_a_record_either() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let n = 6u32;
    let (bias, other) = (device.upload(&[1.0f32; 6]), device.upload(&[7.0f32; 6]));
    let mut x = device.upload(&[1.0f32; 6]);
    let layers = vec![Layer::new(n, 2.0, &bias, Vec::<&CudaSlice<f32>>::new())];
    let mut exec =
        model(&device.ctx, n, &library, layers, &mut x).expect("it builds").instantiate().expect("ok");
    let error = exec.layers(0).expect("a layer").set_bias(&other).expect_err("the call keeps the address");
    assert!(
        error.to_string().contains("is a library call, which keeps the address of `layers[0].bias`"),
        "{error}"
    );
    let error = exec.layers(0).expect("a layer").set_a(3.0).expect_err("the call keeps the value");
    assert!(matches!(error, cuweave::Error::BuildAgain { .. }), "{error}");
    let text = error.to_string();
    let given = [
        "`layers[0].a` (",
        " is an argument of the library call `",
        ", which was captured with its value: build the graph again",
    ];
    assert!(given.iter().all(|part| text.contains(part)), "{text}");
    exec.launch(&device.stream).expect("it launches as before");
    drop(exec);
    assert_eq!(device.download(&x), [3.0f32; 6]);
}

/// Rows of a list of states, each scaled by its own call. The calls are unordered.
#[cuweave::graph]
fn rows(n: u32, library: &Library, states: &[&mut [f32; 2 * n]]) {
    for (i, state) in states.iter_mut().enumerate() {
        rescale(&library, &mut state[n..2 * n], 2.0 + i as f32, n);
    }
}

#[test]
fn calls_over_parts_of_lists_write_those_alone() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let mut states: Vec<_> = (0..3).map(|_| device.upload(&[1.0f32; 8])).collect();
    let graph = rows(&device.ctx, 4, &library, states.iter_mut().collect::<Vec<_>>()).expect("it builds");
    assert_eq!(graph.report().depth, 1, "{}", graph.dot());
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    for (i, state) in states.iter().enumerate() {
        let expected: Vec<f32> = (0..8).map(|at| if at < 4 { 1.0 } else { 2.0 + i as f32 }).collect();
        assert_eq!(device.download(state), expected);
    }
}
