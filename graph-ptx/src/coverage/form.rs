//! Affine forms over the indices of a box of threads.
//!
//! They are the values of the interpreter: one form is the value of a register in all threads of a group.
//! Coefficients are `i128`; results are reduced modulo the width of the register.

/// The affine form `pointer + constant + Σ coefficient · index`. The value of a register of `w` bits is the form
/// modulo `2^w`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AffineForm {
    /// The pointer parameter that it is an offset from, if any.
    pub pointer: Option<u32>,
    pub constant: i128,
    /// The index and its coefficient. Sorted by index, without zeros.
    pub terms: Vec<(u32, i128)>,
}

impl AffineForm {
    pub fn constant(constant: i128) -> AffineForm {
        AffineForm { constant, ..AffineForm::default() }
    }

    pub fn index(index: u32, coefficient: i128) -> AffineForm {
        AffineForm { terms: vec![(index, coefficient)], ..AffineForm::default() }
    }

    pub fn pointer(parameter: u32) -> AffineForm {
        AffineForm { pointer: Some(parameter), ..AffineForm::default() }
    }

    /// Returns the value if it is the same for all threads and not an address.
    pub fn as_constant(&self) -> Option<i128> {
        (self.terms.is_empty() && self.pointer.is_none()).then_some(self.constant)
    }

    /// Returns `self + factor * other`. `None` for a sum of pointers, and on overflow.
    pub fn plus(&self, other: &AffineForm, factor: i128) -> Option<AffineForm> {
        let pointer = match (self.pointer, other.pointer, factor) {
            (pointer, None, _) => pointer,
            (None, pointer, 1) => pointer,
            (Some(a), Some(b), -1) if a == b => None,
            _ => return None,
        };
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (&self.terms[..], &other.terms[..]);
        loop {
            let (index, coefficient) = match (a.first(), b.first()) {
                (Some(&(x, left)), Some(&(y, right))) if x == y => {
                    (a, b) = (&a[1..], &b[1..]);
                    (x, left.checked_add(right.checked_mul(factor)?)?)
                }
                (Some(&(x, left)), other) if other.is_none_or(|&(y, _)| x < y) => {
                    a = &a[1..];
                    (x, left)
                }
                (_, Some(&(y, right))) => {
                    b = &b[1..];
                    (y, right.checked_mul(factor)?)
                }
                _ => break,
            };
            if coefficient != 0 {
                terms.push((index, coefficient));
            }
        }
        Some(AffineForm { pointer, constant, terms })
    }

    pub fn scaled(&self, factor: i128) -> Option<AffineForm> {
        if factor == 1 { Some(self.clone()) } else { AffineForm::default().plus(self, factor) }
    }

    /// Returns the same form modulo `2^bits`, with small numbers.
    pub fn reduced(mut self, bits: u8) -> AffineForm {
        let (half, all) = (1i128 << (bits - 1), 1i128 << bits);
        let small = |value: i128| (value.wrapping_add(half)).rem_euclid(all) - half;
        if self.constant < -half || self.constant >= all {
            self.constant = small(self.constant);
        }
        for (_, coefficient) in &mut self.terms {
            if *coefficient < -half || *coefficient >= half {
                *coefficient = small(*coefficient);
            }
        }
        self.terms.retain(|term| term.1 != 0);
        self
    }

    /// Returns the smallest and the largest value over all indices.
    pub fn range(&self, counts: &[u64]) -> (i128, i128) {
        let (mut least, mut most) = (self.constant, self.constant);
        for &(index, coefficient) in &self.terms {
            let reach = coefficient.saturating_mul(i128::from(counts[index as usize]) - 1);
            if reach < 0 {
                least = least.saturating_add(reach);
            } else {
                most = most.saturating_add(reach);
            }
        }
        (least, most)
    }

    /// Replaces `index` by `first + index`, and removes it if its count is 1.
    pub fn restrict(&mut self, index: u32, first: u64, count: u64) {
        if let Some(at) = self.terms.iter().position(|term| term.0 == index) {
            self.constant = self.constant.saturating_add(self.terms[at].1.saturating_mul(i128::from(first)));
            if count == 1 {
                self.terms.remove(at);
            }
        }
    }

    /// Replaces `index` by `index + by * outer`.
    pub fn factor(&mut self, index: u32, outer: u32, by: u64) {
        if let Some(&(_, coefficient)) = self.terms.iter().find(|term| term.0 == index) {
            self.terms.push((outer, coefficient.saturating_mul(i128::from(by))));
        }
    }
}

pub(super) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
