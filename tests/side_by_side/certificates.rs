//! Certificates through the public interface. The graphs of programs are accepted, both as planned and as read back
//! from the driver. If the plan, the tables of batches or the certificate itself is broken, the rule that forbids
//! it refuses it.

use cuweave::__private::{change_next_plan, change_next_tables, read_back};
use cuweave::certificate::certificate::{Effect, NodeWork, Origin, Port, Storage};
use cuweave::certificate::{Certificate, Rule, check};
use cuweave::prelude::*;
use cuweave_testkit::device::{device, ramp, simulated};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn histogram(x: &[u32; n], bins: &[Atomic<u32>; k], n: u32, k: u32);
}

/// Temporaries that share bytes one after the other.
#[cuweave::graph(launches = "as-written")]
fn relay(n: u32, x: &[f32; n]) -> [f32; n] {
    let a = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut a, n);
    let b = alloc::<f32>(n);
    copy_to[per_item(n)](&a, &mut b, n);
    let c = alloc::<f32>(n);
    copy_to[per_item(n)](&b, &mut c, n);
    let d = alloc::<f32>(n);
    copy_to[per_item(n)](&c, &mut d, n);
    d
}

/// The same, with memory nodes.
#[cuweave::graph(launches = "as-written", memory = "nodes")]
fn relay_in_nodes(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut a, n);
    let b = alloc::<f32>(n);
    copy_to[per_item(n)](&a, &mut b, n);
    copy(&b, &mut out);
}

/// Sequential launches: fused, with `h` in registers.
#[cuweave::graph]
fn fused(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    scale[per_item(n)](&mut h, 2.0, n);
    add[per_item(n)](&h, &x, &mut out, n);
}

/// Parallel launches: one batch, and a chain of early edges after it.
#[cuweave::graph(launches = "batched")]
fn batched(n: u32, out: &mut [f32; 3 * n]) {
    iota[per_item(n)](&mut out[..n], 1.0, n);
    iota[per_item(n)](&mut out[n..2 * n], 2.0, n);
    iota[per_item(n)](&mut out[2 * n..], 3.0, n);
}

/// Launches that may start early.
#[cuweave::graph(launches = "overlapped")]
fn overlapped(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
    scale[per_item(n)](&mut x, 3.0, n);
    scale[per_item(n)](&mut x, 4.0, n);
}

/// Decisions in a loop, with a temporary in each iteration and one in each arm.
#[cuweave::graph]
fn decided(n: u32, flag: &[u32; 1], x: &mut [f32; n], go: &mut [u32; 1]) {
    #[at_most(3)]
    while go {
        let t = alloc::<f32>(n);
        copy_to[per_item(n)](&x, &mut t, n);
        if flag {
            let u = alloc::<f32>(n);
            copy_to[per_item(n)](&t, &mut u, n);
            axpy[per_item(n)](1.0, &u, &mut x, n);
        } else {
            axpy[per_item(n)](2.0, &t, &mut x, n);
        }
        fill(&mut go, 0);
    }
}

/// An allocation after a statement that uses a temporary in the same arena. The arena must still be allocated
/// before that statement.
#[cuweave::graph]
fn late(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    let first = copy_to[per_item(n)](&x, &mut a, n);
    #[after(first)]
    let b = alloc::<f32>(n);
    iota[per_item(n)](&mut b, 1.0, n);
    add[per_item(n)](&a, &b, &mut out, n);
}

/// Atomics that commute, before a read of them.
#[cuweave::graph]
fn counted(n: u32, k: u32, x: &[u32; n], y: &[u32; n], out: &mut [u32; k]) {
    let bins = alloc::<u32>(k);
    fill(&mut bins, 0);
    histogram[per_item(n)](&x, atomic(&mut bins), n, k);
    histogram[(1, 32)](&y, atomic(&mut bins), n, k);
    copy(&bins, &mut out);
}

/// An argument that another graph has returned.
#[cuweave::graph]
fn taken(n: u32, h: [f32; n], out: &mut [f32; n]) {
    scale[per_item(n)](&mut h, 2.0, n);
    copy(&h, &mut out);
}

/// Explicit order.
#[cuweave::graph(order = "explicit")]
fn explicit(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    let one = scale[per_item(n)](&mut x, 2.0, n);
    #[after(one)]
    let two = axpy[per_item(n)](1.0, &x, &mut y, n);
    #[after(two)]
    scale[per_item(n)](&mut x, 0.5, n);
}

/// Checks the certificate of a graph in all ways and returns it.
macro_rules! accepted {
    ($graph:expr) => {{
        let graph = $graph.expect("it builds");
        let certificate = graph.certificate();
        assert_eq!(check(&certificate), Ok(()), "{certificate}");
        let back = read_back(&graph).expect("it is read back");
        assert_eq!(check(&back), Ok(()), "{back}");
        assert_eq!(certificate.source, back.source);
        for one in [&certificate, &back] {
            assert_eq!(one.to_string().parse().as_ref(), Ok(one), "{one}");
        }
        let exec = graph.instantiate().expect("it instantiates");
        assert_eq!(check(&exec.certificate()), Ok(()));
        (back, exec)
    }};
}

/// Checks that a rule refuses a modified certificate.
#[track_caller]
fn refused(certificate: &Certificate, rule: Rule, change: impl FnOnce(&mut Certificate)) {
    let mut changed = certificate.clone();
    change(&mut changed);
    assert_ne!(changed, *certificate, "nothing is changed");
    match check(&changed) {
        Err(refusal) => assert_eq!(refusal.rule, rule, "{refusal}"),
        Ok(()) => panic!("accepted:\n{changed}"),
    }
}

/// Returns the first node that runs a statement with that name.
fn node_of(certificate: &Certificate, name: &str) -> usize {
    let is = |work: &NodeWork| match work {
        NodeWork::Run { members, .. } => {
            members.iter().any(|member| certificate.source.statements[member.statement].name == name)
        }
        _ => false,
    };
    certificate.plan.nodes.iter().position(|node| is(&node.work)).expect("there is such a node")
}

#[test]
fn temporaries_share_bytes_one_after_the_other() {
    let d = device();
    let x = d.upload(&ramp(64));
    let (certificate, exec) = accepted!(relay(&d.ctx, 64, &x));
    drop(exec);
    let shared =
        certificate.plan.places.iter().filter(|place| matches!(place.at, Storage::In { .. })).count();
    assert_eq!(shared, 4);
    refused(&certificate, Rule::Conflicts, |one| {
        let runs = |node: usize| matches!(one.plan.nodes[node].work, NodeWork::Run { .. });
        let edges = one.plan.edges.iter();
        let mut between = edges.enumerate().filter(|(_, edge)| runs(edge.from) && runs(edge.to));
        let (at, _) = between.next().expect("one launch comes after another");
        one.plan.edges.remove(at);
    });
    refused(&certificate, Rule::Inside, |one| {
        let offset = one.plan.places.iter_mut().find_map(|place| match &mut place.at {
            Storage::In { offset, .. } => Some(offset),
            _ => None,
        });
        *offset.expect("a temporary") += 256;
    });
    // An address far from all others.
    refused(&certificate, Rule::Values, |one| {
        one.plan.blocks.iter_mut().for_each(|block| block.address += 1 << 60);
    });
    refused(&certificate, Rule::Lifetimes, |one| {
        one.plan.nodes.iter_mut().for_each(|node| {
            if matches!(node.work, NodeWork::Free(_)) {
                node.work = NodeWork::Run { members: Vec::new(), forwards: Vec::new() };
            }
        });
    });
    let mut out = d.zeros::<f32>(64);
    let (certificate, exec) = accepted!(relay_in_nodes(&d.ctx, 64, &x, &mut out));
    drop(exec);
    let frees: Vec<usize> = (0..certificate.plan.nodes.len())
        .filter(|&node| matches!(certificate.plan.nodes[node].work, NodeWork::Free(_)))
        .collect();
    assert!(!frees.is_empty());
    for free in frees {
        refused(&certificate, Rule::Lifetimes, |one| one.plan.edges.retain(|edge| edge.to != free));
    }
}

#[test]
fn fused_launches_touch_their_own_bytes() {
    let d = device();
    let (x, mut out) = (d.upload(&ramp(1024)), d.zeros::<f32>(1024));
    let (certificate, exec) = accepted!(fused(&d.ctx, 1024, &x, &mut out));
    drop(exec);
    let node = node_of(&certificate, "add");
    let places = certificate.plan.places.iter();
    assert_eq!(places.filter(|place| place.at == Storage::Registers(node)).count(), 1, "{certificate}");
    let members = |one: &mut Certificate, change: &mut dyn FnMut(&mut Vec<_>, &mut Vec<_>)| {
        if let NodeWork::Run { members, forwards, .. } = &mut one.plan.nodes[node].work {
            change(members, forwards);
        }
    };
    refused(&certificate, Rule::Conflicts, |one| members(one, &mut |members, _| members.swap(0, 1)));
    refused(&certificate, Rule::Registers, |one| members(one, &mut |_, forwards| forwards.clear()));
    refused(&certificate, Rule::Registers, |one| {
        members(one, &mut |members, forwards| {
            forwards.iter_mut().for_each(|forward| forward.writer = members[0].statement);
        });
    });
    refused(&certificate, Rule::Blocks, |one| members(one, &mut |members, _| members[1].touches.clear()));
    refused(&certificate, Rule::Blocks, |one| {
        members(one, &mut |members, _| {
            let spans = members[0].touches.iter_mut().filter_map(|touches| touches.writes.as_mut()).flatten();
            spans.for_each(|span| span.bytes += 1);
        });
    });
    refused(&certificate, Rule::Statements, |one| members(one, &mut |members, _| drop(members.pop())));
}

#[test]
fn batches_and_early_edges_are_what_was_planned() {
    let d = device();
    let mut out = d.zeros::<f32>(300);
    let (certificate, exec) = accepted!(batched(&d.ctx, 100, &mut out));
    drop(exec);
    let node = node_of(&certificate, "iota");
    refused(&certificate, Rule::Values, |one| {
        if let NodeWork::Run { members, .. } = &mut one.plan.nodes[node].work {
            members[1].addresses[0] += 4;
        }
    });
    refused(&certificate, Rule::Conflicts, |one| {
        let accesses = &mut one.source.statements[1].accesses;
        (accesses[0].lo, accesses[0].hi) = (0, 400);
    });
    let mut x = d.upload(&ramp(64));
    let (certificate, exec) = accepted!(overlapped(&d.ctx, 64, &mut x));
    drop(exec);
    let early = certificate.plan.edges.iter().filter(|edge| edge.port == Port::Early).count();
    if d.ctx.compute_capability().is_ok_and(|capability| capability.0 >= 9) {
        assert_eq!(early, 2, "{certificate}");
        refused(&certificate, Rule::Conflicts, |one| one.plan.nodes[1].waits = false);
    }
}

#[test]
fn bodies_run_when_they_are_decided() {
    let d = device();
    let (flag, mut x, mut go) = (d.upload(&[1u32]), d.upload(&ramp(64)), d.upload(&[1u32]));
    let (certificate, exec) = accepted!(decided(&d.ctx, 64, &flag, &mut x, &mut go));
    drop(exec);
    assert_eq!(certificate.source.bodies.len(), 4, "{certificate}");
    let branches: Vec<usize> = (0..certificate.plan.nodes.len())
        .filter(|&node| matches!(certificate.plan.nodes[node].work, NodeWork::Branch(_)))
        .collect();
    assert!(branches.len() >= 2);
    for branch in branches {
        refused(&certificate, Rule::Bodies, |one| one.plan.edges.retain(|edge| edge.to != branch));
    }
    refused(&certificate, Rule::Reads, |one| {
        let temporary = one.source.memories.iter().position(|memory| memory.name == "t").expect("`t`");
        let writes = one.source.statements.iter_mut().flat_map(|statement| &mut statement.accesses);
        let writes = writes.filter(|access| access.memory == temporary && access.effect == Effect::Write);
        writes.for_each(|access| access.effect = Effect::MayWrite);
    });
    refused(&certificate, Rule::Lifetimes, |one| {
        let free =
            one.plan.nodes.iter().position(|node| matches!(node.work, NodeWork::Free(_))).expect("a free");
        one.plan.edges.retain(|edge| edge.to != free);
    });
}

#[test]
fn atomics_commute_with_their_class_alone() {
    let d = device();
    let (x, mut out) = (d.upload(&[1u32; 64]), d.zeros::<u32>(8));
    let (certificate, exec) = accepted!(counted(&d.ctx, 64, 8, &x, &x, &mut out));
    drop(exec);
    let updates = |one: &Certificate| {
        let accesses = one.source.statements.iter().flat_map(|statement| &statement.accesses);
        accesses.filter(|access| matches!(access.effect, Effect::Update(_))).count()
    };
    assert_eq!(updates(&certificate), 2, "{certificate}");
    refused(&certificate, Rule::Conflicts, |one| {
        one.source.statements[1].accesses[1].effect = Effect::Update("max.u32".to_owned());
    });
}

#[test]
fn an_alloc_after_a_user_of_its_arena_leaves_no_statement_out() {
    let d = device();
    let (x, mut out) = (d.upload(&ramp(64)), d.zeros::<f32>(64));
    let (certificate, mut exec) = accepted!(late(&d.ctx, 64, &x, &mut out));
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    let members = |work: &NodeWork| if let NodeWork::Run { members, .. } = work { members.len() } else { 0 };
    assert_eq!(certificate.plan.nodes.iter().map(|node| members(&node.work)).sum::<usize>(), 3);
    let expected: Vec<f32> = ramp(64).iter().zip(0..).map(|(x, at)| x + 1.0 + at as f32).collect();
    assert_eq!(d.download(&out), expected);
}

#[test]
fn what_is_taken_over_is_freed_once() {
    let d = device();
    let (x, mut out) = (d.upload(&ramp(64)), d.zeros::<f32>(64));
    let mut producer = relay(&d.ctx, 64, &x).expect("it builds").instantiate().expect("it instantiates");
    let (certificate, consumer) = accepted!(taken(&d.ctx, 64, producer.output(), &mut out));
    let free = certificate.plan.nodes.iter().position(|node| matches!(node.work, NodeWork::FreeTaken(..)));
    let free = free.expect("a free of `h`");
    refused(&certificate, Rule::Lifetimes, |one| one.plan.edges.retain(|edge| edge.to != free));
    refused(&certificate, Rule::Lifetimes, |one| {
        if let NodeWork::FreeTaken(_, address) = &mut one.plan.nodes[free].work {
            *address += 256;
        }
    });
    refused(&certificate, Rule::Lifetimes, |one| {
        let h = one.source.memories.iter_mut().find(|memory| matches!(memory.origin, Origin::Taken(_)));
        h.expect("`h`").returned = true;
    });
    drop(consumer);
    drop(producer.launch(&d.stream).expect("it is launched"));
}

#[test]
fn the_users_order_is_kept() {
    let d = device();
    let (mut x, mut y) = (d.upload(&ramp(64)), d.upload(&ramp(64)));
    let (certificate, exec) = accepted!(explicit(&d.ctx, 64, &mut x, &mut y));
    drop(exec);
    refused(&certificate, Rule::UserOrder, |one| {
        one.source.statements.iter_mut().for_each(|statement| statement.accesses.clear());
        one.plan.nodes.iter_mut().for_each(|node| {
            if let NodeWork::Run { members, .. } = &mut node.work {
                members.iter_mut().for_each(|member| {
                    member.addresses.clear();
                    member.touches.clear();
                    member.elided.clear();
                });
            }
        });
        one.source.after.push((2, 0));
    });
}

/// A plan that is broken before its nodes are added is refused, both as planned and as read back.
#[test]
fn broken_plans_are_refused() {
    let Some(d) = simulated() else { return };
    let x = d.upload(&ramp(64));
    change_next_plan(|_, operations| operations.list.iter_mut().last().expect("nodes").after.clear());
    let graph = relay(&d.ctx, 64, &x).expect("it builds");
    let rules = [&graph.certificate(), &read_back(&graph).expect("it is read back")]
        .map(|certificate| check(certificate).expect_err("it is broken").rule);
    assert!(rules.iter().all(|rule| *rule != Rule::Form), "{rules:?}");
}

/// A wrong number in the table of a batch is visible in what is read back from the driver.
#[test]
fn broken_tables_are_refused_when_they_are_read_back() {
    let Some(d) = simulated() else { return };
    let mut out = d.zeros::<f32>(300);
    change_next_tables(|table, packed| packed.put_number(table.records + table.parameters[0].offset, 4));
    let graph = batched(&d.ctx, 100, &mut out).expect("it builds");
    let refusal = check(&read_back(&graph).expect("it is read back")).expect_err("it is broken");
    assert_eq!(refusal.rule, Rule::Values, "{refusal}");
}

/// Launches with a number: alone, in a chain within one kernel, in parallel; fills of four and of eight bytes; a
/// copy.
#[cuweave::graph]
fn settable(n: u32, a: f32, bits: u64, x: &mut [f32; n], y: &mut [f32; 2 * n], z: &mut [u64; 2 * n]) {
    scale[per_item(n)](&mut x, a, n);
    scale[per_item(n)](&mut x, a, n);
    fill(&mut y, a);
    scale[per_item(n)](&mut y[..n], a, n);
    scale[per_item(n)](&mut y[n..], a, n);
    fill(&mut z[..n], bits);
    copy(&z[..n], &mut z[n..]);
}

/// The values that setters write to the nodes of an exec are read back with the graph. In this repository, cargo
/// sets `CUWEAVE_CHECK=1`; otherwise no node is read back.
#[test]
fn what_setters_give_is_read_back() {
    if std::env::var_os("CUWEAVE_CHECK").is_none_or(|value| value == "0") {
        return;
    }
    let d = device();
    let (mut x, mut y) = (d.upload(&ramp(64)), d.upload(&ramp(128)));
    let (mut z, mut more) = (d.zeros::<u64>(128), d.zeros::<u64>(128));
    let graph = settable(&d.ctx, 64, 2.0, 7, &mut x, &mut y, &mut z).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let given = |certificate: &Certificate| {
        assert_eq!(check(certificate), Ok(()));
        let runs = certificate.plan.nodes.iter().filter_map(|node| match &node.work {
            NodeWork::Run { members, .. } => Some(members),
            _ => None,
        });
        let mut members: Vec<_> = runs.flatten().collect();
        members.sort_by_key(|member| member.statement);
        members.iter().map(|one| (one.addresses.clone(), one.numbers.clone())).collect::<Vec<_>>()
    };
    let before = given(&exec.certificate());
    assert_eq!(before.len(), 7);
    exec.set_a(3.0).expect("it is set");
    exec.set_bits(1 << 40).expect("it is set");
    exec.set_z(&mut more).expect("it is set");
    exec.launch(&d.stream).expect("it is launched");
    let after = given(&exec.certificate());
    for (at, (before, after)) in before.iter().zip(&after).enumerate() {
        assert!(!after.1.is_empty(), "statement {at} has numbers");
        // The first five use `a`, and the sixth uses `bits`; the last two use `z`.
        assert_eq!(before.1 != after.1, at < 6, "the numbers of statement {at}");
        assert_eq!(before.0 != after.0, at >= 5, "the addresses of statement {at}");
    }
    drop(exec);
    assert_eq!(d.download(&more), [1 << 40; 128]);
}
