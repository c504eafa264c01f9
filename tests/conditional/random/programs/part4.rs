// Written by the test `the_programs_are_those_of_the_generator`.

use super::super::*;

#[cuweave::graph(launches = "batched")]
fn p18(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 2u32);
while c1 {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t2, 16, n);
mixed[per_item(n)](&t2, &mut x2, 16, n);
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
count_down[(1, 1)](&mut c1);
}
let h3 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x0, &mut h3[i * n..(i + 1) * n], 34 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h3[i * n..(i + 1) * n], 94, n);
}
mixed[per_item(n)](&h3[4 * n..], &mut x3, 34, n);
}

fn m18(x: &mut [u32; 4]) {
for _ in 0..2 {
let t2 = step(x[3], 16);
x[2] = step(t2, 16);
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
}
let h3 = step(step(x[0], 38), 94);
x[3] = step(h3, 34);
}

#[cuweave::graph(launches = "fused", memory = "nodes")]
fn p19(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let h1 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x2, &mut h1[i * n..(i + 1) * n], 26 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h1[i * n..(i + 1) * n], 36, n);
}
mixed[per_item(n)](&h1[3 * n..], &mut x0, 26, n);
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 2);
match f2 {
0 | 2 => {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t3, 30, n);
mixed[per_item(n)](&t3, &mut x2, 30, n);
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t4, 49, n);
mix[per_item(n)](&mut x2, 68, n);
mixed[per_item(n)](&t4, &mut x0, 49, n);
}
_ => {
mix[per_item(n)](&mut x0, 91, n);
}
}
}

fn m19(x: &mut [u32; 4]) {
let h1 = step(step(x[2], 29), 36);
x[0] = step(h1, 26);
match x[0] / 16 % 2 {
0 | 2 => {
let t3 = step(x[1], 30);
x[2] = step(t3, 30);
let t4 = step(x[2], 49);
x[2] = step(x[2], 68);
x[0] = step(t4, 49);
}
_ => {
x[0] = step(x[0], 91);
}
}
}

#[cuweave::graph(memory = "arena", budget = 256 * 6)]
fn p20(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t1, 41, n);
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t2, 46, n);
mixed[per_item(n)](&t2, &mut x0, 46, n);
mixed[per_item(n)](&t1, &mut x1, 41, n);
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f3, 2);
if !f3 {
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
let c4 = alloc::<u32>(1);
fill(&mut c4, 1u32);
while c4 {
let c5 = alloc::<u32>(1);
fill(&mut c5, 2u32);
while c5 {
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t6, 30, n);
mixed[per_item(n)](&t6, &mut x2, 30, n);
count_down[(1, 1)](&mut c5);
}
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t7, 23, n);
let h8 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x3, &mut h8[i * n..(i + 1) * n], 8 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h8[i * n..(i + 1) * n], 40, n);
}
mixed[per_item(n)](&h8[3 * n..], &mut x0, 8, n);
mixed[per_item(n)](&t7, &mut x3, 23, n);
count_down[(1, 1)](&mut c4);
}
} else {
let f9 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f9, 4);
#[at_most(1)]
while f9 {
let f10 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f10, 2);
if f10 {
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t11, 0, n);
mixed[per_item(n)](&t11, &mut x0, 0, n);
}
modulo[(1, 1)](&x3[..1], &mut f9, 4);
}
}
for _ in 0..two {
let t12 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t12, 18, n);
mixed[per_item(n)](&t12, &mut x0, 18, n);
}
}

fn m20(x: &mut [u32; 4]) {
let t1 = step(x[3], 41);
let t2 = step(x[3], 46);
x[0] = step(t2, 46);
x[1] = step(t1, 41);
if x[0] / 16 % 2 == 0 {
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
for _ in 0..1 {
for _ in 0..2 {
let t6 = step(x[0], 30);
x[2] = step(t6, 30);
}
let t7 = step(x[2], 23);
let h8 = step(step(x[3], 11), 40);
x[0] = step(h8, 8);
x[3] = step(t7, 23);
}
} else {
for _ in 0..1 {
if x[3] / 16 % 4 == 0 { break; }
if x[2] / 16 % 2 != 0 {
let t11 = step(x[1], 0);
x[0] = step(t11, 0);
}
}
}
for _ in 0..2 {
let t12 = step(x[3], 18);
x[0] = step(t12, 18);
}
}

#[cuweave::graph]
fn p21(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 4);
if !f1 {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
}
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
}

fn m21(x: &mut [u32; 4]) {
if x[3] / 16 % 4 == 0 {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
}
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
}

#[cuweave::graph(memory = "owned")]
fn p22(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 3);
#[at_most(1)]
while f1 {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
mix[per_item(n)](&mut x2, 3, n);
modulo[(1, 1)](&x3[..1], &mut f1, 3);
}
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t2, 80, n);
mixed[per_item(n)](&t2, &mut x0, 80, n);
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f3, 2);
if !f3 {
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f4, 2);
if !f4 {
mix[per_item(n)](&mut x2, 73, n);
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f5, 3);
match f5 {
0 | 2 => {
mix[per_item(n)](&mut x1, 92, n);
}
_ => {
let h6 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x3, &mut h6[i * n..(i + 1) * n], 30 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h6[i * n..(i + 1) * n], 96, n);
}
mixed[per_item(n)](&h6[1 * n..], &mut x2, 30, n);
mix[per_item(n)](&mut x1, 0, n);
mix[per_item(n)](&mut x1, 1, n);
}
}
}
} else {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
mix[per_item(n)](&mut x2, 3, n);
}
}

fn m22(x: &mut [u32; 4]) {
for _ in 0..1 {
if x[3] / 16 % 3 == 0 { break; }
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
x[2] = step(x[2], 3);
}
let t2 = step(x[3], 80);
x[0] = step(t2, 80);
if x[1] / 16 % 2 == 0 {
if x[3] / 16 % 2 == 0 {
x[2] = step(x[2], 73);
match x[2] / 16 % 3 {
0 | 2 => {
x[1] = step(x[1], 92);
}
_ => {
let h6 = step(step(x[3], 31), 96);
x[2] = step(h6, 30);
x[1] = step(x[1], 0);
x[1] = step(x[1], 1);
}
}
}
} else {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
x[2] = step(x[2], 3);
}
}

#[cuweave::graph(memory = "nodes")]
fn p23(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 3);
if !f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f2, 4);
#[at_most(4)]
while f2 {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f3, 2);
if !f3 {
mix[per_item(n)](&mut x3, 66, n);
mix[per_item(n)](&mut x1, 16, n);
}
modulo[(1, 1)](&x3[..1], &mut f2, 4);
}
}
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t4, 61, n);
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t5, 34, n);
mixed[per_item(n)](&t5, &mut x1, 34, n);
let c6 = alloc::<u32>(1);
fill(&mut c6, 2u32);
while c6 {
for _ in 0..two {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t7, 40, n);
mixed[per_item(n)](&t7, &mut x0, 40, n);
}
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f8, 3);
if f8 {
let h9 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x1, &mut h9[i * n..(i + 1) * n], 14 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h9[i * n..(i + 1) * n], 4, n);
}
mixed[per_item(n)](&h9[1 * n..], &mut x2, 14, n);
} else {
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
}
count_down[(1, 1)](&mut c6);
}
mixed[per_item(n)](&t4, &mut x3, 61, n);
let f10 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f10, 4);
#[at_most(1)]
while f10 {
let c11 = alloc::<u32>(1);
fill(&mut c11, 2u32);
while c11 {
mix[per_item(n)](&mut x3, 24, n);
count_down[(1, 1)](&mut c11);
}
let h12 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x3, &mut h12[i * n..(i + 1) * n], 34 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h12[i * n..(i + 1) * n], 41, n);
}
mixed[per_item(n)](&h12[3 * n..], &mut x0, 34, n);
modulo[(1, 1)](&x3[..1], &mut f10, 4);
}
}

fn m23(x: &mut [u32; 4]) {
if x[3] / 16 % 3 == 0 {
for _ in 0..4 {
if x[3] / 16 % 4 == 0 { break; }
if x[3] / 16 % 2 == 0 {
x[3] = step(x[3], 66);
x[1] = step(x[1], 16);
}
}
}
let t4 = step(x[2], 61);
let t5 = step(x[2], 34);
x[1] = step(t5, 34);
for _ in 0..2 {
for _ in 0..2 {
let t7 = step(x[3], 40);
x[0] = step(t7, 40);
}
if x[3] / 16 % 3 != 0 {
let h9 = step(step(x[1], 15), 4);
x[2] = step(h9, 14);
} else {
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
}
}
x[3] = step(t4, 61);
for _ in 0..1 {
if x[3] / 16 % 4 == 0 { break; }
for _ in 0..2 {
x[3] = step(x[3], 24);
}
let h12 = step(step(x[3], 37), 41);
x[0] = step(h12, 34);
}
}

#[cuweave::graph(launches = "as-written")]
fn p24(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
for _ in 0..two {
for _ in 0..two {
for _ in 0..two {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t1, 67, n);
mixed[per_item(n)](&t1, &mut x3, 67, n);
}
}
}
for _ in 0..two {
let c2 = alloc::<u32>(1);
fill(&mut c2, 0u32);
while c2 {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t3, 13, n);
mixed[per_item(n)](&t3, &mut x1, 13, n);
count_down[(1, 1)](&mut c2);
}
}
}

fn m24(x: &mut [u32; 4]) {
for _ in 0..2 {
for _ in 0..2 {
for _ in 0..2 {
let t1 = step(x[2], 67);
x[3] = step(t1, 67);
}
}
}
for _ in 0..2 {
for _ in 0..0 {
let t3 = step(x[2], 13);
x[1] = step(t3, 13);
}
}
}

pub fn all() {
agrees!(p18, m18);
agrees!(p19, m19);
agrees!(p20, m20);
agrees!(p21, m21);
agrees!(p22, m22);
agrees!(p23, m23);
agrees!(p24, m24);
}

#[test]
fn programs_mean_what_plain_rust_means() {
all();
}
