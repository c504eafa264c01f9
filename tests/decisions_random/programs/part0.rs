// Written by the test `the_programs_are_those_of_the_generator`.

use crate::*;

#[cuweave::graph]
fn p0(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
for _ in 0..two {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f1, 2);
match f1 {
1 => {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t2, 11, n);
mixed[per_item(n)](&t2, &mut x0, 11, n);
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t3, 90, n);
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t4, 86, n);
mixed[per_item(n)](&t4, &mut x0, 86, n);
mixed[per_item(n)](&t3, &mut x1, 90, n);
}
_ => {
let c5 = alloc::<u32>(1);
fill(&mut c5, 1u32);
while c5 {
mix[per_item(n)](&mut x3, 4, n);
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t6, 33, n);
mixed[per_item(n)](&t6, &mut x2, 33, n);
count_down[(1, 1)](&mut c5);
}
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f7, 4);
#[at_most(2)]
while f7 {
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t8, 44, n);
mixed[per_item(n)](&t8, &mut x0, 44, n);
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t9, 41, n);
mixed[per_item(n)](&t9, &mut x0, 41, n);
modulo[(1, 1)](&x3[..1], &mut f7, 4);
}
}
}
}
let f10 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f10, 4);
#[at_most(3)]
while f10 {
let f11 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f11, 3);
if !f11 {
let f12 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f12, 3);
#[at_most(2)]
while f12 {
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t13, 16, n);
mixed[per_item(n)](&t13, &mut x0, 16, n);
mix[per_item(n)](&mut x3, 9, n);
modulo[(1, 1)](&x1[..1], &mut f12, 3);
}
let f14 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f14, 4);
match f14 {
1 => {
let t15 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t15, 8, n);
mixed[per_item(n)](&t15, &mut x1, 8, n);
let t16 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t16, 56, n);
mixed[per_item(n)](&t16, &mut x0, 56, n);
}
_ => {
let t17 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t17, 11, n);
mixed[per_item(n)](&t17, &mut x1, 11, n);
let t18 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t18, 44, n);
mixed[per_item(n)](&t18, &mut x3, 44, n);
}
}
}
modulo[(1, 1)](&x2[..1], &mut f10, 4);
}
let f19 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f19, 4);
#[at_most(2)]
while f19 {
mix[per_item(n)](&mut x2, 1, n);
modulo[(1, 1)](&x2[..1], &mut f19, 4);
}
}

fn m0(x: &mut [u32; 4]) {
for _ in 0..2 {
match x[2] / 16 % 2 {
1 => {
let t2 = step(x[3], 11);
x[0] = step(t2, 11);
let t3 = step(x[0], 90);
let t4 = step(x[3], 86);
x[0] = step(t4, 86);
x[1] = step(t3, 90);
}
_ => {
for _ in 0..1 {
x[3] = step(x[3], 4);
let t6 = step(x[0], 33);
x[2] = step(t6, 33);
}
for _ in 0..2 {
if x[3] / 16 % 4 == 0 { break; }
let t8 = step(x[2], 44);
x[0] = step(t8, 44);
let t9 = step(x[2], 41);
x[0] = step(t9, 41);
}
}
}
}
for _ in 0..3 {
if x[2] / 16 % 4 == 0 { break; }
if x[3] / 16 % 3 == 0 {
for _ in 0..2 {
if x[1] / 16 % 3 == 0 { break; }
let t13 = step(x[3], 16);
x[0] = step(t13, 16);
x[3] = step(x[3], 9);
}
match x[2] / 16 % 4 {
1 => {
let t15 = step(x[0], 8);
x[1] = step(t15, 8);
let t16 = step(x[1], 56);
x[0] = step(t16, 56);
}
_ => {
let t17 = step(x[0], 11);
x[1] = step(t17, 11);
let t18 = step(x[2], 44);
x[3] = step(t18, 44);
}
}
}
}
for _ in 0..2 {
if x[2] / 16 % 4 == 0 { break; }
x[2] = step(x[2], 1);
}
}

#[cuweave::graph(memory = "owned")]
fn p1(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f1, 2);
match f1 {
1 => {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f2, 4);
if f2 {
mix[per_item(n)](&mut x1, 0, n);
} else {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f3, 3);
#[at_most(1)]
while f3 {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t4, 76, n);
mixed[per_item(n)](&t4, &mut x2, 76, n);
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t5, 12, n);
mixed[per_item(n)](&t5, &mut x3, 12, n);
modulo[(1, 1)](&x0[..1], &mut f3, 3);
}
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t6, 50, n);
mixed[per_item(n)](&t6, &mut x1, 50, n);
}
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f7, 2);
if f7 {
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f8, 4);
#[at_most(2)]
while f8 {
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t9, 25, n);
mixed[per_item(n)](&t9, &mut x3, 25, n);
modulo[(1, 1)](&x2[..1], &mut f8, 4);
}
} else {
let f10 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f10, 3);
if f10 {
mix[per_item(n)](&mut x2, 7, n);
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t11, 20, n);
mixed[per_item(n)](&t11, &mut x3, 20, n);
}
let c12 = alloc::<u32>(1);
fill(&mut c12, 1u32);
while c12 {
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t13, 83, n);
mixed[per_item(n)](&t13, &mut x0, 83, n);
mix[per_item(n)](&mut x0, 36, n);
count_down[(1, 1)](&mut c12);
}
}
}
_ => {
}
}
for _ in 0..two {
let t14 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t14, 79, n);
let f15 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f15, 4);
match f15 {
0 => {
mix[per_item(n)](&mut x3, 93, n);
mix[per_item(n)](&mut x0, 22, n);
}
_ => {
let t16 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t16, 81, n);
mixed[per_item(n)](&t16, &mut x1, 81, n);
let t17 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t17, 96, n);
mixed[per_item(n)](&t17, &mut x2, 96, n);
}
}
mixed[per_item(n)](&t14, &mut x2, 79, n);
}
let t18 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t18, 48, n);
mixed[per_item(n)](&t18, &mut x2, 48, n);
}

fn m1(x: &mut [u32; 4]) {
match x[0] / 16 % 2 {
1 => {
if x[3] / 16 % 4 != 0 {
x[1] = step(x[1], 0);
} else {
for _ in 0..1 {
if x[0] / 16 % 3 == 0 { break; }
let t4 = step(x[3], 76);
x[2] = step(t4, 76);
let t5 = step(x[1], 12);
x[3] = step(t5, 12);
}
let t6 = step(x[2], 50);
x[1] = step(t6, 50);
}
if x[2] / 16 % 2 != 0 {
for _ in 0..2 {
if x[2] / 16 % 4 == 0 { break; }
let t9 = step(x[1], 25);
x[3] = step(t9, 25);
}
} else {
if x[2] / 16 % 3 != 0 {
x[2] = step(x[2], 7);
let t11 = step(x[1], 20);
x[3] = step(t11, 20);
}
for _ in 0..1 {
let t13 = step(x[3], 83);
x[0] = step(t13, 83);
x[0] = step(x[0], 36);
}
}
}
_ => {
}
}
for _ in 0..2 {
let t14 = step(x[0], 79);
match x[0] / 16 % 4 {
0 => {
x[3] = step(x[3], 93);
x[0] = step(x[0], 22);
}
_ => {
let t16 = step(x[3], 81);
x[1] = step(t16, 81);
let t17 = step(x[0], 96);
x[2] = step(t17, 96);
}
}
x[2] = step(t14, 79);
}
let t18 = step(x[0], 48);
x[2] = step(t18, 48);
}

#[test]
fn programs_mean_what_plain_rust_means() {
agrees!(p0, m0);
agrees!(p1, m1);
}
