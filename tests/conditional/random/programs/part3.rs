// Written by the test `the_programs_are_those_of_the_generator`.

use super::super::*;

#[cuweave::graph(memory = "owned")]
fn p15(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t1, 4, n);
mixed[per_item(n)](&t1, &mut x0, 4, n);
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
mix[per_item(n)](&mut x0, 2, n);
mix[per_item(n)](&mut x0, 3, n);
let c2 = alloc::<u32>(1);
fill(&mut c2, 0u32);
while c2 {
mix[per_item(n)](&mut x3, 9, n);
count_down[(1, 1)](&mut c2);
}
}

fn m15(x: &mut [u32; 4]) {
let t1 = step(x[3], 4);
x[0] = step(t1, 4);
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
x[0] = step(x[0], 2);
x[0] = step(x[0], 3);
for _ in 0..0 {
x[3] = step(x[3], 9);
}
}

#[cuweave::graph(memory = "nodes")]
fn p16(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f1, 2);
if !f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f2, 2);
if f2 {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f3, 4);
if f3 {
mix[per_item(n)](&mut x3, 15, n);
let h4 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x0, &mut h4[i * n..(i + 1) * n], 21 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h4[i * n..(i + 1) * n], 65, n);
}
mixed[per_item(n)](&h4[3 * n..], &mut x1, 21, n);
}
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f5, 2);
if !f5 {
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t6, 21, n);
mixed[per_item(n)](&t6, &mut x2, 21, n);
} else {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t7, 23, n);
mixed[per_item(n)](&t7, &mut x1, 23, n);
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
}
} else {
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f8, 4);
#[at_most(4)]
while f8 {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
mix[per_item(n)](&mut x2, 3, n);
modulo[(1, 1)](&x0[..1], &mut f8, 4);
}
}
for _ in 0..two {
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t9, 94, n);
mixed[per_item(n)](&t9, &mut x1, 94, n);
let c10 = alloc::<u32>(1);
fill(&mut c10, 1u32);
while c10 {
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t11, 17, n);
mixed[per_item(n)](&t11, &mut x0, 17, n);
let h12 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x0, &mut h12[i * n..(i + 1) * n], 0 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h12[i * n..(i + 1) * n], 41, n);
}
mixed[per_item(n)](&h12[2 * n..], &mut x2, 0, n);
count_down[(1, 1)](&mut c10);
}
}
}
let f13 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f13, 2);
if !f13 {
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
let f14 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f14, 3);
#[at_most(4)]
while f14 {
for _ in 0..two {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
let h15 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x1, &mut h15[i * n..(i + 1) * n], 2 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h15[i * n..(i + 1) * n], 34, n);
}
mixed[per_item(n)](&h15[3 * n..], &mut x2, 2, n);
}
let c16 = alloc::<u32>(1);
fill(&mut c16, 1u32);
while c16 {
let t17 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t17, 40, n);
mixed[per_item(n)](&t17, &mut x0, 40, n);
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
count_down[(1, 1)](&mut c16);
}
modulo[(1, 1)](&x1[..1], &mut f14, 3);
}
}
}

fn m16(x: &mut [u32; 4]) {
if x[1] / 16 % 2 == 0 {
if x[2] / 16 % 2 != 0 {
if x[0] / 16 % 4 != 0 {
x[3] = step(x[3], 15);
let h4 = step(step(x[0], 24), 65);
x[1] = step(h4, 21);
}
if x[3] / 16 % 2 == 0 {
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
let t6 = step(x[3], 21);
x[2] = step(t6, 21);
} else {
let t7 = step(x[0], 23);
x[1] = step(t7, 23);
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
}
} else {
for _ in 0..4 {
if x[0] / 16 % 4 == 0 { break; }
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
x[2] = step(x[2], 3);
}
}
for _ in 0..2 {
let t9 = step(x[2], 94);
x[1] = step(t9, 94);
for _ in 0..1 {
let t11 = step(x[1], 17);
x[0] = step(t11, 17);
let h12 = step(step(x[0], 2), 41);
x[2] = step(h12, 0);
}
}
}
if x[3] / 16 % 2 == 0 {
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
for _ in 0..4 {
if x[1] / 16 % 3 == 0 { break; }
for _ in 0..2 {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
let h15 = step(step(x[1], 5), 34);
x[2] = step(h15, 2);
}
for _ in 0..1 {
let t17 = step(x[2], 40);
x[0] = step(t17, 40);
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
}
}
}
}

#[cuweave::graph(launches = "as-written")]
fn p17(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f1, 4);
#[at_most(1)]
while f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 2);
match f2 {
1 => {
for _ in 0..two {
mix[per_item(n)](&mut x1, 37, n);
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t3, 6, n);
mixed[per_item(n)](&t3, &mut x1, 6, n);
}
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f4, 3);
if f4 {
let h5 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x0, &mut h5[i * n..(i + 1) * n], 15 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h5[i * n..(i + 1) * n], 81, n);
}
mixed[per_item(n)](&h5[2 * n..], &mut x2, 15, n);
let h6 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x2, &mut h6[i * n..(i + 1) * n], 7 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h6[i * n..(i + 1) * n], 42, n);
}
mixed[per_item(n)](&h6[2 * n..], &mut x3, 7, n);
} else {
let h7 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x1, &mut h7[i * n..(i + 1) * n], 30 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h7[i * n..(i + 1) * n], 38, n);
}
mixed[per_item(n)](&h7[1 * n..], &mut x3, 30, n);
}
}
_ => {
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f8, 2);
if !f8 {
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t9, 69, n);
mixed[per_item(n)](&t9, &mut x1, 69, n);
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t10, 70, n);
mixed[per_item(n)](&t10, &mut x3, 70, n);
} else {
let h11 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x3, &mut h11[i * n..(i + 1) * n], 11 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h11[i * n..(i + 1) * n], 52, n);
}
mixed[per_item(n)](&h11[4 * n..], &mut x2, 11, n);
}
}
}
let c12 = alloc::<u32>(1);
fill(&mut c12, 1u32);
while c12 {
let f13 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f13, 2);
match f13 {
0 | 2 => {
let h14 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x0, &mut h14[i * n..(i + 1) * n], 72 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h14[i * n..(i + 1) * n], 78, n);
}
mixed[per_item(n)](&h14[4 * n..], &mut x3, 72, n);
let h15 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x0, &mut h15[i * n..(i + 1) * n], 66 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h15[i * n..(i + 1) * n], 10, n);
}
mixed[per_item(n)](&h15[1 * n..], &mut x2, 66, n);
}
_ => {
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
mix[per_item(n)](&mut x3, 3, n);
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
}
}
count_down[(1, 1)](&mut c12);
}
modulo[(1, 1)](&x2[..1], &mut f1, 4);
}
let f16 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f16, 2);
match f16 {
1 => {
let t17 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t17, 69, n);
let t18 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t18, 30, n);
mixed[per_item(n)](&t18, &mut x3, 30, n);
mixed[per_item(n)](&t17, &mut x3, 69, n);
let t19 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t19, 47, n);
let h20 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x1, &mut h20[i * n..(i + 1) * n], 46 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h20[i * n..(i + 1) * n], 35, n);
}
mixed[per_item(n)](&h20[4 * n..], &mut x0, 46, n);
mixed[per_item(n)](&t19, &mut x1, 47, n);
}
_ => {
mix[per_item(n)](&mut x2, 89, n);
let c21 = alloc::<u32>(1);
fill(&mut c21, 3u32);
while c21 {
let f22 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f22, 2);
match f22 {
0 => {
mix[per_item(n)](&mut x2, 87, n);
}
_ => {
}
}
count_down[(1, 1)](&mut c21);
}
}
}
let t23 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t23, 33, n);
for _ in 0..two {
let t24 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t24, 94, n);
mix[per_item(n)](&mut x2, 34, n);
mixed[per_item(n)](&t24, &mut x2, 94, n);
let h25 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x2, &mut h25[i * n..(i + 1) * n], 41 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h25[i * n..(i + 1) * n], 77, n);
}
mixed[per_item(n)](&h25[4 * n..], &mut x3, 41, n);
}
mixed[per_item(n)](&t23, &mut x1, 33, n);
}

fn m17(x: &mut [u32; 4]) {
for _ in 0..1 {
if x[2] / 16 % 4 == 0 { break; }
match x[0] / 16 % 2 {
1 => {
for _ in 0..2 {
x[1] = step(x[1], 37);
let t3 = step(x[0], 6);
x[1] = step(t3, 6);
}
if x[2] / 16 % 3 != 0 {
let h5 = step(step(x[0], 17), 81);
x[2] = step(h5, 15);
let h6 = step(step(x[2], 9), 42);
x[3] = step(h6, 7);
} else {
let h7 = step(step(x[1], 31), 38);
x[3] = step(h7, 30);
}
}
_ => {
if x[1] / 16 % 2 == 0 {
let t9 = step(x[2], 69);
x[1] = step(t9, 69);
let t10 = step(x[0], 70);
x[3] = step(t10, 70);
} else {
let h11 = step(step(x[3], 15), 52);
x[2] = step(h11, 11);
}
}
}
for _ in 0..1 {
match x[1] / 16 % 2 {
0 | 2 => {
let h14 = step(step(x[0], 76), 78);
x[3] = step(h14, 72);
let h15 = step(step(x[0], 67), 10);
x[2] = step(h15, 66);
}
_ => {
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
x[3] = step(x[3], 3);
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
}
}
}
}
match x[1] / 16 % 2 {
1 => {
let t17 = step(x[0], 69);
let t18 = step(x[2], 30);
x[3] = step(t18, 30);
x[3] = step(t17, 69);
let t19 = step(x[2], 47);
let h20 = step(step(x[1], 50), 35);
x[0] = step(h20, 46);
x[1] = step(t19, 47);
}
_ => {
x[2] = step(x[2], 89);
for _ in 0..3 {
match x[0] / 16 % 2 {
0 => {
x[2] = step(x[2], 87);
}
_ => {
}
}
}
}
}
let t23 = step(x[2], 33);
for _ in 0..2 {
let t24 = step(x[0], 94);
x[2] = step(x[2], 34);
x[2] = step(t24, 94);
let h25 = step(step(x[2], 45), 77);
x[3] = step(h25, 41);
}
x[1] = step(t23, 33);
}

pub fn all() {
agrees!(p15, m15);
agrees!(p16, m16);
agrees!(p17, m17);
}

#[test]
fn programs_mean_what_plain_rust_means() {
all();
}
