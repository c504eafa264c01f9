//! Random chains of one block, run launch by launch and with elements in registers. Threads run one after another
//! between barriers, in both orders; the final memory must be equal.

use super::*;
use crate::coverage::MemoryInstruction;
use crate::coverage::ThreadBox;
use crate::coverage::sites::{AccessSite, ThreadAccess};
use std::collections::HashMap;

const BLOCK: [u64; 3] = [4, 2, 1];
const BUFFERS: u32 = 3;

/// A generator of pseudo-random numbers: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % count
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A load or store of the model.
#[derive(Clone, Debug)]
struct Op {
    buffer: u32,
    stores: bool,
    element: u32,
    bytes: u32,
    constant: i128,
    strides: [i128; 2],
    /// Only threads below these indices make the access.
    most: [u64; 2],
    /// True if it depends on data: some of these threads may not make it.
    maybe: bool,
}

impl Op {
    fn random(random: &mut Random, narrow: bool) -> Op {
        let strides = if narrow {
            random.of(&[[8, 32], [8, 32], [16, 64]])
        } else {
            random.of(&[[4, 16], [4, 20], [-4, 16], [0, 4], [4, 0], [8, 4], [16, 8], [8, 32], [16, 64]])
        };
        let element = if narrow { 4 } else { random.of(&[4, 4, 4, 8]) };
        let bytes = element * random.of(&[1, 1, 1, 2]);
        let most = random.of(&[[4, 2], [4, 2], [4, 2], [3, 2], [4, 1], [1, 1]]);
        let constant =
            256 + if narrow { random.of(&[0, 0, 0, 0, 4, 128]) } else { random.of(&[0, 0, 4, 8, 128]) };
        let (buffer, stores) = (random.below(BUFFERS.into()) as u32, random.below(2) == 0);
        Op { buffer, stores, element, bytes, constant, strides, most, maybe: random.below(6) == 0 }
    }

    fn does(&self, [x, y]: [u64; 2], seed: u64) -> bool {
        let by_data = !(x * 7 + y * 3 + seed).is_multiple_of(3);
        x < self.most[0] && y < self.most[1] && (!self.maybe || by_data)
    }

    fn addresses(&self, [x, y]: [u64; 2]) -> impl Iterator<Item = i128> {
        let first = self.constant + self.strides[0] * i128::from(x) + self.strides[1] * i128::from(y);
        (0..self.bytes / self.element).map(move |nth| first + i128::from(nth * self.element))
    }

    fn site(&self, at: u32) -> AccessSite {
        let stride = |axis: usize| (self.most[axis] > 1).then_some(self.strides[axis]);
        let one = (0, 1);
        AccessSite {
            access: MemoryInstruction {
                note: at,
                at,
                parameter: self.buffer,
                stores: self.stores,
                element: Some(self.element),
                bytes: self.bytes,
            },
            touched: Some(vec![ThreadAccess {
                threads: ThreadBox([(0, self.most[0]), (0, self.most[1]), one, one, one, one]),
                constant: self.constant,
                strides: [stride(0), stride(1), None, None, None, None],
                is_definite: !self.maybe,
                conditions: Vec::new(),
            }]),
        }
    }
}

type Memory = HashMap<(u32, i128), u8>;

fn load(memory: &Memory, buffer: u32, at: i128, bytes: u32) -> u64 {
    (0..bytes).rev().fold(0, |value, byte| {
        let start = (at + i128::from(byte)) as u8 ^ buffer as u8;
        value << 8 | u64::from(*memory.get(&(buffer, at + i128::from(byte))).unwrap_or(&start))
    })
}

fn store(memory: &mut Memory, buffer: u32, at: i128, bytes: u32, value: u64) {
    for byte in 0..bytes {
        memory.insert((buffer, at + i128::from(byte)), (value >> (8 * byte)) as u8);
    }
}

fn threads(reversed: bool) -> Vec<[u64; 2]> {
    let mut all: Vec<[u64; 2]> = (0..BLOCK[1]).flat_map(|y| (0..BLOCK[0]).map(move |x| [x, y])).collect();
    if reversed {
        all.reverse();
    }
    all
}

/// Runs a member in a thread, with its changes and the thread's registers.
fn run(
    ops: &[Op],
    thread: [u64; 2],
    member: usize,
    memory: &mut Memory,
    changes: &[AccessChange],
    registers: &mut HashMap<u32, u64>,
) {
    let mut seen = member as u64 * 1_000 + thread[0] * 10 + thread[1];
    for (at, op) in (0..).zip(ops) {
        if !op.does(thread, member as u64) {
            continue;
        }
        let change = changes.iter().find(|change| change.at == at);
        for (nth, address) in op.addresses(thread).enumerate() {
            let cell = change.and_then(|change| change.cells.get(nth).copied().flatten());
            let stays = change.is_none_or(|change| change.stays);
            if op.stores {
                let value = seen.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - 8 * op.element);
                if stays {
                    store(memory, op.buffer, address, op.element, value);
                }
                cell.map(|cell| registers.insert(cell, value));
            } else {
                let value = match (stays, cell) {
                    (false, Some(cell)) => *registers.get(&cell).expect("a register that was set"),
                    _ => load(memory, op.buffer, address, op.element),
                };
                cell.map(|cell| registers.insert(cell, value));
                seen = seen.wrapping_mul(31).wrapping_add(value);
            }
        }
    }
}

/// Returns true if a thread of a member accesses bytes that another thread writes.
fn races(ops: &[Op]) -> bool {
    let mut writers: HashMap<(u32, i128), [u64; 2]> = HashMap::new();
    let each = || threads(false).into_iter().flat_map(|thread| ops.iter().map(move |op| (thread, op)));
    let bytes = |thread: [u64; 2], op: &Op| -> Vec<(u32, i128)> {
        let all = op.addresses(thread).flat_map(|at| (0..op.element).map(move |byte| at + i128::from(byte)));
        let inside = thread[0] < op.most[0] && thread[1] < op.most[1];
        all.filter(|_| inside).map(|at| (op.buffer, at)).collect()
    };
    for (thread, op) in each().filter(|(_, op)| op.stores) {
        for byte in bytes(thread, op) {
            if *writers.entry(byte).or_insert(thread) != thread {
                return true;
            }
        }
    }
    each().any(|(thread, op)| {
        bytes(thread, op).iter().any(|byte| writers.get(byte).is_some_and(|writer| *writer != thread))
    })
}

#[test]
fn memory_is_that_of_the_launches() {
    let (mut loads, mut stores, mut without, mut out, mut chains) = (0, 0, 0, 0, 0);
    for seed in 0..30_000 {
        let random = &mut Random(seed);
        let narrow = seed % 2 == 0;
        let mut members: Vec<Vec<Op>> = Vec::new();
        for _ in 0..2 + random.below(4) {
            let ops: Vec<Op> = (0..1 + random.below(4)).map(|_| Op::random(random, narrow)).collect();
            if !races(&ops) {
                members.push(ops);
            }
        }
        if members.len() < 2 {
            continue;
        }
        chains += 1;
        let sites: Vec<AccessSites> = members
            .iter()
            .map(|ops| AccessSites {
                list: (0..).zip(ops).map(|(at, op)| op.site(at)).collect(),
                others: Vec::new(),
                loops: false,
            })
            .collect();
        let pointers: Vec<BufferPointer> =
            (0..BUFFERS).map(|at| BufferPointer { parameter: at, buffer: at, at: Some(0) }).collect();
        let of = |sites| ChainMember {
            sites,
            pointers: pointers.clone(),
            shares: false,
            converges: false,
            fixed: false,
        };
        let all: Vec<ChainMember<'_>> = sites.iter().map(of).collect();
        // Each buffer that is read first was written before the chain, except for buffer 0.
        let ends = |buffer: u32| buffer == 2;
        let found = plan_forwarding(&all, BLOCK.map(|count| count as u32), &ends);
        (loads, stores, out) = (loads + found.loads, stores + found.stores, out + found.elided.len());
        without += found.barriers.iter().filter(|stands| !**stands).count();

        let mut expected = Memory::new();
        for (at, ops) in members.iter().enumerate() {
            for thread in threads(false) {
                run(ops, thread, at, &mut expected, &[], &mut HashMap::new());
            }
        }
        for reversed in [false, true] {
            let mut memory = Memory::new();
            let mut registers: HashMap<[u64; 2], HashMap<u32, u64>> = HashMap::new();
            let mut first = 0;
            while first < members.len() {
                let end =
                    (first + 1..members.len()).find(|&at| found.barriers[at - 1]).unwrap_or(members.len());
                for thread in threads(reversed) {
                    let own = registers.entry(thread).or_default();
                    for (at, ops) in members.iter().enumerate().take(end).skip(first) {
                        run(ops, thread, at, &mut memory, &found.changes[at], own);
                    }
                }
                first = end;
            }
            let kept = |memory: &Memory| -> HashMap<(u32, i128), u8> {
                let left = |entry: &(&(u32, i128), &u8)| !found.elided.contains(&entry.0.0);
                memory.iter().filter(left).map(|(at, byte)| (*at, *byte)).collect()
            };
            assert!(kept(&memory) == kept(&expected), "{seed}: {members:#?}\n{found:#?}");
        }
    }
    println!("{chains} chains: {loads} loads, {stores} stores, {without} barriers and {out} buffers less");
    assert!(loads > 2_000 && stores > 2_000 && without > 2_000 && out > 100);
}

#[test]
fn what_is_not_known_is_left_alone() {
    let op = |stores| Op {
        buffer: 0,
        stores,
        element: 4,
        bytes: 4,
        constant: 0,
        strides: [4, 16],
        most: [4, 2],
        maybe: false,
    };
    let sites = |stores: bool, others: Vec<(u32, bool)>| AccessSites {
        list: vec![op(stores).site(0)],
        others,
        loops: false,
    };
    fn of(at: Option<u64>, sites: &AccessSites) -> ChainMember<'_> {
        let pointers = vec![BufferPointer { parameter: 0, buffer: 0, at }];
        ChainMember { sites, pointers, shares: false, converges: false, fixed: false }
    }
    let plain = [sites(true, Vec::new()), sites(false, Vec::new())];
    let found = |one: &AccessSites, other: &AccessSites, at: Option<u64>| {
        plan_forwarding(&[of(Some(0), one), of(at, other)], [4, 2, 1], &|_| true)
    };
    let known = found(&plain[0], &plain[1], Some(0));
    assert_eq!(
        (known.loads, known.stores, &known.elided[..], &known.barriers[..]),
        (1, 1, &[0][..], &[false][..])
    );
    // A setter may change the pointer, or the pointer has another offset.
    for at in [None, Some(4)] {
        let found = found(&plain[0], &plain[1], at);
        assert_eq!((found.loads, found.stores, &found.barriers[..]), (0, 0, &[true][..]));
    }
    // An unfollowed access may also read or write the buffer.
    for writes in [true, false] {
        let found = found(&sites(true, vec![(0, writes)]), &plain[1], Some(0));
        assert_eq!((found.stores, found.elided.len()), (0, 0));
        assert_eq!((found.loads, found.barriers[0]), if writes { (0, true) } else { (1, false) });
    }
}

/// The parts share the same shared memory: a thread may overwrite bytes that another thread still uses in an earlier
/// part.
#[test]
fn a_barrier_stands_between_parts_that_have_shared_memory_or_converge() {
    let op = |buffer| Op {
        buffer,
        stores: true,
        element: 4,
        bytes: 4,
        constant: 0,
        strides: [4, 16],
        most: [4, 2],
        maybe: false,
    };
    let sites = [0, 1, 2].map(|buffer| AccessSites {
        list: vec![op(buffer).site(0)],
        others: Vec::new(),
        loops: false,
    });
    let barriers = |shares: [bool; 3], converges: [bool; 3]| {
        let all: Vec<ChainMember<'_>> = (0..3)
            .map(|at| ChainMember {
                sites: &sites[at],
                pointers: vec![BufferPointer { parameter: at as u32, buffer: at as u32, at: Some(0) }],
                shares: shares[at],
                converges: converges[at],
                fixed: false,
            })
            .collect();
        plan_forwarding(&all, BLOCK.map(|count| count as u32), &|_| false).barriers
    };
    let none = [false; 3];
    assert_eq!(barriers(none, none), [false, false]);
    assert_eq!(barriers([true, true, false], none), [true, false]);
    // One barrier between the two is enough.
    assert_eq!(barriers([true, false, true], none), [false, true]);
    assert_eq!(barriers([true; 3], none), [true, true]);
    assert_eq!(barriers([false, true, false], none), [false, false]);
    assert_eq!(barriers(none, [false, true, false]), [true, true]);
    assert_eq!(barriers(none, [true, false, false]), [true, false]);
}
