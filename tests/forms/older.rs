//! Older devices and drivers only affect speed: graphs are built and give the same results, and the report lists
//! the changes that were not made, with the reasons.

use cuweave::report::Report;
use cuweave_core::ir::{Launches, Memory};

use super::function::{Device, Inputs, Printable, device};
use super::refused::{File, PLAIN, VOLUME};
use super::writer::{fork_and_chain, side_by_side};
use super::{FORMS, LAUNCHES, Seen, every_form};
use cuweave_testkit::process::apart;

/// Compute capabilities with driver versions: contemporary ones, and the oldest and newest that are supported. The
/// kernels are compiled for sm_70.
const OLD: [(&str, &str); 6] =
    [("7.0", "13.0"), ("7.5", "12.4"), ("8.0", "12.4"), ("8.6", "12.8"), ("8.9", "13.0"), ("8.0", "13.0")];
const NEW: [(&str, &str); 3] = [("9.0", "12.4"), ("10.0", "12.8"), ("12.0", "13.0")];

fn on(test: &str, (capability, version): (&str, &str)) {
    let settings =
        [("CUWEAVE_DRIVER", "sim"), ("CUWEAVE_SIM_CAPABILITY", capability), ("CUWEAVE_SIM_VERSION", version)];
    apart(test, &settings);
}

/// Returns the compute capability of the device, and true if it can start kernels early.
fn capability(device: &Device) -> ((i32, i32), bool) {
    let capability = device.ctx.compute_capability().expect("the device's capability");
    (capability, capability.0 >= 9)
}

#[test]
fn older_devices_and_drivers_change_nothing_but_speed() {
    for setting in OLD.into_iter().chain(NEW) {
        on("older::with_random_programs", setting);
    }
}

#[test]
#[ignore = "run by the test above, on each device"]
fn with_random_programs() {
    let device = device();
    let mut seen = Seen::default();
    (0..16).for_each(|seed| every_form(&device, seed, None, &mut seen));
    println!("{seen:?}");
    device.nothing_reported();
    let (capability, early) = capability(&device);
    assert!(seen.batches > 16, "{seen:?}");
    // Only measured devices flatten and serialize launches.
    let measured = capability == (9, 0);
    assert!(if measured { seen.batches > 64 && seen.flat > 16 } else { seen.flat == 0 }, "{seen:?}");
    assert!(measured || seen.serialized == 0, "{seen:?}");
    assert_eq!(seen.overlapped > 0, early, "{seen:?}");
}

#[test]
fn the_report_says_what_a_device_cannot() {
    OLD.into_iter().chain(NEW).for_each(|setting| on("older::with_a_report", setting));
}

#[test]
#[ignore = "run by the test above, on each device"]
fn with_a_report() {
    let device = device();
    let ((major, minor), early) = capability(&device);
    let function = fork_and_chain(VOLUME);
    let inputs = Inputs::random(1, &function, LAUNCHES);
    let report = |form| -> Report {
        let function = Printable::new(&function.with(form, Memory::Arena));
        device.run(function, &inputs).expect("it runs").1
    };
    for form in FORMS {
        let report = report(form);
        println!("{form:?}\n{report}\n");
        let [batched, overlapped] =
            [Launches::Batched, Launches::Overlapped].map(|one| form.is_none_or(|form| form == one));
        assert_eq!(report.batches.len(), usize::from(batched), "{report}");
        assert_eq!(report.overlapped > 0, overlapped && early, "{report}");
        let why = format!(
            "no kernel starts early: the device has compute capability {major}.{minor}, and 9.0 is needed"
        );
        let expected = if overlapped && !early { vec![why] } else { Vec::new() };
        let left_alone: Vec<String> = report.left_alone.iter().map(ToString::to_string).collect();
        assert_eq!(left_alone, expected, "{report}");
    }
}

/// More than 4,096 bytes of parameters need code for Volta or later and a device that runs it. Otherwise a batch is
/// split into several launches.
#[test]
fn a_batch_keeps_to_what_older_code_takes() {
    for setting in [("6.1", "12.4"), ("6.0", "13.0"), ("8.0", "12.4"), ("9.0", "13.0")] {
        on("older::with_many_members", setting);
    }
}

#[test]
#[ignore = "run by the test above, on each device"]
fn with_many_members() {
    const MEMBERS: usize = 300;
    let device = device();
    let function = side_by_side(VOLUME, MEMBERS);
    let inputs = Inputs::random(1, &function, LAUNCHES);
    let (capability, _) = capability(&device);
    // 256 records of 16 bytes fit into 4,096 bytes.
    for (head, batches) in [(".version 6.0\n.target sm_60", 2), (".version 7.0\n.target sm_70", 1)] {
        let kernel = File { head, ..PLAIN }.launched();
        let run = |form| {
            let function = Printable::new(&function.with(form, Memory::Arena)).launching(kernel);
            device.run(function, &inputs)
        };
        let batched = run(Some(Launches::Batched));
        if head.ends_with("sm_70") && capability < (7, 0) {
            let error = batched.expect_err("the device is older");
            assert!(error.contains("its `.target` is `sm_70`"), "{error}");
            continue;
        }
        let (left, report, _) = batched.expect("it runs");
        assert_eq!(left, run(Some(Launches::AsWritten)).expect("it runs").0, "{head}");
        let members: usize = report.batches.iter().map(Vec::len).sum();
        assert_eq!((report.batches.len(), members), (batches, MEMBERS), "{head}: {report}");
        assert_eq!(report.left_alone, [], "{head}");
    }
}
