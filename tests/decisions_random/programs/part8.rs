// Written by the test `the_programs_are_those_of_the_generator`.

use crate::*;

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

#[test]
fn programs_mean_what_plain_rust_means() {
agrees!(p29, m29);
agrees!(p30, m30);
}
