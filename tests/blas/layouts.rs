//! Random products of every layout: orders, leading dimensions, batches, strides, α and β, bias and activation, and k = 0.

use cuweave::blas::{Blas, Product, matmul, matmul_bias, matmul_bias_into, matmul_into};
use cuweave::prelude::*;
use cuweave_testkit::device::alone;
use half::{bf16, f16};

use crate::support::{Case, Layout, Number, blas, gelu, relu, same, upload, values};

/// Random numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % end
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// A matrix of so many rows and columns: true for row-major, the leading dimension, and the elements of a member.
struct Stored {
    row_major: bool,
    leading: u32,
    extent: u64,
}

fn stored(random: &mut Random, rows: u32, columns: u32, gaps: bool) -> Stored {
    let row_major = random.coin();
    let (side, lines) = if row_major { (columns, rows) } else { (rows, columns) };
    let leading = side.max(1) + if gaps { random.below(4) as u32 } else { 0 };
    let extent = u64::from(leading) * u64::from(lines);
    Stored { row_major, leading, extent }
}

/// Returns a random product, for `matmul_into` with gaps in c and with β.
pub fn random_case(random: &mut Random, into: bool) -> Case {
    let size = |random: &mut Random| [1, 2, 3, 8, 17, 33][random.below(6) as usize];
    let [m, n] = [size(random), size(random)];
    let k = if random.below(8) == 0 { 0 } else { size(random) * [1, 1, 1, 20][random.below(4) as usize] };
    let batch = [1, 1, 2, 3][random.below(4) as usize];
    let matrices = [stored(random, m, k, true), stored(random, k, n, true), stored(random, m, n, into)];
    let mut product = Product::row_major(m, n, k);
    for (at, matrix) in matrices.iter().enumerate() {
        if !matrix.row_major {
            product = [Product::a_transposed, Product::b_transposed, Product::c_transposed][at](product);
        }
    }
    if random.coin() {
        // The same product, begun in the other order.
        product = Product::column_major(m, n, k);
        for (at, matrix) in matrices.iter().enumerate() {
            if matrix.row_major {
                product = [Product::a_transposed, Product::b_transposed, Product::c_transposed][at](product);
            }
        }
    }
    product = product.lda(matrices[0].leading).ldb(matrices[1].leading).ldc(matrices[2].leading);
    let mut strides = [0; 3];
    for (at, stride) in strides.iter_mut().enumerate() {
        *stride = matrices[at].extent + if at < 2 || into { random.below(5) } else { 0 };
    }
    if random.below(3) == 0 {
        strides[random.below(2) as usize] = 0;
    }
    if batch > 1 {
        product = product.batch_strided(batch, strides[0], strides[1], strides[2]);
    }
    let alpha = [1.0, -0.5, 0.0, 2.0][random.below(4) as usize];
    let beta = if into { [0.0, 1.0, -2.0][random.below(3) as usize] } else { 0.0 };
    product = product.alpha(alpha).beta(beta);
    let curve = random.below(3);
    let activation = match curve {
        0 => same,
        1 => {
            product = product.relu();
            relu
        }
        _ => {
            product = product.gelu();
            gelu
        }
    };
    let layout = |at: usize| {
        let leading = u64::from(matrices[at].leading);
        let (row, column) = if matrices[at].row_major { (leading, 1) } else { (1, leading) };
        Layout { row, column, stride: strides[at] }
    };
    Case {
        product,
        sizes: [m, n, k],
        batch,
        layouts: [layout(0), layout(1), layout(2)],
        alpha,
        beta,
        activation,
        row_major: matrices[2].row_major,
        approximate: 0.0,
        curved: curve == 2,
    }
}

macro_rules! random {
    ($($name:ident: $factor:ty, $result:ty, $seed:literal;)*) => {$(
        mod $name {
            use super::*;

            #[cuweave::graph]
            fn any(
                product: Product,
                into: bool,
                biased: bool,
                blas: &Blas,
                a: &[$factor; product.a_len().max(1)],
                b: &[$factor; product.b_len().max(1)],
                bias: &[$result; product.bias_len()],
                c: &mut [$result; product.c_len()],
            ) {
                if into && biased {
                    matmul_bias_into(&blas, &a, &b, &bias, &mut c, product);
                } else if into {
                    matmul_into(&blas, &a, &b, &mut c, product);
                } else if biased {
                    matmul_bias(&blas, &a, &b, &bias, &mut c, product);
                } else {
                    matmul(&blas, &a, &b, &mut c, product);
                }
            }

            #[test]
            fn products() {
                let device = alone();
                let blas = blas(&device);
                let mut random = Random($seed);
                for turn in 0..device.scaled(300, 40) {
                    let (into, biased) = (random.below(2) == 1, random.below(2) == 1);
                    let mut case = random_case(&mut random, into);
                    if blas.cublas_version().is_some() && <$factor as Number>::EPSILON > 1e-10 && case.curved {
                        case.approximate = 2e-3;
                    }
                    let product = case.product;
                    let a = values::<$factor>(product.a_len(), turn * 4 + 1);
                    let b = values::<$factor>(product.b_len(), turn * 4 + 2);
                    let bias = values::<$result>(product.bias_len(), turn * 4 + 3);
                    let before = values::<$result>(product.c_len(), turn * 4 + 4);
                    let (da, db, dbias) = (upload(&device, &a), upload(&device, &b), upload(&device, &bias));
                    let mut dc = upload(&device, &before);
                    let graph = any(&device.ctx, product, into, biased, &blas, &da, &db, &dbias, &mut dc);
                    let mut exec = graph
                        .unwrap_or_else(|error| panic!("{error}: {product:?}"))
                        .instantiate()
                        .expect("it instantiates");
                    exec.launch(&device.stream).expect("it launches");
                    drop(exec);
                    let bias = biased.then_some(&*bias);
                    case.check((&a, &b, bias), &before, &device.download(&dc));
                }
                device.nothing_reported();
            }
        }
    )*};
}
random! {
    single: f32, f32, 11;
    double: f64, f64, 12;
    halves: f16, f16, 13;
    halves_to_single: f16, f32, 14;
    brain: bf16, bf16, 15;
    brain_to_single: bf16, f32, 16;
}
