//! Sizes of graphs over several devices, also with records and lists of them.

use cuweave::Buffer;
use cuweave::builder::Builder;
use cuweave::prelude::*;

use crate::programs::kernels::{axpy, scale};
use crate::support::{contexts, silent, streams, with_devices};

const MOST: u32 = 300;

#[cuweave::arguments]
struct Layer {
    most: u32,
    by: f32,
    w: &[f32; most],
    x: &mut [f32; most],
}

/// `x[..n] = by * x[..n] + w[..n]`
#[cuweave::graph]
fn layered(n: u32, layer: Layer<'_>) {
    let h = alloc::<f32>(n);
    copy(&layer.x[..n], &mut h);
    scale[per_item(n)](&mut h, layer.by, n);
    axpy[per_item(n)](1.0, &layer.w[..n], &mut h, n);
    copy(&h, &mut layer.x[..n]);
}

/// The layers run on the devices in turn, and device 1 adds the elements of the first one to the last one.
#[cuweave::graph(devices = 2)]
fn over_two(#[at_most(300)] n: u32, layers: &[Layer<'_>]) {
    for (i, layer) in layers.iter().enumerate() {
        #[on(i % 2)]
        layered(n, record(layer));
    }
    #[on(1)]
    {
        let sum = alloc::<f32>(2 * n);
        copy(&layers[0].x[..n], &mut sum[..n]);
        copy(&sum[..n], &mut sum[n..2 * n]);
        axpy[per_item(n)](0.5, &sum[n..2 * n], &mut layers[1].x[..n], n);
    }
}

#[test]
fn a_size_reaches_nodes_on_all_devices() {
    with_devices("sizes::on_two", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn on_two() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let most = MOST as usize;
    let w = Buffer::from_host(&streams[0], &vec![1.0_f32; most]).expect("a buffer");
    let w_there = Buffer::from_host(&streams[1], &vec![2.0_f32; most]).expect("a buffer");
    let x = Buffer::from_host(&streams[0], &vec![1.0_f32; most]).expect("a buffer");
    let x_there = Buffer::from_host(&streams[1], &vec![4.0_f32; most]).expect("a buffer");
    let y_there = Buffer::<f32>::zeros(&streams[1], most).expect("a buffer");
    let layers = vec![Layer::new(MOST, 2.0, &w, &x), Layer::new(MOST, 0.5, &w_there, &x_there)];
    let mut exec = over_two(&contexts, 5, layers).expect("it builds").instantiate().expect("an exec");

    let mut b = Builder::over(&contexts, "over_two");
    let n = b.scalar_between("n", 5_u32, 2, MOST);
    let (of_x, of_y) = (b.shared("x", n, &x), b.exclusive("y", n, &y_there));
    let h = b.on(1).alloc::<f32>(n + n);
    b.on(1).copy(&of_x, h.range(n, n + n).write()).expect("it copies");
    b.on(1)
        .launch(axpy {}, per_item(n), (1.0_f32, &h.range(n, n + n), of_y.write(), n))
        .expect("it launches");
    let mut built = b.build().expect("it builds").instantiate().expect("an exec");

    let mut expected = vec![(1.0_f32, 4.0_f32, 0.0_f32); most];
    for size in [5, 300, 2, 257, 256] {
        exec.set_n(size).expect("it is set");
        built.set_scalar(&n, size).expect("it is set");
        exec.launch(&streams[0]).expect("it launches");
        built.launch(&streams[0]).map(drop).expect("it launches");
        for (one, other, sum) in expected.iter_mut().take(size as usize) {
            *one = 2.0 * *one + 1.0;
            *other = 0.5 * *other + 2.0 + 0.5 * *one;
            *sum += *one;
        }
        let read = |buffer: &Buffer<f32>, at: usize| buffer.to_host(&streams[at]).expect("it is read");
        let seen = read(&x, 0).into_iter().zip(read(&x_there, 1)).zip(read(&y_there, 1));
        assert!(seen.map(|((x, y), sum)| (x, y, sum)).eq(expected.iter().copied()), "{size}");
        cuweave::certificate::check(&exec.certificate()).expect("the certificate holds");
        cuweave::certificate::check(&built.certificate()).expect("the certificate holds");
    }
    silent();
}
