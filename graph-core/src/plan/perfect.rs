//! Packings that are known to be perfect: a rectangle of time and bytes, cut into pieces again and again. Each piece is
//! a buffer, and the pieces fill the rectangle, so its bytes are the bound and can be reached.

use super::climb::Random;
use super::csv::{self, Row};
use super::{Effort, check, place_all};

/// How rectangles are cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// The moments and the grains of bytes of the whole.
    pub time: u64,
    pub grains: u64,
    /// How many cuts of ten are pinwheels of five pieces, which no sequence of straight cuts makes.
    pub pinwheels: usize,
}

/// From and to, in moments and in grains.
pub(super) type Piece = [u64; 4];

const GRAIN: u64 = 512;

pub(super) fn pieces(n: usize, cut: Cut, seed: u64) -> Vec<Piece> {
    let mut random = Random::new(seed);
    let mut pieces: Vec<Piece> = vec![[0, cut.time, 0, cut.grains]];
    while pieces.len() < n {
        // Large ones first, more or less.
        let area = |piece: &Piece| (piece[1] - piece[0]) * (piece[3] - piece[2]);
        let at = (0..3).map(|_| random.below(pieces.len())).max_by_key(|&at| area(&pieces[at])).unwrap_or(0);
        let piece = pieces[at];
        let fresh = if random.below(10) < cut.pinwheels { pinwheel(piece, &mut random) } else { None };
        let fresh = fresh.or_else(|| straight(piece, &mut random));
        pieces.splice(at..=at, fresh.unwrap_or_else(|| vec![piece]));
    }
    for at in (1..pieces.len()).rev() {
        pieces.swap(at, random.below(at + 1));
    }
    pieces
}

/// A place strictly between two.
fn between(from: u64, to: u64, random: &mut Random) -> Option<u64> {
    (to > from + 1).then(|| from + 1 + random.below((to - from - 1) as usize) as u64)
}

fn straight([t0, t1, y0, y1]: Piece, random: &mut Random) -> Option<Vec<Piece>> {
    if random.below(2) == 0 {
        let t = between(t0, t1, random)?;
        Some(vec![[t0, t, y0, y1], [t, t1, y0, y1]])
    } else {
        let y = between(y0, y1, random)?;
        Some(vec![[t0, t1, y0, y], [t0, t1, y, y1]])
    }
}

fn pinwheel([t0, t1, y0, y1]: Piece, random: &mut Random) -> Option<Vec<Piece>> {
    let (ta, ya) = (between(t0, t1, random)?, between(y0, y1, random)?);
    let (tb, yb) = (between(ta, t1, random)?, between(ya, y1, random)?);
    Some(match random.below(2) {
        0 => vec![[t0, tb, y0, ya], [tb, t1, y0, yb], [ta, t1, yb, y1], [t0, ta, ya, y1], [ta, tb, ya, yb]],
        _ => vec![[t0, ta, y0, yb], [t0, tb, yb, y1], [tb, t1, ya, y1], [ta, t1, y0, ya], [ta, tb, ya, yb]],
    })
}

pub(super) fn rows(pieces: &[Piece]) -> Vec<Row> {
    let mut text = String::from("id,lower,upper,size\n");
    for (id, [t0, t1, y0, y1]) in pieces.iter().enumerate() {
        text.push_str(&format!("{id},{t0},{t1},{}\n", (y1 - y0) * GRAIN));
    }
    csv::read(&text).unwrap()
}

const FINE: Cut = Cut { time: 1_000_000, grains: 4096, pinwheels: 0 };
const PINWHEELS: Cut = Cut { pinwheels: 4, ..FINE };
const COARSE: Cut = Cut { time: 200, grains: 4096, pinwheels: 2 };

/// From fine moments to few, in many bytes and in few.
const CUTS: [(&str, Cut); 9] = [
    ("1,000,000 moments, straight", FINE),
    ("1,000,000 moments, pinwheels", PINWHEELS),
    ("1,000,000 moments, 512 grains", Cut { grains: 512, ..PINWHEELS }),
    ("10,000 moments, pinwheels", Cut { time: 10_000, ..COARSE }),
    ("1,000 moments, pinwheels", Cut { time: 1_000, ..COARSE }),
    ("200 moments, straight, 1,048,576 grains", Cut { grains: 1 << 20, pinwheels: 0, ..COARSE }),
    ("200 moments, pinwheels", COARSE),
    ("200 moments, pinwheels, 64 grains", Cut { grains: 64, ..COARSE }),
    ("50 moments, pinwheels", Cut { time: 50, ..COARSE }),
];

/// Planned over bound, and a check of the plan.
fn ratio(n: usize, cut: Cut, seed: u64, effort: Effort) -> f64 {
    let rows = rows(&pieces(n, cut, seed));
    let problem = csv::problem(&rows);
    assert_eq!(problem.bound.bytes, cut.grains * GRAIN);
    let placed = place_all(&problem, effort);
    assert_eq!(check::check_rows(&rows, &placed.offsets, placed.total), Ok(()));
    placed.total as f64 / problem.bound.bytes as f64
}

/// What is cut at fine moments is found again at the effort that graphs are built with.
#[test]
fn perfect_packings_are_found() {
    for cut in [FINE, PINWHEELS, Cut { grains: 512, ..PINWHEELS }, Cut { time: 10_000, ..COARSE }] {
        for n in [113, 250, 500] {
            let ratios: Vec<f64> = (0..3).map(|seed| ratio(n, cut, seed, Effort::Default)).collect();
            assert_eq!(ratios, [1.0; 3], "{cut:?} {n}");
        }
    }
}

/// Few buffers are found again wherever they are cut.
#[test]
fn small_packings_are_found_at_any_moments() {
    for (name, cut) in CUTS {
        let ratios: Vec<f64> = (0..3).map(|seed| ratio(113, cut, seed, Effort::Default)).collect();
        assert_eq!(ratios, [1.0; 3], "{name}");
    }
}

/// Where many buffers begin at one moment, there are far more ways to go wrong.
#[test]
fn coarse_packings_come_close() {
    let ratios: Vec<f64> = (0..4).map(|seed| ratio(500, COARSE, seed, Effort::Default)).collect();
    println!("{COARSE:?}: {ratios:.3?}");
    assert!(ratios.iter().filter(|&&ratio| ratio == 1.0).count() >= 2, "{ratios:?}");
    assert!(ratios.iter().all(|&ratio| ratio <= 1.45), "{ratios:?}");
}

#[test]
#[ignore = "minutes, and many more without optimisation: the table of benches/results/minimalloc.md"]
fn table() {
    println!("| cut | n | `default` | `thorough` |\n|---|---|---|---|");
    for (name, cut) in CUTS {
        for n in [250, 500, 900, 1_384] {
            // Pieces of a grain and a moment cannot be cut.
            if n as u64 * 8 > cut.time * cut.grains {
                continue;
            }
            let cell = |effort| {
                let mut ratios: Vec<f64> = (0..3).map(|seed| ratio(n, cut, seed, effort)).collect();
                ratios.sort_by(f64::total_cmp);
                let exact = ratios.iter().filter(|&&ratio| ratio == 1.0).count();
                format!("{exact} of 3; {:.3}, {:.3}", ratios[1], ratios[2])
            };
            println!("| {name} | {n} | {} | {} |", cell(Effort::Default), cell(Effort::Thorough));
        }
    }
}

/// The generator keeps its word.
#[test]
fn pieces_fill_the_whole() {
    for (_, cut) in CUTS {
        let pieces = pieces(300, cut, 7);
        let area: u64 = pieces.iter().map(|[t0, t1, y0, y1]| (t1 - t0) * (y1 - y0)).sum();
        assert_eq!(area, cut.time * cut.grains);
        assert!(pieces.len() >= 300 && pieces.iter().all(|[t0, t1, y0, y1]| t0 < t1 && y0 < y1));
    }
}
