// Written by the test `the_programs_are_those_of_the_generator`.

use crate::*;

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

#[test]
fn programs_mean_what_plain_rust_means() {
agrees!(p18, m18);
agrees!(p19, m19);
agrees!(p20, m20);
}
