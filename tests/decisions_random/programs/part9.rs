// Written by the test `the_programs_are_those_of_the_generator`.

use crate::*;

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
agrees!(p31, m31);
}
