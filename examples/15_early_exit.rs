//! Decoding with an early exit. Each token is picked after one layer. Only if the best token does not lead by far,
//! the device runs the deep layers, by an `if`. The whole text is one launch, by a `while` that ends with the token 0
//! or at a limit. Compared with plain Rust.

use std::error::Error;

use cuweave::prelude::*;

#[cuweave::kernels("kernels/early_exit.ptx")]
unsafe extern "ptx-kernel" {
    /// h = (state, rotated by one, + the row of the table for the last token) mod 16
    fn remember(
        table: &[f32; vocabulary * d],
        token: &[u32; 1],
        state: &[f32; d],
        h: &mut [MaybeUninit<f32>; d],
        vocabulary: u32,
        d: u32,
    );
    /// y = (w · x) / 8, rounded down, from 0 to 15
    fn dense(w: &[f32; d * d], x: &[f32; d], y: &mut [MaybeUninit<f32>; d], d: u32);
    /// scores = head · x
    fn score(
        head: &[f32; vocabulary * d],
        x: &[f32; d],
        scores: &mut [MaybeUninit<f32>; vocabulary],
        vocabulary: u32,
        d: u32,
    );
    /// token = the best one; unsure = it leads the next one by less than `lead`
    fn pick(
        scores: &[f32; vocabulary],
        token: &mut [MaybeUninit<u32>; 1],
        unsure: &mut [MaybeUninit<u32>; 1],
        lead: f32,
        vocabulary: u32,
    );
    /// Appends the token to the text, and counts it; go = it does not end the text
    fn append(
        token: &[u32; 1],
        unsure: &[u32; 1],
        text: &mut [u32; most],
        counts: &mut [u32; 2],
        go: &mut [u32; 1],
        most: u32,
    );
}

/// A model: the table of tokens, a shallow layer with a head, deep layers with another head.
#[cuweave::arguments]
struct Model {
    d: u32,
    vocabulary: u32,
    table: &[f32; vocabulary * d],
    shallow: &[f32; d * d],
    deep: &[&[f32; d * d]],
    heads: [&[f32; vocabulary * d]; 2],
}

/// Continues a text after `token`. `counts` are the number of tokens, and of tokens picked by the deep layers.
#[cuweave::graph]
fn decode(
    most: u32,
    lead: f32,
    model: Model<'_>,
    token: &mut [u32; 1],
    text: &mut [u32; most],
    counts: &mut [MaybeUninit<u32>; 2],
) {
    let (d, vocabulary) = (model.d, model.vocabulary);
    let state = alloc::<f32>(d);
    let go = alloc::<u32>(1);
    fill(&mut state, 0.0);
    fill(&mut go, 1);
    fill(&mut counts, 0);
    #[at_most(48)]
    'tokens: while go {
        let h = alloc::<f32>(d);
        let near = alloc::<f32>(d);
        let scores = alloc::<f32>(vocabulary);
        let unsure = alloc::<u32>(1);
        remember[per_item(d)](&model.table, &token, &state, &mut h, vocabulary, d);
        copy(&h, &mut state);
        dense[per_item(d)](&model.shallow, &h, &mut near, d);
        score[per_item(vocabulary)](&model.heads[0], &near, &mut scores, vocabulary, d);
        pick[(1, 1)](&scores, &mut token, &mut unsure, lead, vocabulary);
        if unsure {
            let far = alloc::<f32>(d);
            let again = alloc::<f32>(vocabulary);
            let _sure = alloc::<u32>(1);
            copy(&near, &mut far);
            for w in &model.deep {
                let next = alloc::<f32>(d);
                dense[per_item(d)](&w, &far, &mut next, d);
                far = next;
            }
            score[per_item(vocabulary)](&model.heads[1], &far, &mut again, vocabulary, d);
            pick[(1, 1)](&again, &mut token, &mut _sure, 0.0, vocabulary);
        }
        append[(1, 1)](&token, &unsure, &mut text, &mut counts, &mut go, most);
    }
}

/// The weights on the host: small integers.
struct Weights {
    d: usize,
    table: Vec<f32>,
    shallow: Vec<f32>,
    deep: Vec<Vec<f32>>,
    heads: [Vec<f32>; 2],
}

impl Weights {
    fn new(d: usize, vocabulary: usize, layers: usize) -> Weights {
        let mut state = 12_345_u32;
        let mut numbers = |count: usize, most: i32| -> Vec<f32> {
            let mut next = || {
                // A step of a linear congruential generator; only the upper bits are used.
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ((state >> 16) as i32 % (2 * most + 1) - most) as f32
            };
            (0..count).map(|_| next()).collect()
        };
        Weights {
            d,
            table: numbers(vocabulary * d, 7),
            shallow: numbers(d * d, 2),
            deep: (0..layers).map(|_| numbers(d * d, 2)).collect(),
            heads: [numbers(vocabulary * d, 2), numbers(vocabulary * d, 2)],
        }
    }

    fn dense(&self, w: &[f32], x: &[f32]) -> Vec<f32> {
        let row = |row: &[f32]| row.iter().zip(x).map(|(w, x)| w * x).sum::<f32>();
        w.chunks(self.d).map(|own| (row(own) / 8.0).floor().clamp(0.0, 15.0)).collect()
    }

    /// Returns the best token, and its lead over the next one.
    fn pick(&self, head: &[f32], x: &[f32]) -> (u32, f32) {
        let scores = head.chunks(self.d).map(|own| own.iter().zip(x).map(|(w, x)| w * x).sum::<f32>());
        let scores: Vec<f32> = scores.collect();
        let best = scores.iter().copied().fold(f32::MIN, f32::max);
        let at = scores.iter().position(|&score| score == best).unwrap_or(0);
        let others = scores.iter().enumerate().filter(|&(other, _)| other != at);
        (at as u32, best - others.map(|(_, &score)| score).fold(f32::MIN, f32::max))
    }

    /// The graph function in plain Rust. Returns the text, and the number of tokens picked by the deep layers.
    fn decode(&self, mut token: u32, lead: f32) -> (Vec<u32>, u32) {
        let (mut state, mut text, mut deep) = (vec![0.0_f32; self.d], Vec::new(), 0);
        for _ in 0..48 {
            let row = &self.table[token as usize * self.d..][..self.d];
            let sum = |i: usize| state[(i + 1) % self.d] + row[i];
            state = (0..self.d).map(|i| sum(i).rem_euclid(16.0)).collect();
            let near = self.dense(&self.shallow, &state);
            let (own, leads) = self.pick(&self.heads[0], &near);
            token = own;
            if leads < lead {
                let far = self.deep.iter().fold(near, |x, w| self.dense(w, &x));
                token = self.pick(&self.heads[1], &far).0;
                deep += 1;
            }
            text.push(token);
            if token == 0 {
                break;
            }
        }
        (text, deep)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;
    let (d, vocabulary, most) = (32_u32, 61_u32, 48_u32);
    let weights = Weights::new(d as usize, vocabulary as usize, 4);
    let upload = |numbers: &[f32]| stream.clone_htod(numbers);
    let (table, shallow) = (upload(&weights.table)?, upload(&weights.shallow)?);
    let heads = [upload(&weights.heads[0])?, upload(&weights.heads[1])?];
    let deep = weights.deep.iter().map(|w| upload(w)).collect::<Result<Vec<_>, _>>()?;
    let mut token = stream.alloc_zeros::<u32>(1)?;
    let mut text = stream.alloc_zeros::<u32>(most as usize)?;
    let mut counts = stream.alloc_zeros::<u32>(2)?;
    let lead = 8.0;

    let deep: Vec<_> = deep.iter().collect();
    let model = Model::new(d, vocabulary, &table, &shallow, deep, [&heads[0], &heads[1]]);
    let graph = decode(&ctx, most, lead, model, &mut token, &mut text, &mut counts)?;
    println!("{}", graph.report());
    let mut exec = graph.instantiate()?;
    let (mut ended, mut tokens, mut deep_ones) = (0, 0, 0);
    for first in 0..vocabulary {
        stream.memcpy_htod(&[first], &mut exec.args_mut().token)?;
        exec.launch(&stream)?;
        let counts = exec.iterations_tokens()?;
        let (wanted, deep) = weights.decode(first, lead);
        let got = stream.clone_dtoh(&exec.args().text)?;
        let counted = stream.clone_dtoh(&exec.args().counts)?;
        assert_eq!(got[..wanted.len()], wanted, "behind {first}");
        assert_eq!(counted, [wanted.len() as u32, deep], "behind {first}");
        assert_eq!(counts.iterations, wanted.len() as u64);
        assert_eq!(counts.limit_hit(), wanted.last() != Some(&0));
        ended += usize::from(!counts.limit_hit());
        tokens += wanted.len();
        deep_ones += deep;
    }
    println!(
        "{vocabulary} texts of {tokens} tokens, of which {ended} end before the limit; \
         {deep_ones} tokens took the deep layers"
    );
    assert!(deep_ones > 0 && (deep_ones as usize) < tokens && ended > 0 && ended < vocabulary as usize);
    Ok(())
}
