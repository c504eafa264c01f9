//! Checks that the matrices passed to cuBLASLt stand for the product: computes cuBLASLt's documented meaning
//! from the layouts.

use super::Problem;
use crate::blas::element::ElementKind;
use crate::blas::kernels::ElementKinds;
use crate::blas::product::{Matrix, Order, Product};

/// The index of an element as cuBLASLt reads a column-major matrix, transposed or not.
fn element(matrix: &Matrix, transposed: bool, member: u32, i: u32, j: u32) -> u64 {
    let (i, j) = if transposed { (j, i) } else { (i, j) };
    let (rows, columns) = matrix.lines();
    assert!(i < rows && j < columns, "({i}, {j}) of {matrix:?}");
    u64::from(member) * matrix.stride + u64::from(j) * u64::from(matrix.leading) + u64::from(i)
}

fn position(matrix: &Matrix, member: u32, i: u32, j: u32) -> u64 {
    let (row, column) = matrix.strides();
    u64::from(member) * matrix.stride + u64::from(i) * row + u64::from(j) * column
}

#[test]
fn the_factors_are_those_of_the_product_in_every_layout() {
    let (m, n, k, batch) = (3, 5, 4, 2);
    let kinds = ElementKinds { factors: ElementKind::F32, result: ElementKind::F32 };
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
        let problem = Problem::new(&product, kinds, false, 0);
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

/// Returns the number of elements of a batch member up to the last one that aligned vectors of `vector` bytes reach.
fn reached(matrix: &Matrix, size: u64, vector: u64) -> u64 {
    let (side, lines) = matrix.lines();
    let side = (u64::from(side) * size).next_multiple_of(vector) / size;
    u64::from(matrix.leading) * u64::from(lines - 1) + side
}

#[test]
fn no_vector_crosses_the_end_of_a_matrix() {
    let pairs = [
        (ElementKind::F32, ElementKind::F32),
        (ElementKind::F64, ElementKind::F64),
        (ElementKind::BF16, ElementKind::BF16),
        (ElementKind::F16, ElementKind::F32),
    ];
    let mut narrowed = 0;
    for (factors, result) in pairs {
        let kinds = ElementKinds { factors, result };
        for [m, n, k] in [[2, 17, 2], [17, 2, 33], [33, 1, 3], [1, 5, 8], [20, 36, 68], [64, 64, 64]] {
            for (pad, batch) in [(1, 1), (2, 1), (8, 1), (32, 2), (64, 1)] {
                for product in [Product::row_major(m, n, k), Product::column_major(m, n, k)] {
                    let lead = |matrix: Matrix| matrix.lines().0.next_multiple_of(pad);
                    let (a, b, c) = (product.a(), product.b(), product.c());
                    let product = product.lda(lead(a)).ldb(lead(b)).ldc(lead(c)).batch(batch);
                    let problem = Problem::new(&product, kinds, true, 0);
                    for addresses in [256, 16, kinds.alignment()] {
                        let [x, y, c, bias] = problem.alignments(addresses);
                        let [(first, _), (second, _)] = problem.factors();
                        let of_c = problem.matrices[2];
                        for (matrix, told, size) in [
                            (first, x, factors.size()),
                            (second, y, factors.size()),
                            (of_c, c, result.size()),
                        ] {
                            assert!(told.is_power_of_two() && told <= addresses && told >= kinds.alignment());
                            narrowed += u32::from(told < addresses);
                            // An algorithm reads vectors no wider than the given alignment and the alignment
                            // of the leading dimension.
                            let steps = u64::from(matrix.leading) * size;
                            let vector = told.min(32).min(1 << steps.trailing_zeros()).max(size);
                            assert_eq!(reached(&matrix, size, vector), matrix.len(1), "{vector}: {matrix:?}");
                        }
                        let vector = bias.min(32).max(result.size());
                        assert_eq!(product.bias_len() * result.size() % vector, 0, "{vector}: {product:?}");
                    }
                }
            }
        }
    }
    assert!(narrowed > 0);
}

#[test]
fn a_line_that_ends_within_a_vector_is_told() {
    // Rows of 17 elements of 2 bytes with a stride of 20: the last row ends 2 bytes after a multiple of 4.
    let kinds = ElementKinds { factors: ElementKind::BF16, result: ElementKind::F32 };
    let product = Product::row_major(2, 17, 2).ldb(20);
    let problem = Problem::new(&product, kinds, false, 0);
    assert_eq!(problem.factors()[0].0.name, "b");
    assert_eq!(problem.alignments(256)[..2], [2, 8]);
    // As many columns as the leading dimension: cuBLASLt knows the end.
    let product = Product::row_major(2, 20, 2).ldb(24);
    assert_eq!(Problem::new(&product, kinds, false, 0).alignments(256)[0], 8);
    // Batch members with odd strides.
    let product = Product::row_major(32, 32, 32).batch_strided(2, 1024, 1025, 1024);
    assert_eq!(Problem::new(&product, kinds, false, 0).alignments(256), [2, 256, 256, 256]);
}

#[test]
fn algorithms_of_whole_vectors_are_asked_as_before() {
    let heads =
        Product::row_major(16, 128, 64).b_transposed().lda(768).ldb(768).batch_strided(12, 64, 64, 16 * 128);
    let mixed = Product::row_major(128, 64, 128).ldb(768).ldc(768).batch_strided(12, 128 * 128, 64, 64);
    let mut products = vec![heads, mixed];
    for d in [384, 768, 1024, 4096] {
        for rows in [1, 16, 512] {
            products.push(Product::row_major(rows, d, d));
            products.push(Product::row_major(rows, 3 * d, d).b_transposed());
            products.push(Product::row_major(rows, d, 4 * d));
            products.push(Product::column_major(d, rows, d).a_transposed());
        }
        // A matrix and a vector, whose lines have one element each.
        products.push(Product::row_major(d, 1, d));
        products.push(Product::row_major(64, 1, d).batch(12));
    }
    for factors in [ElementKind::F32, ElementKind::F64, ElementKind::F16, ElementKind::BF16] {
        for product in &products {
            let kinds = ElementKinds { factors, result: factors };
            for addresses in [256, 16, kinds.alignment()] {
                let [x, y, c, _] = Problem::new(product, kinds, false, 0).alignments(addresses);
                assert_eq!([x, y, c], [addresses; 3], "{product:?}");
            }
        }
    }
}
