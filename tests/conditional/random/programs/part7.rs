// Written by the test `the_programs_are_those_of_the_generator`.

use super::super::*;

#[cuweave::graph(memory = "arena", budget = 256 * 6)]
fn p34(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 3u32);
while c1 {
let h2 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x2, &mut h2[i * n..(i + 1) * n], 81 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h2[i * n..(i + 1) * n], 55, n);
}
mixed[per_item(n)](&h2[4 * n..], &mut x0, 81, n);
for _ in 0..two {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f3, 4);
#[at_most(1)]
while f3 {
let h4 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x0, &mut h4[i * n..(i + 1) * n], 76 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h4[i * n..(i + 1) * n], 70, n);
}
mixed[per_item(n)](&h4[4 * n..], &mut x3, 76, n);
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
modulo[(1, 1)](&x1[..1], &mut f3, 4);
}
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
}
count_down[(1, 1)](&mut c1);
}
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f5, 4);
#[at_most(1)]
while f5 {
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f6, 4);
if f6 {
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
} else {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t7, 39, n);
mixed[per_item(n)](&t7, &mut x3, 39, n);
let h8 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x2, &mut h8[i * n..(i + 1) * n], 76 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h8[i * n..(i + 1) * n], 73, n);
}
mixed[per_item(n)](&h8[3 * n..], &mut x3, 76, n);
}
modulo[(1, 1)](&x1[..1], &mut f5, 4);
}
}

fn m34(x: &mut [u32; 4]) {
for _ in 0..3 {
let h2 = step(step(x[2], 85), 55);
x[0] = step(h2, 81);
for _ in 0..2 {
for _ in 0..1 {
if x[1] / 16 % 4 == 0 { break; }
let h4 = step(step(x[0], 80), 70);
x[3] = step(h4, 76);
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
}
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
}
}
for _ in 0..1 {
if x[1] / 16 % 4 == 0 { break; }
if x[2] / 16 % 4 != 0 {
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
} else {
let t7 = step(x[2], 39);
x[3] = step(t7, 39);
let h8 = step(step(x[2], 79), 73);
x[3] = step(h8, 76);
}
}
}

#[cuweave::graph]
fn p35(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 1u32);
while c1 {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t2, 49, n);
mixed[per_item(n)](&t2, &mut x1, 49, n);
count_down[(1, 1)](&mut c1);
}
for _ in 0..two {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f3, 4);
if f3 {
let c4 = alloc::<u32>(1);
fill(&mut c4, 1u32);
while c4 {
mix[per_item(n)](&mut x1, 0, n);
mix[per_item(n)](&mut x1, 1, n);
mix[per_item(n)](&mut x1, 2, n);
mix[per_item(n)](&mut x1, 0, n);
mix[per_item(n)](&mut x1, 1, n);
mix[per_item(n)](&mut x1, 2, n);
mix[per_item(n)](&mut x1, 3, n);
count_down[(1, 1)](&mut c4);
}
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t5, 76, n);
mixed[per_item(n)](&t5, &mut x2, 76, n);
} else {
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f6, 2);
match f6 {
0 => {
mix[per_item(n)](&mut x0, 29, n);
}
_ => {
mix[per_item(n)](&mut x0, 12, n);
}
}
}
}
}

fn m35(x: &mut [u32; 4]) {
for _ in 0..1 {
let t2 = step(x[3], 49);
x[1] = step(t2, 49);
}
for _ in 0..2 {
if x[2] / 16 % 4 != 0 {
for _ in 0..1 {
x[1] = step(x[1], 0);
x[1] = step(x[1], 1);
x[1] = step(x[1], 2);
x[1] = step(x[1], 0);
x[1] = step(x[1], 1);
x[1] = step(x[1], 2);
x[1] = step(x[1], 3);
}
let t5 = step(x[3], 76);
x[2] = step(t5, 76);
} else {
match x[0] / 16 % 2 {
0 => {
x[0] = step(x[0], 29);
}
_ => {
x[0] = step(x[0], 12);
}
}
}
}
}

#[cuweave::graph(memory = "owned")]
fn p36(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 3u32);
while c1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f2, 2);
if !f2 {
let c3 = alloc::<u32>(1);
fill(&mut c3, 1u32);
while c3 {
mix[per_item(n)](&mut x0, 14, n);
count_down[(1, 1)](&mut c3);
}
mix[per_item(n)](&mut x0, 73, n);
}
count_down[(1, 1)](&mut c1);
}
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
mix[per_item(n)](&mut x0, 2, n);
mix[per_item(n)](&mut x0, 3, n);
}

fn m36(x: &mut [u32; 4]) {
for _ in 0..3 {
if x[1] / 16 % 2 == 0 {
for _ in 0..1 {
x[0] = step(x[0], 14);
}
x[0] = step(x[0], 73);
}
}
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
x[0] = step(x[0], 2);
x[0] = step(x[0], 3);
}

#[cuweave::graph(memory = "nodes")]
fn p37(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
for _ in 0..two {
mix[per_item(n)](&mut x1, 27, n);
}
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f1, 2);
if !f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f2, 3);
if f2 {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f3, 3);
if !f3 {
mix[per_item(n)](&mut x0, 32, n);
} else {
mix[per_item(n)](&mut x2, 83, n);
mix[per_item(n)](&mut x2, 11, n);
}
} else {
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f4, 4);
#[at_most(1)]
while f4 {
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
mix[per_item(n)](&mut x3, 3, n);
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
mix[per_item(n)](&mut x3, 3, n);
modulo[(1, 1)](&x3[..1], &mut f4, 4);
}
let h5 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x1, &mut h5[i * n..(i + 1) * n], 26 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h5[i * n..(i + 1) * n], 35, n);
}
mixed[per_item(n)](&h5[3 * n..], &mut x0, 26, n);
}
} else {
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t6, 98, n);
mixed[per_item(n)](&t6, &mut x3, 98, n);
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
}
}

fn m37(x: &mut [u32; 4]) {
for _ in 0..2 {
x[1] = step(x[1], 27);
}
if x[2] / 16 % 2 == 0 {
if x[3] / 16 % 3 != 0 {
if x[0] / 16 % 3 == 0 {
x[0] = step(x[0], 32);
} else {
x[2] = step(x[2], 83);
x[2] = step(x[2], 11);
}
} else {
for _ in 0..1 {
if x[3] / 16 % 4 == 0 { break; }
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
x[3] = step(x[3], 3);
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
x[3] = step(x[3], 3);
}
let h5 = step(step(x[1], 29), 35);
x[0] = step(h5, 26);
}
} else {
let t6 = step(x[0], 98);
x[3] = step(t6, 98);
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
}
}

#[cuweave::graph(launches = "as-written")]
fn p38(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 2u32);
while c1 {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t2, 78, n);
mixed[per_item(n)](&t2, &mut x3, 78, n);
mix[per_item(n)](&mut x2, 99, n);
count_down[(1, 1)](&mut c1);
}
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
mix[per_item(n)](&mut x3, 3, n);
mix[per_item(n)](&mut x0, 20, n);
}

fn m38(x: &mut [u32; 4]) {
for _ in 0..2 {
let t2 = step(x[0], 78);
x[3] = step(t2, 78);
x[2] = step(x[2], 99);
}
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
x[3] = step(x[3], 3);
x[0] = step(x[0], 20);
}

#[cuweave::graph(launches = "batched")]
fn p39(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 4);
#[at_most(2)]
while f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f2, 3);
#[at_most(1)]
while f2 {
let h3 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x1, &mut h3[i * n..(i + 1) * n], 56 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h3[i * n..(i + 1) * n], 90, n);
}
mixed[per_item(n)](&h3[4 * n..], &mut x0, 56, n);
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
mix[per_item(n)](&mut x0, 2, n);
modulo[(1, 1)](&x2[..1], &mut f2, 3);
}
modulo[(1, 1)](&x3[..1], &mut f1, 4);
}
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t4, 91, n);
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f5, 3);
match f5 {
0 | 2 => {
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f6, 2);
if f6 {
mix[per_item(n)](&mut x1, 0, n);
mix[per_item(n)](&mut x1, 1, n);
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t7, 88, n);
mixed[per_item(n)](&t7, &mut x2, 88, n);
} else {
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t8, 79, n);
mixed[per_item(n)](&t8, &mut x1, 79, n);
mix[per_item(n)](&mut x2, 90, n);
}
mix[per_item(n)](&mut x0, 39, n);
}
_ => {
}
}
mixed[per_item(n)](&t4, &mut x1, 91, n);
}

fn m39(x: &mut [u32; 4]) {
for _ in 0..2 {
if x[3] / 16 % 4 == 0 { break; }
for _ in 0..1 {
if x[2] / 16 % 3 == 0 { break; }
let h3 = step(step(x[1], 60), 90);
x[0] = step(h3, 56);
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
x[0] = step(x[0], 2);
}
}
let t4 = step(x[3], 91);
match x[3] / 16 % 3 {
0 | 2 => {
if x[0] / 16 % 2 != 0 {
x[1] = step(x[1], 0);
x[1] = step(x[1], 1);
let t7 = step(x[0], 88);
x[2] = step(t7, 88);
} else {
let t8 = step(x[2], 79);
x[1] = step(t8, 79);
x[2] = step(x[2], 90);
}
x[0] = step(x[0], 39);
}
_ => {
}
}
x[1] = step(t4, 91);
}

pub fn all() {
agrees!(p34, m34);
agrees!(p35, m35);
agrees!(p36, m36);
agrees!(p37, m37);
agrees!(p38, m38);
agrees!(p39, m39);
}

#[test]
fn programs_mean_what_plain_rust_means() {
all();
}
