// Written by the test `the_programs_are_those_of_the_generator`.

use super::super::*;

#[cuweave::graph(memory = "nodes")]
fn p30(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t1, 3, n);
mixed[per_item(n)](&t1, &mut x0, 3, n);
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f2, 4);
if !f2 {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f3, 4);
if f3 {
let c4 = alloc::<u32>(1);
fill(&mut c4, 0u32);
while c4 {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t5, 23, n);
mixed[per_item(n)](&t5, &mut x1, 23, n);
count_down[(1, 1)](&mut c4);
}
}
let h6 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x3, &mut h6[i * n..(i + 1) * n], 20 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h6[i * n..(i + 1) * n], 13, n);
}
mixed[per_item(n)](&h6[2 * n..], &mut x2, 20, n);
} else {
mix[per_item(n)](&mut x0, 56, n);
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f7, 2);
if !f7 {
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t8, 91, n);
mixed[per_item(n)](&t8, &mut x3, 91, n);
} else {
mix[per_item(n)](&mut x1, 0, n);
mix[per_item(n)](&mut x1, 1, n);
mix[per_item(n)](&mut x1, 2, n);
mix[per_item(n)](&mut x1, 3, n);
}
}
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t9, 74, n);
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
mix[per_item(n)](&mut x3, 3, n);
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t10, 32, n);
mixed[per_item(n)](&t10, &mut x3, 32, n);
mixed[per_item(n)](&t9, &mut x2, 74, n);
}

fn m30(x: &mut [u32; 4]) {
let t1 = step(x[2], 3);
x[0] = step(t1, 3);
if x[1] / 16 % 4 == 0 {
if x[3] / 16 % 4 != 0 {
for _ in 0..0 {
let t5 = step(x[3], 23);
x[1] = step(t5, 23);
}
}
let h6 = step(step(x[3], 22), 13);
x[2] = step(h6, 20);
} else {
x[0] = step(x[0], 56);
if x[1] / 16 % 2 == 0 {
let t8 = step(x[1], 91);
x[3] = step(t8, 91);
} else {
x[1] = step(x[1], 0);
x[1] = step(x[1], 1);
x[1] = step(x[1], 2);
x[1] = step(x[1], 3);
}
}
let t9 = step(x[1], 74);
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
x[3] = step(x[3], 3);
let t10 = step(x[2], 32);
x[3] = step(t10, 32);
x[2] = step(t9, 74);
}

#[cuweave::graph(launches = "as-written")]
fn p31(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 2u32);
while c1 {
mix[per_item(n)](&mut x0, 72, n);
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t2, 98, n);
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t3, 86, n);
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t4, 65, n);
mixed[per_item(n)](&t4, &mut x3, 65, n);
mixed[per_item(n)](&t3, &mut x0, 86, n);
mixed[per_item(n)](&t2, &mut x0, 98, n);
count_down[(1, 1)](&mut c1);
}
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t5, 83, n);
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f6, 2);
#[at_most(4)]
while f6 {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t7, 26, n);
mixed[per_item(n)](&t7, &mut x2, 26, n);
modulo[(1, 1)](&x2[..1], &mut f6, 2);
}
mixed[per_item(n)](&t5, &mut x2, 83, n);
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
}

fn m31(x: &mut [u32; 4]) {
for _ in 0..2 {
x[0] = step(x[0], 72);
let t2 = step(x[1], 98);
let t3 = step(x[2], 86);
let t4 = step(x[1], 65);
x[3] = step(t4, 65);
x[0] = step(t3, 86);
x[0] = step(t2, 98);
}
let t5 = step(x[1], 83);
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
for _ in 0..4 {
if x[2] / 16 % 2 == 0 { break; }
let t7 = step(x[1], 26);
x[2] = step(t7, 26);
}
x[2] = step(t5, 83);
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
}

#[cuweave::graph(launches = "batched")]
fn p32(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f1, 4);
#[at_most(2)]
while f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 2);
if f2 {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f3, 3);
match f3 {
1 => {
let h4 = alloc::<u32>(4 * n);
for i in 0..4u32 {
mixed[per_item(n)](&x0, &mut h4[i * n..(i + 1) * n], 5 + i, n);
}
for i in 0..4u32 {
mix[per_item(n)](&mut h4[i * n..(i + 1) * n], 80, n);
}
mixed[per_item(n)](&h4[3 * n..], &mut x2, 5, n);
mix[per_item(n)](&mut x2, 0, n);
mix[per_item(n)](&mut x2, 1, n);
mix[per_item(n)](&mut x2, 2, n);
mix[per_item(n)](&mut x2, 3, n);
}
_ => {
let h5 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x3, &mut h5[i * n..(i + 1) * n], 80 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h5[i * n..(i + 1) * n], 85, n);
}
mixed[per_item(n)](&h5[2 * n..], &mut x2, 80, n);
}
}
} else {
let c6 = alloc::<u32>(1);
fill(&mut c6, 1u32);
while c6 {
let h7 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x0, &mut h7[i * n..(i + 1) * n], 58 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h7[i * n..(i + 1) * n], 25, n);
}
mixed[per_item(n)](&h7[4 * n..], &mut x1, 58, n);
count_down[(1, 1)](&mut c6);
}
}
mix[per_item(n)](&mut x0, 0, n);
mix[per_item(n)](&mut x0, 1, n);
modulo[(1, 1)](&x1[..1], &mut f1, 4);
}
let c8 = alloc::<u32>(1);
fill(&mut c8, 2u32);
while c8 {
for _ in 0..two {
for _ in 0..two {
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t9, 95, n);
mixed[per_item(n)](&t9, &mut x1, 95, n);
let h10 = alloc::<u32>(2 * n);
for i in 0..2u32 {
mixed[per_item(n)](&x3, &mut h10[i * n..(i + 1) * n], 48 + i, n);
}
for i in 0..2u32 {
mix[per_item(n)](&mut h10[i * n..(i + 1) * n], 24, n);
}
mixed[per_item(n)](&h10[1 * n..], &mut x0, 48, n);
}
}
count_down[(1, 1)](&mut c8);
}
}

fn m32(x: &mut [u32; 4]) {
for _ in 0..2 {
if x[1] / 16 % 4 == 0 { break; }
if x[0] / 16 % 2 != 0 {
match x[1] / 16 % 3 {
1 => {
let h4 = step(step(x[0], 8), 80);
x[2] = step(h4, 5);
x[2] = step(x[2], 0);
x[2] = step(x[2], 1);
x[2] = step(x[2], 2);
x[2] = step(x[2], 3);
}
_ => {
let h5 = step(step(x[3], 82), 85);
x[2] = step(h5, 80);
}
}
} else {
for _ in 0..1 {
let h7 = step(step(x[0], 62), 25);
x[1] = step(h7, 58);
}
}
x[0] = step(x[0], 0);
x[0] = step(x[0], 1);
}
for _ in 0..2 {
for _ in 0..2 {
for _ in 0..2 {
let t9 = step(x[3], 95);
x[1] = step(t9, 95);
let h10 = step(step(x[3], 49), 24);
x[0] = step(h10, 48);
}
}
}
}

#[cuweave::graph(launches = "fused", memory = "nodes")]
fn p33(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t1, 82, n);
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t2, 3, n);
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
let h3 = alloc::<u32>(5 * n);
for i in 0..5u32 {
mixed[per_item(n)](&x0, &mut h3[i * n..(i + 1) * n], 65 + i, n);
}
for i in 0..5u32 {
mix[per_item(n)](&mut h3[i * n..(i + 1) * n], 6, n);
}
mixed[per_item(n)](&h3[4 * n..], &mut x3, 65, n);
mixed[per_item(n)](&t2, &mut x0, 3, n);
mixed[per_item(n)](&t1, &mut x1, 82, n);
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f4, 3);
if f4 {
for _ in 0..two {
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f5, 3);
#[at_most(1)]
while f5 {
mix[per_item(n)](&mut x0, 84, n);
mix[per_item(n)](&mut x1, 84, n);
modulo[(1, 1)](&x2[..1], &mut f5, 3);
}
for _ in 0..two {
mix[per_item(n)](&mut x3, 0, n);
mix[per_item(n)](&mut x3, 1, n);
mix[per_item(n)](&mut x3, 2, n);
mix[per_item(n)](&mut x3, 3, n);
}
}
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f6, 4);
match f6 {
1 => {
for _ in 0..two {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t7, 0, n);
mixed[per_item(n)](&t7, &mut x1, 0, n);
mix[per_item(n)](&mut x0, 63, n);
}
mix[per_item(n)](&mut x3, 89, n);
}
_ => {
mix[per_item(n)](&mut x2, 41, n);
for _ in 0..two {
mix[per_item(n)](&mut x3, 44, n);
let h8 = alloc::<u32>(3 * n);
for i in 0..3u32 {
mixed[per_item(n)](&x0, &mut h8[i * n..(i + 1) * n], 70 + i, n);
}
for i in 0..3u32 {
mix[per_item(n)](&mut h8[i * n..(i + 1) * n], 45, n);
}
mixed[per_item(n)](&h8[2 * n..], &mut x3, 70, n);
}
}
}
}
}

fn m33(x: &mut [u32; 4]) {
let t1 = step(x[3], 82);
let t2 = step(x[1], 3);
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
let h3 = step(step(x[0], 69), 6);
x[3] = step(h3, 65);
x[0] = step(t2, 3);
x[1] = step(t1, 82);
if x[1] / 16 % 3 != 0 {
for _ in 0..2 {
for _ in 0..1 {
if x[2] / 16 % 3 == 0 { break; }
x[0] = step(x[0], 84);
x[1] = step(x[1], 84);
}
for _ in 0..2 {
x[3] = step(x[3], 0);
x[3] = step(x[3], 1);
x[3] = step(x[3], 2);
x[3] = step(x[3], 3);
}
}
match x[3] / 16 % 4 {
1 => {
for _ in 0..2 {
let t7 = step(x[2], 0);
x[1] = step(t7, 0);
x[0] = step(x[0], 63);
}
x[3] = step(x[3], 89);
}
_ => {
x[2] = step(x[2], 41);
for _ in 0..2 {
x[3] = step(x[3], 44);
let h8 = step(step(x[0], 72), 45);
x[3] = step(h8, 70);
}
}
}
}
}

pub fn all() {
agrees!(p30, m30);
agrees!(p31, m31);
agrees!(p32, m32);
agrees!(p33, m33);
}

#[test]
fn programs_mean_what_plain_rust_means() {
all();
}
