// Written by the test `the_programs_are_those_of_the_generator`.

use crate::*;

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

#[test]
fn programs_mean_what_plain_rust_means() {
agrees!(p25, m25);
agrees!(p26, m26);
agrees!(p27, m27);
agrees!(p28, m28);
}
