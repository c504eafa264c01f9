// Written by the test `the_programs_are_those_of_the_generator`.

use super::*;

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

#[cuweave::graph]
fn p4(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
mix[per_item(n)](&mut x1, 64, n);
for _ in 0..two {
mix[per_item(n)](&mut x2, 6, n);
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f1, 3);
if f1 {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t2, 30, n);
mix[per_item(n)](&mut x0, 99, n);
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t3, 32, n);
mixed[per_item(n)](&t3, &mut x2, 32, n);
mixed[per_item(n)](&t2, &mut x3, 30, n);
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f4, 2);
match f4 {
0 | 2 => {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t5, 79, n);
mixed[per_item(n)](&t5, &mut x1, 79, n);
}
_ => {
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t6, 61, n);
mixed[per_item(n)](&t6, &mut x2, 61, n);
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t7, 16, n);
mixed[per_item(n)](&t7, &mut x0, 16, n);
}
}
} else {
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t8, 35, n);
mix[per_item(n)](&mut x0, 63, n);
mixed[per_item(n)](&t8, &mut x3, 35, n);
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t9, 76, n);
mixed[per_item(n)](&t9, &mut x3, 76, n);
}
}
let f10 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f10, 2);
#[at_most(4)]
while f10 {
let f11 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f11, 2);
if !f11 {
let t12 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t12, 53, n);
mixed[per_item(n)](&t12, &mut x3, 53, n);
for _ in 0..two {
mix[per_item(n)](&mut x1, 27, n);
}
} else {
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t13, 15, n);
mix[per_item(n)](&mut x2, 92, n);
mixed[per_item(n)](&t13, &mut x0, 15, n);
}
let f14 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f14, 4);
#[at_most(4)]
while f14 {
let t15 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t15, 19, n);
mixed[per_item(n)](&t15, &mut x3, 19, n);
modulo[(1, 1)](&x1[..1], &mut f14, 4);
}
modulo[(1, 1)](&x0[..1], &mut f10, 2);
}
}

fn m4(x: &mut [u32; 4]) {
x[1] = step(x[1], 64);
for _ in 0..2 {
x[2] = step(x[2], 6);
if x[1] / 16 % 3 != 0 {
let t2 = step(x[2], 30);
x[0] = step(x[0], 99);
let t3 = step(x[3], 32);
x[2] = step(t3, 32);
x[3] = step(t2, 30);
match x[1] / 16 % 2 {
0 | 2 => {
let t5 = step(x[2], 79);
x[1] = step(t5, 79);
}
_ => {
let t6 = step(x[3], 61);
x[2] = step(t6, 61);
let t7 = step(x[1], 16);
x[0] = step(t7, 16);
}
}
} else {
let t8 = step(x[0], 35);
x[0] = step(x[0], 63);
x[3] = step(t8, 35);
let t9 = step(x[0], 76);
x[3] = step(t9, 76);
}
}
for _ in 0..4 {
if x[0] / 16 % 2 == 0 { break; }
if x[0] / 16 % 2 == 0 {
let t12 = step(x[0], 53);
x[3] = step(t12, 53);
for _ in 0..2 {
x[1] = step(x[1], 27);
}
} else {
let t13 = step(x[1], 15);
x[2] = step(x[2], 92);
x[0] = step(t13, 15);
}
for _ in 0..4 {
if x[1] / 16 % 4 == 0 { break; }
let t15 = step(x[1], 19);
x[3] = step(t15, 19);
}
}
}

#[cuweave::graph(memory = "owned")]
fn p5(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f1, 2);
#[at_most(3)]
while f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f2, 3);
if !f2 {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t3, 73, n);
mixed[per_item(n)](&t3, &mut x2, 73, n);
}
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f4, 2);
match f4 {
1 => {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t5, 80, n);
mixed[per_item(n)](&t5, &mut x0, 80, n);
let c6 = alloc::<u32>(1);
fill(&mut c6, 0u32);
while c6 {
mix[per_item(n)](&mut x0, 64, n);
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t7, 86, n);
mixed[per_item(n)](&t7, &mut x0, 86, n);
count_down[(1, 1)](&mut c6);
}
}
_ => {
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f8, 4);
if !f8 {
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t9, 57, n);
mixed[per_item(n)](&t9, &mut x2, 57, n);
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t10, 79, n);
mixed[per_item(n)](&t10, &mut x0, 79, n);
} else {
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t11, 77, n);
mixed[per_item(n)](&t11, &mut x0, 77, n);
let t12 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t12, 67, n);
mixed[per_item(n)](&t12, &mut x3, 67, n);
}
let c13 = alloc::<u32>(1);
fill(&mut c13, 2u32);
while c13 {
let t14 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t14, 71, n);
mixed[per_item(n)](&t14, &mut x1, 71, n);
count_down[(1, 1)](&mut c13);
}
}
}
modulo[(1, 1)](&x1[..1], &mut f1, 2);
}
let t15 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t15, 60, n);
mixed[per_item(n)](&t15, &mut x0, 60, n);
let t16 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t16, 97, n);
mixed[per_item(n)](&t16, &mut x0, 97, n);
}

fn m5(x: &mut [u32; 4]) {
for _ in 0..3 {
if x[1] / 16 % 2 == 0 { break; }
if x[1] / 16 % 3 == 0 {
let t3 = step(x[3], 73);
x[2] = step(t3, 73);
}
match x[1] / 16 % 2 {
1 => {
let t5 = step(x[2], 80);
x[0] = step(t5, 80);
for _ in 0..0 {
x[0] = step(x[0], 64);
let t7 = step(x[1], 86);
x[0] = step(t7, 86);
}
}
_ => {
if x[2] / 16 % 4 == 0 {
let t9 = step(x[3], 57);
x[2] = step(t9, 57);
let t10 = step(x[3], 79);
x[0] = step(t10, 79);
} else {
let t11 = step(x[1], 77);
x[0] = step(t11, 77);
let t12 = step(x[2], 67);
x[3] = step(t12, 67);
}
for _ in 0..2 {
let t14 = step(x[2], 71);
x[1] = step(t14, 71);
}
}
}
}
let t15 = step(x[1], 60);
x[0] = step(t15, 60);
let t16 = step(x[2], 97);
x[0] = step(t16, 97);
}

#[cuweave::graph(memory = "nodes")]
fn p6(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f1, 2);
match f1 {
1 => {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t2, 16, n);
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f3, 2);
#[at_most(3)]
while f3 {
mix[per_item(n)](&mut x3, 5, n);
mix[per_item(n)](&mut x2, 1, n);
modulo[(1, 1)](&x2[..1], &mut f3, 2);
}
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t4, 36, n);
mixed[per_item(n)](&t4, &mut x0, 36, n);
mixed[per_item(n)](&t2, &mut x1, 16, n);
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t5, 87, n);
mixed[per_item(n)](&t5, &mut x0, 87, n);
}
_ => {
let c6 = alloc::<u32>(1);
fill(&mut c6, 1u32);
while c6 {
for _ in 0..two {
mix[per_item(n)](&mut x1, 55, n);
}
count_down[(1, 1)](&mut c6);
}
}
}
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t7, 93, n);
mixed[per_item(n)](&t7, &mut x3, 93, n);
}

fn m6(x: &mut [u32; 4]) {
match x[2] / 16 % 2 {
1 => {
let t2 = step(x[2], 16);
for _ in 0..3 {
if x[2] / 16 % 2 == 0 { break; }
x[3] = step(x[3], 5);
x[2] = step(x[2], 1);
}
let t4 = step(x[1], 36);
x[0] = step(t4, 36);
x[1] = step(t2, 16);
let t5 = step(x[3], 87);
x[0] = step(t5, 87);
}
_ => {
for _ in 0..1 {
for _ in 0..2 {
x[1] = step(x[1], 55);
}
}
}
}
let t7 = step(x[2], 93);
x[3] = step(t7, 93);
}

#[cuweave::graph(launches = "as-written")]
fn p7(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
mix[per_item(n)](&mut x1, 9, n);
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t1, 60, n);
mixed[per_item(n)](&t1, &mut x0, 60, n);
}

fn m7(x: &mut [u32; 4]) {
x[1] = step(x[1], 9);
let t1 = step(x[3], 60);
x[0] = step(t1, 60);
}

#[cuweave::graph]
fn p8(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t1, 21, n);
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 4);
if f2 {
mix[per_item(n)](&mut x0, 54, n);
}
mixed[per_item(n)](&t1, &mut x1, 21, n);
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t3, 65, n);
for _ in 0..two {
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f4, 4);
if !f4 {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t5, 63, n);
mixed[per_item(n)](&t5, &mut x1, 63, n);
} else {
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t6, 77, n);
mixed[per_item(n)](&t6, &mut x0, 77, n);
}
for _ in 0..two {
mix[per_item(n)](&mut x3, 60, n);
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t7, 44, n);
mixed[per_item(n)](&t7, &mut x1, 44, n);
}
}
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f8, 2);
match f8 {
1 => {
let f9 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f9, 4);
#[at_most(2)]
while f9 {
mix[per_item(n)](&mut x2, 78, n);
mix[per_item(n)](&mut x2, 3, n);
modulo[(1, 1)](&x2[..1], &mut f9, 4);
}
}
_ => {
let f10 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f10, 2);
if f10 {
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t11, 74, n);
mixed[per_item(n)](&t11, &mut x3, 74, n);
mix[per_item(n)](&mut x3, 32, n);
} else {
mix[per_item(n)](&mut x2, 59, n);
}
}
}
mixed[per_item(n)](&t3, &mut x3, 65, n);
}

fn m8(x: &mut [u32; 4]) {
let t1 = step(x[0], 21);
if x[0] / 16 % 4 != 0 {
x[0] = step(x[0], 54);
}
x[1] = step(t1, 21);
let t3 = step(x[0], 65);
for _ in 0..2 {
if x[1] / 16 % 4 == 0 {
let t5 = step(x[3], 63);
x[1] = step(t5, 63);
} else {
let t6 = step(x[3], 77);
x[0] = step(t6, 77);
}
for _ in 0..2 {
x[3] = step(x[3], 60);
let t7 = step(x[0], 44);
x[1] = step(t7, 44);
}
}
match x[2] / 16 % 2 {
1 => {
for _ in 0..2 {
if x[2] / 16 % 4 == 0 { break; }
x[2] = step(x[2], 78);
x[2] = step(x[2], 3);
}
}
_ => {
if x[2] / 16 % 2 != 0 {
let t11 = step(x[1], 74);
x[3] = step(t11, 74);
x[3] = step(x[3], 32);
} else {
x[2] = step(x[2], 59);
}
}
}
x[3] = step(t3, 65);
}

#[cuweave::graph(memory = "owned")]
fn p9(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
mix[per_item(n)](&mut x3, 47, n);
for _ in 0..two {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 2);
#[at_most(2)]
while f1 {
let c2 = alloc::<u32>(1);
fill(&mut c2, 3u32);
while c2 {
mix[per_item(n)](&mut x1, 47, n);
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t3, 21, n);
mixed[per_item(n)](&t3, &mut x2, 21, n);
count_down[(1, 1)](&mut c2);
}
modulo[(1, 1)](&x3[..1], &mut f1, 2);
}
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f4, 3);
#[at_most(3)]
while f4 {
let c5 = alloc::<u32>(1);
fill(&mut c5, 2u32);
while c5 {
mix[per_item(n)](&mut x2, 88, n);
mix[per_item(n)](&mut x2, 58, n);
count_down[(1, 1)](&mut c5);
}
modulo[(1, 1)](&x3[..1], &mut f4, 3);
}
}
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f6, 3);
#[at_most(4)]
while f6 {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t7, 83, n);
mixed[per_item(n)](&t7, &mut x2, 83, n);
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f8, 3);
if !f8 {
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t9, 86, n);
mixed[per_item(n)](&t9, &mut x3, 86, n);
for _ in 0..two {
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t10, 0, n);
mixed[per_item(n)](&t10, &mut x2, 0, n);
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t11, 80, n);
mixed[per_item(n)](&t11, &mut x0, 80, n);
}
} else {
let f12 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f12, 3);
match f12 {
0 => {
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t13, 19, n);
mixed[per_item(n)](&t13, &mut x2, 19, n);
mix[per_item(n)](&mut x1, 86, n);
}
_ => {
}
}
}
modulo[(1, 1)](&x1[..1], &mut f6, 3);
}
}

fn m9(x: &mut [u32; 4]) {
x[3] = step(x[3], 47);
for _ in 0..2 {
for _ in 0..2 {
if x[3] / 16 % 2 == 0 { break; }
for _ in 0..3 {
x[1] = step(x[1], 47);
let t3 = step(x[3], 21);
x[2] = step(t3, 21);
}
}
for _ in 0..3 {
if x[3] / 16 % 3 == 0 { break; }
for _ in 0..2 {
x[2] = step(x[2], 88);
x[2] = step(x[2], 58);
}
}
}
for _ in 0..4 {
if x[1] / 16 % 3 == 0 { break; }
let t7 = step(x[1], 83);
x[2] = step(t7, 83);
if x[2] / 16 % 3 == 0 {
let t9 = step(x[1], 86);
x[3] = step(t9, 86);
for _ in 0..2 {
let t10 = step(x[0], 0);
x[2] = step(t10, 0);
let t11 = step(x[2], 80);
x[0] = step(t11, 80);
}
} else {
match x[1] / 16 % 3 {
0 => {
let t13 = step(x[1], 19);
x[2] = step(t13, 19);
x[1] = step(x[1], 86);
}
_ => {
}
}
}
}
}

#[cuweave::graph(memory = "nodes")]
fn p10(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
for _ in 0..two {
for _ in 0..two {
mix[per_item(n)](&mut x2, 69, n);
}
}
let c1 = alloc::<u32>(1);
fill(&mut c1, 0u32);
while c1 {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t2, 49, n);
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f3, 2);
if f3 {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t4, 25, n);
mixed[per_item(n)](&t4, &mut x1, 25, n);
}
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f5, 4);
#[at_most(3)]
while f5 {
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t6, 77, n);
mixed[per_item(n)](&t6, &mut x2, 77, n);
modulo[(1, 1)](&x0[..1], &mut f5, 4);
}
mixed[per_item(n)](&t2, &mut x2, 49, n);
let c7 = alloc::<u32>(1);
fill(&mut c7, 0u32);
while c7 {
for _ in 0..two {
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t8, 3, n);
mixed[per_item(n)](&t8, &mut x0, 3, n);
}
for _ in 0..two {
mix[per_item(n)](&mut x2, 50, n);
}
count_down[(1, 1)](&mut c7);
}
count_down[(1, 1)](&mut c1);
}
}

fn m10(x: &mut [u32; 4]) {
for _ in 0..2 {
for _ in 0..2 {
x[2] = step(x[2], 69);
}
}
for _ in 0..0 {
let t2 = step(x[3], 49);
if x[1] / 16 % 2 != 0 {
let t4 = step(x[3], 25);
x[1] = step(t4, 25);
}
for _ in 0..3 {
if x[0] / 16 % 4 == 0 { break; }
let t6 = step(x[1], 77);
x[2] = step(t6, 77);
}
x[2] = step(t2, 49);
for _ in 0..0 {
for _ in 0..2 {
let t8 = step(x[1], 3);
x[0] = step(t8, 3);
}
for _ in 0..2 {
x[2] = step(x[2], 50);
}
}
}
}

#[cuweave::graph(launches = "as-written")]
fn p11(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 2u32);
while c1 {
for _ in 0..two {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t2, 71, n);
mixed[per_item(n)](&t2, &mut x3, 71, n);
}
count_down[(1, 1)](&mut c1);
}
let c3 = alloc::<u32>(1);
fill(&mut c3, 1u32);
while c3 {
let c4 = alloc::<u32>(1);
fill(&mut c4, 3u32);
while c4 {
mix[per_item(n)](&mut x2, 94, n);
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f5, 3);
if f5 {
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t6, 83, n);
mixed[per_item(n)](&t6, &mut x1, 83, n);
mix[per_item(n)](&mut x0, 55, n);
} else {
mix[per_item(n)](&mut x0, 14, n);
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t7, 81, n);
mixed[per_item(n)](&t7, &mut x1, 81, n);
}
count_down[(1, 1)](&mut c4);
}
mix[per_item(n)](&mut x0, 76, n);
count_down[(1, 1)](&mut c3);
}
}

fn m11(x: &mut [u32; 4]) {
for _ in 0..2 {
for _ in 0..2 {
let t2 = step(x[1], 71);
x[3] = step(t2, 71);
}
}
for _ in 0..1 {
for _ in 0..3 {
x[2] = step(x[2], 94);
if x[1] / 16 % 3 != 0 {
let t6 = step(x[2], 83);
x[1] = step(t6, 83);
x[0] = step(x[0], 55);
} else {
x[0] = step(x[0], 14);
let t7 = step(x[0], 81);
x[1] = step(t7, 81);
}
}
x[0] = step(x[0], 76);
}
}

#[cuweave::graph]
fn p12(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
mix[per_item(n)](&mut x2, 96, n);
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t1, 22, n);
mixed[per_item(n)](&t1, &mut x1, 22, n);
}

fn m12(x: &mut [u32; 4]) {
x[2] = step(x[2], 96);
let t1 = step(x[0], 22);
x[1] = step(t1, 22);
}

#[cuweave::graph(memory = "owned")]
fn p13(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f1, 2);
#[at_most(4)]
while f1 {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t2, 80, n);
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f3, 2);
if f3 {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t4, 74, n);
mixed[per_item(n)](&t4, &mut x1, 74, n);
}
mixed[per_item(n)](&t2, &mut x0, 80, n);
modulo[(1, 1)](&x0[..1], &mut f1, 2);
}
mix[per_item(n)](&mut x2, 0, n);
}

fn m13(x: &mut [u32; 4]) {
for _ in 0..4 {
if x[0] / 16 % 2 == 0 { break; }
let t2 = step(x[2], 80);
if x[0] / 16 % 2 != 0 {
let t4 = step(x[2], 74);
x[1] = step(t4, 74);
}
x[0] = step(t2, 80);
}
x[2] = step(x[2], 0);
}

#[cuweave::graph(memory = "nodes")]
fn p14(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t1, 43, n);
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t2, 92, n);
mixed[per_item(n)](&t2, &mut x3, 92, n);
mixed[per_item(n)](&t1, &mut x2, 43, n);
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f3, 4);
if !f3 {
for _ in 0..two {
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f4, 4);
if !f4 {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t5, 71, n);
mixed[per_item(n)](&t5, &mut x2, 71, n);
}
}
}
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f6, 4);
#[at_most(2)]
while f6 {
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f7, 3);
if f7 {
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t8, 14, n);
mixed[per_item(n)](&t8, &mut x2, 14, n);
let c9 = alloc::<u32>(1);
fill(&mut c9, 0u32);
while c9 {
mix[per_item(n)](&mut x2, 79, n);
count_down[(1, 1)](&mut c9);
}
} else {
for _ in 0..two {
mix[per_item(n)](&mut x1, 62, n);
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t10, 74, n);
mixed[per_item(n)](&t10, &mut x1, 74, n);
}
}
modulo[(1, 1)](&x2[..1], &mut f6, 4);
}
}

fn m14(x: &mut [u32; 4]) {
let t1 = step(x[0], 43);
let t2 = step(x[0], 92);
x[3] = step(t2, 92);
x[2] = step(t1, 43);
if x[3] / 16 % 4 == 0 {
for _ in 0..2 {
if x[3] / 16 % 4 == 0 {
let t5 = step(x[0], 71);
x[2] = step(t5, 71);
}
}
}
for _ in 0..2 {
if x[2] / 16 % 4 == 0 { break; }
if x[2] / 16 % 3 != 0 {
let t8 = step(x[0], 14);
x[2] = step(t8, 14);
for _ in 0..0 {
x[2] = step(x[2], 79);
}
} else {
for _ in 0..2 {
x[1] = step(x[1], 62);
let t10 = step(x[2], 74);
x[1] = step(t10, 74);
}
}
}
}

#[cuweave::graph(launches = "as-written")]
fn p15(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 2);
#[at_most(1)]
while f1 {
for _ in 0..two {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t2, 6, n);
mixed[per_item(n)](&t2, &mut x1, 6, n);
}
for _ in 0..two {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t3, 24, n);
mix[per_item(n)](&mut x2, 72, n);
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t4, 35, n);
mixed[per_item(n)](&t4, &mut x1, 35, n);
mixed[per_item(n)](&t3, &mut x3, 24, n);
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t5, 4, n);
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t6, 19, n);
mixed[per_item(n)](&t6, &mut x0, 19, n);
mixed[per_item(n)](&t5, &mut x0, 4, n);
}
modulo[(1, 1)](&x3[..1], &mut f1, 2);
}
mix[per_item(n)](&mut x3, 6, n);
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f7, 3);
if !f7 {
mix[per_item(n)](&mut x2, 41, n);
} else {
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f8, 4);
if !f8 {
let f9 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f9, 2);
match f9 {
1 => {
mix[per_item(n)](&mut x1, 73, n);
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t10, 43, n);
mixed[per_item(n)](&t10, &mut x2, 43, n);
}
_ => {
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t11, 14, n);
mixed[per_item(n)](&t11, &mut x2, 14, n);
}
}
} else {
let f12 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f12, 2);
if !f12 {
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t13, 57, n);
mixed[per_item(n)](&t13, &mut x2, 57, n);
} else {
mix[per_item(n)](&mut x0, 59, n);
let t14 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t14, 82, n);
mixed[per_item(n)](&t14, &mut x1, 82, n);
}
let f15 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f15, 2);
match f15 {
1 => {
mix[per_item(n)](&mut x1, 21, n);
mix[per_item(n)](&mut x2, 29, n);
}
_ => {
mix[per_item(n)](&mut x2, 63, n);
}
}
}
let t16 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t16, 54, n);
let t17 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t17, 22, n);
let t18 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t18, 65, n);
mixed[per_item(n)](&t18, &mut x1, 65, n);
let t19 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t19, 23, n);
mixed[per_item(n)](&t19, &mut x0, 23, n);
mixed[per_item(n)](&t17, &mut x2, 22, n);
mixed[per_item(n)](&t16, &mut x0, 54, n);
}
}

fn m15(x: &mut [u32; 4]) {
for _ in 0..1 {
if x[3] / 16 % 2 == 0 { break; }
for _ in 0..2 {
let t2 = step(x[0], 6);
x[1] = step(t2, 6);
}
for _ in 0..2 {
let t3 = step(x[0], 24);
x[2] = step(x[2], 72);
let t4 = step(x[0], 35);
x[1] = step(t4, 35);
x[3] = step(t3, 24);
let t5 = step(x[2], 4);
let t6 = step(x[2], 19);
x[0] = step(t6, 19);
x[0] = step(t5, 4);
}
}
x[3] = step(x[3], 6);
if x[2] / 16 % 3 == 0 {
x[2] = step(x[2], 41);
} else {
if x[2] / 16 % 4 == 0 {
match x[3] / 16 % 2 {
1 => {
x[1] = step(x[1], 73);
let t10 = step(x[0], 43);
x[2] = step(t10, 43);
}
_ => {
let t11 = step(x[0], 14);
x[2] = step(t11, 14);
}
}
} else {
if x[1] / 16 % 2 == 0 {
let t13 = step(x[0], 57);
x[2] = step(t13, 57);
} else {
x[0] = step(x[0], 59);
let t14 = step(x[2], 82);
x[1] = step(t14, 82);
}
match x[2] / 16 % 2 {
1 => {
x[1] = step(x[1], 21);
x[2] = step(x[2], 29);
}
_ => {
x[2] = step(x[2], 63);
}
}
}
let t16 = step(x[2], 54);
let t17 = step(x[3], 22);
let t18 = step(x[2], 65);
x[1] = step(t18, 65);
let t19 = step(x[3], 23);
x[0] = step(t19, 23);
x[2] = step(t17, 22);
x[0] = step(t16, 54);
}
}

#[cuweave::graph]
fn p16(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let t1 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t1, 20, n);
mixed[per_item(n)](&t1, &mut x2, 20, n);
for _ in 0..two {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f2, 3);
match f2 {
0 | 2 => {
for _ in 0..two {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t3, 87, n);
mixed[per_item(n)](&t3, &mut x0, 87, n);
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t4, 6, n);
mixed[per_item(n)](&t4, &mut x0, 6, n);
}
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f5, 4);
match f5 {
0 => {
mix[per_item(n)](&mut x0, 45, n);
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t6, 17, n);
mixed[per_item(n)](&t6, &mut x1, 17, n);
}
_ => {
}
}
}
_ => {
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f7, 4);
if f7 {
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t8, 58, n);
mixed[per_item(n)](&t8, &mut x0, 58, n);
mix[per_item(n)](&mut x0, 15, n);
}
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t9, 70, n);
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t10, 46, n);
mixed[per_item(n)](&t10, &mut x2, 46, n);
mix[per_item(n)](&mut x2, 71, n);
mixed[per_item(n)](&t9, &mut x1, 70, n);
}
}
}
}

fn m16(x: &mut [u32; 4]) {
let t1 = step(x[1], 20);
x[2] = step(t1, 20);
for _ in 0..2 {
match x[3] / 16 % 3 {
0 | 2 => {
for _ in 0..2 {
let t3 = step(x[3], 87);
x[0] = step(t3, 87);
let t4 = step(x[2], 6);
x[0] = step(t4, 6);
}
match x[2] / 16 % 4 {
0 => {
x[0] = step(x[0], 45);
let t6 = step(x[0], 17);
x[1] = step(t6, 17);
}
_ => {
}
}
}
_ => {
if x[1] / 16 % 4 != 0 {
let t8 = step(x[3], 58);
x[0] = step(t8, 58);
x[0] = step(x[0], 15);
}
let t9 = step(x[0], 70);
let t10 = step(x[1], 46);
x[2] = step(t10, 46);
x[2] = step(x[2], 71);
x[1] = step(t9, 70);
}
}
}
}

#[cuweave::graph(memory = "owned")]
fn p17(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f1, 4);
#[at_most(1)]
while f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 2);
#[at_most(2)]
while f2 {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f3, 3);
if f3 {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t4, 6, n);
mixed[per_item(n)](&t4, &mut x1, 6, n);
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t5, 33, n);
mixed[per_item(n)](&t5, &mut x0, 33, n);
}
mix[per_item(n)](&mut x2, 56, n);
modulo[(1, 1)](&x0[..1], &mut f2, 2);
}
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f6, 3);
if f6 {
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f7, 2);
if f7 {
mix[per_item(n)](&mut x2, 9, n);
} else {
mix[per_item(n)](&mut x0, 38, n);
mix[per_item(n)](&mut x2, 45, n);
}
} else {
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f8, 3);
if f8 {
mix[per_item(n)](&mut x1, 73, n);
}
let f9 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f9, 4);
match f9 {
0 | 2 => {
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t10, 43, n);
mixed[per_item(n)](&t10, &mut x1, 43, n);
}
_ => {
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t11, 13, n);
mixed[per_item(n)](&t11, &mut x0, 13, n);
let t12 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t12, 2, n);
mixed[per_item(n)](&t12, &mut x1, 2, n);
}
}
}
modulo[(1, 1)](&x2[..1], &mut f1, 4);
}
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t13, 35, n);
mixed[per_item(n)](&t13, &mut x3, 35, n);
mix[per_item(n)](&mut x2, 40, n);
}

fn m17(x: &mut [u32; 4]) {
for _ in 0..1 {
if x[2] / 16 % 4 == 0 { break; }
for _ in 0..2 {
if x[0] / 16 % 2 == 0 { break; }
if x[3] / 16 % 3 != 0 {
let t4 = step(x[0], 6);
x[1] = step(t4, 6);
let t5 = step(x[2], 33);
x[0] = step(t5, 33);
}
x[2] = step(x[2], 56);
}
if x[3] / 16 % 3 != 0 {
if x[3] / 16 % 2 != 0 {
x[2] = step(x[2], 9);
} else {
x[0] = step(x[0], 38);
x[2] = step(x[2], 45);
}
} else {
if x[2] / 16 % 3 != 0 {
x[1] = step(x[1], 73);
}
match x[0] / 16 % 4 {
0 | 2 => {
let t10 = step(x[0], 43);
x[1] = step(t10, 43);
}
_ => {
let t11 = step(x[2], 13);
x[0] = step(t11, 13);
let t12 = step(x[2], 2);
x[1] = step(t12, 2);
}
}
}
}
let t13 = step(x[0], 35);
x[3] = step(t13, 35);
x[2] = step(x[2], 40);
}

#[cuweave::graph(memory = "nodes")]
fn p18(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 2u32);
while c1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f2, 4);
#[at_most(1)]
while f2 {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f3, 4);
if !f3 {
mix[per_item(n)](&mut x3, 94, n);
mix[per_item(n)](&mut x3, 35, n);
} else {
mix[per_item(n)](&mut x0, 56, n);
}
modulo[(1, 1)](&x3[..1], &mut f2, 4);
}
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t4, 1, n);
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t5, 84, n);
mixed[per_item(n)](&t5, &mut x2, 84, n);
mixed[per_item(n)](&t4, &mut x0, 1, n);
count_down[(1, 1)](&mut c1);
}
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t6, 89, n);
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f7, 3);
if f7 {
let c8 = alloc::<u32>(1);
fill(&mut c8, 3u32);
while c8 {
mix[per_item(n)](&mut x0, 29, n);
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t9, 29, n);
mixed[per_item(n)](&t9, &mut x3, 29, n);
count_down[(1, 1)](&mut c8);
}
let f10 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f10, 2);
match f10 {
0 => {
mix[per_item(n)](&mut x3, 73, n);
mix[per_item(n)](&mut x2, 52, n);
}
_ => {
}
}
}
let f11 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f11, 3);
if !f11 {
let t12 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t12, 50, n);
mix[per_item(n)](&mut x3, 78, n);
mix[per_item(n)](&mut x2, 72, n);
mixed[per_item(n)](&t12, &mut x3, 50, n);
let f13 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f13, 2);
if !f13 {
mix[per_item(n)](&mut x2, 24, n);
}
}
mixed[per_item(n)](&t6, &mut x1, 89, n);
}

fn m18(x: &mut [u32; 4]) {
for _ in 0..2 {
for _ in 0..1 {
if x[3] / 16 % 4 == 0 { break; }
if x[3] / 16 % 4 == 0 {
x[3] = step(x[3], 94);
x[3] = step(x[3], 35);
} else {
x[0] = step(x[0], 56);
}
}
let t4 = step(x[1], 1);
let t5 = step(x[3], 84);
x[2] = step(t5, 84);
x[0] = step(t4, 1);
}
let t6 = step(x[2], 89);
if x[1] / 16 % 3 != 0 {
for _ in 0..3 {
x[0] = step(x[0], 29);
let t9 = step(x[0], 29);
x[3] = step(t9, 29);
}
match x[3] / 16 % 2 {
0 => {
x[3] = step(x[3], 73);
x[2] = step(x[2], 52);
}
_ => {
}
}
}
if x[1] / 16 % 3 == 0 {
let t12 = step(x[2], 50);
x[3] = step(x[3], 78);
x[2] = step(x[2], 72);
x[3] = step(t12, 50);
if x[3] / 16 % 2 == 0 {
x[2] = step(x[2], 24);
}
}
x[1] = step(t6, 89);
}

#[cuweave::graph(launches = "as-written")]
fn p19(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f1, 3);
if !f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f2, 4);
if f2 {
let c3 = alloc::<u32>(1);
fill(&mut c3, 3u32);
while c3 {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t4, 38, n);
mixed[per_item(n)](&t4, &mut x0, 38, n);
mix[per_item(n)](&mut x1, 86, n);
count_down[(1, 1)](&mut c3);
}
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f5, 4);
#[at_most(4)]
while f5 {
mix[per_item(n)](&mut x0, 91, n);
modulo[(1, 1)](&x2[..1], &mut f5, 4);
}
} else {
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f6, 3);
if f6 {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t7, 86, n);
mixed[per_item(n)](&t7, &mut x2, 86, n);
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t8, 22, n);
mixed[per_item(n)](&t8, &mut x3, 22, n);
}
}
} else {
let c9 = alloc::<u32>(1);
fill(&mut c9, 3u32);
while c9 {
let f10 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f10, 4);
if !f10 {
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t11, 38, n);
mixed[per_item(n)](&t11, &mut x0, 38, n);
let t12 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t12, 94, n);
mixed[per_item(n)](&t12, &mut x0, 94, n);
}
let f13 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f13, 3);
match f13 {
1 => {
mix[per_item(n)](&mut x2, 20, n);
}
_ => {
let t14 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t14, 11, n);
mixed[per_item(n)](&t14, &mut x3, 11, n);
}
}
count_down[(1, 1)](&mut c9);
}
}
let f15 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f15, 3);
#[at_most(3)]
while f15 {
let t16 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t16, 18, n);
let f17 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f17, 4);
if !f17 {
let t18 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t18, 88, n);
mixed[per_item(n)](&t18, &mut x1, 88, n);
} else {
mix[per_item(n)](&mut x0, 65, n);
}
mix[per_item(n)](&mut x0, 31, n);
mixed[per_item(n)](&t16, &mut x1, 18, n);
modulo[(1, 1)](&x3[..1], &mut f15, 3);
}
}

fn m19(x: &mut [u32; 4]) {
if x[2] / 16 % 3 == 0 {
if x[1] / 16 % 4 != 0 {
for _ in 0..3 {
let t4 = step(x[2], 38);
x[0] = step(t4, 38);
x[1] = step(x[1], 86);
}
for _ in 0..4 {
if x[2] / 16 % 4 == 0 { break; }
x[0] = step(x[0], 91);
}
} else {
if x[0] / 16 % 3 != 0 {
let t7 = step(x[1], 86);
x[2] = step(t7, 86);
let t8 = step(x[1], 22);
x[3] = step(t8, 22);
}
}
} else {
for _ in 0..3 {
if x[2] / 16 % 4 == 0 {
let t11 = step(x[2], 38);
x[0] = step(t11, 38);
let t12 = step(x[2], 94);
x[0] = step(t12, 94);
}
match x[2] / 16 % 3 {
1 => {
x[2] = step(x[2], 20);
}
_ => {
let t14 = step(x[2], 11);
x[3] = step(t14, 11);
}
}
}
}
for _ in 0..3 {
if x[3] / 16 % 3 == 0 { break; }
let t16 = step(x[2], 18);
if x[1] / 16 % 4 == 0 {
let t18 = step(x[2], 88);
x[1] = step(t18, 88);
} else {
x[0] = step(x[0], 65);
}
x[0] = step(x[0], 31);
x[1] = step(t16, 18);
}
}

#[cuweave::graph]
fn p20(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f1, 3);
if f1 {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t2, 46, n);
let c3 = alloc::<u32>(1);
fill(&mut c3, 3u32);
while c3 {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t4, 5, n);
mixed[per_item(n)](&t4, &mut x2, 5, n);
count_down[(1, 1)](&mut c3);
}
mixed[per_item(n)](&t2, &mut x0, 46, n);
}
for _ in 0..two {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t5, 60, n);
mixed[per_item(n)](&t5, &mut x3, 60, n);
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f6, 3);
#[at_most(3)]
while f6 {
for _ in 0..two {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t7, 31, n);
mixed[per_item(n)](&t7, &mut x3, 31, n);
mix[per_item(n)](&mut x0, 10, n);
}
modulo[(1, 1)](&x0[..1], &mut f6, 3);
}
}
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t8, 83, n);
mixed[per_item(n)](&t8, &mut x3, 83, n);
}

fn m20(x: &mut [u32; 4]) {
if x[3] / 16 % 3 != 0 {
let t2 = step(x[3], 46);
for _ in 0..3 {
let t4 = step(x[1], 5);
x[2] = step(t4, 5);
}
x[0] = step(t2, 46);
}
for _ in 0..2 {
let t5 = step(x[1], 60);
x[3] = step(t5, 60);
for _ in 0..3 {
if x[0] / 16 % 3 == 0 { break; }
for _ in 0..2 {
let t7 = step(x[2], 31);
x[3] = step(t7, 31);
x[0] = step(x[0], 10);
}
}
}
let t8 = step(x[2], 83);
x[3] = step(t8, 83);
}

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

#[cuweave::graph(memory = "owned")]
fn p25(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f1, 2);
if f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 4);
if !f2 {
let c3 = alloc::<u32>(1);
fill(&mut c3, 0u32);
while c3 {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t4, 13, n);
mixed[per_item(n)](&t4, &mut x3, 13, n);
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t5, 21, n);
mixed[per_item(n)](&t5, &mut x0, 21, n);
count_down[(1, 1)](&mut c3);
}
}
mix[per_item(n)](&mut x2, 34, n);
}
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f6, 2);
if f6 {
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f7, 2);
#[at_most(3)]
while f7 {
mix[per_item(n)](&mut x1, 44, n);
modulo[(1, 1)](&x1[..1], &mut f7, 2);
}
let c8 = alloc::<u32>(1);
fill(&mut c8, 1u32);
while c8 {
mix[per_item(n)](&mut x0, 88, n);
let f9 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f9, 4);
#[at_most(2)]
while f9 {
mix[per_item(n)](&mut x1, 62, n);
modulo[(1, 1)](&x3[..1], &mut f9, 4);
}
count_down[(1, 1)](&mut c8);
}
}
}

fn m25(x: &mut [u32; 4]) {
if x[1] / 16 % 2 != 0 {
if x[0] / 16 % 4 == 0 {
for _ in 0..0 {
let t4 = step(x[0], 13);
x[3] = step(t4, 13);
let t5 = step(x[2], 21);
x[0] = step(t5, 21);
}
}
x[2] = step(x[2], 34);
}
if x[2] / 16 % 2 != 0 {
for _ in 0..3 {
if x[1] / 16 % 2 == 0 { break; }
x[1] = step(x[1], 44);
}
for _ in 0..1 {
x[0] = step(x[0], 88);
for _ in 0..2 {
if x[3] / 16 % 4 == 0 { break; }
x[1] = step(x[1], 62);
}
}
}
}

#[cuweave::graph(memory = "nodes")]
fn p26(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f1, 3);
if f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f2, 4);
match f2 {
1 => {
mix[per_item(n)](&mut x2, 27, n);
let c3 = alloc::<u32>(1);
fill(&mut c3, 1u32);
while c3 {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t4, 33, n);
mixed[per_item(n)](&t4, &mut x2, 33, n);
count_down[(1, 1)](&mut c3);
}
}
_ => {
}
}
}
let f5 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f5, 3);
if f5 {
let c6 = alloc::<u32>(1);
fill(&mut c6, 1u32);
while c6 {
let c7 = alloc::<u32>(1);
fill(&mut c7, 2u32);
while c7 {
mix[per_item(n)](&mut x3, 33, n);
count_down[(1, 1)](&mut c7);
}
count_down[(1, 1)](&mut c6);
}
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t8, 80, n);
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t9, 78, n);
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t10, 47, n);
mixed[per_item(n)](&t10, &mut x1, 47, n);
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t11, 99, n);
mixed[per_item(n)](&t11, &mut x2, 99, n);
mixed[per_item(n)](&t9, &mut x0, 78, n);
let f12 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f12, 3);
if f12 {
mix[per_item(n)](&mut x2, 61, n);
mix[per_item(n)](&mut x2, 7, n);
}
mixed[per_item(n)](&t8, &mut x2, 80, n);
} else {
let f13 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f13, 4);
match f13 {
0 => {
let f14 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f14, 2);
#[at_most(4)]
while f14 {
mix[per_item(n)](&mut x3, 42, n);
let t15 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t15, 66, n);
mixed[per_item(n)](&t15, &mut x0, 66, n);
modulo[(1, 1)](&x0[..1], &mut f14, 2);
}
let f16 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f16, 4);
if f16 {
mix[per_item(n)](&mut x1, 25, n);
} else {
let t17 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t17, 95, n);
mixed[per_item(n)](&t17, &mut x1, 95, n);
}
}
_ => {
let f18 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f18, 4);
match f18 {
0 | 2 => {
mix[per_item(n)](&mut x1, 50, n);
let t19 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t19, 73, n);
mixed[per_item(n)](&t19, &mut x2, 73, n);
}
_ => {
}
}
}
}
let c20 = alloc::<u32>(1);
fill(&mut c20, 1u32);
while c20 {
for _ in 0..two {
let t21 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t21, 54, n);
mixed[per_item(n)](&t21, &mut x0, 54, n);
}
let f22 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f22, 2);
if !f22 {
let t23 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t23, 3, n);
mixed[per_item(n)](&t23, &mut x3, 3, n);
} else {
mix[per_item(n)](&mut x2, 67, n);
}
count_down[(1, 1)](&mut c20);
}
}
}

fn m26(x: &mut [u32; 4]) {
if x[1] / 16 % 3 != 0 {
match x[3] / 16 % 4 {
1 => {
x[2] = step(x[2], 27);
for _ in 0..1 {
let t4 = step(x[1], 33);
x[2] = step(t4, 33);
}
}
_ => {
}
}
}
if x[1] / 16 % 3 != 0 {
for _ in 0..1 {
for _ in 0..2 {
x[3] = step(x[3], 33);
}
}
let t8 = step(x[0], 80);
let t9 = step(x[3], 78);
let t10 = step(x[3], 47);
x[1] = step(t10, 47);
let t11 = step(x[1], 99);
x[2] = step(t11, 99);
x[0] = step(t9, 78);
if x[2] / 16 % 3 != 0 {
x[2] = step(x[2], 61);
x[2] = step(x[2], 7);
}
x[2] = step(t8, 80);
} else {
match x[2] / 16 % 4 {
0 => {
for _ in 0..4 {
if x[0] / 16 % 2 == 0 { break; }
x[3] = step(x[3], 42);
let t15 = step(x[2], 66);
x[0] = step(t15, 66);
}
if x[1] / 16 % 4 != 0 {
x[1] = step(x[1], 25);
} else {
let t17 = step(x[2], 95);
x[1] = step(t17, 95);
}
}
_ => {
match x[2] / 16 % 4 {
0 | 2 => {
x[1] = step(x[1], 50);
let t19 = step(x[3], 73);
x[2] = step(t19, 73);
}
_ => {
}
}
}
}
for _ in 0..1 {
for _ in 0..2 {
let t21 = step(x[3], 54);
x[0] = step(t21, 54);
}
if x[1] / 16 % 2 == 0 {
let t23 = step(x[2], 3);
x[3] = step(t23, 3);
} else {
x[2] = step(x[2], 67);
}
}
}
}

#[cuweave::graph(launches = "as-written")]
fn p27(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
for _ in 0..two {
let c1 = alloc::<u32>(1);
fill(&mut c1, 3u32);
while c1 {
let t2 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t2, 85, n);
mix[per_item(n)](&mut x0, 8, n);
mixed[per_item(n)](&t2, &mut x3, 85, n);
mix[per_item(n)](&mut x2, 43, n);
count_down[(1, 1)](&mut c1);
}
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f3, 4);
if f3 {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t4, 91, n);
mixed[per_item(n)](&t4, &mut x2, 91, n);
}
}
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t5, 91, n);
mixed[per_item(n)](&t5, &mut x2, 91, n);
let c6 = alloc::<u32>(1);
fill(&mut c6, 0u32);
while c6 {
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f7, 2);
#[at_most(4)]
while f7 {
mix[per_item(n)](&mut x0, 24, n);
modulo[(1, 1)](&x0[..1], &mut f7, 2);
}
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t8, 65, n);
mixed[per_item(n)](&t8, &mut x2, 65, n);
count_down[(1, 1)](&mut c6);
}
}

fn m27(x: &mut [u32; 4]) {
for _ in 0..2 {
for _ in 0..3 {
let t2 = step(x[1], 85);
x[0] = step(x[0], 8);
x[3] = step(t2, 85);
x[2] = step(x[2], 43);
}
if x[3] / 16 % 4 != 0 {
let t4 = step(x[0], 91);
x[2] = step(t4, 91);
}
}
let t5 = step(x[1], 91);
x[2] = step(t5, 91);
for _ in 0..0 {
for _ in 0..4 {
if x[0] / 16 % 2 == 0 { break; }
x[0] = step(x[0], 24);
}
let t8 = step(x[1], 65);
x[2] = step(t8, 65);
}
}

#[cuweave::graph]
fn p28(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f1, 3);
#[at_most(4)]
while f1 {
mix[per_item(n)](&mut x3, 25, n);
mix[per_item(n)](&mut x0, 3, n);
modulo[(1, 1)](&x0[..1], &mut f1, 3);
}
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f2, 2);
match f2 {
0 | 2 => {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t3, 23, n);
mix[per_item(n)](&mut x0, 47, n);
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f4, 2);
#[at_most(3)]
while f4 {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t5, 76, n);
mixed[per_item(n)](&t5, &mut x2, 76, n);
modulo[(1, 1)](&x1[..1], &mut f4, 2);
}
mixed[per_item(n)](&t3, &mut x1, 23, n);
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f6, 3);
#[at_most(4)]
while f6 {
let t7 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t7, 58, n);
mixed[per_item(n)](&t7, &mut x1, 58, n);
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f8, 3);
#[at_most(1)]
while f8 {
mix[per_item(n)](&mut x2, 52, n);
modulo[(1, 1)](&x3[..1], &mut f8, 3);
}
modulo[(1, 1)](&x1[..1], &mut f6, 3);
}
}
_ => {
}
}
}

fn m28(x: &mut [u32; 4]) {
for _ in 0..4 {
if x[0] / 16 % 3 == 0 { break; }
x[3] = step(x[3], 25);
x[0] = step(x[0], 3);
}
match x[3] / 16 % 2 {
0 | 2 => {
let t3 = step(x[2], 23);
x[0] = step(x[0], 47);
for _ in 0..3 {
if x[1] / 16 % 2 == 0 { break; }
let t5 = step(x[1], 76);
x[2] = step(t5, 76);
}
x[1] = step(t3, 23);
for _ in 0..4 {
if x[1] / 16 % 3 == 0 { break; }
let t7 = step(x[3], 58);
x[1] = step(t7, 58);
for _ in 0..1 {
if x[3] / 16 % 3 == 0 { break; }
x[2] = step(x[2], 52);
}
}
}
_ => {
}
}
}

#[cuweave::graph(memory = "owned")]
fn p29(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
for _ in 0..two {
mix[per_item(n)](&mut x0, 27, n);
}
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f1, 4);
if !f1 {
let c2 = alloc::<u32>(1);
fill(&mut c2, 3u32);
while c2 {
for _ in 0..two {
mix[per_item(n)](&mut x2, 53, n);
}
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f3, 4);
#[at_most(4)]
while f3 {
mix[per_item(n)](&mut x1, 48, n);
modulo[(1, 1)](&x1[..1], &mut f3, 4);
}
count_down[(1, 1)](&mut c2);
}
}
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f4, 3);
if !f4 {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t5, 63, n);
mixed[per_item(n)](&t5, &mut x3, 63, n);
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f6, 2);
match f6 {
1 => {
let c7 = alloc::<u32>(1);
fill(&mut c7, 2u32);
while c7 {
mix[per_item(n)](&mut x2, 59, n);
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t8, 25, n);
mixed[per_item(n)](&t8, &mut x0, 25, n);
count_down[(1, 1)](&mut c7);
}
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t9, 31, n);
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t10, 1, n);
mixed[per_item(n)](&t10, &mut x2, 1, n);
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t11, 82, n);
mixed[per_item(n)](&t11, &mut x3, 82, n);
mixed[per_item(n)](&t9, &mut x0, 31, n);
}
_ => {
mix[per_item(n)](&mut x3, 81, n);
let t12 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t12, 22, n);
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t13, 54, n);
mixed[per_item(n)](&t13, &mut x2, 54, n);
mixed[per_item(n)](&t12, &mut x2, 22, n);
}
}
}
}

fn m29(x: &mut [u32; 4]) {
for _ in 0..2 {
x[0] = step(x[0], 27);
}
if x[1] / 16 % 4 == 0 {
for _ in 0..3 {
for _ in 0..2 {
x[2] = step(x[2], 53);
}
for _ in 0..4 {
if x[1] / 16 % 4 == 0 { break; }
x[1] = step(x[1], 48);
}
}
}
if x[0] / 16 % 3 == 0 {
let t5 = step(x[0], 63);
x[3] = step(t5, 63);
match x[1] / 16 % 2 {
1 => {
for _ in 0..2 {
x[2] = step(x[2], 59);
let t8 = step(x[1], 25);
x[0] = step(t8, 25);
}
let t9 = step(x[2], 31);
let t10 = step(x[3], 1);
x[2] = step(t10, 1);
let t11 = step(x[0], 82);
x[3] = step(t11, 82);
x[0] = step(t9, 31);
}
_ => {
x[3] = step(x[3], 81);
let t12 = step(x[3], 22);
let t13 = step(x[1], 54);
x[2] = step(t13, 54);
x[2] = step(t12, 22);
}
}
}
}

#[cuweave::graph(memory = "nodes")]
fn p30(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let c1 = alloc::<u32>(1);
fill(&mut c1, 2u32);
while c1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f2, 4);
if !f2 {
let t3 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t3, 61, n);
mixed[per_item(n)](&t3, &mut x2, 61, n);
} else {
let f4 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f4, 2);
if !f4 {
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t5, 57, n);
mixed[per_item(n)](&t5, &mut x3, 57, n);
let t6 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t6, 61, n);
mixed[per_item(n)](&t6, &mut x3, 61, n);
}
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f7, 4);
match f7 {
1 => {
let t8 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t8, 60, n);
mixed[per_item(n)](&t8, &mut x2, 60, n);
}
_ => {
let t9 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t9, 2, n);
mixed[per_item(n)](&t9, &mut x0, 2, n);
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t10, 73, n);
mixed[per_item(n)](&t10, &mut x0, 73, n);
}
}
}
count_down[(1, 1)](&mut c1);
}
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t11, 15, n);
let f12 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f12, 3);
if !f12 {
let c13 = alloc::<u32>(1);
fill(&mut c13, 2u32);
while c13 {
let t14 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t14, 95, n);
mixed[per_item(n)](&t14, &mut x3, 95, n);
let t15 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t15, 68, n);
mixed[per_item(n)](&t15, &mut x2, 68, n);
count_down[(1, 1)](&mut c13);
}
}
let f16 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f16, 2);
if !f16 {
let f17 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f17, 2);
if f17 {
let t18 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t18, 77, n);
mixed[per_item(n)](&t18, &mut x2, 77, n);
let t19 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t19, 62, n);
mixed[per_item(n)](&t19, &mut x1, 62, n);
} else {
mix[per_item(n)](&mut x0, 34, n);
}
let t20 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t20, 37, n);
let t21 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t21, 84, n);
mixed[per_item(n)](&t21, &mut x1, 84, n);
mixed[per_item(n)](&t20, &mut x3, 37, n);
} else {
let f22 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f22, 2);
if f22 {
let t23 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t23, 53, n);
mixed[per_item(n)](&t23, &mut x1, 53, n);
let t24 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t24, 3, n);
mixed[per_item(n)](&t24, &mut x0, 3, n);
} else {
mix[per_item(n)](&mut x2, 31, n);
let t25 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t25, 45, n);
mixed[per_item(n)](&t25, &mut x3, 45, n);
}
let f26 = alloc::<u32>(1);
modulo[(1, 1)](&x3[..1], &mut f26, 2);
#[at_most(3)]
while f26 {
mix[per_item(n)](&mut x1, 23, n);
mix[per_item(n)](&mut x1, 1, n);
modulo[(1, 1)](&x3[..1], &mut f26, 2);
}
}
mixed[per_item(n)](&t11, &mut x1, 15, n);
let f27 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f27, 4);
match f27 {
0 | 2 => {
for _ in 0..two {
let t28 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t28, 82, n);
mixed[per_item(n)](&t28, &mut x1, 82, n);
}
let f29 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f29, 3);
if f29 {
mix[per_item(n)](&mut x1, 60, n);
}
}
_ => {
for _ in 0..two {
let f30 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f30, 2);
if f30 {
mix[per_item(n)](&mut x3, 0, n);
} else {
mix[per_item(n)](&mut x1, 50, n);
}
}
let c31 = alloc::<u32>(1);
fill(&mut c31, 0u32);
while c31 {
let f32 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f32, 2);
if !f32 {
let t33 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t33, 4, n);
mixed[per_item(n)](&t33, &mut x2, 4, n);
}
count_down[(1, 1)](&mut c31);
}
}
}
}

fn m30(x: &mut [u32; 4]) {
for _ in 0..2 {
if x[3] / 16 % 4 == 0 {
let t3 = step(x[0], 61);
x[2] = step(t3, 61);
} else {
if x[2] / 16 % 2 == 0 {
let t5 = step(x[2], 57);
x[3] = step(t5, 57);
let t6 = step(x[1], 61);
x[3] = step(t6, 61);
}
match x[1] / 16 % 4 {
1 => {
let t8 = step(x[1], 60);
x[2] = step(t8, 60);
}
_ => {
let t9 = step(x[3], 2);
x[0] = step(t9, 2);
let t10 = step(x[1], 73);
x[0] = step(t10, 73);
}
}
}
}
let t11 = step(x[3], 15);
if x[2] / 16 % 3 == 0 {
for _ in 0..2 {
let t14 = step(x[1], 95);
x[3] = step(t14, 95);
let t15 = step(x[3], 68);
x[2] = step(t15, 68);
}
}
if x[2] / 16 % 2 == 0 {
if x[0] / 16 % 2 != 0 {
let t18 = step(x[0], 77);
x[2] = step(t18, 77);
let t19 = step(x[2], 62);
x[1] = step(t19, 62);
} else {
x[0] = step(x[0], 34);
}
let t20 = step(x[2], 37);
let t21 = step(x[0], 84);
x[1] = step(t21, 84);
x[3] = step(t20, 37);
} else {
if x[0] / 16 % 2 != 0 {
let t23 = step(x[2], 53);
x[1] = step(t23, 53);
let t24 = step(x[1], 3);
x[0] = step(t24, 3);
} else {
x[2] = step(x[2], 31);
let t25 = step(x[1], 45);
x[3] = step(t25, 45);
}
for _ in 0..3 {
if x[3] / 16 % 2 == 0 { break; }
x[1] = step(x[1], 23);
x[1] = step(x[1], 1);
}
}
x[1] = step(t11, 15);
match x[2] / 16 % 4 {
0 | 2 => {
for _ in 0..2 {
let t28 = step(x[3], 82);
x[1] = step(t28, 82);
}
if x[1] / 16 % 3 != 0 {
x[1] = step(x[1], 60);
}
}
_ => {
for _ in 0..2 {
if x[1] / 16 % 2 != 0 {
x[3] = step(x[3], 0);
} else {
x[1] = step(x[1], 50);
}
}
for _ in 0..0 {
if x[0] / 16 % 2 == 0 {
let t33 = step(x[1], 4);
x[2] = step(t33, 4);
}
}
}
}
}

#[cuweave::graph(launches = "as-written")]
fn p31(n: u32, two: u32, x0: &mut [u32; n], x1: &mut [u32; n], x2: &mut [u32; n], x3: &mut [u32; n]) {
let f1 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f1, 3);
#[at_most(2)]
while f1 {
let f2 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f2, 3);
if !f2 {
let f3 = alloc::<u32>(1);
modulo[(1, 1)](&x0[..1], &mut f3, 3);
if !f3 {
mix[per_item(n)](&mut x1, 29, n);
} else {
let t4 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t4, 12, n);
mixed[per_item(n)](&t4, &mut x3, 12, n);
let t5 = alloc::<u32>(n);
mixed[per_item(n)](&x1, &mut t5, 42, n);
mixed[per_item(n)](&t5, &mut x3, 42, n);
}
} else {
for _ in 0..two {
mix[per_item(n)](&mut x3, 32, n);
}
let f6 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f6, 2);
#[at_most(3)]
while f6 {
mix[per_item(n)](&mut x1, 41, n);
mix[per_item(n)](&mut x0, 44, n);
modulo[(1, 1)](&x1[..1], &mut f6, 2);
}
}
modulo[(1, 1)](&x2[..1], &mut f1, 3);
}
let f7 = alloc::<u32>(1);
modulo[(1, 1)](&x1[..1], &mut f7, 4);
if !f7 {
mix[per_item(n)](&mut x0, 85, n);
} else {
let f8 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f8, 2);
if !f8 {
let f9 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f9, 4);
#[at_most(2)]
while f9 {
mix[per_item(n)](&mut x0, 46, n);
mix[per_item(n)](&mut x3, 97, n);
modulo[(1, 1)](&x2[..1], &mut f9, 4);
}
mix[per_item(n)](&mut x2, 58, n);
} else {
let t10 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t10, 27, n);
mixed[per_item(n)](&t10, &mut x3, 27, n);
let t11 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t11, 25, n);
let t12 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t12, 53, n);
mixed[per_item(n)](&t12, &mut x0, 53, n);
let t13 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t13, 40, n);
mixed[per_item(n)](&t13, &mut x2, 40, n);
mixed[per_item(n)](&t11, &mut x1, 25, n);
}
let t14 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t14, 40, n);
mixed[per_item(n)](&t14, &mut x0, 40, n);
}
for _ in 0..two {
for _ in 0..two {
let t15 = alloc::<u32>(n);
mixed[per_item(n)](&x3, &mut t15, 21, n);
mixed[per_item(n)](&t15, &mut x0, 21, n);
}
let c16 = alloc::<u32>(1);
fill(&mut c16, 2u32);
while c16 {
let t17 = alloc::<u32>(n);
mixed[per_item(n)](&x2, &mut t17, 19, n);
let t18 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t18, 85, n);
mixed[per_item(n)](&t18, &mut x3, 85, n);
mixed[per_item(n)](&t17, &mut x0, 19, n);
let f19 = alloc::<u32>(1);
modulo[(1, 1)](&x2[..1], &mut f19, 2);
if !f19 {
mix[per_item(n)](&mut x1, 3, n);
let t20 = alloc::<u32>(n);
mixed[per_item(n)](&x0, &mut t20, 11, n);
mixed[per_item(n)](&t20, &mut x1, 11, n);
}
count_down[(1, 1)](&mut c16);
}
}
}

fn m31(x: &mut [u32; 4]) {
for _ in 0..2 {
if x[2] / 16 % 3 == 0 { break; }
if x[0] / 16 % 3 == 0 {
if x[0] / 16 % 3 == 0 {
x[1] = step(x[1], 29);
} else {
let t4 = step(x[1], 12);
x[3] = step(t4, 12);
let t5 = step(x[1], 42);
x[3] = step(t5, 42);
}
} else {
for _ in 0..2 {
x[3] = step(x[3], 32);
}
for _ in 0..3 {
if x[1] / 16 % 2 == 0 { break; }
x[1] = step(x[1], 41);
x[0] = step(x[0], 44);
}
}
}
if x[1] / 16 % 4 == 0 {
x[0] = step(x[0], 85);
} else {
if x[2] / 16 % 2 == 0 {
for _ in 0..2 {
if x[2] / 16 % 4 == 0 { break; }
x[0] = step(x[0], 46);
x[3] = step(x[3], 97);
}
x[2] = step(x[2], 58);
} else {
let t10 = step(x[0], 27);
x[3] = step(t10, 27);
let t11 = step(x[3], 25);
let t12 = step(x[2], 53);
x[0] = step(t12, 53);
let t13 = step(x[0], 40);
x[2] = step(t13, 40);
x[1] = step(t11, 25);
}
let t14 = step(x[3], 40);
x[0] = step(t14, 40);
}
for _ in 0..2 {
for _ in 0..2 {
let t15 = step(x[3], 21);
x[0] = step(t15, 21);
}
for _ in 0..2 {
let t17 = step(x[2], 19);
let t18 = step(x[0], 85);
x[3] = step(t18, 85);
x[0] = step(t17, 19);
if x[2] / 16 % 2 == 0 {
x[1] = step(x[1], 3);
let t20 = step(x[0], 11);
x[1] = step(t20, 11);
}
}
}
}

#[test]
fn programs_mean_what_plain_rust_means() {
agrees!(p0, m0);
agrees!(p1, m1);
agrees!(p2, m2);
agrees!(p3, m3);
agrees!(p4, m4);
agrees!(p5, m5);
agrees!(p6, m6);
agrees!(p7, m7);
agrees!(p8, m8);
agrees!(p9, m9);
agrees!(p10, m10);
agrees!(p11, m11);
agrees!(p12, m12);
agrees!(p13, m13);
agrees!(p14, m14);
agrees!(p15, m15);
agrees!(p16, m16);
agrees!(p17, m17);
agrees!(p18, m18);
agrees!(p19, m19);
agrees!(p20, m20);
agrees!(p21, m21);
agrees!(p22, m22);
agrees!(p23, m23);
agrees!(p24, m24);
agrees!(p25, m25);
agrees!(p26, m26);
agrees!(p27, m27);
agrees!(p28, m28);
agrees!(p29, m29);
agrees!(p30, m30);
agrees!(p31, m31);
}
