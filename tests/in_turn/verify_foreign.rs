//! Random programs of kernels that NVRTC and Triton compiled: all forms are equal to their statements, and planted
//! differences in rewritten kernels are found and named.

use std::cell::RefCell;
use std::rc::Rc;

use cudarc::driver::CudaSlice;
use cuweave::__private::change_code;
use cuweave::builder::{Builder, Exec, Handle, Launches, Memory};
use cuweave::verify::{DifferenceCause, Rewriting, RewrittenNode};
use cuweave_testkit::device::{Device, alone};
use cuweave_testkit::random::Random;

mod kernels;
mod planted;

use kernels::{KERNELS, N, launch};
use planted::{KINDS, Kind};

const ARGUMENTS: usize = 6;
const FORMS: [Option<Launches>; 4] =
    [None, Some(Launches::Fused), Some(Launches::Batched), Some(Launches::Overlapped)];
const MEMORIES: [Memory; 3] = [Memory::Arena, Memory::Nodes, Memory::Owned];

/// A random program and its arguments.
struct Program {
    exec: Exec<'static>,
    arguments: Vec<Handle>,
}

/// Returns a random program: steps that launch one kernel on several buffers, some of them temporaries.
fn program(device: &Device, seed: u64, form: Option<Launches>) -> Program {
    let mut random = Random::new(seed);
    let mut b = Builder::with_name(&device.ctx, &format!("foreign {seed}"));
    b.memory(MEMORIES[(seed % 3) as usize]);
    if let Some(form) = form {
        b.launches(form);
    }
    let none = b.shared("none", 1_u32, device.zeros::<u8>(1));
    let arguments: Vec<Handle> = (0..ARGUMENTS)
        .map(|at| b.exclusive(&format!("x{at}"), N, device.upload(&random.floats(N as usize))))
        .collect();
    let mut buffers = arguments.clone();
    for _ in 0..random.below(3_u32) {
        let temporary = b.alloc::<f32>(N);
        let from = random.choose(&buffers);
        b.copy(&from, temporary.write()).expect("a copy");
        buffers.push(temporary);
    }
    for _ in 0..2 + random.below(4_u32) {
        let (kernel, wide) = (random.below(KERNELS), random.one_in(2_u32));
        let mut free = buffers.clone();
        let mut take = |random: &mut Random| free.swap_remove(random.below(free.len()));
        let [p, q] = [take(&mut random), take(&mut random)];
        // Launches on different buffers may be batched, and the next ones on the same buffers fused with them.
        let pairs: Vec<[Handle; 2]> =
            (0..1 + random.below(2_u32)).map(|_| [take(&mut random), take(&mut random)]).collect();
        for [x, y] in pairs {
            launch(&mut b, kernel, wide, [x, y, p, q], none);
            if random.one_in(2_u32) {
                launch(&mut b, random.below(KERNELS), wide, [x, y, p, q], none);
            }
        }
    }
    let exec = b.build().expect("a graph").instantiate().expect("an exec");
    Program { exec, arguments }
}

/// Returns the bits of all arguments after a launch.
fn launched(device: &Device, Program { mut exec, arguments }: Program) -> Vec<Vec<u32>> {
    exec.launch(&device.stream).expect("a launch");
    let mut args = exec.into_args();
    let taken = arguments.into_iter().map(|handle| args.take::<CudaSlice<f32>>(handle).expect("an argument"));
    taken.map(|slice| device.download(&slice).into_iter().map(f32::to_bits).collect()).collect()
}

#[test]
fn every_form_is_equal_to_its_statements() {
    let device = alone();
    let (mut compared, mut rewritten) = (0, 0);
    // In program 257 a store to an argument is elided while another argument is read.
    for seed in (0..device.scaled(300, 24)).chain([257]) {
        for form in FORMS {
            let Program { mut exec, .. } = program(&device, seed, form);
            let report = exec.report();
            rewritten += report.batches.len() + report.fused.len() + report.overlapped;
            let verification = exec.verify(&device.stream).expect("a verification");
            assert!(verification.is_equal(), "program {seed}, {form:?}: {verification}\n{report}");
            compared += verification.compared();
        }
    }
    device.nothing_reported();
    println!("{compared} bytes, {rewritten} rewritings");
    assert!(rewritten > 100 && compared > 1_000_000, "{compared} bytes, {rewritten} rewritings");
}

/// The text in which a difference is planted, and the changed text.
type Changed = Rc<RefCell<Option<(String, String)>>>;

/// Plants a difference in the first rewritten text that this thread loads and that has the instruction. The value that
/// it returns ends that when dropped.
fn plant(seed: u64, kind: &'static Kind) -> (Changed, impl Drop) {
    struct Unchanged;
    impl Drop for Unchanged {
        fn drop(&mut self) {
            change_code(None);
        }
    }
    let changed = Changed::default();
    let shared = changed.clone();
    change_code(Some(Box::new(move |text| {
        let mut changed = shared.borrow_mut();
        if changed.is_none() && rewriting(text).is_some() {
            let new = planted::change(text, kind, seed)?;
            *changed = Some((text.to_owned(), new));
        }
        let (old, new) = changed.as_ref()?;
        (old == text).then(|| new.clone())
    })));
    (changed, Unchanged)
}

/// Returns how a text was rewritten.
fn rewriting(text: &str) -> Option<Rewriting> {
    if text.contains("cuweave_fused") {
        Some(Rewriting::Fused)
    } else if text.contains("cuweave_batch") {
        Some(Rewriting::Batched)
    } else {
        text.contains("griddepcontrol.wait").then_some(Rewriting::Waiting)
    }
}

/// A difference in one instruction of one rewritten kernel is found whenever it changes the bytes of an argument, and
/// its node is named.
#[test]
fn planted_differences_are_found_and_named() {
    let device = alone();
    let wanted = device.scaled(6, 1);
    for kind in &KINDS {
        let Kind { name, races, .. } = *kind;
        let (mut found, mut silent) = (0, 0);
        for seed in 0..200 {
            if found == wanted {
                break;
            }
            let form = FORMS[(seed % 4) as usize];
            let (changed, planting) = plant(seed, kind);
            let Program { mut exec, arguments } = program(&device, seed, form);
            if changed.borrow().is_none() {
                continue;
            }
            let verification = exec.verify(&device.stream).expect("a verification");
            let bytes = launched(&device, Program { exec, arguments });
            drop(planting);
            let expected = launched(&device, program(&device, seed, Some(Launches::AsWritten)));
            let what = format!("{name}, program {seed}, {form:?}: {verification}");
            let Some((old, _)) = changed.take() else { continue };
            match verification.difference().map(|difference| &difference.cause) {
                None => {
                    assert!(bytes == expected || races, "not found: {what}");
                    silent += 1;
                }
                Some(DifferenceCause::Node(RewrittenNode { rewriting: how, stores, .. })) => {
                    assert!(bytes != expected || races, "{what}");
                    assert_eq!(Some(*how), rewriting(&old), "{what}");
                    assert!(!stores.is_empty(), "{what}");
                    found += 1;
                }
                Some(_) => assert!(races, "not named: {what}"),
            }
        }
        println!("{name}: {found} found, {silent} without effect");
        assert!(found == wanted || name == "no barrier", "{name}: {found} found, {silent} without effect");
    }
    let _ = cuweave_sim::take_reports();
}
