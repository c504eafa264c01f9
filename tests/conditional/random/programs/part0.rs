// Written by the test `the_programs_are_those_of_the_generator`.

use super::super::*;

#[cuweave::graph]
fn p0(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 0u32);
while c1 {
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
mix[per_item(n)](&mut x3, 3, n);
count_down[(1, 1)](&mut c1);
}
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 2);
#[at_most(4)]
while f2 {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t3, 90, n);
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f4, 2);
#[at_most(3)]
while f4 {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t5, 61, n);
mixed[per_item(n)](&t5, &mut x2, 61, n);
modulo[(1, 1)](&x3[..1], &mut f4, 2);
}
mixed[per_item(n)](&t3, &mut x1, 90, n);
let h6 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x3, &mut h6[i * n..(i + 1) * n], 37 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h6[i * n..(i + 1) * n], 43, n);
}
mixed[per_item(n)](&h6[1 * n..], &mut x1, 37, n);
modulo[(1, 1)](&x0[..1], &mut f2, 2);
}
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f7, 4);
match f7 {
1 => {
let c8 = alloc::<u32>(1);
fill(&mut c8, 3u32);
while c8 {
let f9 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f9, 4);
match f9 {
0 | 2 => {
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t10, 39, n);
mixed[per_item(n)](&t10, &mut x3, 39, n);
let h11 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x0, &mut h11[i * n..(i + 1) * n], 31 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h11[i * n..(i + 1) * n], 64, n);
}
mixed[per_item(n)](&h11[4 * n..], &mut x1, 31, n);
}
_ => {
let t12 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t12, 63, n);
mixed[per_item(n)](&t12, &mut x2, 63, n);
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t13, 16, n);
mixed[per_item(n)](&t13, &mut x0, 16, n);
}
}
count_down[(1, 1)](&mut c8);
}
let f14 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f14, 3);
if f14 {
let t15 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t15, 41, n);
let t16 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t16, 13, n);
mixed[per_item(n)](&t16, &mut x3, 13, n);
mixed[per_item(n)](&t15, &mut x0, 41, n);
}
}
_ => {
let c17 = alloc::<u32>(1);
fill(&mut c17, 1u32);
while c17 {
mix[per_item(n)](&mut x1, 11, n);
for _ in 0..two {
let h18 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x0, &mut h18[i * n..(i + 1) * n], 26 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h18[i * n..(i + 1) * n], 17, n);
}
mixed[per_item(n)](&h18[1 * n..], &mut x2, 26, n);
}
count_down[(1, 1)](&mut c17);
}
}
}
}

fn m0(x: &mut [u32; 4]) {
for _ in 0..0 {
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
x[3] = step(x[3], 3);
}
for _ in 0..4 {
if x[0] / 16 % 2 == 0 { break; }
let t3 = step(x[0], 90);
for _ in 0..3 {
if x[3] / 16 % 2 == 0 { break; }
let t5 = step(x[3], 61);
x[2] = step(t5, 61);
}
x[1] = step(t3, 90);
let h6 = step(step(x[3], 38), 43);
x[1] = step(h6, 37);
}
match x[1] / 16 % 4 {
1 => {
for _ in 0..3 {
match x[0] / 16 % 4 {
0 | 2 => {
let t10 = step(x[2], 39);
x[3] = step(t10, 39);
let h11 = step(step(x[0], 35), 64);
x[1] = step(h11, 31);
}
_ => {
let t12 = step(x[1], 63);
x[2] = step(t12, 63);
let t13 = step(x[3], 16);
x[0] = step(t13, 16);
}
}
}
if x[3] / 16 % 3 != 0 {
let t15 = step(x[1], 41);
let t16 = step(x[0], 13);
x[3] = step(t16, 13);
x[0] = step(t15, 41);
}
}
_ => {
for _ in 0..1 {
x[1] = step(x[1], 11);
for _ in 0..2 {
let h18 = step(step(x[0], 27), 17);
x[2] = step(h18, 26);
}
}
}
}
}

#[cuweave::graph(memory = "owned")]
fn p1(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t1, 71, n);
mixed[per_item(n)](&t1, &mut x1, 71, n);
for _ in 0..two {
for _ in 0..two {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 2);
if f2 {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t3, 87, n);
mixed[per_item(n)](&t3, &mut x2, 87, n);
} else {
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
}
}
let h4 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x0, &mut h4[i * n..(i + 1) * n], 85 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h4[i * n..(i + 1) * n], 12, n);
}
mixed[per_item(n)](&h4[2 * n..], &mut x3, 85, n);
}
mix[per_item(n)](&mut x2, 99, n);
}

fn m1(x: &mut [u32; 4]) {
let t1 = step(x[0], 71);
x[1] = step(t1, 71);
for _ in 0..2 {
for _ in 0..2 {
if x[0] / 16 % 2 != 0 {
let t3 = step(x[1], 87);
x[2] = step(t3, 87);
} else {
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
}
}
let h4 = step(step(x[0], 87), 12);
x[3] = step(h4, 85);
}
x[2] = step(x[2], 99);
}

#[cuweave::graph(memory = "nodes")]
fn p2(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let h1 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x1, &mut h1[i * n..(i + 1) * n], 14 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h1[i * n..(i + 1) * n], 57, n);
}
mixed[per_item(n)](&h1[4 * n..], &mut x2, 14, n);
for _ in 0..two {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f2, 4);
if !f2 {
mix[per_item(n)](&mut x1, 62, n);
} else {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f3, 3);
if f3 {
mix[per_item(n)](&mut x1, 0, n);
mix[per_item(n)](&mut x1, 1, n);
mix[per_item(n)](&mut x1, 2, n);
mix[per_item(n)](&mut x1, 3, n);
} else {
mix[per_item(n)](&mut x3, 75, n);
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
mix[per_item(n)](&mut x0, 2, n);
}
}
}
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
}

fn m2(x: &mut [u32; 4]) {
let h1 = step(step(x[1], 18), 57);
x[2] = step(h1, 14);
for _ in 0..2 {
if x[1] / 16 % 4 == 0 {
x[1] = step(x[1], 62);
} else {
if x[3] / 16 % 3 != 0 {
x[1] = step(x[1], 0);
x[1] = step(x[1], 1);
x[1] = step(x[1], 2);
x[1] = step(x[1], 3);
} else {
x[3] = step(x[3], 75);
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
x[0] = step(x[0], 2);
}
}
}
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
}

#[cuweave::graph(launches = "as-written")]
fn p3(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t1, 63, n);
for _ in 0..two {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t2, 94, n);
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t3, 1, n);
mixed[per_item(n)](&t3, &mut x0, 1, n);
mixed[per_item(n)](&t2, &mut x1, 94, n);
}
mixed[per_item(n)](&t1, &mut x3, 63, n);
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f4, 4);
#[at_most(2)]
while f4 {
let h5 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x0, &mut h5[i * n..(i + 1) * n], 98 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h5[i * n..(i + 1) * n], 47, n);
}
mixed[per_item(n)](&h5[2 * n..], &mut x2, 98, n);
modulo[(1, 1)](&x1[..1], &mut f4, 4);
}
for _ in 0..two {
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f6, 4);
#[at_most(3)]
while f6 {
let c7 = alloc::<u32>(1);
fill(&mut c7, 2u32);
while c7 {
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t8, 87, n);
mixed[per_item(n)](&t8, &mut x2, 87, n);
count_down[(1, 1)](&mut c7);
}
let f9 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f9, 2);
if !f9 {
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
} else {
mix[per_item(n)](&mut x1, 0, n);
mix[per_item(n)](&mut x1, 1, n);
mix[per_item(n)](&mut x1, 2, n);
mix[per_item(n)](&mut x2, 52, n);
}
modulo[(1, 1)](&x1[..1], &mut f6, 4);
}
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t10, 18, n);
let h11 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x0, &mut h11[i * n..(i + 1) * n], 90 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h11[i * n..(i + 1) * n], 0, n);
}
mixed[per_item(n)](&h11[4 * n..], &mut x3, 90, n);
mixed[per_item(n)](&t10, &mut x1, 18, n);
}
}

fn m3(x: &mut [u32; 4]) {
let t1 = step(x[2], 63);
for _ in 0..2 {
let t2 = step(x[3], 94);
let t3 = step(x[1], 1);
x[0] = step(t3, 1);
x[1] = step(t2, 94);
}
x[3] = step(t1, 63);
for _ in 0..2 {
if x[1] / 16 % 4 == 0 { break; }
let h5 = step(step(x[0], 100), 47);
x[2] = step(h5, 98);
}
for _ in 0..2 {
for _ in 0..3 {
if x[1] / 16 % 4 == 0 { break; }
for _ in 0..2 {
let t8 = step(x[3], 87);
x[2] = step(t8, 87);
}
if x[0] / 16 % 2 == 0 {
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
} else {
x[1] = step(x[1], 0);
x[1] = step(x[1], 1);
x[1] = step(x[1], 2);
x[2] = step(x[2], 52);
}
}
let t10 = step(x[3], 18);
let h11 = step(step(x[0], 94), 0);
x[3] = step(h11, 90);
x[1] = step(t10, 18);
}
}

#[cuweave::graph(launches = "batched")]
fn p4(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 1u32);
while c1 {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t2, 38, n);
mixed[per_item(n)](&t2, &mut x2, 38, n);
count_down[(1, 1)](&mut c1);
}
let c3 = alloc::<u32>(1);
fill(&mut c3, 2u32);
while c3 {
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f4, 4);
match f4 {
1 => {
let c5 = alloc::<u32>(1);
fill(&mut c5, 2u32);
while c5 {
let h6 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x0, &mut h6[i * n..(i + 1) * n], 31 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h6[i * n..(i + 1) * n], 62, n);
}
mixed[per_item(n)](&h6[4 * n..], &mut x1, 31, n);
mix[per_item(n)](&mut x2, 69, n);
count_down[(1, 1)](&mut c5);
}
}
_ => {
}
}
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t7, 66, n);
mixed[per_item(n)](&t7, &mut x3, 66, n);
count_down[(1, 1)](&mut c3);
}
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
mix[per_item(n)](&mut x3, 3, n);
}

fn m4(x: &mut [u32; 4]) {
for _ in 0..1 {
let t2 = step(x[1], 38);
x[2] = step(t2, 38);
}
for _ in 0..2 {
match x[3] / 16 % 4 {
1 => {
for _ in 0..2 {
let h6 = step(step(x[0], 35), 62);
x[1] = step(h6, 31);
x[2] = step(x[2], 69);
}
}
_ => {
}
}
let t7 = step(x[2], 66);
x[3] = step(t7, 66);
}
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
x[3] = step(x[3], 3);
}

pub fn all() {
agrees!(p0, m0);
agrees!(p1, m1);
agrees!(p2, m2);
agrees!(p3, m3);
agrees!(p4, m4);
}

#[test]
fn programs_mean_what_plain_rust_means() {
all();
}
