//! Products in every layout: element orders, leading dimensions, batches, strides, α and β, bias and activation, k
//! = 0 and α = 0, and rows that end in the middle of a vector.

use cuweave::blas::{Blas, Product, matmul, matmul_bias, matmul_bias_into, matmul_into};
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone};
use half::{bf16, f16};

use crate::support::{Activation, Case, Layout, Number, blas, upload, values};

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

/// A stored matrix: true for row-major, the leading dimension, and the elements of a batch member.
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

/// Returns a product of stored matrices. `column_major` selects the constructor.
fn described([m, n, k]: [u32; 3], matrices: &[Stored; 3], column_major: bool) -> Product {
    let begun = if column_major { Product::column_major(m, n, k) } else { Product::row_major(m, n, k) };
    let mut product = begun;
    for (at, matrix) in matrices.iter().enumerate() {
        if matrix.row_major == column_major {
            product = [Product::a_transposed, Product::b_transposed, Product::c_transposed][at](product);
        }
    }
    product.lda(matrices[0].leading).ldb(matrices[1].leading).ldc(matrices[2].leading)
}

/// Returns the reference case for stored matrices, with α = 1, β = 0 and no activation.
fn case(
    product: Product,
    sizes: [u32; 3],
    matrices: &[Stored; 3],
    (batch, strides): (u32, [u64; 3]),
) -> Case {
    let layout = |at: usize| {
        let leading = u64::from(matrices[at].leading);
        let (row, column) = if matrices[at].row_major { (leading, 1) } else { (1, leading) };
        Layout { row, column, stride: strides[at] }
    };
    let [a, b, c] = strides;
    Case {
        product: if batch > 1 { product.batch_strided(batch, a, b, c) } else { product },
        sizes,
        batch,
        layouts: [layout(0), layout(1), layout(2)],
        alpha: 1.0,
        beta: 0.0,
        activation: Activation::None,
        row_major: matrices[2].row_major,
        tf32: false,
    }
}

/// Returns a random product. With `into`, it is for `matmul_into`, with gaps in c and with β.
pub fn random_case(random: &mut Random, into: bool) -> Case {
    let size = |random: &mut Random| [1, 2, 3, 8, 17, 33][random.below(6) as usize];
    let [m, n] = [size(random), size(random)];
    let k = if random.below(8) == 0 { 0 } else { size(random) * [1, 1, 1, 20][random.below(4) as usize] };
    let batch = [1, 1, 2, 3][random.below(4) as usize];
    let matrices = [stored(random, m, k, true), stored(random, k, n, true), stored(random, m, n, into)];
    let product = described([m, n, k], &matrices, random.coin());
    let mut strides = [0; 3];
    for (at, stride) in strides.iter_mut().enumerate() {
        *stride = matrices[at].extent + if at < 2 || into { random.below(5) } else { 0 };
    }
    if random.below(3) == 0 {
        strides[random.below(2) as usize] = 0;
    }
    let case = case(product, [m, n, k], &matrices, (batch, strides));
    let alpha = [1.0, -0.5, 0.0, 2.0][random.below(4) as usize];
    let beta = if into { [0.0, 1.0, -2.0][random.below(3) as usize] } else { 0.0 };
    let case = case.scaled(alpha, beta);
    match random.below(3) {
        0 => case,
        1 => Case { product: case.product.relu(), activation: Activation::Relu, ..case },
        _ => Case { product: case.product.gelu(), activation: Activation::Gelu, ..case },
    }
}

/// Returns products whose leading dimensions are multiples of 8 elements, but whose rows and memory end before such
/// a multiple.
fn padded_cases(sizes: &[[u32; 3]]) -> Vec<Case> {
    let mut cases = Vec::new();
    for &[m, n, k] in sizes {
        for (code, batch) in (0..8u32).flat_map(|code| [(code, 1), (code, 2)]) {
            let matrix = |at: u32, rows: u32, columns: u32| {
                let row_major = code >> at & 1 == 0;
                let (side, lines) = if row_major { (columns, rows) } else { (rows, columns) };
                let leading = side.next_multiple_of(8);
                Stored { row_major, leading, extent: u64::from(leading) * u64::from(lines) }
            };
            let matrices = [matrix(0, m, k), matrix(1, k, n), matrix(2, m, n)];
            let strides = matrices.each_ref().map(|matrix| matrix.extent);
            let product = described([m, n, k], &matrices, false);
            cases.push(case(product, [m, n, k], &matrices, (batch, strides)));
        }
    }
    cases
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

            /// Runs a product once on `before`, and returns c.
            fn run(
                (device, blas): (&Device, &Blas),
                (product, into): (Product, bool),
                (a, b, bias): (&[$factor], &[$factor], Option<&[$result]>),
                before: &[$result],
            ) -> Vec<$result> {
                let none = vec![<$result>::of(f64::NAN); product.bias_len() as usize];
                let (da, db, dbias) = (upload(device, a), upload(device, b), upload(device, bias.unwrap_or(&none)));
                let mut dc = upload(device, before);
                let graph = any(&device.ctx, product, into, bias.is_some(), blas, &da, &db, &dbias, &mut dc);
                let mut exec = graph
                    .unwrap_or_else(|error| panic!("{error}: {product:?}"))
                    .instantiate()
                    .expect("it instantiates");
                exec.launch(&device.stream).expect("it launches");
                drop(exec);
                device.download(&dc)
            }

            #[test]
            fn products() {
                let device = alone();
                let blas = blas(&device);
                let mut random = Random($seed);
                for turn in 0..device.scaled(300, 40) {
                    let (into, biased) = (random.below(2) == 1, random.below(2) == 1);
                    let case = random_case(&mut random, into);
                    let product = case.product;
                    let a = values::<$factor>(product.a_len(), turn * 4 + 1);
                    let b = values::<$factor>(product.b_len(), turn * 4 + 2);
                    let bias = values::<$result>(product.bias_len(), turn * 4 + 3);
                    let before = values::<$result>(product.c_len(), turn * 4 + 4);
                    let operands = (&*a, &*b, biased.then_some(&*bias));
                    let after = run((&device, &blas), (product, into), operands, &before);
                    case.check(&blas, operands, &before, &after);
                }
                device.nothing_reported();
            }

            /// NaN and infinity in a and b are ignored if α is 0, and in c if β is 0.
            #[test]
            fn nothing_is_read_that_is_scaled_by_zero() {
                let device = alone();
                let blas = blas(&device);
                let mut random = Random($seed + 100);
                let small = if <$factor as Number>::EPSILON > 1e-10 { 1e-60 } else { 0.0 };
                for turn in 0..device.scaled(100, 24) {
                    let (into, biased) = (random.below(2) == 1, random.below(2) == 1);
                    let alpha = [0.0, -0.0, small, 2.0][random.below(4) as usize];
                    let beta = if into { [0.0, small, 1.0][random.below(3) as usize] } else { 0.0 };
                    let case = random_case(&mut random, into).scaled(alpha, beta);
                    let product = case.product;
                    let mut a = values::<$factor>(product.a_len(), turn * 4 + 1);
                    let mut b = values::<$factor>(product.b_len(), turn * 4 + 2);
                    if alpha.abs() <= small {
                        a.fill(<$factor>::of(f64::INFINITY));
                        b.fill(<$factor>::of(f64::NAN));
                    }
                    let bias = values::<$result>(product.bias_len(), turn * 4 + 3);
                    let mut before = values::<$result>(product.c_len(), turn * 4 + 4);
                    if beta <= small {
                        before.fill(<$result>::of(f64::NAN));
                    }
                    let operands = (&*a, &*b, biased.then_some(&*bias));
                    let after = run((&device, &blas), (product, into), operands, &before);
                    let zero = |factor: f64| if factor.abs() <= small { 0.0 } else { factor };
                    let case = Case { alpha: zero(alpha), beta: zero(beta), ..case };
                    case.check(&blas, operands, &before, &after);
                }
                device.nothing_reported();
            }

            /// A memory checker detects vectors that are read or written beyond the memory.
            #[test]
            fn lines_that_end_before_a_vector_does() {
                let device = alone();
                let blas = blas(&device);
                let all: &[[u32; 3]] = &[[33, 17, 2], [3, 33, 17], [17, 1, 33], [130, 67, 35], [1, 3, 68]];
                for (turn, case) in padded_cases(device.scaled(all, &all[1..2])).into_iter().enumerate() {
                    let (product, turn) = (case.product, turn as u64);
                    let a = values::<$factor>(product.a_len(), turn * 4 + 1);
                    let b = values::<$factor>(product.b_len(), turn * 4 + 2);
                    let bias = values::<$result>(product.bias_len(), turn * 4 + 3);
                    let before = values::<$result>(product.c_len(), turn * 4 + 4);
                    let operands = (&*a, &*b, (turn % 3 == 0).then_some(&*bias));
                    let after = run((&device, &blas), (product, true), operands, &before);
                    case.check(&blas, operands, &before, &after);
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
