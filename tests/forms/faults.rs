//! Lets each driver call of a graph with batches and programmatic edges fail once. Either the graph is still built
//! or the error is returned, and no object leaks.

use cudarc::driver::CudaSlice;
use cuweave::__private::{Kernel, Module, Param, ParamKind};
use cuweave_core::ir::{Memory, Mode};
use cuweave_testkit::faults::NOT_SUPPORTED;

use super::function::{Args, Device, Inputs, Printable, device, set};
use super::kernels::{Launched, Takes};
use super::writer::fork_and_chain;

/// Declares the kernels again without keeping them loaded, so that each build loads them.
static MODULE: Module = Module::new("tests/kernels/forms.ptx", include_bytes!("../kernels/forms.ptx"));
static MARCH: Launched = Launched {
    kernel: Kernel::new(
        "march",
        &MODULE,
        &[
            Param::fixed::<u32>("x", ParamKind::ReadWrite),
            Param::scalar::<u32>("n"),
            Param::scalar::<u32>("rounds"),
        ],
    ),
    takes: &[Takes::Buffer(Mode::ReadWrite), Takes::Len(0), Takes::Number],
    in_three: false,
    stages: false,
};

/// Calls that are not needed for launches as written: if they fail, the graph is built as written.
const FOR_SPEED: &[&str] =
    &["cuGraphAddDependencies_v2", "cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuFuncSetAttribute"];

/// Builds, instantiates, sets everything between launches, and returns the arguments. `ys` are the values for `y`.
fn scenario(
    device: &Device,
    args: Args<'static>,
    ys: Vec<CudaSlice<u32>>,
    inputs: &Inputs,
) -> cuweave::Result<Args<'static>> {
    let mut exec = device.build(args)?.instantiate()?;
    exec.core.launch(&device.stream, ())?;
    for (y, scalars) in ys.into_iter().zip(&inputs.scalars[1..]) {
        set(&mut exec, y, scalars)?;
        exec.core.launch(&device.stream, ())?;
    }
    Ok(exec.core.into_args())
}

#[test]
fn every_call_fails_once() {
    let device = device();
    if !device.simulated {
        return println!("not run: only the simulated driver fails on request");
    }
    device.schedule(0);
    let function = fork_and_chain(2);
    let inputs = Inputs::random(2, &function, 3);
    let function = Printable::new(&function.with(None, Memory::Nodes)).launching(&MARCH);
    let (right, report, _) = device.run(function, &inputs).expect("it runs");
    assert_eq!((report.batches.len(), report.overlapped, report.fused.len()), (1, 1, 1), "{report}");
    let prepared = || {
        let ys = (1..inputs.scalars.len()).map(|at| device.upload(&inputs.y[at % 2])).collect();
        (device.args(function, &inputs), ys)
    };
    let check = |args: &Args<'_>, what: &str| {
        let left = [args.x.view(), args.z.view()].map(|view| device.stream.clone_dtoh(&view));
        assert_eq!(left.map(|left| left.expect("a download")).as_slice(), right[2], "{what}");
    };
    let (args, ys) = prepared();
    let before = cuweave_sim::call_counts().expect("the simulated driver");
    let args = scenario(&device, args, ys, &inputs).expect("it runs");
    let after = cuweave_sim::call_counts().expect("the simulated driver");
    check(&args, "no fault");
    drop(args);
    let made = after.into_iter().filter(|(call, count)| before.get(call) != Some(count));
    let calls: Vec<String> = made.map(|(call, _)| call).collect();
    let mut told = 0;
    for call in &calls {
        let mut struck = 0;
        for number in 1.. {
            let what = format!("`{call}` {number}");
            let live = cuweave_sim::live_objects().expect("counts");
            let (args, ys) = prepared();
            cuweave_sim::inject_fault(call, number, NOT_SUPPORTED).expect("a fault");
            let run = scenario(&device, args, ys, &inputs);
            let over = cuweave_sim::clear_faults().expect("faults") > 0;
            let _ = device.ctx.check_err();
            match run {
                Ok(args) => check(&args, &what),
                Err(error) => {
                    told += 1;
                    assert!(!over && !FOR_SPEED.contains(&call.as_str()), "{what}: {error}");
                }
            }
            device.stream.synchronize().expect("all is well");
            assert_eq!(cuweave_sim::live_objects().expect("counts"), live, "{what} leaves something behind");
            if over {
                break;
            }
            struck += 1;
        }
        println!("{call}: {struck} times");
    }
    assert!(told > 20, "only {told} failures were told");
    assert!(FOR_SPEED[..2].iter().all(|call| calls.iter().any(|made| made == call)), "{calls:?}");
    device.nothing_reported();
}
