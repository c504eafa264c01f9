//! Verifications of random programs: every form is equal to the statements as written, also after setters, and the
//! launches between give the same bytes as without.

use cuweave::Error;
use cuweave_core::ir::{Launches, Memory};

use super::function::{Inputs, Printable, device, set};
use super::writer::random;
use super::{FORMS, LAUNCHES, MEMORIES, PROGRAMS};

#[test]
fn every_form_is_equal_to_its_statements() {
    let device = device();
    let (mut compared, mut verified) = (0, 0);
    for seed in 0..PROGRAMS / 8 {
        let [program, one_by_one] = random(seed);
        let inputs = Inputs::random(seed, &program, LAUNCHES);
        device.schedule(0);
        let one_by_one = one_by_one.with(Some(Launches::AsWritten), Memory::Owned);
        let meaning = device.meaning(Printable::new(&one_by_one), &inputs);
        for (by, form) in FORMS.into_iter().enumerate() {
            let memory = MEMORIES[(seed as usize + by) % MEMORIES.len()];
            device.schedule((seed + by as u64) % 5);
            let what = format!("program {seed}, {form:?}, {memory:?}");
            let function = Printable::new(&program.with(form, memory));
            let graph = device.build(device.args(function, &inputs)).expect("it builds");
            let mut exec = graph.instantiate().expect("it instantiates");
            for (at, (scalars, left)) in inputs.scalars.iter().zip(&meaning).enumerate() {
                if at > 0 {
                    set(&mut exec, device.upload(&inputs.y[at % 2]), scalars).expect("setters");
                }
                match exec.core.verify(&device.stream, ()) {
                    Ok(verification) => {
                        assert!(verification.is_equal(), "{what}: {verification}");
                        compared += verification.compared();
                        verified += 1;
                    }
                    // Some programs write a module variable.
                    Err(Error::Verification(fault)) => {
                        assert!(fault.to_string().contains("`counter`"), "{fault}")
                    }
                    Err(error) => panic!("{what}: {error}: {:#?}", cuweave_sim::reports()),
                }
                let launched = device.launch(&mut exec).expect("it launches");
                assert!(launched == *left, "{what}: other bytes in launch {at}");
            }
            assert_eq!(exec.core.launches(), LAUNCHES as u64);
        }
    }
    device.nothing_reported();
    println!("{compared} bytes in {verified} verifications");
    assert!(verified > 200 && compared > 100_000, "{compared} bytes in {verified} verifications");
}
