// Written by the test `the_programs_are_those_of_the_generator`.

use crate::*;

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

#[test]
fn programs_mean_what_plain_rust_means() {
agrees!(p15, m15);
agrees!(p16, m16);
agrees!(p17, m17);
}
