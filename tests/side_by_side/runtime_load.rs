//! Modules and kernels that the driver or device does not support are refused at build time. The error names the
//! file and its target.

use cuweave::Error;
use cuweave::error::{ConfigFault, KernelFault};
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, device};

mod blackwell {
    #[cuweave::kernels("tests/kernels/load/blackwell.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn ones(x: &mut [f32; 1]);
    }
}

mod future {
    #[cuweave::kernels("tests/kernels/load/future.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn ones(x: &mut [f32; 1]);
    }
}

mod ampere {
    #[cuweave::kernels("tests/kernels/load/raise.sm_80.cubin")]
    unsafe extern "ptx-kernel" {
        pub fn raise(x: &mut [f32; n], by: f32, n: u32);
    }
}

mod hopper {
    #[cuweave::kernels("tests/kernels/load/raise.sm_90.cubin")]
    unsafe extern "ptx-kernel" {
        pub fn raise(x: &mut [f32; n], by: f32, n: u32);
    }
}

/// The same machine code with a wrong declaration, which the macro cannot detect.
mod misdeclared {
    #[cuweave::kernels("tests/kernels/load/raise.sm_90.cubin")]
    unsafe extern "ptx-kernel" {
        pub fn raise(x: &mut [f32; n], by: f64, n: u32);
    }

    pub mod shorter {
        #[cuweave::kernels("tests/kernels/load/raise.sm_90.cubin")]
        unsafe extern "ptx-kernel" {
            pub fn raise(x: &mut [f32; n], n: u32);
        }
    }
}

#[cuweave::kernels("tests/kernels/load/clusters.ptx")]
unsafe extern "ptx-kernel" {
    fn ones_by_four(x: &mut [f32; n], n: u32);
    fn ones_by_some(x: &mut [f32; n], n: u32);
}

/// Returns the compute capability of the device.
fn capability(device: &Device) -> (i32, i32) {
    device.ctx.compute_capability().expect("the device's capability")
}

/// Returns true if the device runs code for compute capability 9.0.
fn is_hopper(device: &Device) -> bool {
    capability(device) == (9, 0)
}

#[cuweave::graph]
fn of_blackwell(x: &mut [f32; 1]) {
    blackwell::ones[(1, 1)](&mut x);
}

#[cuweave::graph]
fn of_the_future(x: &mut [f32; 1]) {
    future::ones[(1, 1)](&mut x);
}

#[cuweave::graph]
fn of_ampere(n: u32, x: &mut [f32; n]) {
    ampere::raise[per_item(n)](&mut x, 1.0, n);
}

#[cuweave::graph]
fn of_hopper(n: u32, x: &mut [f32; n]) {
    hopper::raise[per_item(n)](&mut x, 1.0, n);
}

#[cuweave::graph]
fn wider(n: u32, x: &mut [f32; n]) {
    misdeclared::raise[per_item(n)](&mut x, 1.0, n);
}

#[cuweave::graph]
fn shorter(n: u32, x: &mut [f32; n]) {
    misdeclared::shorter::raise[per_item(n)](&mut x, n);
}

const CLUSTERS: u32 = line!() + 2;
#[cuweave::graph]
fn clusters(blocks: u32, x: &mut [f32; blocks]) {
    ones_by_four[(blocks, 1)](&mut x, blocks);
}

#[cuweave::graph]
fn unsized_clusters(blocks: u32, x: &mut [f32; blocks]) {
    ones_by_some[(blocks, 1)](&mut x, blocks);
}

/// Returns the text of an error about a module, and checks that it names the file.
fn module_error<T>(result: cuweave::Result<T>, file: &str) -> String {
    match result {
        Err(error @ Error::Module(_)) => {
            let text = error.to_string();
            println!("{text}");
            assert!(text.starts_with(&format!("tests/kernels/load/{file} cannot be loaded: ")), "{text}");
            text
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("{file} is refused"),
    }
}

#[test]
fn ptx_of_another_architecture() {
    let device = device();
    if capability(&device) == (10, 0) {
        return println!("not run: this device is of that architecture");
    }
    if device.driver.version() < (12, 7) {
        return println!("not run: to this driver the version of the PTX is unknown, too");
    }
    let text = module_error(of_blackwell(&device.ctx, device.zeros::<f32>(1)), "blackwell.ptx");
    let (major, minor) = capability(&device);
    assert!(
        text.contains(&format!(
            "its `.target` is `sm_100a`, and the device has compute capability {major}.{minor}"
        )),
        "{text}"
    );
    assert!(text.contains("\nhelp: compile it for `sm_"), "{text}");
}

#[test]
fn ptx_of_a_version_to_come() {
    let device = device();
    let text = module_error(of_the_future(&device.ctx, device.zeros::<f32>(1)), "future.ptx");
    assert!(text.contains("it is PTX of `.version 9.99`, and the driver has CUDA"), "{text}");
    assert!(text.contains("needs a driver of CUDA 13.99 or newer"), "{text}");
}

#[test]
fn machine_code_of_another_architecture() {
    let device = device();
    if capability(&device).0 == 8 {
        return println!("not run: this device runs that machine code");
    }
    let text = module_error(of_ampere(&device.ctx, 4, device.zeros::<f32>(4)), "raise.sm_80.cubin");
    assert!(text.contains("it is machine code of `sm_80`"), "{text}");
}

#[test]
fn machine_code_is_held_against_its_declaration() {
    let device = device();
    let mut x = device.zeros::<f32>(4);
    if device.simulated && is_hopper(&device) {
        // The error states the reason.
        let text = module_error(of_hopper(&device.ctx, 4, &mut x), "raise.sm_90.cubin");
        return assert!(text.contains("machine code cannot be simulated, give the driver PTX"), "{text}");
    }
    if !is_hopper(&device) {
        return println!("not run: the machine code is for compute capability 9.0");
    }
    let refused = |result: cuweave::Result<_>| match result {
        Err(Error::Kernel { kernel, reason, .. }) => (kernel, reason),
        Err(error) => panic!("{error}"),
        Ok(()) => panic!("this is refused"),
    };
    let (kernel, reason) = refused(wider(&device.ctx, 4, &mut x).map(drop));
    assert_eq!(kernel, "raise");
    assert_eq!(reason.to_string(), "has 4 bytes in its parameter 1, and `by` is declared with 8");
    let (_, reason) = refused(shorter(&device.ctx, 4, &mut x).map(drop));
    assert!(matches!(reason, KernelFault::Parameters { found: 3, declared: 2, .. }), "{reason}");
    let graph = of_hopper(&device.ctx, 4, &mut x).expect("as declared");
    let left_alone = &graph.report().left_alone[..];
    let [left] = left_alone else { panic!("{left_alone:?}") };
    assert_eq!(
        left.to_string(),
        "`raise` (tests/kernels/load/raise.sm_90.cubin) stays as written: the file is machine code"
    );
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    assert_eq!(device.stream.clone_dtoh(&x).expect("a copy"), [1.0; 4]);
}

#[test]
fn clusters_divide_the_grid() {
    let device = device();
    if capability(&device).0 < 9 {
        return println!("not run: the device has no clusters");
    }
    let refused = |result: cuweave::Result<()>, line: u32| match result {
        Err(Error::Config { at, reason, .. }) => {
            assert_eq!(at.line, line, "{reason}");
            reason
        }
        Err(error) => panic!("{error}"),
        Ok(()) => panic!("this is refused"),
    };
    let mut x = device.zeros::<f32>(8);
    let reason = refused(clusters(&device.ctx, 6, &mut x).map(drop), CLUSTERS + 1);
    let by_cluster =
        matches!(reason, ConfigFault::GridOfClusters { grid: [6, 1, 1], cluster: [4, 1, 1], .. });
    assert!(by_cluster, "{reason}");
    let reason = refused(unsized_clusters(&device.ctx, 8, &mut x).map(drop), CLUSTERS + 6);
    assert!(matches!(reason, ConfigFault::UnsizedClusters { kernel: "ones_by_some", .. }), "{reason}");
    let graph = clusters(&device.ctx, 8, &mut x).expect("two clusters");
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    assert_eq!(device.stream.clone_dtoh(&x).expect("a copy"), [1.0; 8]);
}
