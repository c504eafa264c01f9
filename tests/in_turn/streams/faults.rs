//! The order over the life of an exec while driver calls fail and the context keeps errors.

use cudarc::driver::CudaContext;
use cuweave_testkit::device::{Device, simulated_alone};
use cuweave_testkit::faults::{CURRENT, NOT_SUPPORTED, ORDER};
use cuweave_testkit::timeline::{OrderedWork, trace};

use super::{End, N, address, assert_after, both, data, keep_an_error};

/// A disturbance, and the step before which it occurs.
#[derive(Clone, Copy, Debug)]
enum Trouble<'c> {
    None,
    /// The nth of these calls fails.
    Fault(usize, &'c str, u64),
    /// The context keeps an earlier error.
    Kept(usize),
}

struct Steps<'t> {
    ctx: &'t CudaContext,
    trouble: Trouble<'t>,
    at: usize,
    struck: bool,
}

impl Steps<'_> {
    /// Runs a step, and repeats it if it fails.
    fn step<T>(&mut self, mut work: impl FnMut() -> cuweave::Result<T>) -> T {
        let result = self.armed(&mut work);
        result.or_else(|_| work()).expect("a step that nothing hinders")
    }

    fn armed<T>(&mut self, work: impl FnOnce() -> T) -> T {
        match self.trouble {
            Trouble::Fault(at, call, nth) if at == self.at => {
                cuweave_sim::inject_fault(call, nth, NOT_SUPPORTED).expect("a fault")
            }
            Trouble::Kept(at) if at == self.at => {
                keep_an_error(self.ctx);
            }
            _ => {}
        }
        let result = work();
        if let Trouble::Fault(at, ..) = self.trouble
            && at == self.at
        {
            self.struck = cuweave_sim::clear_faults().expect("faults") == 0;
        }
        self.at += 1;
        result
    }
}

const STEPS: usize = 9;

/// Binds, launches, reads, sets, launches on another stream and ends. Checks the order of all of it. Returns true
/// if a call failed.
fn scenario(device: &Device, end: End, trouble: Trouble<'_>) -> bool {
    let ctx = &device.ctx;
    let [a, b, c] = [device.new_stream(), device.new_stream(), device.new_stream()];
    let case = format!("{end:?}, {trouble:?}");
    let (mut x, mut other, mut out) = (data(&a, 1), data(&a, 5), data(&b, 0));
    let (y, sum, late) = (data(&c, 2), data(&a, 0), [7; N as usize]);
    let addresses = [address(&x), address(&y), address(&out), address(&sum), address(&other)];
    ctx.synchronize().expect("all is well");
    let mut steps = Steps { ctx, trouble, at: 0, struck: false };
    let (_, work) = trace(|| {
        // Written on streams that do not own them, right before they are bound.
        b.memcpy_htod(&late, &mut x).expect("an upload");
        c.memcpy_htod(&late, &mut other).expect("an upload");
        let mut owned = Some((y, sum));
        let graph = {
            let built = steps.armed(|| {
                let (y, sum) = owned.take().expect("buffers");
                both(ctx, N, &x, y, &mut out, sum)
            });
            match built {
                Ok(graph) => graph,
                // The failed build has dropped the owned buffer.
                Err(_) => return,
            }
        };
        let mut exec = match steps.armed(|| graph.instantiate()) {
            Ok(exec) => exec,
            Err(_) => return,
        };
        steps.step(|| exec.launch(&a));
        {
            let mut views = steps.armed(|| exec.args_mut());
            let _ = ctx.check_err();
            c.memcpy_htod(&late, &mut views.sum).expect("an upload");
        }
        steps.step(|| exec.launch(&b));
        steps.step(|| exec.set_x(&other));
        steps.step(|| exec.launch(&c));
        steps.step(|| exec.launch(&device.stream));
        steps.armed(|| match end {
            End::Drop => drop(exec),
            End::Forget => std::mem::forget(exec),
            End::IntoArgs => drop(exec.into_args()),
        });
        let _ = ctx.check_err();
        let mut read = [0; N as usize];
        c.memcpy_dtoh(&out, &mut read).expect("a download");
        if end != End::Forget {
            c.memcpy_htod(&late, &mut x).expect("an upload");
            b.memcpy_htod(&late, &mut other).expect("an upload");
        }
        drop((x, other, out));
    });
    check(&work, addresses, &case);
    let _ = ctx.check_err();
    ctx.synchronize().expect("all is well");
    steps.struck
}

/// Panics unless all work that conflicts with a launch is ordered with it.
fn check(work: &[OrderedWork], [x, y, out, sum, other]: [u64; 5], case: &str) {
    for (at, launch) in work.iter().enumerate().filter(|(_, work)| work.name == "cuGraphLaunch") {
        let conflicts = |work: &OrderedWork| {
            [x, y, other].iter().any(|&address| work.changes(address))
                || [out, sum].iter().any(|&address| work.touches(address))
                || work.name == "cuModuleUnload"
        };
        for earlier in work[..at].iter().filter(|work| conflicts(work) && work.name != "cuModuleUnload") {
            assert_after(launch, earlier, case);
        }
        for later in work[at + 1..].iter().filter(|work| conflicts(work)) {
            assert_after(later, launch, case);
        }
    }
}

#[test]
fn every_call_fails_in_every_step() {
    let Some(device) = simulated_alone() else { return };
    let mut struck = 0;
    for end in [End::Drop, End::Forget, End::IntoArgs] {
        scenario(&device, end, Trouble::None);
        for step in 0..STEPS {
            scenario(&device, end, Trouble::Kept(step));
            for call in CURRENT.iter().chain(ORDER) {
                let mut nth = 1;
                while scenario(&device, end, Trouble::Fault(step, call, nth)) {
                    nth += 1;
                    struck += 1;
                }
            }
        }
    }
    assert!(struck > 200, "only {struck} faults struck");
}
