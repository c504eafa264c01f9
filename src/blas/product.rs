//! Descriptions of matrix products: sizes, layouts, scaling, activation, and the checks of the layouts.

use std::fmt;

use super::element::ElementKind;

/// The storage order of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Order {
    /// The elements of a row are contiguous.
    Row,
    /// The elements of a column are contiguous.
    Column,
}

/// The function applied to each element of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Activation {
    None,
    Relu,
    Gelu,
}

/// A matrix of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Matrix {
    pub name: &'static str,
    pub rows: u32,
    pub columns: u32,
    pub order: Order,
    /// The elements from one row to the next or, in column-major order, from one column to the next.
    pub leading: u32,
    /// The elements from one member of the batch to the next.
    pub stride: u64,
}

impl Matrix {
    /// Returns the number of elements in a contiguous line, and the number of lines.
    pub fn lines(&self) -> (u32, u32) {
        match self.order {
            Order::Row => (self.columns, self.rows),
            Order::Column => (self.rows, self.columns),
        }
    }

    /// Returns the number of elements from the first to the last of a member.
    fn extent(&self) -> u64 {
        let (side, lines) = self.lines();
        if side == 0 || lines == 0 {
            return 0;
        }
        u64::from(self.leading).saturating_mul(u64::from(lines - 1)).saturating_add(u64::from(side))
    }

    /// Returns the strides in elements between rows and between columns.
    pub fn strides(&self) -> (u64, u64) {
        match self.order {
            Order::Row => (u64::from(self.leading), 1),
            Order::Column => (1, u64::from(self.leading)),
        }
    }

    /// Returns the number of elements from the first to the last of a batch.
    pub fn len(&self, batch: u32) -> u64 {
        match (self.extent(), batch) {
            (0, _) | (_, 0) => 0,
            (extent, batch) => self.stride.saturating_mul(u64::from(batch - 1)).saturating_add(extent),
        }
    }

    /// Returns true if no two elements of a batch share memory.
    fn is_injective(&self, batch: u32) -> bool {
        let (side, _) = self.lines();
        let members = u64::from(batch.saturating_sub(1)).saturating_mul(self.stride);
        batch <= 1
            || self.stride >= self.extent()
            // Lines of different members may interleave.
            || (self.stride >= u64::from(side)
                && members.saturating_add(u64::from(side)) <= u64::from(self.leading))
    }
}

/// A matrix product, c = α · a · b + β · c, or a batch of them: sizes, layouts, scaling and activation.
///
/// a has m rows and k columns, b has k rows and n columns, c has m rows and n columns. [`Product::row_major`]
/// has all three in row-major order, [`Product::column_major`] in column-major order, without gaps. The
/// methods change that:
///
/// ```
/// use cuweave::blas::Product;
///
/// // 12 heads of 64 columns each, side by side in rows of 768: the scores of 16 tokens, q · kᵀ / 8.
/// let scores = Product::row_major(16, 16, 64).b_transposed().lda(768).ldb(768).batch_strided(12, 64, 64, 16 *
/// 16).alpha(0.125); assert_eq!((scores.a_len(), scores.b_len(), scores.c_len()), (16 * 768, 16 * 768, 12 * 16 * 16));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Product {
    pub(super) m: u32,
    pub(super) n: u32,
    pub(super) k: u32,
    orders: [Order; 3],
    /// `None` for lines without gaps.
    leading: [Option<u32>; 3],
    /// `None` for members without gaps.
    strides: Option<[u64; 3]>,
    pub(super) batch: u32,
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) activation: Activation,
    pub(super) tf32: bool,
    pub(super) limit: Option<u64>,
}

impl Product {
    const fn new(order: Order, m: u32, n: u32, k: u32) -> Product {
        Product {
            m,
            n,
            k,
            orders: [order; 3],
            leading: [None; 3],
            strides: None,
            batch: 1,
            alpha: 1.0,
            beta: 0.0,
            activation: Activation::None,
            tf32: false,
            limit: None,
        }
    }

    /// Returns a product of row-major matrices: the elements of a row are contiguous.
    pub const fn row_major(m: u32, n: u32, k: u32) -> Product {
        Product::new(Order::Row, m, n, k)
    }

    /// Returns a product of column-major matrices: the elements of a column are contiguous, as in Fortran and
    /// in cuBLAS.
    pub const fn column_major(m: u32, n: u32, k: u32) -> Product {
        Product::new(Order::Column, m, n, k)
    }

    const fn flipped(mut self, at: usize) -> Product {
        self.orders[at] = match self.orders[at] {
            Order::Row => Order::Column,
            Order::Column => Order::Row,
        };
        self
    }

    /// Stores a as its transpose, with k rows and m columns: in the other order.
    pub const fn a_transposed(self) -> Product {
        self.flipped(0)
    }

    /// Stores b as its transpose, with n rows and k columns: in the other order.
    pub const fn b_transposed(self) -> Product {
        self.flipped(1)
    }

    /// Stores c as its transpose, with n rows and m columns: in the other order.
    pub const fn c_transposed(self) -> Product {
        self.flipped(2)
    }

    /// Sets the leading dimension of a as it is stored: the elements from one row to the next if it is
    /// row-major, from one column to the next if it is column-major.
    pub const fn lda(mut self, elements: u32) -> Product {
        self.leading[0] = Some(elements);
        self
    }

    /// Sets the leading dimension of b, see [`Product::lda`].
    pub const fn ldb(mut self, elements: u32) -> Product {
        self.leading[1] = Some(elements);
        self
    }

    /// Sets the leading dimension of c, see [`Product::lda`].
    pub const fn ldc(mut self, elements: u32) -> Product {
        self.leading[2] = Some(elements);
        self
    }

    /// Computes a batch of `count` products. The matrices of the batch are contiguous.
    pub const fn batch(mut self, count: u32) -> Product {
        self.batch = count;
        self.strides = None;
        self
    }

    /// Computes a batch of `count` products, with these strides in elements between the matrices a, b and c
    /// of the batch. With a stride of 0, all products use the same a or b.
    pub const fn batch_strided(mut self, count: u32, a: u64, b: u64, c: u64) -> Product {
        self.batch = count;
        self.strides = Some([a, b, c]);
        self
    }

    /// Sets α, by which the product is multiplied; the default is 1. It is rounded to `f32` unless elements
    /// are `f64`. If it is then 0, a and b are not read, so NaNs in them have no effect.
    pub fn alpha(mut self, alpha: impl Into<f64>) -> Product {
        self.alpha = alpha.into();
        self
    }

    /// Sets β: adds β times the previous contents of c, for [`matmul_into`](super::matmul_into). The default
    /// is 0. It is rounded like α. If it is then 0, c is not read.
    pub fn beta(mut self, beta: impl Into<f64>) -> Product {
        self.beta = beta.into();
        self
    }

    /// Replaces negative elements of the result by 0, after the bias.
    pub const fn relu(mut self) -> Product {
        self.activation = Activation::Relu;
        self
    }

    /// Applies x ↦ x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) to the elements of the result, after the
    /// bias. cuBLASLt approximates it; the documentation of the [module](super) has the error bound.
    pub const fn gelu(mut self) -> Product {
        self.activation = Activation::Gelu;
        self
    }

    /// Allows TF32 for products of `f32`: 10 mantissa bits of each factor are used. No effect on other elements.
    pub const fn tf32(mut self) -> Product {
        self.tf32 = true;
        self
    }

    /// Sets the maximum scratch bytes of the algorithm. The default is 32 MiB from compute capability 9.0 on,
    /// and 4 MiB before.
    pub const fn workspace_limit(mut self, bytes: u64) -> Product {
        self.limit = Some(bytes);
        self
    }

    fn matrix(&self, at: usize) -> Matrix {
        let (name, rows, columns) = [("a", self.m, self.k), ("b", self.k, self.n), ("c", self.m, self.n)][at];
        let mut matrix = Matrix { name, rows, columns, order: self.orders[at], leading: 0, stride: 0 };
        let (side, lines) = matrix.lines();
        matrix.leading = self.leading[at].unwrap_or(side.max(1));
        matrix.stride = match self.strides {
            Some(strides) => strides[at],
            None => u64::from(matrix.leading).saturating_mul(u64::from(lines)),
        };
        matrix
    }

    pub(super) fn a(&self) -> Matrix {
        self.matrix(0)
    }

    pub(super) fn b(&self) -> Matrix {
        self.matrix(1)
    }

    pub(super) fn c(&self) -> Matrix {
        self.matrix(2)
    }

    /// Returns the number of elements of a, from the first to the last that is used.
    #[must_use]
    pub fn a_len(&self) -> u64 {
        self.a().len(self.batch)
    }

    /// Returns the number of elements of b, from the first to the last that is used.
    #[must_use]
    pub fn b_len(&self) -> u64 {
        self.b().len(self.batch)
    }

    /// Returns the number of elements of c, from the first to the last that is used.
    #[must_use]
    pub fn c_len(&self) -> u64 {
        self.c().len(self.batch)
    }

    /// Returns the number of elements of a bias: one per column of a row-major c, or per row of a
    /// column-major one.
    #[must_use]
    pub fn bias_len(&self) -> u64 {
        u64::from(self.c().lines().0)
    }

    /// Returns the number of computed elements.
    pub(super) fn elements(&self) -> u64 {
        u64::from(self.m).saturating_mul(u64::from(self.n)).saturating_mul(u64::from(self.batch))
    }

    /// Returns the product as it is computed with sums of this type: α and β are rounded to it, and k is 0 if
    /// α is 0. The layouts of a and b must be checked before.
    pub(super) fn computed(&self, sums: ElementKind) -> Product {
        let rounded = |factor: f64| match sums {
            ElementKind::F64 => factor,
            ElementKind::F32 | ElementKind::F16 | ElementKind::BF16 => f64::from(factor as f32),
        };
        let (alpha, beta) = (rounded(self.alpha), rounded(self.beta));
        let k = if alpha == 0.0 { 0 } else { self.k };
        Product { alpha, beta, k, ..*self }
    }

    /// Checks the layouts.
    pub(super) fn check(&self, writes: Writes) -> Result<(), ProductFault> {
        for matrix in [self.a(), self.b(), self.c()] {
            let (side, _) = matrix.lines();
            if matrix.leading < side {
                return Err(ProductFault::Leading { matrix });
            }
        }
        if !self.c().is_injective(self.batch) {
            return Err(ProductFault::Overlap { stride: self.c().stride });
        }
        if writes == Writes::All {
            if self.c_len() != self.elements() {
                return Err(ProductFault::Gaps { len: self.c_len(), written: self.elements() });
            }
            if self.beta != 0.0 {
                return Err(ProductFault::Reads);
            }
        }
        Ok(())
    }
}

/// The elements of c that a call declares to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    /// All elements from the first to the last. None is read.
    All,
    /// Only the elements of the product. Others keep their contents.
    Some,
}

/// The reason why a product cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProductFault {
    Leading { matrix: Matrix },
    Overlap { stride: u64 },
    Gaps { len: u64, written: u64 },
    Reads,
}

impl fmt::Display for ProductFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProductFault::Leading { matrix } => {
                let (side, _) = matrix.lines();
                let (order, line) = match matrix.order {
                    Order::Row => ("row-major", "row"),
                    Order::Column => ("column-major", "column"),
                };
                write!(
                    f,
                    "the leading dimension of the {order} `{}` is {}, and a {line} has {side} elements",
                    matrix.name, matrix.leading
                )
            }
            ProductFault::Overlap { stride } => {
                write!(f, "members of `c` overlap: the batch has a stride of {stride} elements")
            }
            ProductFault::Gaps { len, written } => write!(
                f,
                "the layout of `c` has gaps, {written} of {len} elements are written; `matmul_into` keeps the others"
            ),
            ProductFault::Reads => {
                f.write_str("`beta` reads the previous contents of `c`; only `matmul_into` reads them")
            }
        }
    }
}
