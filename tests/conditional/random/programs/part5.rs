// Written by the test `the_programs_are_those_of_the_generator`.

use super::super::*;

#[cuweave::graph(launches = "batched")]
fn p25(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
mix[per_item(n)](&mut x1, 63, n);
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 2);
match f1 {
0 | 2 => {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
let c2 = alloc::<u32>(1);
fill(&mut c2, 1u32);
while c2 {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t3, 47, n);
mixed[per_item(n)](&t3, &mut x1, 47, n);
let c4 = alloc::<u32>(1);
fill(&mut c4, 0u32);
while c4 {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
mix[per_item(n)](&mut x2, 3, n);
count_down[(1, 1)](&mut c4);
}
count_down[(1, 1)](&mut c2);
}
}
_ => {
}
}
}

fn m25(x: &mut [u32; 4]) {
x[1] = step(x[1], 63);
match x[3] / 16 % 2 {
0 | 2 => {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
for _ in 0..1 {
let t3 = step(x[0], 47);
x[1] = step(t3, 47);
for _ in 0..0 {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
x[2] = step(x[2], 3);
}
}
}
_ => {
}
}
}

#[cuweave::graph(launches = "fused", memory = "nodes")]
fn p26(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t1, 3, n);
mixed[per_item(n)](&t1, &mut x3, 3, n);
for _ in 0..two {
let h2 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x1, &mut h2[i * n..(i + 1) * n], 71 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h2[i * n..(i + 1) * n], 86, n);
}
mixed[per_item(n)](&h2[4 * n..], &mut x0, 71, n);
}
}

fn m26(x: &mut [u32; 4]) {
let t1 = step(x[1], 3);
x[3] = step(t1, 3);
for _ in 0..2 {
let h2 = step(step(x[1], 75), 86);
x[0] = step(h2, 71);
}
}

#[cuweave::graph(memory = "arena", budget = 256 * 6)]
fn p27(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
mix[per_item(n)](&mut x1, 19, n);
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 4);
#[at_most(2)]
while f1 {
let h2 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x2, &mut h2[i * n..(i + 1) * n], 20 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h2[i * n..(i + 1) * n], 77, n);
}
mixed[per_item(n)](&h2[1 * n..], &mut x3, 20, n);
let h3 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x3, &mut h3[i * n..(i + 1) * n], 47 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h3[i * n..(i + 1) * n], 1, n);
}
mixed[per_item(n)](&h3[1 * n..], &mut x0, 47, n);
modulo[(1, 1)](&x3[..1], &mut f1, 4);
}
let h4 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x2, &mut h4[i * n..(i + 1) * n], 88 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h4[i * n..(i + 1) * n], 79, n);
}
mixed[per_item(n)](&h4[4 * n..], &mut x3, 88, n);
}

fn m27(x: &mut [u32; 4]) {
x[1] = step(x[1], 19);
for _ in 0..2 {
if x[3] / 16 % 4 == 0 { break; }
let h2 = step(step(x[2], 21), 77);
x[3] = step(h2, 20);
let h3 = step(step(x[3], 48), 1);
x[0] = step(h3, 47);
}
let h4 = step(step(x[2], 92), 79);
x[3] = step(h4, 88);
}

#[cuweave::graph]
fn p28(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f1, 3);
if f1 {
let c2 = alloc::<u32>(1);
fill(&mut c2, 3u32);
while c2 {
let c3 = alloc::<u32>(1);
fill(&mut c3, 0u32);
while c3 {
let h4 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x3, &mut h4[i * n..(i + 1) * n], 37 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h4[i * n..(i + 1) * n], 2, n);
}
mixed[per_item(n)](&h4[4 * n..], &mut x0, 37, n);
let h5 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x0, &mut h5[i * n..(i + 1) * n], 93 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h5[i * n..(i + 1) * n], 16, n);
}
mixed[per_item(n)](&h5[2 * n..], &mut x3, 93, n);
count_down[(1, 1)](&mut c3);
}
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f6, 3);
if f6 {
let h7 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x1, &mut h7[i * n..(i + 1) * n], 50 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h7[i * n..(i + 1) * n], 11, n);
}
mixed[per_item(n)](&h7[1 * n..], &mut x0, 50, n);
}
count_down[(1, 1)](&mut c2);
}
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t8, 25, n);
mixed[per_item(n)](&t8, &mut x0, 25, n);
}
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t9, 58, n);
let f10 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f10, 3);
match f10 {
1 => {
let f11 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f11, 2);
match f11 {
1 => {
let h12 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x2, &mut h12[i * n..(i + 1) * n], 37 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h12[i * n..(i + 1) * n], 91, n);
}
mixed[per_item(n)](&h12[1 * n..], &mut x0, 37, n);
let h13 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x1, &mut h13[i * n..(i + 1) * n], 92 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h13[i * n..(i + 1) * n], 11, n);
}
mixed[per_item(n)](&h13[3 * n..], &mut x2, 92, n);
}
_ => {
}
}
}
_ => {
let t14 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t14, 96, n);
mixed[per_item(n)](&t14, &mut x2, 96, n);
mix[per_item(n)](&mut x2, 28, n);
}
}
let f15 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f15, 3);
if f15 {
let c16 = alloc::<u32>(1);
fill(&mut c16, 3u32);
while c16 {
mix[per_item(n)](&mut x1, 15, n);
count_down[(1, 1)](&mut c16);
}
let t17 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t17, 58, n);
let t18 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t18, 67, n);
mixed[per_item(n)](&t18, &mut x1, 67, n);
mixed[per_item(n)](&t17, &mut x3, 58, n);
} else {
let c19 = alloc::<u32>(1);
fill(&mut c19, 2u32);
while c19 {
let t20 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t20, 26, n);
mixed[per_item(n)](&t20, &mut x3, 26, n);
let h21 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x3, &mut h21[i * n..(i + 1) * n], 52 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h21[i * n..(i + 1) * n], 55, n);
}
mixed[per_item(n)](&h21[1 * n..], &mut x1, 52, n);
count_down[(1, 1)](&mut c19);
}
}
mixed[per_item(n)](&t9, &mut x1, 58, n);
}

fn m28(x: &mut [u32; 4]) {
if x[0] / 16 % 3 != 0 {
for _ in 0..3 {
for _ in 0..0 {
let h4 = step(step(x[3], 41), 2);
x[0] = step(h4, 37);
let h5 = step(step(x[0], 95), 16);
x[3] = step(h5, 93);
}
if x[2] / 16 % 3 != 0 {
let h7 = step(step(x[1], 51), 11);
x[0] = step(h7, 50);
}
}
let t8 = step(x[2], 25);
x[0] = step(t8, 25);
}
let t9 = step(x[3], 58);
match x[0] / 16 % 3 {
1 => {
match x[0] / 16 % 2 {
1 => {
let h12 = step(step(x[2], 38), 91);
x[0] = step(h12, 37);
let h13 = step(step(x[1], 95), 11);
x[2] = step(h13, 92);
}
_ => {
}
}
}
_ => {
let t14 = step(x[1], 96);
x[2] = step(t14, 96);
x[2] = step(x[2], 28);
}
}
if x[0] / 16 % 3 != 0 {
for _ in 0..3 {
x[1] = step(x[1], 15);
}
let t17 = step(x[1], 58);
let t18 = step(x[2], 67);
x[1] = step(t18, 67);
x[3] = step(t17, 58);
} else {
for _ in 0..2 {
let t20 = step(x[2], 26);
x[3] = step(t20, 26);
let h21 = step(step(x[3], 53), 55);
x[1] = step(h21, 52);
}
}
x[1] = step(t9, 58);
}

#[cuweave::graph(memory = "owned")]
fn p29(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 0u32);
while c1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f2, 2);
#[at_most(2)]
while f2 {
for _ in 0..two {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t3, 43, n);
mixed[per_item(n)](&t3, &mut x2, 43, n);
}
modulo[(1, 1)](&x3[..1], &mut f2, 2);
}
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t4, 53, n);
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f5, 4);
if !f5 {
mix[per_item(n)](&mut x2, 28, n);
} else {
mix[per_item(n)](&mut x0, 52, n);
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
}
mixed[per_item(n)](&t4, &mut x3, 53, n);
count_down[(1, 1)](&mut c1);
}
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f6, 4);
#[at_most(2)]
while f6 {
mix[per_item(n)](&mut x2, 42, n);
modulo[(1, 1)](&x0[..1], &mut f6, 4);
}
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t7, 31, n);
mixed[per_item(n)](&t7, &mut x2, 31, n);
}

fn m29(x: &mut [u32; 4]) {
for _ in 0..0 {
for _ in 0..2 {
if x[3] / 16 % 2 == 0 { break; }
for _ in 0..2 {
let t3 = step(x[3], 43);
x[2] = step(t3, 43);
}
}
let t4 = step(x[2], 53);
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
if x[0] / 16 % 4 == 0 {
x[2] = step(x[2], 28);
} else {
x[0] = step(x[0], 52);
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
}
x[3] = step(t4, 53);
}
for _ in 0..2 {
if x[0] / 16 % 4 == 0 { break; }
x[2] = step(x[2], 42);
}
let t7 = step(x[3], 31);
x[2] = step(t7, 31);
}

pub fn all() {
agrees!(p25, m25);
agrees!(p26, m26);
agrees!(p27, m27);
agrees!(p28, m28);
agrees!(p29, m29);
}

#[test]
fn programs_mean_what_plain_rust_means() {
all();
}
