//! The matrices that cuBLASLt is given stand for the product: its documented meaning, computed here, against the layouts.

use super::Problem;
use crate::blas::element::Kind;
use crate::blas::kernels::Kinds;
use crate::blas::product::{Matrix, Order, Product};

/// A column-major element, as cuBLASLt reads a matrix: transposed or not.
fn element(matrix: &Matrix, transposed: bool, member: u32, i: u32, j: u32) -> u64 {
    let (i, j) = if transposed { (j, i) } else { (i, j) };
    let (rows, columns) = matrix.lines();
    assert!(i < rows && j < columns, "({i}, {j}) of {matrix:?}");
    u64::from(member) * matrix.stride + u64::from(j) * u64::from(matrix.leading) + u64::from(i)
}

fn position(matrix: &Matrix, member: u32, i: u32, j: u32) -> u64 {
    let (row, column) = matrix.steps();
    u64::from(member) * matrix.stride + u64::from(i) * row + u64::from(j) * column
}

#[test]
fn the_factors_are_those_of_the_product_in_every_layout() {
    let (m, n, k, batch) = (3, 5, 4, 2);
    let kinds = Kinds { factors: Kind::F32, result: Kind::F32 };
    for code in 0..16u32 {
        let mut product =
            if code & 8 == 0 { Product::row_major(m, n, k) } else { Product::column_major(m, n, k) };
        for (bit, flip) in
            [Product::a_transposed, Product::b_transposed, Product::c_transposed].iter().enumerate()
        {
            if code >> bit & 1 == 1 {
                product = flip(product);
            }
        }
        let product = product.lda(7).ldb(8).ldc(9).batch_strided(batch, 100, 0, 200);
        let problem = Problem::of(&product, kinds, false, 0);
        let [(x, x_transposed), (y, y_transposed)] = problem.factors();
        let c = product.c();
        let swapped = c.order == Order::Row;
        assert_eq!((x.name, y.name), if swapped { ("b", "a") } else { ("a", "b") });
        let (rows, columns) = c.lines();
        // Entry (i, j) of cuBLASLt's result, which is column-major, is the sum over l of x(i, l) · y(l, j).
        for member in 0..batch {
            for i in 0..rows {
                for j in 0..columns {
                    let (row, column) = if swapped { (j, i) } else { (i, j) };
                    assert_eq!(element(&c, false, member, i, j), position(&c, member, row, column));
                    for l in 0..k {
                        let factors = [
                            element(&x, x_transposed, member, i, l),
                            element(&y, y_transposed, member, l, j),
                        ];
                        let mut wanted = [
                            position(&product.a(), member, row, l),
                            position(&product.b(), member, l, column),
                        ];
                        if swapped {
                            wanted.reverse();
                        }
                        assert_eq!(factors, wanted, "{code}: {product:?}");
                    }
                }
            }
        }
    }
}
