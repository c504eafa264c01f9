//! Scalars of records under other names: each form of `let` defines a scalar that can be used anywhere.

use cuweave::prelude::*;
use cuweave_testkit::device::{Device, device};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

/// A shape: a structure of scalars.
#[derive(Clone, Copy)]
struct Shape {
    rows: u32,
    columns: [u32; 2],
}

/// A record inside another.
#[cuweave::arguments]
struct Inner {
    len: u32,
    by: f32,
    on: bool,
    y: &mut [f32; len],
}

/// A record with scalars of all kinds.
#[cuweave::arguments]
struct Layer {
    c: u32,
    by: f32,
    size: (u32, u32),
    shape: Shape,
    y: &mut [f32; c],
    inner: Inner<'_>,
}

#[cuweave::graph]
fn scaled(n: u32, by: f32, y: &mut [f32; n]) {
    scale[per_item(n)](&mut y, by, n);
}

/// All forms, for a record that is a parameter.
#[cuweave::graph]
fn named(layer: Layer<'_>) {
    let c: u32 = layer.c;
    let by = layer.by;
    scaled(c, by, &mut layer.y);
    let inner_len: u32 = layer.inner.len;
    let inner_by: f32 = layer.inner.by;
    scaled(inner_len, inner_by, &mut layer.inner.y);
    let (rows, columns): (u32, u32) = layer.size;
    scaled(rows * columns, 3.0, &mut layer.y);
    let (height, width) = layer.size;
    scaled(height * width, 5.0, &mut layer.y);
    let first: u32 = layer.size.0;
    let second = layer.size.1;
    scaled(first * second, 7.0, &mut layer.y);
    let shape: Shape = layer.shape;
    let halves: [u32; 2] = layer.shape.columns;
    let half: u32 = layer.shape.columns[1];
    let other = layer.shape.columns[0];
    scaled(shape.rows * (halves[0] + half), 11.0, &mut layer.y);
    scaled(layer.shape.rows * (other + halves[1]), 13.0, &mut layer.y);
    let (count, _) = (c, rows);
    let _ = layer.c;
    let _: u32 = layer.c;
    let inner = layer.inner;
    let again: u32 = inner.len;
    scaled(again, 17.0, &mut inner.y);
    let on: bool = layer.inner.on;
    if on {
        scaled(count, 19.0, &mut layer.y);
    }
    let negated = layer.inner.on;
    if !negated {
        scaled(c, 0.0, &mut layer.y);
    }
}

/// The same names for the records of a list.
#[cuweave::graph]
fn each(layers: &[Layer<'_>]) {
    for layer in &layers {
        let c: u32 = layer.c;
        let by: f32 = layer.by;
        scaled(c, by, &mut layer.y);
        in_callee(record(layer.inner));
    }
    for (i, layer) in layers.iter().enumerate().rev() {
        let c = layer.c;
        let by: f32 = layers[i].by;
        scaled(c, by, &mut layer.y);
        let h = alloc::<f32>(c);
        copy(&layer.y, &mut h[..c]);
        scaled(c, 2.0, &mut h);
        copy(&h, &mut layer.y);
    }
    let last: u32 = layers[layers.len() - 1].c;
    scaled(last, 3.0, &mut layers[layers.len() - 1].y);
    let turns: u32 = layers[0].size.0;
    for _ in 0..turns {
        scaled(layers[0].c, 2.0, &mut layers[0].y);
    }
}

#[cuweave::graph]
fn in_callee(inner: Inner<'_>) {
    let n: u32 = inner.len;
    let by = inner.by;
    scaled(n, by, &mut inner.y);
}

fn layer(device: &Device, by: f32) -> Layer<'static> {
    let inner = Inner::new(4, 2.0, true, device.upload(&[1.0_f32; 4]));
    let shape = Shape { rows: 2, columns: [1, 3] };
    Layer::new(8, by, (2, 4), shape, device.upload(&[1.0_f32; 8]), inner)
}

#[test]
fn fields_with_names_are_scalars() {
    let device = device();
    let graph = named(&device.ctx, layer(&device, 2.0)).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    exec.layer().set_by(1.0).expect("no bound depends on it");
    exec.launch(&device.stream).expect("it launches");
    let layer = exec.into_args().layer;
    let product = 3.0 * 5.0 * 7.0 * 11.0 * 13.0 * 19.0;
    assert_eq!(device.download(&layer.y.into_owned().expect("owned")), [2.0 * product * product; 8]);
    assert_eq!(device.download(&layer.inner.y.into_owned().expect("owned")), [34.0 * 34.0; 4]);
}

#[test]
fn fields_of_the_records_of_a_list_are_scalars() {
    let device = device();
    let layers: Vec<Layer<'_>> = (1..4).map(|by| layer(&device, by as f32)).collect();
    let mut exec = each(&device.ctx, layers).expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    for (at, layer) in exec.into_args().layers.into_iter().enumerate() {
        let by = at as f32 + 1.0;
        let factor = [4.0, 1.0, 3.0][at];
        assert_eq!(device.download(&layer.y.into_owned().expect("owned")), [2.0 * by * by * factor; 8]);
        assert_eq!(device.download(&layer.inner.y.into_owned().expect("owned")), [2.0; 4]);
    }
}
