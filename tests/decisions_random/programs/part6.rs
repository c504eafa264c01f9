// Written by the test `the_programs_are_those_of_the_generator`.

use crate::*;

#[cuweave::graph(memory = "owned")]
fn p21(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t1, 54, n);
mixed[per_item(n)](&t1, &mut x2, 54, n);
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 4);
if !f2 {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f3, 2);
match f3 {
1 => {
for _ in 0..two {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t4, 4, n);
mixed[per_item(n)](&t4, &mut x1, 4, n);
}
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f5, 2);
if f5 {
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t6, 92, n);
mixed[per_item(n)](&t6, &mut x3, 92, n);
}
}
_ => {
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f7, 2);
match f7 {
0 => {
mix[per_item(n)](&mut x2, 46, n);
}
_ => {
mix[per_item(n)](&mut x2, 81, n);
mix[per_item(n)](&mut x1, 15, n);
}
}
let c8 = alloc::<u32>(1);
fill(&mut c8, 3u32);
while c8 {
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t9, 46, n);
mixed[per_item(n)](&t9, &mut x2, 46, n);
count_down[(1, 1)](&mut c8);
}
}
}
let f10 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f10, 3);
if f10 {
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t11, 17, n);
mixed[per_item(n)](&t11, &mut x1, 17, n);
let f12 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f12, 2);
#[at_most(3)]
while f12 {
mix[per_item(n)](&mut x3, 2, n);
modulo[(1, 1)](&x2[..1], &mut f12, 2);
}
} else {
let c13 = alloc::<u32>(1);
fill(&mut c13, 2u32);
while c13 {
let t14 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t14, 8, n);
mixed[per_item(n)](&t14, &mut x2, 8, n);
count_down[(1, 1)](&mut c13);
}
let f15 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f15, 2);
#[at_most(3)]
while f15 {
let t16 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t16, 25, n);
mixed[per_item(n)](&t16, &mut x2, 25, n);
let t17 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t17, 68, n);
mixed[per_item(n)](&t17, &mut x1, 68, n);
modulo[(1, 1)](&x3[..1], &mut f15, 2);
}
}
} else {
let c18 = alloc::<u32>(1);
fill(&mut c18, 3u32);
while c18 {
let c19 = alloc::<u32>(1);
fill(&mut c19, 3u32);
while c19 {
let t20 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t20, 39, n);
mixed[per_item(n)](&t20, &mut x3, 39, n);
count_down[(1, 1)](&mut c19);
}
count_down[(1, 1)](&mut c18);
}
let f21 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f21, 4);
if !f21 {
for _ in 0..two {
let t22 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t22, 1, n);
mixed[per_item(n)](&t22, &mut x1, 1, n);
}
}
}
}

fn m21(x: &mut [u32; 4]) {
let t1 = step(x[3], 54);
x[2] = step(t1, 54);
if x[0] / 16 % 4 == 0 {
match x[2] / 16 % 2 {
1 => {
for _ in 0..2 {
let t4 = step(x[0], 4);
x[1] = step(t4, 4);
}
if x[3] / 16 % 2 != 0 {
let t6 = step(x[1], 92);
x[3] = step(t6, 92);
}
}
_ => {
match x[0] / 16 % 2 {
0 => {
x[2] = step(x[2], 46);
}
_ => {
x[2] = step(x[2], 81);
x[1] = step(x[1], 15);
}
}
for _ in 0..3 {
let t9 = step(x[0], 46);
x[2] = step(t9, 46);
}
}
}
if x[3] / 16 % 3 != 0 {
let t11 = step(x[0], 17);
x[1] = step(t11, 17);
for _ in 0..3 {
if x[2] / 16 % 2 == 0 { break; }
x[3] = step(x[3], 2);
}
} else {
for _ in 0..2 {
let t14 = step(x[1], 8);
x[2] = step(t14, 8);
}
for _ in 0..3 {
if x[3] / 16 % 2 == 0 { break; }
let t16 = step(x[3], 25);
x[2] = step(t16, 25);
let t17 = step(x[2], 68);
x[1] = step(t17, 68);
}
}
} else {
for _ in 0..3 {
for _ in 0..3 {
let t20 = step(x[0], 39);
x[3] = step(t20, 39);
}
}
if x[2] / 16 % 4 == 0 {
for _ in 0..2 {
let t22 = step(x[3], 1);
x[1] = step(t22, 1);
}
}
}
}

#[cuweave::graph(memory = "nodes")]
fn p22(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 3u32);
while c1 {
for _ in 0..two {
mix[per_item(n)](&mut x2, 43, n);
}
count_down[(1, 1)](&mut c1);
}
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t2, 80, n);
mixed[per_item(n)](&t2, &mut x0, 80, n);
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f3, 2);
match f3 {
0 => {
for _ in 0..two {
let c4 = alloc::<u32>(1);
fill(&mut c4, 2u32);
while c4 {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t5, 20, n);
mixed[per_item(n)](&t5, &mut x3, 20, n);
mix[per_item(n)](&mut x3, 62, n);
count_down[(1, 1)](&mut c4);
}
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f6, 2);
if !f6 {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t7, 50, n);
mixed[per_item(n)](&t7, &mut x3, 50, n);
mix[per_item(n)](&mut x0, 96, n);
}
}
}
_ => {
mix[per_item(n)](&mut x0, 81, n);
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t8, 74, n);
mixed[per_item(n)](&t8, &mut x0, 74, n);
}
}
}

fn m22(x: &mut [u32; 4]) {
for _ in 0..3 {
for _ in 0..2 {
x[2] = step(x[2], 43);
}
}
let t2 = step(x[3], 80);
x[0] = step(t2, 80);
match x[1] / 16 % 2 {
0 => {
for _ in 0..2 {
for _ in 0..2 {
let t5 = step(x[2], 20);
x[3] = step(t5, 20);
x[3] = step(x[3], 62);
}
if x[0] / 16 % 2 == 0 {
let t7 = step(x[2], 50);
x[3] = step(t7, 50);
x[0] = step(x[0], 96);
}
}
}
_ => {
x[0] = step(x[0], 81);
let t8 = step(x[3], 74);
x[0] = step(t8, 74);
}
}
}

#[cuweave::graph(launches = "as-written")]
fn p23(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 3);
match f1 {
0 => {
mix[per_item(n)](&mut x3, 20, n);
}
_ => {
}
}
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 3);
#[at_most(2)]
while f2 {
for _ in 0..two {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t3, 29, n);
mix[per_item(n)](&mut x2, 49, n);
mixed[per_item(n)](&t3, &mut x0, 29, n);
}
modulo[(1, 1)](&x0[..1], &mut f2, 3);
}
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t4, 46, n);
mix[per_item(n)](&mut x0, 2, n);
mixed[per_item(n)](&t4, &mut x2, 46, n);
}

fn m23(x: &mut [u32; 4]) {
match x[3] / 16 % 3 {
0 => {
x[3] = step(x[3], 20);
}
_ => {
}
}
for _ in 0..2 {
if x[0] / 16 % 3 == 0 { break; }
for _ in 0..2 {
let t3 = step(x[2], 29);
x[2] = step(x[2], 49);
x[0] = step(t3, 29);
}
}
let t4 = step(x[3], 46);
x[0] = step(x[0], 2);
x[2] = step(t4, 46);
}

#[cuweave::graph]
fn p24(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 0u32);
while c1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f2, 3);
match f2 {
0 | 2 => {
let c3 = alloc::<u32>(1);
fill(&mut c3, 3u32);
while c3 {
mix[per_item(n)](&mut x2, 0, n);
count_down[(1, 1)](&mut c3);
}
}
_ => {
for _ in 0..two {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t4, 60, n);
mixed[per_item(n)](&t4, &mut x1, 60, n);
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t5, 75, n);
mixed[per_item(n)](&t5, &mut x0, 75, n);
}
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f6, 3);
if f6 {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t7, 70, n);
mixed[per_item(n)](&t7, &mut x0, 70, n);
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t8, 98, n);
mixed[per_item(n)](&t8, &mut x1, 98, n);
}
}
}
let f9 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f9, 2);
if !f9 {
let c10 = alloc::<u32>(1);
fill(&mut c10, 0u32);
while c10 {
mix[per_item(n)](&mut x3, 56, n);
count_down[(1, 1)](&mut c10);
}
}
count_down[(1, 1)](&mut c1);
}
let f11 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f11, 4);
if f11 {
let f12 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f12, 4);
if f12 {
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t13, 9, n);
mixed[per_item(n)](&t13, &mut x0, 9, n);
}
let f14 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f14, 3);
if f14 {
let f15 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f15, 4);
if f15 {
mix[per_item(n)](&mut x2, 47, n);
}
}
} else {
let f16 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f16, 4);
if !f16 {
mix[per_item(n)](&mut x1, 30, n);
let f17 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f17, 3);
#[at_most(3)]
while f17 {
mix[per_item(n)](&mut x3, 58, n);
mix[per_item(n)](&mut x2, 11, n);
modulo[(1, 1)](&x0[..1], &mut f17, 3);
}
}
}
}

fn m24(x: &mut [u32; 4]) {
for _ in 0..0 {
match x[2] / 16 % 3 {
0 | 2 => {
for _ in 0..3 {
x[2] = step(x[2], 0);
}
}
_ => {
for _ in 0..2 {
let t4 = step(x[0], 60);
x[1] = step(t4, 60);
let t5 = step(x[1], 75);
x[0] = step(t5, 75);
}
if x[0] / 16 % 3 != 0 {
let t7 = step(x[1], 70);
x[0] = step(t7, 70);
let t8 = step(x[3], 98);
x[1] = step(t8, 98);
}
}
}
if x[0] / 16 % 2 == 0 {
for _ in 0..0 {
x[3] = step(x[3], 56);
}
}
}
if x[2] / 16 % 4 != 0 {
if x[3] / 16 % 4 != 0 {
let t13 = step(x[3], 9);
x[0] = step(t13, 9);
}
if x[3] / 16 % 3 != 0 {
if x[2] / 16 % 4 != 0 {
x[2] = step(x[2], 47);
}
}
} else {
if x[3] / 16 % 4 == 0 {
x[1] = step(x[1], 30);
for _ in 0..3 {
if x[0] / 16 % 3 == 0 { break; }
x[3] = step(x[3], 58);
x[2] = step(x[2], 11);
}
}
}
}

#[test]
fn programs_mean_what_plain_rust_means() {
agrees!(p21, m21);
agrees!(p22, m22);
agrees!(p23, m23);
agrees!(p24, m24);
}
