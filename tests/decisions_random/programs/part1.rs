// Written by the test `the_programs_are_those_of_the_generator`.

use crate::*;

#[cuweave::graph(memory = "nodes")]
fn p2(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t1, 14, n);
mixed[per_item(n)](&t1, &mut x2, 14, n);
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f2, 3);
match f2 {
0 | 2 => {
for _ in 0..two {
mix[per_item(n)](&mut x2, 54, n);
}
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f3, 2);
match f3 {
1 => {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t4, 59, n);
mixed[per_item(n)](&t4, &mut x2, 59, n);
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f5, 3);
if !f5 {
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t6, 34, n);
mixed[per_item(n)](&t6, &mut x1, 34, n);
mix[per_item(n)](&mut x3, 43, n);
}
}
_ => {
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f7, 3);
#[at_most(2)]
while f7 {
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t8, 14, n);
mixed[per_item(n)](&t8, &mut x2, 14, n);
mix[per_item(n)](&mut x3, 11, n);
modulo[(1, 1)](&x3[..1], &mut f7, 3);
}
for _ in 0..two {
mix[per_item(n)](&mut x3, 76, n);
mix[per_item(n)](&mut x0, 68, n);
}
}
}
}
_ => {
let f9 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f9, 3);
if !f9 {
let c10 = alloc::<u32>(1);
fill(&mut c10, 0u32);
while c10 {
mix[per_item(n)](&mut x1, 99, n);
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t11, 32, n);
mixed[per_item(n)](&t11, &mut x1, 32, n);
count_down[(1, 1)](&mut c10);
}
} else {
let t12 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t12, 62, n);
mix[per_item(n)](&mut x1, 14, n);
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t13, 79, n);
mixed[per_item(n)](&t13, &mut x2, 79, n);
mixed[per_item(n)](&t12, &mut x3, 62, n);
let f14 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f14, 3);
match f14 {
1 => {
let t15 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t15, 64, n);
mixed[per_item(n)](&t15, &mut x1, 64, n);
mix[per_item(n)](&mut x0, 20, n);
}
_ => {
mix[per_item(n)](&mut x0, 29, n);
}
}
}
let f16 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f16, 4);
if f16 {
let f17 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f17, 2);
if !f17 {
mix[per_item(n)](&mut x2, 69, n);
mix[per_item(n)](&mut x2, 68, n);
}
}
}
}
let f18 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f18, 2);
if f18 {
mix[per_item(n)](&mut x2, 57, n);
let f19 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f19, 2);
if !f19 {
for _ in 0..two {
let t20 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t20, 68, n);
mixed[per_item(n)](&t20, &mut x1, 68, n);
mix[per_item(n)](&mut x2, 93, n);
}
let t21 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t21, 94, n);
let t22 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t22, 2, n);
mixed[per_item(n)](&t22, &mut x0, 2, n);
mix[per_item(n)](&mut x0, 9, n);
mixed[per_item(n)](&t21, &mut x0, 94, n);
} else {
let f23 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f23, 2);
if !f23 {
let t24 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t24, 80, n);
mixed[per_item(n)](&t24, &mut x2, 80, n);
} else {
mix[per_item(n)](&mut x2, 77, n);
let t25 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t25, 95, n);
mixed[per_item(n)](&t25, &mut x2, 95, n);
}
}
}
}

fn m2(x: &mut [u32; 4]) {
let t1 = step(x[1], 14);
x[2] = step(t1, 14);
match x[1] / 16 % 3 {
0 | 2 => {
for _ in 0..2 {
x[2] = step(x[2], 54);
}
match x[2] / 16 % 2 {
1 => {
let t4 = step(x[1], 59);
x[2] = step(t4, 59);
if x[3] / 16 % 3 == 0 {
let t6 = step(x[3], 34);
x[1] = step(t6, 34);
x[3] = step(x[3], 43);
}
}
_ => {
for _ in 0..2 {
if x[3] / 16 % 3 == 0 { break; }
let t8 = step(x[0], 14);
x[2] = step(t8, 14);
x[3] = step(x[3], 11);
}
for _ in 0..2 {
x[3] = step(x[3], 76);
x[0] = step(x[0], 68);
}
}
}
}
_ => {
if x[3] / 16 % 3 == 0 {
for _ in 0..0 {
x[1] = step(x[1], 99);
let t11 = step(x[3], 32);
x[1] = step(t11, 32);
}
} else {
let t12 = step(x[2], 62);
x[1] = step(x[1], 14);
let t13 = step(x[0], 79);
x[2] = step(t13, 79);
x[3] = step(t12, 62);
match x[3] / 16 % 3 {
1 => {
let t15 = step(x[3], 64);
x[1] = step(t15, 64);
x[0] = step(x[0], 20);
}
_ => {
x[0] = step(x[0], 29);
}
}
}
if x[0] / 16 % 4 != 0 {
if x[1] / 16 % 2 == 0 {
x[2] = step(x[2], 69);
x[2] = step(x[2], 68);
}
}
}
}
if x[3] / 16 % 2 != 0 {
x[2] = step(x[2], 57);
if x[2] / 16 % 2 == 0 {
for _ in 0..2 {
let t20 = step(x[0], 68);
x[1] = step(t20, 68);
x[2] = step(x[2], 93);
}
let t21 = step(x[2], 94);
let t22 = step(x[3], 2);
x[0] = step(t22, 2);
x[0] = step(x[0], 9);
x[0] = step(t21, 94);
} else {
if x[3] / 16 % 2 == 0 {
let t24 = step(x[1], 80);
x[2] = step(t24, 80);
} else {
x[2] = step(x[2], 77);
let t25 = step(x[3], 95);
x[2] = step(t25, 95);
}
}
}
}

#[cuweave::graph(launches = "as-written")]
fn p3(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f1, 2);
if f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 3);
if f2 {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f3, 4);
match f3 {
0 => {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t4, 12, n);
mixed[per_item(n)](&t4, &mut x0, 12, n);
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t5, 68, n);
mixed[per_item(n)](&t5, &mut x3, 68, n);
}
_ => {
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t6, 87, n);
mixed[per_item(n)](&t6, &mut x2, 87, n);
}
}
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f7, 4);
if !f7 {
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t8, 97, n);
mixed[per_item(n)](&t8, &mut x1, 97, n);
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t9, 81, n);
mixed[per_item(n)](&t9, &mut x0, 81, n);
} else {
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t10, 55, n);
mixed[per_item(n)](&t10, &mut x1, 55, n);
}
} else {
let f11 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f11, 2);
#[at_most(2)]
while f11 {
mix[per_item(n)](&mut x2, 52, n);
modulo[(1, 1)](&x3[..1], &mut f11, 2);
}
}
}
let f12 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f12, 3);
#[at_most(3)]
while f12 {
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t13, 90, n);
let t14 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t14, 52, n);
mix[per_item(n)](&mut x1, 54, n);
mix[per_item(n)](&mut x2, 22, n);
mixed[per_item(n)](&t14, &mut x0, 52, n);
let c15 = alloc::<u32>(1);
fill(&mut c15, 0u32);
while c15 {
let t16 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t16, 98, n);
mixed[per_item(n)](&t16, &mut x1, 98, n);
mix[per_item(n)](&mut x0, 11, n);
count_down[(1, 1)](&mut c15);
}
mixed[per_item(n)](&t13, &mut x3, 90, n);
modulo[(1, 1)](&x3[..1], &mut f12, 3);
}
let t17 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t17, 72, n);
let t18 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t18, 51, n);
mixed[per_item(n)](&t18, &mut x3, 51, n);
let c19 = alloc::<u32>(1);
fill(&mut c19, 2u32);
while c19 {
let c20 = alloc::<u32>(1);
fill(&mut c20, 2u32);
while c20 {
let t21 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t21, 61, n);
mixed[per_item(n)](&t21, &mut x0, 61, n);
mix[per_item(n)](&mut x1, 39, n);
count_down[(1, 1)](&mut c20);
}
count_down[(1, 1)](&mut c19);
}
mixed[per_item(n)](&t17, &mut x0, 72, n);
}

fn m3(x: &mut [u32; 4]) {
if x[2] / 16 % 2 != 0 {
if x[0] / 16 % 3 != 0 {
match x[0] / 16 % 4 {
0 => {
let t4 = step(x[1], 12);
x[0] = step(t4, 12);
let t5 = step(x[2], 68);
x[3] = step(t5, 68);
}
_ => {
let t6 = step(x[3], 87);
x[2] = step(t6, 87);
}
}
if x[1] / 16 % 4 == 0 {
let t8 = step(x[2], 97);
x[1] = step(t8, 97);
let t9 = step(x[2], 81);
x[0] = step(t9, 81);
} else {
let t10 = step(x[2], 55);
x[1] = step(t10, 55);
}
} else {
for _ in 0..2 {
if x[3] / 16 % 2 == 0 { break; }
x[2] = step(x[2], 52);
}
}
}
for _ in 0..3 {
if x[3] / 16 % 3 == 0 { break; }
let t13 = step(x[0], 90);
let t14 = step(x[3], 52);
x[1] = step(x[1], 54);
x[2] = step(x[2], 22);
x[0] = step(t14, 52);
for _ in 0..0 {
let t16 = step(x[0], 98);
x[1] = step(t16, 98);
x[0] = step(x[0], 11);
}
x[3] = step(t13, 90);
}
let t17 = step(x[3], 72);
let t18 = step(x[1], 51);
x[3] = step(t18, 51);
for _ in 0..2 {
for _ in 0..2 {
let t21 = step(x[1], 61);
x[0] = step(t21, 61);
x[1] = step(x[1], 39);
}
}
x[0] = step(t17, 72);
}

#[test]
fn programs_mean_what_plain_rust_means() {
agrees!(p2, m2);
agrees!(p3, m3);
}
