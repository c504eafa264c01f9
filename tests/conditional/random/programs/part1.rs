// Written by the test `the_programs_are_those_of_the_generator`.

use super::super::*;

#[cuweave::graph(launches = "fused", memory = "nodes")]
fn p5(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f1, 2);
if !f1 {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t2, 2, n);
for _ in 0..two {
mix[per_item(n)](&mut x1, 78, n);
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t3, 31, n);
mixed[per_item(n)](&t3, &mut x0, 31, n);
}
mixed[per_item(n)](&t2, &mut x3, 2, n);
let c4 = alloc::<u32>(1);
fill(&mut c4, 2u32);
while c4 {
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f5, 4);
match f5 {
0 | 2 => {
mix[per_item(n)](&mut x0, 33, n);
}
_ => {
let h6 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x2, &mut h6[i * n..(i + 1) * n], 5 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h6[i * n..(i + 1) * n], 98, n);
}
mixed[per_item(n)](&h6[3 * n..], &mut x3, 5, n);
let h7 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x3, &mut h7[i * n..(i + 1) * n], 39 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h7[i * n..(i + 1) * n], 57, n);
}
mixed[per_item(n)](&h7[3 * n..], &mut x0, 39, n);
}
}
count_down[(1, 1)](&mut c4);
}
} else {
let c8 = alloc::<u32>(1);
fill(&mut c8, 2u32);
while c8 {
let f9 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f9, 4);
#[at_most(3)]
while f9 {
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t10, 67, n);
mixed[per_item(n)](&t10, &mut x3, 67, n);
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t11, 3, n);
mixed[per_item(n)](&t11, &mut x3, 3, n);
modulo[(1, 1)](&x3[..1], &mut f9, 4);
}
mix[per_item(n)](&mut x1, 0, n);
mix[per_item(n)](&mut x1, 1, n);
mix[per_item(n)](&mut x1, 2, n);
count_down[(1, 1)](&mut c8);
}
for _ in 0..two {
let h12 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x0, &mut h12[i * n..(i + 1) * n], 38 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h12[i * n..(i + 1) * n], 97, n);
}
mixed[per_item(n)](&h12[2 * n..], &mut x2, 38, n);
let c13 = alloc::<u32>(1);
fill(&mut c13, 0u32);
while c13 {
let t14 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t14, 31, n);
mixed[per_item(n)](&t14, &mut x2, 31, n);
count_down[(1, 1)](&mut c13);
}
}
}
for _ in 0..two {
let f15 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f15, 4);
match f15 {
0 | 2 => {
for _ in 0..two {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
let t16 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t16, 33, n);
mixed[per_item(n)](&t16, &mut x3, 33, n);
}
let t17 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t17, 15, n);
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
mixed[per_item(n)](&t17, &mut x0, 15, n);
}
_ => {
let c18 = alloc::<u32>(1);
fill(&mut c18, 3u32);
while c18 {
mix[per_item(n)](&mut x0, 36, n);
mix[per_item(n)](&mut x0, 12, n);
count_down[(1, 1)](&mut c18);
}
for _ in 0..two {
mix[per_item(n)](&mut x1, 0, n);
mix[per_item(n)](&mut x1, 1, n);
mix[per_item(n)](&mut x1, 2, n);
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
mix[per_item(n)](&mut x3, 3, n);
}
}
}
for _ in 0..two {
let c19 = alloc::<u32>(1);
fill(&mut c19, 1u32);
while c19 {
mix[per_item(n)](&mut x3, 27, n);
mix[per_item(n)](&mut x2, 97, n);
count_down[(1, 1)](&mut c19);
}
let h20 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x0, &mut h20[i * n..(i + 1) * n], 60 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h20[i * n..(i + 1) * n], 75, n);
}
mixed[per_item(n)](&h20[4 * n..], &mut x2, 60, n);
}
}
let t21 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t21, 57, n);
let c22 = alloc::<u32>(1);
fill(&mut c22, 1u32);
while c22 {
let f23 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f23, 2);
if f23 {
let h24 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x3, &mut h24[i * n..(i + 1) * n], 34 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h24[i * n..(i + 1) * n], 78, n);
}
mixed[per_item(n)](&h24[2 * n..], &mut x1, 34, n);
}
count_down[(1, 1)](&mut c22);
}
let h25 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x2, &mut h25[i * n..(i + 1) * n], 67 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h25[i * n..(i + 1) * n], 98, n);
}
mixed[per_item(n)](&h25[3 * n..], &mut x3, 67, n);
mixed[per_item(n)](&t21, &mut x1, 57, n);
}

fn m5(x: &mut [u32; 4]) {
if x[1] / 16 % 2 == 0 {
let t2 = step(x[1], 2);
for _ in 0..2 {
x[1] = step(x[1], 78);
let t3 = step(x[1], 31);
x[0] = step(t3, 31);
}
x[3] = step(t2, 2);
for _ in 0..2 {
match x[1] / 16 % 4 {
0 | 2 => {
x[0] = step(x[0], 33);
}
_ => {
let h6 = step(step(x[2], 8), 98);
x[3] = step(h6, 5);
let h7 = step(step(x[3], 42), 57);
x[0] = step(h7, 39);
}
}
}
} else {
for _ in 0..2 {
for _ in 0..3 {
if x[3] / 16 % 4 == 0 { break; }
let t10 = step(x[2], 67);
x[3] = step(t10, 67);
let t11 = step(x[2], 3);
x[3] = step(t11, 3);
}
x[1] = step(x[1], 0);
x[1] = step(x[1], 1);
x[1] = step(x[1], 2);
}
for _ in 0..2 {
let h12 = step(step(x[0], 40), 97);
x[2] = step(h12, 38);
for _ in 0..0 {
let t14 = step(x[0], 31);
x[2] = step(t14, 31);
}
}
}
for _ in 0..2 {
match x[3] / 16 % 4 {
0 | 2 => {
for _ in 0..2 {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
let t16 = step(x[0], 33);
x[3] = step(t16, 33);
}
let t17 = step(x[1], 15);
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
x[0] = step(t17, 15);
}
_ => {
for _ in 0..3 {
x[0] = step(x[0], 36);
x[0] = step(x[0], 12);
}
for _ in 0..2 {
x[1] = step(x[1], 0);
x[1] = step(x[1], 1);
x[1] = step(x[1], 2);
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
x[3] = step(x[3], 3);
}
}
}
for _ in 0..2 {
for _ in 0..1 {
x[3] = step(x[3], 27);
x[2] = step(x[2], 97);
}
let h20 = step(step(x[0], 64), 75);
x[2] = step(h20, 60);
}
}
let t21 = step(x[2], 57);
for _ in 0..1 {
if x[0] / 16 % 2 != 0 {
let h24 = step(step(x[3], 36), 78);
x[1] = step(h24, 34);
}
}
let h25 = step(step(x[2], 70), 98);
x[3] = step(h25, 67);
x[1] = step(t21, 57);
}

#[cuweave::graph(memory = "arena", budget = 256 * 6)]
fn p6(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f1, 2);
if !f1 {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
mix[per_item(n)](&mut x2, 3, n);
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f2, 3);
if !f2 {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f3, 4);
match f3 {
0 | 2 => {
let h4 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x2, &mut h4[i * n..(i + 1) * n], 50 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h4[i * n..(i + 1) * n], 51, n);
}
mixed[per_item(n)](&h4[2 * n..], &mut x0, 50, n);
mix[per_item(n)](&mut x2, 95, n);
}
_ => {
}
}
}
}
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
mix[per_item(n)](&mut x0, 2, n);
mix[per_item(n)](&mut x0, 3, n);
}

fn m6(x: &mut [u32; 4]) {
if x[2] / 16 % 2 == 0 {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
x[2] = step(x[2], 3);
if x[1] / 16 % 3 == 0 {
match x[1] / 16 % 4 {
0 | 2 => {
let h4 = step(step(x[2], 52), 51);
x[0] = step(h4, 50);
x[2] = step(x[2], 95);
}
_ => {
}
}
}
}
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
x[0] = step(x[0], 2);
x[0] = step(x[0], 3);
}

#[cuweave::graph]
fn p7(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t1, 32, n);
mixed[per_item(n)](&t1, &mut x0, 32, n);
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
mix[per_item(n)](&mut x3, 3, n);
}

fn m7(x: &mut [u32; 4]) {
let t1 = step(x[1], 32);
x[0] = step(t1, 32);
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
x[3] = step(x[3], 3);
}

#[cuweave::graph(memory = "owned")]
fn p8(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f1, 2);
if f1 {
for _ in 0..two {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f2, 2);
if !f2 {
let h3 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x2, &mut h3[i * n..(i + 1) * n], 32 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h3[i * n..(i + 1) * n], 21, n);
}
mixed[per_item(n)](&h3[2 * n..], &mut x3, 32, n);
}
}
} else {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t4, 7, n);
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f5, 3);
if f5 {
let h6 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x3, &mut h6[i * n..(i + 1) * n], 1 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h6[i * n..(i + 1) * n], 92, n);
}
mixed[per_item(n)](&h6[2 * n..], &mut x1, 1, n);
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
mix[per_item(n)](&mut x0, 2, n);
} else {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t7, 44, n);
mixed[per_item(n)](&t7, &mut x1, 44, n);
}
mixed[per_item(n)](&t4, &mut x1, 7, n);
}
for _ in 0..two {
mix[per_item(n)](&mut x0, 82, n);
}
}

fn m8(x: &mut [u32; 4]) {
if x[0] / 16 % 2 != 0 {
for _ in 0..2 {
if x[3] / 16 % 2 == 0 {
let h3 = step(step(x[2], 34), 21);
x[3] = step(h3, 32);
}
}
} else {
let t4 = step(x[2], 7);
if x[3] / 16 % 3 != 0 {
let h6 = step(step(x[3], 3), 92);
x[1] = step(h6, 1);
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
x[0] = step(x[0], 2);
} else {
let t7 = step(x[0], 44);
x[1] = step(t7, 44);
}
x[1] = step(t4, 7);
}
for _ in 0..2 {
x[0] = step(x[0], 82);
}
}

pub fn all() {
agrees!(p5, m5);
agrees!(p6, m6);
agrees!(p7, m7);
agrees!(p8, m8);
}

#[test]
fn programs_mean_what_plain_rust_means() {
all();
}
