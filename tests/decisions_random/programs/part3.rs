// Written by the test `the_programs_are_those_of_the_generator`.

use crate::*;

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

#[test]
fn programs_mean_what_plain_rust_means() {
agrees!(p9, m9);
agrees!(p10, m10);
agrees!(p11, m11);
agrees!(p12, m12);
agrees!(p13, m13);
agrees!(p14, m14);
}
