//! Budgets with device-side conditionals, around them and within their bodies.

use cuweave::prelude::*;
use cuweave_testkit::device::alone;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
}

const N: u32 = 1 << 10;
const ONE: u64 = 4 << 10;

fn step(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

#[cuweave::graph(memory = "arena", budget = bytes, launches = "as-written")]
fn within(n: u32, bytes: u64, x: &mut [u32; n], y: &mut [u32; n], z: &mut [u32; n], flag: &[u32; 1]) {
    if flag {
        let a = alloc::<u32>(n);
        mixed[per_item(n)](&x, &mut a, 1, n);
        let b = alloc::<u32>(n);
        mixed[per_item(n)](&y, &mut b, 2, n);
        mixed[per_item(n)](&a, &mut x, 3, n);
        mixed[per_item(n)](&b, &mut y, 4, n);
    }
    let c = alloc::<u32>(n);
    mixed[per_item(n)](&z, &mut c, 5, n);
    mixed[per_item(n)](&c, &mut z, 6, n);
}

#[test]
fn budgets_hold_around_and_within_bodies() {
    let device = alone();
    let flag = device.upload(&[1u32]);
    for (budget, most) in [(3 * ONE, 3 * ONE), (2 * ONE, 2 * ONE), (ONE, ONE)] {
        for seed in 0..4 {
            device.schedule(seed);
            let [mut x, mut y, mut z] = [7u32, 8, 9].map(|word| device.upload(&vec![word; N as usize]));
            let graph = within(&device.ctx, N, budget, &mut x, &mut y, &mut z, &flag).expect("it builds");
            let plan = graph.report().plan.expect("there is a plan");
            assert!(plan.planned <= most, "{}", graph.report());
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&device.stream).expect("it launches");
            drop(exec);
            let found = [&x, &y, &z].map(|buffer| device.download(buffer)[0]);
            assert_eq!(found, [step(step(7, 1), 3), step(step(8, 2), 4), step(step(9, 5), 6)]);
            device.nothing_reported();
        }
    }
}

/// Bodies and concurrent statements, where a budget must order each body as a whole.
#[cuweave::graph(memory = "arena", budget = bytes)]
fn straddled(n: u32, bytes: u64, x: &mut [u32; n], y: &mut [u32; n], z: &mut [u32; n], flag: &mut [u32; 1]) {
    let c = alloc::<u32>(n);
    mixed[per_item(n)](&z, &mut c, 1, n);
    if flag {
        let a = alloc::<u32>(n);
        mixed[per_item(n)](&x, &mut a, 2, n);
        mixed[per_item(n)](&a, &mut x, 3, n);
        let b = alloc::<u32>(n);
        mixed[per_item(n)](&x, &mut b, 4, n);
        mixed[per_item(n)](&b, &mut x, 5, n);
        while flag {
            let d = alloc::<u32>(n);
            mixed[per_item(n)](&x, &mut d, 6, n);
            mixed[per_item(n)](&d, &mut x, 7, n);
            count_down[(1, 1)](&mut flag);
        }
    } else {
        let e = alloc::<u32>(n);
        mixed[per_item(n)](&x, &mut e, 8, n);
        mixed[per_item(n)](&e, &mut x, 9, n);
    }
    let f = alloc::<u32>(n);
    mixed[per_item(n)](&y, &mut f, 10, n);
    mixed[per_item(n)](&f, &mut y, 11, n);
    let g = alloc::<u32>(n);
    mixed[per_item(n)](&y, &mut g, 12, n);
    mixed[per_item(n)](&g, &mut y, 13, n);
    mixed[per_item(n)](&c, &mut z, 14, n);
}

#[test]
fn a_budget_orders_a_body_as_a_whole() {
    let device = alone();
    for (budget, turns) in [(4 * ONE, 2u32), (3 * ONE, 1), (2 * ONE, 0), (2 * ONE, 3), (ONE, 0), (ONE, 2)] {
        for seed in 0..4 {
            device.schedule(seed);
            let [mut x, mut y, mut z] = [7u32, 8, 9].map(|word| device.upload(&vec![word; N as usize]));
            let mut flag = device.upload(&[turns]);
            let graph = straddled(&device.ctx, N, budget, &mut x, &mut y, &mut z, &mut flag);
            let graph = graph.unwrap_or_else(|error| panic!("{budget} bytes: {error}"));
            let report = graph.report();
            let plan = report.plan.clone().expect("there is a plan");
            assert!(plan.planned <= budget && plan.optimal, "{report}");
            let curve = graph.budget_curve(3).expect("a curve");
            assert_eq!(curve.last().map(|point| point.planned), Some(ONE), "{curve:?}");
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&device.stream).expect("it launches");
            drop(exec);
            let of_x = match turns {
                0 => vec![8, 9],
                _ => [vec![2, 3, 4, 5], [6, 7].repeat(turns as usize)].concat(),
            };
            let expected = [
                of_x.into_iter().fold(7, step),
                [10, 11, 12, 13].into_iter().fold(8, step),
                [1, 14].into_iter().fold(9, step),
            ];
            assert_eq!([&x, &y, &z].map(|buffer| device.download(buffer)[0]), expected);
            device.nothing_reported();
        }
    }
    let [mut x, mut y, mut z] = [7u32, 8, 9].map(|word| device.upload(&vec![word; N as usize]));
    let mut flag = device.upload(&[1u32]);
    let error = straddled(&device.ctx, N, ONE - 1, &mut x, &mut y, &mut z, &mut flag).err();
    let error = error.expect("one buffer alone needs more").to_string();
    assert!(error.contains("below the floor") && error.contains("4096 bytes"), "{error}");
}

/// Whichever temporary is outside, one is in use while the body runs.
#[cuweave::graph(memory = "arena", budget = bytes)]
fn tight(n: u32, bytes: u64, x: &mut [u32; n], y: &mut [u32; 2 * n], z: &[u32; n], flag: &[u32; 1]) {
    let c = alloc::<u32>(n);
    mixed[per_item(n)](&x, &mut c, 1, n);
    if flag {
        let k = alloc::<u32>(2 * n);
        mixed[per_item(2 * n)](&y, &mut k, 2, 2 * n);
        mixed[per_item(2 * n)](&k, &mut y, 3, 2 * n);
        mixed[per_item(n)](&z, &mut x, 4, n);
        let l = alloc::<u32>(2 * n);
        mixed[per_item(2 * n)](&y, &mut l, 5, 2 * n);
        mixed[per_item(2 * n)](&l, &mut y, 6, 2 * n);
    }
    let d = alloc::<u32>(n);
    mixed[per_item(n)](&c, &mut d, 7, n);
    mixed[per_item(n)](&d, &mut x, 8, n);
}

#[test]
fn a_budget_that_no_order_around_a_body_meets_is_over() {
    let device = alone();
    let flag = device.upload(&[1u32]);
    for (bytes, fits) in [(3 * ONE, true), (3 * ONE - 1, false), (2 * ONE, false), (2 * ONE - 1, false)] {
        let (mut x, z) = (device.upload(&vec![7u32; N as usize]), device.upload(&vec![8u32; N as usize]));
        let mut y = device.upload(&vec![9u32; 2 * N as usize]);
        let built = tight(&device.ctx, N, bytes, &mut x, &mut y, &z, &flag);
        let text = built.as_ref().err().map(ToString::to_string).unwrap_or_default();
        assert_eq!(built.is_ok(), fits, "{text}");
        let expected = match bytes {
            _ if fits => String::new(),
            bytes if bytes >= 2 * ONE => {
                format!(
                    "no order was found that fits into the budget of {bytes} bytes; the best one takes 16384"
                )
            }
            bytes => format!("the budget of {bytes} bytes is below the floor: `mixed`"),
        };
        assert!(text.contains(&expected), "{text}");
    }
}
