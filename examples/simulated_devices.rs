//! Runs an example with NCCL again on simulated devices.

use std::error::Error;
use std::process::Command;

/// The setting that says how many devices the simulated driver has.
pub const SIMULATED: &str = "CUWEAVE_SIM_DEVICES";

/// Runs the example again on simulated devices. The library in the place of NCCL is built beside the examples.
pub fn run_again(devices: usize) -> Result<(), Box<dyn Error>> {
    let this = std::env::current_exe()?;
    let built = this.parent().and_then(|examples| examples.parent()).ok_or("no folder of artifacts")?;
    let folder = std::env::temp_dir().join(format!("cuweave-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::copy(built.join("deps/libcuweave_testkit_nccl.so"), folder.join("libnccl_simulated.so"))?;
    let known = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let path = std::env::join_paths([folder.clone()].into_iter().chain(std::env::split_paths(&known)))?;
    let settings = [("CUWEAVE_DRIVER", "sim".into()), (SIMULATED, devices.to_string().into())];
    let status = Command::new(this)
        .envs(settings as [(_, std::ffi::OsString); 2])
        .env("LD_LIBRARY_PATH", path)
        .status();
    std::fs::remove_dir_all(&folder)?;
    if status?.success() { Ok(()) } else { Err("the example on simulated devices has failed".into()) }
}
