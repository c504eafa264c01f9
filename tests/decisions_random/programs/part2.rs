// Written by the test `the_programs_are_those_of_the_generator`.

use crate::*;

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

#[test]
fn programs_mean_what_plain_rust_means() {
agrees!(p4, m4);
agrees!(p5, m5);
agrees!(p6, m6);
agrees!(p7, m7);
agrees!(p8, m8);
}
