// Written by the test `the_programs_are_those_of_the_generator`.

use super::super::*;

#[cuweave::graph(launches = "fused", memory = "nodes")]
fn p40(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 4);
#[at_most(2)]
while f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 3);
if !f2 {
let h3 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x0, &mut h3[i * n..(i + 1) * n], 37 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h3[i * n..(i + 1) * n], 82, n);
}
mixed[per_item(n)](&h3[1 * n..], &mut x3, 37, n);
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t4, 60, n);
mixed[per_item(n)](&t4, &mut x2, 60, n);
}
for _ in 0..two {
let c5 = alloc::<u32>(1);
fill(&mut c5, 0u32);
while c5 {
mix[per_item(n)](&mut x0, 18, n);
count_down[(1, 1)](&mut c5);
}
}
modulo[(1, 1)](&x3[..1], &mut f1, 4);
}
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f6, 3);
match f6 {
0 => {
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f7, 4);
if !f7 {
let h8 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x0, &mut h8[i * n..(i + 1) * n], 31 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h8[i * n..(i + 1) * n], 32, n);
}
mixed[per_item(n)](&h8[2 * n..], &mut x1, 31, n);
} else {
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t9, 44, n);
mixed[per_item(n)](&t9, &mut x1, 44, n);
}
let h10 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x1, &mut h10[i * n..(i + 1) * n], 59 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h10[i * n..(i + 1) * n], 83, n);
}
mixed[per_item(n)](&h10[3 * n..], &mut x2, 59, n);
}
_ => {
}
}
}

fn m40(x: &mut [u32; 4]) {
for _ in 0..2 {
if x[3] / 16 % 4 == 0 { break; }
if x[0] / 16 % 3 == 0 {
let h3 = step(step(x[0], 38), 82);
x[3] = step(h3, 37);
let t4 = step(x[3], 60);
x[2] = step(t4, 60);
}
for _ in 0..2 {
for _ in 0..0 {
x[0] = step(x[0], 18);
}
}
}
match x[1] / 16 % 3 {
0 => {
if x[0] / 16 % 4 == 0 {
let h8 = step(step(x[0], 33), 32);
x[1] = step(h8, 31);
} else {
let t9 = step(x[0], 44);
x[1] = step(t9, 44);
}
let h10 = step(step(x[1], 62), 83);
x[2] = step(h10, 59);
}
_ => {
}
}
}

#[cuweave::graph(memory = "arena", budget = 256 * 6)]
fn p41(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t1, 73, n);
mix[per_item(n)](&mut x3, 83, n);
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f2, 4);
#[at_most(3)]
while f2 {
let h3 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x0, &mut h3[i * n..(i + 1) * n], 73 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h3[i * n..(i + 1) * n], 98, n);
}
mixed[per_item(n)](&h3[4 * n..], &mut x1, 73, n);
modulo[(1, 1)](&x1[..1], &mut f2, 4);
}
mixed[per_item(n)](&t1, &mut x1, 73, n);
let c4 = alloc::<u32>(1);
fill(&mut c4, 2u32);
while c4 {
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f5, 3);
if !f5 {
for _ in 0..two {
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t6, 40, n);
mixed[per_item(n)](&t6, &mut x2, 40, n);
let h7 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x3, &mut h7[i * n..(i + 1) * n], 81 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h7[i * n..(i + 1) * n], 85, n);
}
mixed[per_item(n)](&h7[2 * n..], &mut x2, 81, n);
}
}
count_down[(1, 1)](&mut c4);
}
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f8, 4);
if !f8 {
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t9, 59, n);
mixed[per_item(n)](&t9, &mut x1, 59, n);
} else {
let h10 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x0, &mut h10[i * n..(i + 1) * n], 23 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h10[i * n..(i + 1) * n], 59, n);
}
mixed[per_item(n)](&h10[3 * n..], &mut x3, 23, n);
}
}

fn m41(x: &mut [u32; 4]) {
let t1 = step(x[0], 73);
x[3] = step(x[3], 83);
for _ in 0..3 {
if x[1] / 16 % 4 == 0 { break; }
let h3 = step(step(x[0], 77), 98);
x[1] = step(h3, 73);
}
x[1] = step(t1, 73);
for _ in 0..2 {
if x[2] / 16 % 3 == 0 {
for _ in 0..2 {
let t6 = step(x[0], 40);
x[2] = step(t6, 40);
let h7 = step(step(x[3], 83), 85);
x[2] = step(h7, 81);
}
}
}
if x[3] / 16 % 4 == 0 {
let t9 = step(x[3], 59);
x[1] = step(t9, 59);
} else {
let h10 = step(step(x[0], 26), 59);
x[3] = step(h10, 23);
}
}

pub fn all() {
agrees!(p40, m40);
agrees!(p41, m41);
}

#[test]
fn programs_mean_what_plain_rust_means() {
all();
}
