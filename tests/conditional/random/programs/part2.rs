// Written by the test `the_programs_are_those_of_the_generator`.

use super::super::*;

#[cuweave::graph(memory = "nodes")]
fn p9(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 3);
#[at_most(1)]
while f1 {
for _ in 0..two {
mix[per_item(n)](&mut x1, 30, n);
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f2, 2);
match f2 {
0 => {
mix[per_item(n)](&mut x1, 0, n);
mix[per_item(n)](&mut x1, 1, n);
mix[per_item(n)](&mut x1, 29, n);
}
_ => {
let h3 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x2, &mut h3[i * n..(i + 1) * n], 62 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h3[i * n..(i + 1) * n], 22, n);
}
mixed[per_item(n)](&h3[4 * n..], &mut x3, 62, n);
}
}
}
let h4 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x0, &mut h4[i * n..(i + 1) * n], 86 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h4[i * n..(i + 1) * n], 54, n);
}
mixed[per_item(n)](&h4[3 * n..], &mut x2, 86, n);
modulo[(1, 1)](&x3[..1], &mut f1, 3);
}
let c5 = alloc::<u32>(1);
fill(&mut c5, 1u32);
while c5 {
let c6 = alloc::<u32>(1);
fill(&mut c6, 1u32);
while c6 {
let h7 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x3, &mut h7[i * n..(i + 1) * n], 58 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h7[i * n..(i + 1) * n], 4, n);
}
mixed[per_item(n)](&h7[2 * n..], &mut x1, 58, n);
mix[per_item(n)](&mut x3, 85, n);
count_down[(1, 1)](&mut c6);
}
mix[per_item(n)](&mut x2, 34, n);
count_down[(1, 1)](&mut c5);
}
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f8, 2);
match f8 {
0 | 2 => {
let h9 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x2, &mut h9[i * n..(i + 1) * n], 80 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h9[i * n..(i + 1) * n], 82, n);
}
mixed[per_item(n)](&h9[3 * n..], &mut x0, 80, n);
}
_ => {
}
}
}

fn m9(x: &mut [u32; 4]) {
for _ in 0..1 {
if x[3] / 16 % 3 == 0 { break; }
for _ in 0..2 {
x[1] = step(x[1], 30);
match x[3] / 16 % 2 {
0 => {
x[1] = step(x[1], 0);
x[1] = step(x[1], 1);
x[1] = step(x[1], 29);
}
_ => {
let h3 = step(step(x[2], 66), 22);
x[3] = step(h3, 62);
}
}
}
let h4 = step(step(x[0], 89), 54);
x[2] = step(h4, 86);
}
for _ in 0..1 {
for _ in 0..1 {
let h7 = step(step(x[3], 60), 4);
x[1] = step(h7, 58);
x[3] = step(x[3], 85);
}
x[2] = step(x[2], 34);
}
match x[1] / 16 % 2 {
0 | 2 => {
let h9 = step(step(x[2], 83), 82);
x[0] = step(h9, 80);
}
_ => {
}
}
}

#[cuweave::graph(launches = "as-written")]
fn p10(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
for _ in 0..two {
mix[per_item(n)](&mut x2, 42, n);
}
mix[per_item(n)](&mut x1, 76, n);
}

fn m10(x: &mut [u32; 4]) {
for _ in 0..2 {
x[2] = step(x[2], 42);
}
x[1] = step(x[1], 76);
}

#[cuweave::graph(launches = "batched")]
fn p11(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
mix[per_item(n)](&mut x2, 3, n);
let h1 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x2, &mut h1[i * n..(i + 1) * n], 37 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h1[i * n..(i + 1) * n], 71, n);
}
mixed[per_item(n)](&h1[4 * n..], &mut x0, 37, n);
}

fn m11(x: &mut [u32; 4]) {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
x[2] = step(x[2], 3);
let h1 = step(step(x[2], 41), 71);
x[0] = step(h1, 37);
}

#[cuweave::graph(launches = "fused", memory = "nodes")]
fn p12(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f1, 4);
if !f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f2, 4);
match f2 {
1 => {
for _ in 0..two {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t3, 7, n);
mixed[per_item(n)](&t3, &mut x0, 7, n);
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
mix[per_item(n)](&mut x0, 2, n);
}
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f4, 4);
if !f4 {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x3, 17, n);
} else {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t5, 41, n);
mixed[per_item(n)](&t5, &mut x0, 41, n);
let h6 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x2, &mut h6[i * n..(i + 1) * n], 79 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h6[i * n..(i + 1) * n], 84, n);
}
mixed[per_item(n)](&h6[2 * n..], &mut x3, 79, n);
}
}
_ => {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t7, 38, n);
mixed[per_item(n)](&t7, &mut x3, 38, n);
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f8, 4);
if f8 {
mix[per_item(n)](&mut x0, 41, n);
}
}
}
}
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t9, 87, n);
let c10 = alloc::<u32>(1);
fill(&mut c10, 0u32);
while c10 {
let f11 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f11, 3);
match f11 {
1 => {
let h12 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x2, &mut h12[i * n..(i + 1) * n], 13 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h12[i * n..(i + 1) * n], 84, n);
}
mixed[per_item(n)](&h12[1 * n..], &mut x0, 13, n);
}
_ => {
mix[per_item(n)](&mut x3, 98, n);
let h13 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x1, &mut h13[i * n..(i + 1) * n], 7 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h13[i * n..(i + 1) * n], 59, n);
}
mixed[per_item(n)](&h13[2 * n..], &mut x3, 7, n);
}
}
let h14 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x1, &mut h14[i * n..(i + 1) * n], 33 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h14[i * n..(i + 1) * n], 92, n);
}
mixed[per_item(n)](&h14[2 * n..], &mut x3, 33, n);
count_down[(1, 1)](&mut c10);
}
mix[per_item(n)](&mut x1, 63, n);
mixed[per_item(n)](&t9, &mut x2, 87, n);
}

fn m12(x: &mut [u32; 4]) {
if x[2] / 16 % 4 == 0 {
match x[2] / 16 % 4 {
1 => {
for _ in 0..2 {
let t3 = step(x[3], 7);
x[0] = step(t3, 7);
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
x[0] = step(x[0], 2);
}
if x[2] / 16 % 4 == 0 {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[3] = step(x[3], 17);
} else {
let t5 = step(x[3], 41);
x[0] = step(t5, 41);
let h6 = step(step(x[2], 81), 84);
x[3] = step(h6, 79);
}
}
_ => {
let t7 = step(x[0], 38);
x[3] = step(t7, 38);
if x[3] / 16 % 4 != 0 {
x[0] = step(x[0], 41);
}
}
}
}
let t9 = step(x[3], 87);
for _ in 0..0 {
match x[2] / 16 % 3 {
1 => {
let h12 = step(step(x[2], 14), 84);
x[0] = step(h12, 13);
}
_ => {
x[3] = step(x[3], 98);
let h13 = step(step(x[1], 9), 59);
x[3] = step(h13, 7);
}
}
let h14 = step(step(x[1], 35), 92);
x[3] = step(h14, 33);
}
x[1] = step(x[1], 63);
x[2] = step(t9, 87);
}

#[cuweave::graph(memory = "arena", budget = 256 * 6)]
fn p13(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let h1 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x0, &mut h1[i * n..(i + 1) * n], 67 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h1[i * n..(i + 1) * n], 23, n);
}
mixed[per_item(n)](&h1[1 * n..], &mut x1, 67, n);
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f2, 2);
if !f2 {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
}
}

fn m13(x: &mut [u32; 4]) {
let h1 = step(step(x[0], 68), 23);
x[1] = step(h1, 67);
if x[1] / 16 % 2 == 0 {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
}
}

#[cuweave::graph]
fn p14(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f1, 3);
#[at_most(4)]
while f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 4);
if !f2 {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t3, 74, n);
mix[per_item(n)](&mut x0, 95, n);
mixed[per_item(n)](&t3, &mut x1, 74, n);
}
modulo[(1, 1)](&x0[..1], &mut f1, 3);
}
mix[per_item(n)](&mut x2, 30, n);
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f4, 3);
match f4 {
1 => {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t5, 46, n);
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f6, 3);
if f6 {
mix[per_item(n)](&mut x3, 14, n);
}
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t7, 86, n);
mixed[per_item(n)](&t7, &mut x3, 86, n);
mixed[per_item(n)](&t5, &mut x3, 46, n);
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t8, 76, n);
let c9 = alloc::<u32>(1);
fill(&mut c9, 1u32);
while c9 {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
mix[per_item(n)](&mut x2, 3, n);
count_down[(1, 1)](&mut c9);
}
for _ in 0..two {
let h10 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x3, &mut h10[i * n..(i + 1) * n], 67 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h10[i * n..(i + 1) * n], 13, n);
}
mixed[per_item(n)](&h10[3 * n..], &mut x0, 67, n);
let h11 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x0, &mut h11[i * n..(i + 1) * n], 80 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h11[i * n..(i + 1) * n], 54, n);
}
mixed[per_item(n)](&h11[3 * n..], &mut x1, 80, n);
}
mixed[per_item(n)](&t8, &mut x2, 76, n);
}
_ => {
let f12 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f12, 2);
if f12 {
mix[per_item(n)](&mut x0, 15, n);
}
}
}
}

fn m14(x: &mut [u32; 4]) {
for _ in 0..4 {
if x[0] / 16 % 3 == 0 { break; }
if x[0] / 16 % 4 == 0 {
let t3 = step(x[0], 74);
x[0] = step(x[0], 95);
x[1] = step(t3, 74);
}
}
x[2] = step(x[2], 30);
match x[0] / 16 % 3 {
1 => {
let t5 = step(x[0], 46);
if x[0] / 16 % 3 != 0 {
x[3] = step(x[3], 14);
}
let t7 = step(x[0], 86);
x[3] = step(t7, 86);
x[3] = step(t5, 46);
let t8 = step(x[3], 76);
for _ in 0..1 {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
x[2] = step(x[2], 3);
}
for _ in 0..2 {
let h10 = step(step(x[3], 70), 13);
x[0] = step(h10, 67);
let h11 = step(step(x[0], 83), 54);
x[1] = step(h11, 80);
}
x[2] = step(t8, 76);
}
_ => {
if x[2] / 16 % 2 != 0 {
x[0] = step(x[0], 15);
}
}
}
}

pub fn all() {
agrees!(p9, m9);
agrees!(p10, m10);
agrees!(p11, m11);
agrees!(p12, m12);
agrees!(p13, m13);
agrees!(p14, m14);
}

#[test]
fn programs_mean_what_plain_rust_means() {
all();
}
