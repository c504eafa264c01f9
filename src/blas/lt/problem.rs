//! A problem: what an algorithm is chosen for, and its matrices as cuBLASLt takes them.

use crate::blas::kernels::Kinds;
use crate::blas::product::{Activation, Matrix, Order, Product};

#[cfg(test)]
mod tests;

/// What an algorithm is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    pub sizes: [u32; 4],
    pub matrices: [Matrix; 3],
    pub kinds: Kinds,
    pub activation: Activation,
    pub bias: bool,
    pub tf32: bool,
    pub limit: u64,
}

impl Problem {
    pub fn of(product: &Product, kinds: Kinds, bias: bool, limit: u64) -> Problem {
        Problem {
            sizes: [product.m, product.n, product.k, product.batch],
            matrices: [product.a(), product.b(), product.c()],
            kinds,
            activation: product.activation,
            bias,
            tf32: product.tf32,
            limit: product.limit.unwrap_or(limit),
        }
    }

    /// Returns the factors as cuBLASLt takes them, each with true if it is transposed. It reads all in column-major order, in which a
    /// row-major c is its transpose, cᵀ = bᵀ · aᵀ.
    pub fn factors(&self) -> [(Matrix, bool); 2] {
        let [a, b, c] = self.matrices;
        let factors = if c.order == Order::Row { [b, a] } else { [a, b] };
        factors.map(|factor| (factor, factor.order != c.order))
    }
}
