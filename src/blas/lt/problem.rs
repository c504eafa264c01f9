//! The key for which an algorithm is chosen, and its matrices as cuBLASLt reads them.

use crate::__private::CallNodes;
use crate::blas::kernels::ElementKinds;
use crate::blas::product::{Activation, Matrix, Order, Product};

#[cfg(test)]
mod tests;

/// The bytes of the widest vector load on any device.
const MAX_VECTOR_BYTES: u64 = 32;

/// The key for which an algorithm is chosen: a product without its scalars and addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    pub sizes: [u32; 4],
    pub matrices: [Matrix; 3],
    pub kinds: ElementKinds,
    pub activation: Activation,
    pub bias: bool,
    pub tf32: bool,
    pub limit: u64,
    /// The nodes that the algorithm may have at most, but as many kernels. `None` for any.
    pub nodes: Option<CallNodes>,
}

impl Problem {
    pub fn new(product: &Product, kinds: ElementKinds, bias: bool, limit: u64) -> Problem {
        Problem {
            sizes: [product.m, product.n, product.k, product.batch],
            matrices: [product.a(), product.b(), product.c()],
            kinds,
            activation: product.activation,
            bias,
            tf32: product.tf32,
            limit: product.limit.unwrap_or(limit),
            nodes: None,
        }
    }

    /// Returns the same problem for algorithms with such nodes and with a workspace of this many bytes.
    pub fn with_nodes(self, nodes: CallNodes, limit: u64) -> Problem {
        Problem { limit, nodes: Some(nodes), ..self }
    }

    /// Returns the factors as cuBLASLt reads them, each with true if it is transposed. cuBLASLt reads
    /// everything in column-major order. A row-major c is then its transpose: cᵀ = bᵀ · aᵀ.
    pub fn factors(&self) -> [(Matrix, bool); 2] {
        let [a, b, c] = self.matrices;
        let factors = if c.order == Order::Row { [b, a] } else { [a, b] };
        factors.map(|factor| (factor, factor.order != c.order))
    }

    /// Returns the alignments in bytes to pass to the heuristic if the addresses have alignment `addresses`:
    /// of both factors as cuBLASLt reads them, of c, and of the bias.
    ///
    /// If address and leading dimension are aligned, cuBLASLt reads vectors across the end of a line, and past the
    /// last line from foreign memory. To prevent this, the passed alignments also divide the length of a line.
    pub fn alignments(&self, addresses: u64) -> [u64; 4] {
        let told = |elements: u64, size: u64| match size << elements.trailing_zeros().min(8) {
            divides if divides >= MAX_VECTOR_BYTES => addresses,
            divides => addresses.min(divides),
        };
        let ElementKinds { factors, result } = self.kinds;
        let ([(x, _), (y, _)], c) = (self.factors(), self.matrices[2]);
        [
            told(self.line_divisor(&x), factors.size()),
            told(self.line_divisor(&y), factors.size()),
            told(self.line_divisor(&c), result.size()),
            told(u64::from(c.lines().0), result.size()),
        ]
    }

    /// Returns a number that has the same power of two as the line length and the strides between lines and
    /// batch members.
    fn line_divisor(&self, matrix: &Matrix) -> u64 {
        let (side, lines) = matrix.lines();
        // Lines without gaps form one line.
        let line = if lines == 1 || matrix.leading == side {
            u64::from(side) * u64::from(lines)
        } else {
            u64::from(side | matrix.leading)
        };
        if self.sizes[3] > 1 { line | matrix.stride } else { line }
    }
}
