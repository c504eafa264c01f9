//! The driver's sentences about advice, each as the places of the pages before and after an access.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use cuweave::Managed;
use cuweave::managed::{Attach, Location};
use cuweave::prelude::*;
use cuweave_sim::PageCounts;

use crate::programs::kernels::{copy_to, scale};
use crate::support::{contexts, silent, streams, with_devices};

/// Two pages.
const LEN: usize = 2 * 1024;

#[cuweave::graph]
fn doubled(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
}

#[cuweave::graph]
fn copied(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    copy_to[per_item(n)](&x, &mut out, n);
}

/// The devices of the process.
struct Devices {
    streams: Vec<Arc<CudaStream>>,
}

impl Devices {
    fn new() -> Devices {
        Devices { streams: streams(&contexts()) }
    }

    /// Returns managed memory whose pages are all on device 0.
    fn memory(&self) -> Managed<f32> {
        let x = Managed::zeros(&self.streams[0], LEN, Attach::Global).expect("managed memory");
        self.prefetch(&x, Location::Device(0));
        x
    }

    fn prefetch(&self, x: &Managed<f32>, to: Location) {
        x.prefetch(&self.streams[0], .., to).expect("a prefetch");
    }

    /// Reads the memory on a device. Returns what that adds to the counts of pages.
    fn read(&self, device: usize, x: &Managed<f32>) -> PageCounts {
        let stream = &self.streams[device];
        let mut out = stream.alloc_zeros::<f32>(LEN).expect("an allocation");
        let graph = copied(stream.context(), LEN as u32, x, &mut out).expect("it builds");
        let mut exec = graph.instantiate().expect("an exec");
        counted(|| exec.launch(stream).expect("it launches"))
    }

    /// Writes the memory on a device. Returns what that adds to the counts of pages.
    fn write(&self, device: usize, x: &Managed<f32>) -> PageCounts {
        let stream = &self.streams[device];
        let graph = doubled(stream.context(), LEN as u32, x).expect("it builds");
        let mut exec = graph.instantiate().expect("an exec");
        counted(|| exec.launch(stream).expect("it launches"))
    }
}

fn counted(work: impl FnOnce()) -> PageCounts {
    let pages = || cuweave_sim::page_counts().expect("the simulated driver");
    let before = pages();
    work();
    pages() - before
}

/// Returns the numbers of pages on devices 0 and 1 and on the host.
fn places() -> [u64; 3] {
    let resident = |device: Option<u32>| cuweave_sim::resident_pages(device).expect("the simulated driver");
    [Some(0), Some(1), None].map(resident)
}

#[test]
fn mostly_read_pages_have_copies_until_one_is_written() {
    with_devices("advice::read_mostly", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn read_mostly() {
    let devices = Devices::new();
    let x = devices.memory();
    x.set_read_mostly(..).expect("advice");
    // A prefetch copies the pages, and so does a read, on the host too.
    devices.prefetch(&x, Location::Device(1));
    assert_eq!(places(), [2, 2, 0]);
    drop(x.host().expect("a view"));
    assert_eq!(places(), [2, 2, 2]);
    let found = devices.write(0, &x);
    assert_eq!((places(), found.device_faults), ([2, 0, 0], 2));
    let found = devices.read(1, &x);
    assert_eq!((places(), found.copied, found.migrated), ([2, 2, 0], 2, 0));
    // Without the advice one page of each stays, and reads move it.
    x.unset_read_mostly(..).expect("advice");
    assert_eq!(places(), [2, 0, 0]);
    let found = devices.read(1, &x);
    assert_eq!((places(), found.copied, found.migrated), ([0, 2, 0], 0, 2));
    // If there is a copy at the preferred location, that one stays.
    x.set_read_mostly(..).expect("advice");
    devices.read(0, &x);
    drop(x.host().expect("a view"));
    assert_eq!(places(), [2, 2, 2]);
    x.set_preferred_location(.., Location::Device(1)).expect("advice");
    x.unset_read_mostly(..).expect("advice");
    assert_eq!(places(), [0, 2, 0]);
    silent();
}

#[test]
fn read_mostly_overrides_other_advice() {
    with_devices("advice::overridden", 2, &[]);
    with_devices("advice::not_overridden", 1, &[("CUWEAVE_SIM_CONCURRENT", "0")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn overridden() {
    let devices = Devices::new();
    // Without read-mostly, a reader maps pages of their preferred location, and accessed pages are mapped already.
    for read_mostly in [false, true] {
        let x = devices.memory();
        x.set_preferred_location(.., Location::Device(0)).expect("advice");
        if read_mostly {
            x.set_read_mostly(..).expect("advice");
        }
        let found = devices.read(1, &x);
        let copied = if read_mostly { 2 } else { 0 };
        assert_eq!((places(), found.device_faults, found.copied), ([2, copied, 0], 2, copied));
        drop(x);
        let x = devices.memory();
        x.set_accessed_by(.., Location::Device(1)).expect("advice");
        if read_mostly {
            x.set_read_mostly(..).expect("advice");
        }
        let found = devices.read(1, &x);
        assert_eq!((places(), found.device_faults, found.copied), ([2, copied, 0], copied, copied));
    }
    silent();
}

/// Devices without concurrent access get no copies, so read-mostly does not override the preferred location.
#[test]
#[ignore = "run by the test above, in a process of its own"]
fn not_overridden() {
    let devices = Devices::new();
    let mut x = Managed::<f32>::zeros(&devices.streams[0], LEN, Attach::Global).expect("managed memory");
    drop(x.host_mut().expect("a view"));
    x.set_preferred_location(.., Location::Host).expect("advice");
    x.set_read_mostly(..).expect("advice");
    let found = devices.read(0, &x);
    assert_eq!((found.device_faults, found.copied, found.migrated), (2, 0, 0));
    assert_eq!(cuweave_sim::resident_pages(None), Ok(2));
    silent();
}

#[test]
fn a_preferred_location_guides_faults() {
    with_devices("advice::preferred", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn preferred() {
    let devices = Devices::new();
    let mut x = devices.memory();
    x.set_preferred_location(.., Location::Device(1)).expect("advice");
    assert_eq!(places(), [2, 0, 0], "the advice moves nothing");
    devices.prefetch(&x, Location::Host);
    assert_eq!(places(), [0, 0, 2], "and prevents no prefetch");
    // Pages elsewhere move to the processor that accesses them.
    let found = devices.write(0, &x);
    assert_eq!((places(), found.migrated), ([2, 0, 0], 2));
    // At their preferred location they stay if the processor can map them, as a peer can and the host cannot.
    devices.prefetch(&x, Location::Device(1));
    let found = devices.write(0, &x);
    assert_eq!((places(), found.device_faults, found.migrated), ([0, 2, 0], 2, 0));
    drop(x.host_mut().expect("a view"));
    assert_eq!(places(), [0, 0, 2]);
    // Without the advice they move to the peer.
    devices.prefetch(&x, Location::Device(1));
    x.unset_preferred_location(..).expect("advice");
    devices.write(0, &x);
    assert_eq!(places(), [2, 0, 0]);
    silent();
}

#[test]
fn accessed_pages_stay_mapped_wherever_they_are() {
    with_devices("advice::accessed_by", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn accessed_by() {
    let devices = Devices::new();
    let mut x = devices.memory();
    x.set_accessed_by(.., Location::Device(1)).expect("advice");
    assert_eq!(places(), [2, 0, 0], "the advice moves nothing");
    let found = devices.write(1, &x);
    assert_eq!((places(), found.device_faults), ([2, 0, 0], 0));
    // The mapping follows pages that a prefetch moves, and pages that the host moves.
    devices.prefetch(&x, Location::Host);
    let found = devices.write(1, &x);
    assert_eq!((places(), found.device_faults), ([0, 0, 2], 0));
    devices.prefetch(&x, Location::Device(0));
    drop(x.host_mut().expect("a view"));
    assert_eq!(places(), [0, 0, 2], "the host maps no device");
    let found = devices.write(1, &x);
    assert_eq!((places(), found.device_faults), ([0, 0, 2], 0));
    // If the same device is the preferred location, its accesses fault and move the pages there.
    x.set_preferred_location(.., Location::Device(1)).expect("advice");
    let found = devices.write(1, &x);
    assert_eq!((places(), found.device_faults), ([0, 2, 0], 2));
    // Without the advice, accesses fault again.
    x.unset_preferred_location(..).expect("advice");
    x.unset_accessed_by(.., Location::Device(1)).expect("advice");
    devices.prefetch(&x, Location::Device(0));
    let found = devices.write(1, &x);
    assert_eq!((places(), found.device_faults), ([0, 2, 0], 2));
    silent();
}
