//! Matrices, reference products in `f64`, and the comparison.

use cudarc::driver::{CudaSlice, DeviceRepr};
use cuweave::blas::{Blas, Element, Product};
use cuweave_testkit::device::Device;
use half::{bf16, f16};

/// An element type of the tests.
pub trait Number: Element + DeviceRepr + std::fmt::Debug {
    /// The difference between 1 and the next larger number.
    const EPSILON: f64;
    /// The smallest positive number.
    const LEAST: f64;

    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
}

macro_rules! numbers {
    ($($ty:ty: $epsilon:expr, $least:expr, $of:expr, $wide:expr;)*) => {$(
        impl Number for $ty {
            const EPSILON: f64 = $epsilon;
            const LEAST: f64 = $least;

            fn of(value: f64) -> Self {
                $of(value)
            }

            fn wide(self) -> f64 {
                $wide(self)
            }
        }
    )*};
}
numbers! {
    f32: f32::EPSILON as f64, f32::MIN_POSITIVE as f64, |value| value as f32, f64::from;
    f64: f64::EPSILON, f64::MIN_POSITIVE, |value| value, |value| value;
    f16: 1.0 / 1024.0, 1.0 / 16_777_216.0, f16::from_f64, f16::to_f64;
    bf16: 1.0 / 128.0, f32::MIN_POSITIVE as f64, bf16::from_f64, bf16::to_f64;
}

/// Returns the products of the device, with cuBLAS if it can be loaded.
pub fn blas(device: &Device) -> Blas {
    let blas = Blas::new(&device.ctx).expect("products");
    println!("cuBLAS: {:?}", blas.cublas_version());
    blas
}

/// Returns exactly representable numbers between -1 and 1, which depend on the seed.
pub fn values<T: Number>(len: u64, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        T::of((state >> 40) as f64 / f64::from(1 << 23) - 1.0)
    };
    (0..len).map(|_| next()).collect()
}

/// A matrix in memory: element (i, j) of a batch member is at `member * stride + i * row + j * column`.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub row: u64,
    pub column: u64,
    pub stride: u64,
}

impl Layout {
    pub fn at(&self, member: u32, i: u32, j: u32) -> usize {
        (u64::from(member) * self.stride + u64::from(i) * self.row + u64::from(j) * self.column) as usize
    }
}

/// A product with its layouts, for the reference computation.
#[derive(Clone, Debug)]
pub struct Case {
    pub product: Product,
    pub sizes: [u32; 3],
    pub batch: u32,
    pub layouts: [Layout; 3],
    pub alpha: f64,
    pub beta: f64,
    pub activation: Activation,
    /// True if c is row-major. A bias then has one element per column.
    pub row_major: bool,
    /// True if factors of `f32` may be rounded to TF32.
    pub tf32: bool,
}

/// An activation, for the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    None,
    Relu,
    Gelu,
}

impl Activation {
    fn of(self, x: f64) -> f64 {
        match self {
            Activation::None => x,
            Activation::Relu => x.max(0.0),
            Activation::Gelu => {
                0.5 * x * (1.0 + (0.797_884_560_802_865_4 * (x + 0.044715 * x * x * x)).tanh())
            }
        }
    }
}

impl Case {
    /// Returns the case of contiguous row-major matrices.
    pub fn row_major(m: u32, n: u32, k: u32) -> Case {
        let line = |length: u32| Layout { row: length.into(), column: 1, stride: 0 };
        Case {
            product: Product::row_major(m, n, k),
            sizes: [m, n, k],
            batch: 1,
            layouts: [line(k), line(n), line(n)],
            alpha: 1.0,
            beta: 0.0,
            activation: Activation::None,
            row_major: true,
            tf32: false,
        }
    }

    /// Returns the case with different factors α and β.
    pub fn scaled(self, alpha: f64, beta: f64) -> Case {
        Case { product: self.product.alpha(alpha).beta(beta), alpha, beta, ..self }
    }

    /// Returns the error bound from the module's documentation, for an element whose terms have this sum of
    /// magnitudes.
    fn bound<T: Number, C: Number>(&self, blas: &Blas, size: f64, expected: f64) -> f64 {
        let double = T::EPSILON < 1e-10;
        let sums = if double { f64::EPSILON } else { f64::from(f32::EPSILON) };
        let summed = (f64::from(self.sizes[2]) + 4.0) * sums * size + C::LEAST;
        if blas.cublas_version().is_none() {
            return summed + C::EPSILON * expected.abs();
        }
        let activated = match (self.activation, double) {
            (Activation::Gelu, true) => 1e-8,
            (Activation::Gelu, false) => size / 512.0,
            _ => 0.0,
        };
        summed + 2.0 * C::EPSILON * size + activated + if self.tf32 { size / 512.0 } else { 0.0 }
    }

    /// Compares a result with the product in `f64`, and checks that elements in gaps are unchanged.
    pub fn check<T: Number, C: Number>(
        &self,
        blas: &Blas,
        (a, b, bias): (&[T], &[T], Option<&[C]>),
        before: &[C],
        after: &[C],
    ) {
        let [m, n, k] = self.sizes;
        let [la, lb, lc] = &self.layouts;
        // Factors that are multiplied by 0 are not read.
        let terms = if self.alpha == 0.0 { 0 } else { k };
        let mut touched = vec![false; after.len()];
        for member in 0..self.batch {
            for i in 0..m {
                for j in 0..n {
                    let (mut sum, mut size) = (0.0, 0.0);
                    for l in 0..terms {
                        let term = a[la.at(member, i, l)].wide() * b[lb.at(member, l, j)].wide();
                        sum += term;
                        size += term.abs();
                    }
                    let at = lc.at(member, i, j);
                    touched[at] = true;
                    let old = if self.beta == 0.0 { 0.0 } else { self.beta * before[at].wide() };
                    let bias =
                        bias.map_or(0.0, |bias| bias[if self.row_major { j } else { i } as usize].wide());
                    let expected = self.activation.of(self.alpha * sum + old + bias);
                    let size = self.alpha.abs() * size + old.abs() + bias.abs();
                    let bound = self.bound::<T, C>(blas, size, expected);
                    let found = after[at].wide();
                    assert!(
                        (found - expected).abs() <= bound,
                        "({member}, {i}, {j}) is {found}, not {expected} (within {bound:e}): {:?}",
                        self.product
                    );
                }
            }
        }
        for (at, touched) in touched.iter().enumerate() {
            let (before, after) = (before[at].wide(), after[at].wide());
            let stayed = before == after || (before.is_nan() && after.is_nan());
            assert!(*touched || stayed, "{at} of c is between the elements: {after}, and was {before}");
        }
    }
}

/// Uploads values; at least one element is allocated.
pub fn upload<T: Number>(device: &Device, values: &[T]) -> CudaSlice<T> {
    if values.is_empty() { device.upload(&[T::of(f64::NAN)]) } else { device.upload(values) }
}
