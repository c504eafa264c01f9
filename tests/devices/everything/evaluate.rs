//! Computes the results of a program statement by statement.

use super::generate::{By, LEN, Part, Program, Work};

/// Runs a program on the contents of its arguments.
pub fn evaluate(program: &Program, arguments: &mut Vec<Vec<u32>>, scalar: u32) {
    let count = arguments.len();
    works(&program.works, arguments, scalar);
    arguments.truncate(count);
}

fn works(list: &[Work], x: &mut Vec<Vec<u32>>, scalar: u32) {
    list.iter().for_each(|one| work(one, x, scalar));
}

/// Adds the buffers of statements that do not run, so that later buffers keep their numbers.
fn skipped(list: &[Work], x: &mut Vec<Vec<u32>>) {
    for one in list {
        match one {
            Work::Alloc { .. } => x.push(Vec::new()),
            Work::If { body, otherwise, .. } => {
                skipped(body, x);
                otherwise.iter().for_each(|otherwise| skipped(otherwise, x));
            }
            Work::While { body, .. } => skipped(body, x),
            Work::Match { arms, .. } => arms.iter().for_each(|arm| skipped(arm, x)),
            _ => {}
        }
    }
}

fn read(x: &[Vec<u32>], part: Part) -> Vec<u32> {
    x[part.buffer][part.lo..part.lo + part.len].to_vec()
}

fn each(x: &mut [Vec<u32>], part: Part, change: impl Fn(usize, u32) -> u32) {
    let elements = &mut x[part.buffer][part.lo..part.lo + part.len];
    elements.iter_mut().enumerate().for_each(|(at, element)| *element = change(at, *element));
}

fn step(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

fn work(one: &Work, x: &mut Vec<Vec<u32>>, scalar: u32) {
    let number = |by: &By| match by {
        By::Literal(number) => *number,
        By::Scalar => scalar,
    };
    match one {
        Work::Alloc { value, .. } => x.push(vec![*value; LEN]),
        Work::Fill { to, value, .. } => each(x, *to, |_, _| *value),
        Work::Copy { from, to, .. } => {
            let from = read(x, *from);
            each(x, *to, |at, _| from[at]);
        }
        Work::Mix { x: part, by, .. } => each(x, *part, |_, value| step(value, number(by))),
        Work::Mixed { x: from, y, by, .. } => {
            let from = read(x, *from);
            each(x, *y, |at, _| step(from[at], number(by)));
        }
        Work::Linear { x: part, a, b, .. } => {
            each(x, *part, |_, value| value.wrapping_mul(*a).wrapping_add(*b));
        }
        Work::Shifted { x: from, y, k, .. } => {
            let from = read(x, *from);
            each(x, *y, |at, value| value.wrapping_add(from[(at + *k as usize) % from.len()]));
        }
        Work::Host { x: part } => each(x, *part, |_, value| value.wrapping_mul(3).wrapping_add(1)),
        Work::Stirred { turns, x: from, y, .. } => {
            let from = read(x, *from);
            for turn in 0..*turns {
                each(x, *y, |at, value| step(value.wrapping_add(step(from[at], turn)), 3));
            }
        }
        Work::Far { x: from, y, .. } => {
            let from = read(x, *from);
            each(x, *y, |at, value| step(value.wrapping_add(step(step(from[at], 11), 12)), 13));
        }
        Work::If { of, modulus, not, body, otherwise, .. } => {
            let first = x[of.buffer][of.lo] / 16 % modulus;
            if (first != 0) != *not {
                works(body, x, scalar);
                otherwise.iter().for_each(|otherwise| skipped(otherwise, x));
            } else {
                skipped(body, x);
                otherwise.iter().for_each(|otherwise| works(otherwise, x, scalar));
            }
        }
        Work::While { turns, body, .. } => {
            let first = x.len();
            skipped(body, x);
            let count = x.len();
            for _ in 0..*turns {
                x.truncate(first);
                works(body, x, scalar);
            }
            x.resize(count, Vec::new());
        }
        Work::Match { of, modulus, arms, .. } => {
            let index = (x[of.buffer][of.lo] / 16 % modulus) as usize;
            let chosen = index.min(arms.len() - 1);
            for (at, arm) in arms.iter().enumerate() {
                if at == chosen { works(arm, x, scalar) } else { skipped(arm, x) }
            }
        }
    }
}
