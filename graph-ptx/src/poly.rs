//! Polynomials over integer symbols: lengths and the bounds of ranges.
//!
//! A bound is a sum of products of integer arguments with integer coefficients. Any expression that is not built from
//! `+`, `-` and `*` is an opaque variable; two opaque variables are equal if their keys are.
//!
//! Every variable is at least 0. Every range of the program adds facts (`lo <= hi <= len`, a length is at least 1),
//! which the build checks first. [`Facts`] proves an inequality by adding up a few facts. Two ranges that cannot be
//! proved disjoint are assumed to overlap.

use std::collections::BTreeMap;

/// A polynomial over the variables of a [`Symbols`]. Arithmetic returns `None` if a coefficient overflows `i128`;
/// callers then treat the whole expression as opaque.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Poly {
    constant: i128,
    /// The coefficient of each product, by the product's sorted variables. Invariant: products have at least one
    /// variable and coefficients are not 0. Bounds of a build are constants, so that their map is empty and takes no
    /// memory.
    products: BTreeMap<Vec<u32>, i128>,
}

impl Poly {
    /// Returns a constant polynomial.
    pub fn constant(value: i128) -> Poly {
        Poly { constant: value, products: BTreeMap::new() }
    }

    /// Returns the polynomial of one variable.
    pub fn variable(id: u32) -> Poly {
        Poly { constant: 0, products: BTreeMap::from([(vec![id], 1)]) }
    }

    /// Builds a polynomial from its products and their coefficients. Each product must appear once.
    pub fn from_products<'p>(terms: impl IntoIterator<Item = (&'p [u32], i128)>) -> Poly {
        let mut poly = Poly::default();
        for (product, coefficient) in terms.into_iter().filter(|term| term.1 != 0) {
            if product.is_empty() {
                poly.constant = coefficient;
            } else {
                poly.products.insert(product.to_vec(), coefficient);
            }
        }
        poly
    }

    /// Returns the value if the polynomial is a constant.
    pub fn as_constant(&self) -> Option<i128> {
        self.products.is_empty().then_some(self.constant)
    }

    /// Returns the sum, or `None` on overflow.
    pub fn plus(&self, other: &Poly) -> Option<Poly> {
        self.combine(other, 1)
    }

    /// Returns the difference, or `None` on overflow.
    pub fn minus(&self, other: &Poly) -> Option<Poly> {
        self.combine(other, -1)
    }

    fn combine(&self, other: &Poly, sign: i128) -> Option<Poly> {
        let constant = self.constant.checked_add(other.constant.checked_mul(sign)?)?;
        let mut products = self.products.clone();
        for (product, coefficient) in &other.products {
            let entry = products.entry(product.clone()).or_insert(0);
            *entry = entry.checked_add(coefficient.checked_mul(sign)?)?;
            if *entry == 0 {
                products.remove(product);
            }
        }
        Some(Poly { constant, products })
    }

    /// Returns the product, or `None` on overflow.
    pub fn times(&self, other: &Poly) -> Option<Poly> {
        let mut product = Poly::default();
        for (left, a) in self.terms() {
            for (right, b) in other.terms() {
                let coefficient = a.checked_mul(b)?;
                let mut both = [left, right].concat();
                let entry = if both.is_empty() {
                    &mut product.constant
                } else {
                    both.sort_unstable();
                    product.products.entry(both).or_insert(0)
                };
                *entry = entry.checked_add(coefficient)?;
            }
        }
        product.products.retain(|_, coefficient| *coefficient != 0);
        Some(product)
    }

    /// Returns the products with their coefficients, the constant first.
    pub fn terms(&self) -> impl Iterator<Item = (&[u32], i128)> {
        let constant = (self.constant != 0).then_some((&[][..], self.constant));
        let products = self.products.iter().map(|(product, &coefficient)| (product.as_slice(), coefficient));
        constant.into_iter().chain(products)
    }

    /// Replaces each variable by a polynomial. Returns `None` if a variable has no replacement, or on overflow.
    pub fn substitute(&self, by: &dyn Fn(u32) -> Option<Poly>) -> Option<Poly> {
        let mut sum = Poly::default();
        for (product, coefficient) in self.terms() {
            let mut term = Poly::constant(coefficient);
            for &id in product {
                term = term.times(&by(id)?)?;
            }
            sum = sum.plus(&term)?;
        }
        Some(sum)
    }

    /// Evaluates the polynomial for these values of the variables. Returns `None` if a variable has no value, or on
    /// overflow.
    pub fn value(&self, of: &dyn Fn(u32) -> Option<i128>) -> Option<i128> {
        let mut sum = 0i128;
        for (product, coefficient) in self.terms() {
            let factors = product.iter().map(|&id| of(id));
            let term = factors.into_iter().try_fold(coefficient, |term, factor| term.checked_mul(factor?));
            sum = sum.checked_add(term?)?;
        }
        Some(sum)
    }

    /// Returns its variables, sorted and without duplicates.
    pub fn variables(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.products.keys().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns true if no coefficient is negative. The polynomial is then at least 0, because every variable is.
    pub fn at_least_zero(&self) -> bool {
        self.has_nonnegative_coefficients()
    }

    /// Divides by a number. Returns `None` unless it divides every coefficient.
    pub fn divided(&self, by: i128) -> Option<Poly> {
        let divided = |coefficient: i128| match coefficient.checked_rem(by)? {
            0 => coefficient.checked_div(by),
            _ => None,
        };
        let products = self
            .products
            .iter()
            .map(|(product, &coefficient)| Some((product.clone(), divided(coefficient)?)));
        Some(Poly { constant: divided(self.constant)?, products: products.collect::<Option<_>>()? })
    }

    /// Formats the polynomial with these names of the variables.
    pub fn format_with(&self, names: &dyn Fn(u32) -> Option<String>) -> String {
        let name = |id: u32| names(id).unwrap_or_else(|| "?".to_owned());
        let mut text = String::new();
        let terms: Vec<(&[u32], i128)> = self.terms().collect();
        for &(product, coefficient) in terms.iter().rev() {
            let sign = match (text.is_empty(), coefficient < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let mut factors: Vec<String> = product.iter().map(|&id| name(id)).collect();
            if coefficient.unsigned_abs() != 1 || factors.is_empty() {
                factors.insert(0, coefficient.unsigned_abs().to_string());
            }
            text.push_str(sign);
            text.push_str(&factors.join(" * "));
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }

    /// Returns true if `other - self` has no negative coefficient, without computing the difference.
    fn at_most_by_terms(&self, other: &Poly) -> bool {
        self.constant <= other.constant
            && self.products.iter().all(|(product, &mine)| mine <= other.coefficient(product))
            && other
                .products
                .iter()
                .all(|(product, &theirs)| theirs >= 0 || self.products.contains_key(product))
    }

    fn has_nonnegative_coefficients(&self) -> bool {
        self.constant >= 0 && self.products.values().all(|&coefficient| coefficient >= 0)
    }

    /// Returns a product with a negative coefficient.
    fn negative(&self) -> Option<&[u32]> {
        self.terms().find(|(_, coefficient)| *coefficient < 0).map(|(product, _)| product)
    }

    fn coefficient(&self, product: &[u32]) -> i128 {
        if product.is_empty() { self.constant } else { self.products.get(product).copied().unwrap_or(0) }
    }
}

/// The names of variables.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// The variable of each key.
    ids: BTreeMap<String, u32>,
    /// The text of each variable.
    texts: Vec<String>,
}

impl Symbols {
    /// Formats a polynomial.
    pub fn text(&self, poly: &Poly) -> String {
        poly.format_with(&|id| self.texts.get(id as usize).cloned())
    }

    /// Returns the variable of this key, which is printed as `text`. Expressions with equal keys must have equal
    /// values.
    pub fn opaque(&mut self, key: &str, text: &str) -> Poly {
        let next = self.texts.len() as u32;
        let id = *self.ids.entry(key.to_owned()).or_insert(next);
        if id == next {
            self.texts.push(text.to_owned());
        }
        Poly::variable(id)
    }
}

/// Polynomials known to be at least 0.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The facts by product with a negative coefficient: only such a fact can cancel a negative coefficient.
    by_negative_product: BTreeMap<Vec<u32>, Vec<Poly>>,
}

/// The maximum number of facts that one proof adds up. One fact relates a bound to a range and another relates the
/// range to its buffer; no proof has needed more.
const MAX_DEPTH: u32 = 2;
/// The maximum number of facts per product that a proof tries.
const MAX_FACTS_PER_PRODUCT: usize = 32;

impl Facts {
    /// Adds `0 <= poly`.
    pub fn add(&mut self, poly: &Poly) {
        for (product, coefficient) in poly.terms() {
            if coefficient < 0 {
                let known = self.by_negative_product.entry(product.to_vec()).or_default();
                if known.len() < MAX_FACTS_PER_PRODUCT && !known.contains(poly) {
                    known.push(poly.clone());
                }
            }
        }
    }

    /// Returns true if no fact was added.
    pub fn is_empty(&self) -> bool {
        self.by_negative_product.is_empty()
    }

    /// Returns true if `a <= b` can be proved.
    pub fn at_most(&self, a: &Poly, b: &Poly) -> bool {
        a.at_most_by_terms(b) || b.minus(a).is_some_and(|difference| self.proves(&difference, MAX_DEPTH))
    }

    /// Returns true if `0 <= poly` is proved: it is a sum of facts and of a polynomial without negative coefficients.
    fn proves(&self, poly: &Poly, depth: u32) -> bool {
        let Some(product) = poly.negative() else { return true };
        depth > 0
            && self.by_negative_product.get(product).is_some_and(|facts| {
                facts.iter().any(|fact| {
                    let (wanted, given) = (poly.coefficient(product), fact.coefficient(product));
                    wanted
                        .checked_neg()
                        .zip(given.checked_neg())
                        .map(|(wanted, given)| wanted.div_ceil_positive(given))
                        .and_then(|times| fact.times(&Poly::constant(times)))
                        .and_then(|scaled| poly.minus(&scaled))
                        .is_some_and(|rest| {
                            rest.has_nonnegative_coefficients() || self.proves(&rest, depth - 1)
                        })
                })
            })
    }
}

/// `div_ceil` for positive `i128`s, which the standard library has for unsigned integers only.
trait DivCeil {
    fn div_ceil_positive(self, by: i128) -> i128;
}

impl DivCeil for i128 {
    fn div_ceil_positive(self, by: i128) -> i128 {
        self / by + i128::from(self % by != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n_and_k() -> (Poly, Poly) {
        let mut symbols = Symbols::default();
        (symbols.opaque("n", "n"), symbols.opaque("k", "k"))
    }

    #[test]
    fn products_of_arguments_compare_term_by_term() {
        let (n, k) = n_and_k();
        let facts = Facts::default();
        let two_k = k.times(&Poly::constant(2)).unwrap();
        assert!(facts.at_most(&k, &two_k));
        assert!(!facts.at_most(&two_k, &k));
        assert!(!facts.at_most(&k, &n));
        let n_times_k = n.times(&k).unwrap();
        assert_eq!(n_times_k, k.times(&n).unwrap());
        assert!(facts.at_most(&n_times_k, &n_times_k.plus(&n).unwrap()));
    }

    #[test]
    fn facts_carry_a_bound_over() {
        let (n, k) = n_and_k();
        let mut facts = Facts::default();
        facts.add(&n.minus(&k).unwrap());
        assert!(facts.at_most(&k, &n));
        assert!(facts.at_most(
            &k.times(&Poly::constant(3)).unwrap(),
            &n.times(&Poly::constant(3)).unwrap().plus(&Poly::constant(1)).unwrap()
        ));
        assert!(!facts.at_most(&n, &k));
        // 1 <= n: a length is at least 1.
        facts.add(&n.minus(&Poly::constant(1)).unwrap());
        assert!(facts.at_most(&Poly::constant(1), &n));
    }

    #[test]
    fn a_polynomial_reads_as_one_writes_it() {
        let mut symbols = Symbols::default();
        let (n, k) = (symbols.opaque("n", "n"), symbols.opaque("k", "k"));
        let poly = n.times(&n).unwrap().times(&Poly::constant(2)).unwrap();
        let poly = poly.minus(&k).unwrap().plus(&Poly::constant(3)).unwrap();
        assert_eq!(symbols.text(&poly), "-k + 2 * n * n + 3");
        assert_eq!(symbols.text(&Poly::constant(0)), "0");
    }

    #[test]
    fn the_value_is_that_of_the_arithmetic() {
        let (n, k) = n_and_k();
        let poly = n.times(&k).unwrap().minus(&Poly::constant(3)).unwrap();
        assert_eq!(poly.variables(), [0, 1]);
        assert_eq!(poly.value(&|id| Some([5, 7][id as usize])), Some(32));
        assert_eq!(poly.value(&|id| (id == 0).then_some(5)), None);
        assert_eq!(poly.value(&|_| Some(i128::MAX)), None);
        assert_eq!(Poly::constant(4).value(&|_| None), Some(4));
    }

    #[test]
    fn overflow_is_no_proof() {
        let huge = Poly::constant(i128::MAX);
        assert_eq!(huge.plus(&Poly::constant(1)), None);
        assert_eq!(huge.times(&huge), None);
        // The smallest number has no negation.
        let lowest = Poly::constant(i128::MIN);
        assert_eq!(lowest.divided(-1), None);
        assert_eq!(huge.divided(0), None);
        assert_eq!(Poly::default().minus(&lowest), None);
        let mut facts = Facts::default();
        facts.add(&lowest);
        assert!(!facts.at_most(&Poly::constant(0), &lowest));
    }
}
