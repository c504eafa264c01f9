//! Conditions that kernels set, and operands of other types than `u32`.

use cuweave::builder::Builder;
use cuweave::certificate::Certificate;
use cuweave::certificate::certificate::StatementKind;
use cuweave::prelude::*;
use cuweave_testkit::device::alone as device;

use crate::decide::{mix, step};

#[cuweave::kernels("tests/kernels/conditions.ptx")]
unsafe extern "ptx-kernel" {
    fn count_down_by(x: &mut [u32; 1], by: u32, go: Condition);
    fn decide_by(x: &[u32; 1], go: Condition);
    fn mix_until(x: &mut [u32; n], limit: &mut [u32; 1], by: u32, n: u32, go: Condition);
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Mixes until the limit is 0; not at all if it is 0 at first.
#[cuweave::graph]
fn mixed_until(n: u32, by: u32, limit: &mut [u32; 1], x: &mut [u32; n]) {
    let go = condition();
    decide_by[(1, 1)](&limit, &mut go);
    while go {
        mix_until[per_item(n)](&mut x, &mut limit, by, n, go);
    }
    mix[per_item(n)](&mut x, 7, n);
}

#[cuweave::graph]
fn if_only(n: u32, flag: &[u32; 1], x: &mut [u32; n]) {
    let go = condition();
    decide_by[(1, 1)](&flag, go);
    if go {
        mix[per_item(n)](&mut x, 3, n);
    }
    mix[per_item(n)](&mut x, 7, n);
}

#[cuweave::graph]
fn if_else(n: u32, flag: &[u32; 1], x: &mut [u32; n]) {
    let go = condition();
    decide_by[(1, 1)](&flag, go);
    if go {
        mix[per_item(n)](&mut x, 3, n);
    } else {
        mix[per_item(n)](&mut x, 4, n);
    }
}

#[cuweave::graph]
fn chosen(n: u32, index: &[u32; 1], x: &mut [u32; n]) {
    let arm = condition();
    decide_by[(1, 1)](&index, arm);
    match arm {
        0 => mix[per_item(n)](&mut x, 10, n),
        1 => {
            mix[per_item(n)](&mut x, 11, n);
            mix[per_item(n)](&mut x, 12, n);
        }
        2 => mix[per_item(n)](&mut x, 13, n),
        _ => {}
    }
}

/// Loops in loops: each level has a condition of its own, set before the loop and in it.
#[cuweave::graph]
fn nested(n: u32, counts: &mut [u32; 2], initial: &[u32; 1], x: &mut [u32; n]) {
    let (outer, inner) = counts.split_at_mut(1);
    let again = condition();
    decide_by[(1, 1)](&outer, again);
    while again {
        copy(&initial, &mut inner);
        let more = condition();
        decide_by[(1, 1)](&inner, more);
        while more {
            mix[per_item(n)](&mut x, 5, n);
            count_down_by[(1, 1)](&mut inner, 1, more);
        }
        mix[per_item(n)](&mut x, 6, n);
        count_down_by[(1, 1)](&mut outer, 1, again);
    }
}

/// The same with buffers, which kernels of cuweave read.
#[cuweave::graph]
fn nested_by_buffers(n: u32, counts: &mut [u32; 2], initial: &[u32; 1], x: &mut [u32; n]) {
    let (outer, inner) = counts.split_at_mut(1);
    while outer {
        copy(&initial, &mut inner);
        while inner {
            mix[per_item(n)](&mut x, 5, n);
            crate::decide::count_down[(1, 1)](&mut inner);
        }
        mix[per_item(n)](&mut x, 6, n);
        crate::decide::count_down[(1, 1)](&mut outer);
    }
}

/// One condition for each iteration of a loop that the build unrolls, also in a list.
#[cuweave::graph]
fn unrolled(n: u32, flags: &[&[u32; 1]], x: &mut [u32; n]) {
    for flag in flags {
        let go = condition();
        decide_by[(1, 1)](&flag, go);
        if go {
            mix[per_item(n)](&mut x, 9, n);
        }
    }
    for i in 0..2 {
        let go = condition();
        decide_by[(1, 1)](&flags[0], go);
        if go {
            mix[per_item(n)](&mut x, i + 1, n);
        }
    }
}

/// Two conditions that are set side by side.
#[cuweave::graph]
fn apart(n: u32, flags: &[u32; 2], x: &mut [u32; n], y: &mut [u32; n]) {
    let one = condition();
    let other = condition();
    decide_by[(1, 1)](&flags[0..1], one);
    decide_by[(1, 1)](&flags[1..2], other);
    if one {
        mix[per_item(n)](&mut x, 1, n);
    }
    if other {
        mix[per_item(n)](&mut y, 2, n);
    }
}

fn mixes(x: u32, all: &[u32]) -> u32 {
    all.iter().fold(x, |x, &by| step(x, by))
}

#[test]
fn a_loop_has_no_kernel_of_its_own() -> Outcome {
    let device = device();
    for limit in [0u32, 1, 5] {
        let (mut x, mut left) = (device.upload(&[1u32; 300]), device.upload(&[limit]));
        let graph = mixed_until(&device.ctx, 300, 2, &mut left, &mut x)?;
        let report = graph.report();
        assert_eq!((report.conditions, report.setters, report.kernels), (1, 0, 3), "{report}");
        let mut exec = graph.instantiate()?;
        exec.launch(&device.stream)?;
        drop(exec);
        let mut expected = vec![2; limit as usize];
        expected.push(7);
        assert_eq!(device.download(&x), [mixes(1, &expected); 300]);
    }
    Ok(())
}

#[test]
fn an_if_runs_where_the_kernel_says_so() -> Outcome {
    let device = device();
    for flag in [0u32, 1, 200] {
        let (mut x, given) = (device.upload(&[1u32; 8]), device.upload(&[flag]));
        let graph = if_only(&device.ctx, 8, &given, &mut x)?;
        assert_eq!(graph.report().setters, 0);
        let mut exec = graph.instantiate()?;
        for _ in 0..2 {
            exec.launch(&device.stream)?;
        }
        drop(exec);
        let once: &[u32] = if flag == 0 { &[7] } else { &[3, 7] };
        assert_eq!(device.download(&x), [mixes(1, &[once, once].concat()); 8]);

        let mut x = device.upload(&[1u32; 8]);
        if_else(&device.ctx, 8, &given, &mut x)?.instantiate()?.launch(&device.stream)?;
        assert_eq!(device.download(&x), [step(1, if flag == 0 { 4 } else { 3 }); 8]);
    }
    Ok(())
}

#[test]
fn a_match_takes_the_arm_of_the_number() -> Outcome {
    let device = device();
    for index in 0..5u32 {
        let (mut x, given) = (device.upload(&[1u32; 8]), device.upload(&[index]));
        let graph = chosen(&device.ctx, 8, &given, &mut x)?;
        assert_eq!((graph.report().conditions, graph.report().setters), (1, 0));
        graph.instantiate()?.launch(&device.stream)?;
        let arms: [&[u32]; 5] = [&[10], &[11, 12], &[13], &[], &[]];
        assert_eq!(device.download(&x), [mixes(1, arms[index as usize]); 8]);
    }
    Ok(())
}

#[test]
fn loops_in_loops() -> Outcome {
    let device = device();
    let initial = device.upload(&[3u32]);
    let mut results = Vec::new();
    for own in [true, false] {
        let (mut x, mut counts) = (device.upload(&[1u32; 64]), device.upload(&[4u32, 0]));
        if own {
            let graph = nested(&device.ctx, 64, &mut counts, &initial, &mut x)?;
            assert_eq!((graph.report().conditions, graph.report().setters), (2, 0), "{}", graph.report());
            graph.instantiate()?.launch(&device.stream)?;
        } else {
            let graph = nested_by_buffers(&device.ctx, 64, &mut counts, &initial, &mut x)?;
            assert_eq!((graph.report().conditions, graph.report().setters), (2, 4), "{}", graph.report());
            graph.instantiate()?.launch(&device.stream)?;
        }
        results.push(device.download(&x));
    }
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], [mixes(1, &[5, 5, 5, 6].repeat(4)); 64]);
    Ok(())
}

#[test]
fn loops_of_the_build_have_a_condition_each() -> Outcome {
    let device = device();
    let flags = [0u32, 1, 1].map(|flag| device.upload(&[flag]));
    let mut x = device.upload(&[1u32; 8]);
    let graph = unrolled(&device.ctx, 8, flags.iter().rev().collect(), &mut x)?;
    assert_eq!((graph.report().conditions, graph.report().setters), (5, 0));
    graph.instantiate()?.launch(&device.stream)?;
    assert_eq!(device.download(&x), [mixes(1, &[9, 9, 1, 2]); 8]);

    let flags = device.upload(&[1u32, 0]);
    let (mut x, mut y) = (device.upload(&[1u32; 8]), device.upload(&[1u32; 8]));
    let graph = apart(&device.ctx, 8, &flags, &mut x, &mut y)?;
    graph.instantiate()?.launch(&device.stream)?;
    assert_eq!((device.download(&x), device.download(&y)), (vec![step(1, 1); 8], vec![1; 8]));
    Ok(())
}

#[test]
fn it_is_profiled_drawn_verified_and_built_again() -> Outcome {
    let device = device();
    let (mut x, mut left) = (device.upload(&[1u32; 300]), device.upload(&[3u32]));
    let mut exec = mixed_until(&device.ctx, 300, 2, &mut left, &mut x)?.instantiate()?;
    assert!(exec.verify(&device.stream)?.is_equal());
    exec.set_by(4)?;
    exec.launch(&device.stream)?;
    assert!(exec.dot().contains("while"));
    exec.profile(&device.stream, 2)?;
    drop(exec);
    assert_eq!(device.download(&left)[0], 0);

    let (mut x, given) = (device.upload(&[1u32; 8]), device.upload(&[1u32]));
    let mut exec = chosen(&device.ctx, 8, &given, &mut x)?.instantiate()?;
    assert!(exec.verify(&device.stream)?.is_equal());
    exec.profile(&device.stream, 2)?;
    exec.launch(&device.stream)?;
    Ok(())
}

/// Without one of its edges, or as if a kernel decided, the certificate is refused.
#[test]
fn certificates_know_what_decides() -> Outcome {
    let device = device();
    let (mut x, mut left) = (device.upload(&[1u32; 300]), device.upload(&[3u32]));
    let right = mixed_until(&device.ctx, 300, 2, &mut left, &mut x)?.certificate();
    cuweave::certificate::check(&right)?;
    assert!(right.to_string().contains("decided"), "{right}");
    assert_eq!(right.plan.edges.len(), 2, "{right}");
    for edge in 0..right.plan.edges.len() {
        let mut wrong = right.clone();
        wrong.plan.edges.remove(edge);
        assert!(cuweave::certificate::check(&wrong).is_err(), "{wrong}");
    }
    for statement in &right.source.statements {
        assert_ne!(statement.kind, StatementKind::LoopDecision, "{right}");
    }
    let mut wrong = right.clone();
    for statement in &mut wrong.source.statements {
        if statement.kind == StatementKind::KernelDecision {
            statement.kind = StatementKind::Decision;
        }
    }
    assert!(cuweave::certificate::check(&wrong).is_err(), "{wrong}");
    assert_eq!(right.to_string().parse::<Certificate>()?, right);
    Ok(())
}

#[test]
fn the_builder_makes_the_same() -> Outcome {
    let device = device();
    for limit in [0u32, 4] {
        let (mut x, mut left) = (device.upload(&[1u32; 300]), device.upload(&[limit]));
        let mut b = Builder::with_name(&device.ctx, "mixed_until");
        let (l, y) = (b.exclusive("left", 1, &mut left), b.exclusive("x", 300, &mut x));
        let go = b.named("go").condition();
        b.launch(decide_by {}, (1, 1), (l.read(), go.write()))?;
        b.while_(&go, |b| {
            b.launch(mix_until {}, (2, 256), (y.write(), l.write(), 2u32, 300u32, go.write()))
        })?;
        let graph = b.build()?;
        assert_eq!((graph.report().conditions, graph.report().setters, graph.report().kernels), (1, 0, 2));
        graph.instantiate()?.launch(&device.stream)?;
        assert_eq!(device.download(&x), [mixes(1, &vec![2; limit as usize]); 300]);
    }
    Ok(())
}

/// Operands of other types.
#[cuweave::graph]
fn by_types(n: u32, byte: &[u8; 2], flag: &[bool; 1], number: &[i32; 1], x: &mut [u32; n]) {
    if &byte[1..2] {
        mix[per_item(n)](&mut x, 1, n);
    }
    if !flag {
        mix[per_item(n)](&mut x, 2, n);
    }
    match flag {
        false => mix[per_item(n)](&mut x, 3, n),
        true => mix[per_item(n)](&mut x, 4, n),
    }
    match number {
        0 => mix[per_item(n)](&mut x, 5, n),
        7 | 300 => mix[per_item(n)](&mut x, 6, n),
        _ => mix[per_item(n)](&mut x, 7, n),
    }
    #[at_most(3)]
    while &byte[1..2] {
        mix[per_item(n)](&mut x, 8, n);
    }
}

#[test]
fn operands_of_one_byte_and_of_signed_numbers() -> Outcome {
    let device = device();
    for (byte, flag, number) in [(0u8, false, 0i32), (1, true, 7), (255, false, 300), (0, true, -1)] {
        let (byte_at, flag_at) = (device.upload(&[77, byte]), device.upload(&[flag]));
        let (number_at, mut x) = (device.upload(&[number]), device.upload(&[1u32; 8]));
        let graph = by_types(&device.ctx, 8, &byte_at, &flag_at, &number_at, &mut x)?;
        graph.instantiate()?.launch(&device.stream)?;
        let mut expected = Vec::new();
        expected.extend((byte != 0).then_some(1));
        expected.extend((!flag).then_some(2));
        expected.push(if flag { 4 } else { 3 });
        expected.push(match number {
            0 => 5,
            7 | 300 => 6,
            _ => 7,
        });
        expected.extend(if byte != 0 { vec![8; 3] } else { Vec::new() });
        assert_eq!(device.download(&x), [mixes(1, &expected); 8]);
    }
    Ok(())
}
