//! The cache of machine code in memory and on disk: which kernels are compiled, in which process, and damaged or
//! foreign files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use cuweave::code::{CodeCache, set_code_cache};
use cuweave::prelude::*;
use cuweave_testkit::device::{alone, ramp};
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn scaled(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
}

#[cuweave::graph]
fn all_three(n: u32, x: &[f32; n], y: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    set[per_item(n)](&mut h, 1.0, n);
    scale[per_item(n)](&mut h, 3.0, n);
    axpy[per_item(n)](2.0, &x, &mut h, n);
    axpy[per_item(n)](1.0, &h, &mut y, n);
}

/// The environment variable that names the folder of the cache.
const VARIABLE: &str = "CUWEAVE_CODE_CACHE";

/// Returns the number of calls of a driver function.
fn calls(name: &str) -> u64 {
    cuweave_sim::call_counts().expect("the simulated driver").get(name).copied().unwrap_or(0)
}

/// Builds and launches a graph of three kernels, and checks its result.
fn run() {
    let device = alone();
    let (x, mut y) = (device.upload(&ramp(8)), device.zeros::<f32>(8));
    let graph = all_three(&device.ctx, 8, &x, &mut y).expect("it builds");
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&y), ramp(8).iter().map(|x| 3.0 + 2.0 * x).collect::<Vec<_>>());
}

#[test]
#[ignore = "runs in a process of its own"]
fn build_once() {
    if alone().simulated {
        run();
        println!("links: {}.", calls("cuLinkComplete"));
    }
}

/// A folder that is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = env::temp_dir().join(format!("cuweave-code-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    fn text(&self) -> &str {
        self.0.to_str().expect("a path in UTF-8")
    }

    /// Builds in a new process. Returns the number of PTX texts that were compiled there.
    fn build(&self) -> u64 {
        links(&apart("code_cache::build_once", &[(VARIABLE, self.text())]))
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn links(output: &str) -> u64 {
    let (_, rest) = output.split_once("links: ").expect("the count");
    rest.split('.').next().and_then(|count| count.parse().ok()).expect("a number")
}

fn is_simulated() -> bool {
    let simulated = alone().simulated;
    if !simulated {
        println!("not run: only the simulated driver counts calls");
    }
    simulated
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).expect("it exists").permissions().mode() & 0o777
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is the test's own");
}

#[test]
#[cfg(unix)]
fn a_second_process_compiles_nothing() {
    if !is_simulated() {
        return;
    }
    let folder = Folder::new("second");
    let first = folder.build();
    assert!(first >= 3, "each kernel is compiled by itself: {first}");
    let files = folder.files();
    assert!(files.len() as u64 >= 3, "{files:?}");
    assert_eq!(mode(&folder.0), 0o700);
    for file in &files {
        assert_eq!((mode(file), file.extension().and_then(|kind| kind.to_str())), (0o600, Some("cubin")));
    }
    assert_eq!(folder.build(), 0);
    assert_eq!(folder.files(), files);
}

#[test]
#[cfg(unix)]
fn damaged_and_foreign_files_are_replaced() {
    if !is_simulated() {
        return;
    }
    let folder = Folder::new("damaged");
    let all = folder.build();
    let files = folder.files();
    let good: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).expect("it is kept")).collect();
    type Damage = fn(&[u8]) -> Vec<u8>;
    let damages: [(&str, Damage); 6] = [
        ("a flipped bit of the code", |bytes| flipped(bytes, bytes.len() - 3)),
        ("a flipped bit of a digest", |bytes| flipped(bytes, 20)),
        ("another version", |bytes| flipped(bytes, 0)),
        ("cut off in the code", |bytes| bytes[..bytes.len() / 2].to_vec()),
        ("cut off in front of it", |bytes| bytes[..30].to_vec()),
        ("empty", |_| Vec::new()),
    ];
    for (what, damage) in damages {
        for (file, good) in files.iter().zip(&good) {
            fs::write(file, damage(good)).expect("it is written");
        }
        assert_eq!(folder.build(), all, "{what}");
        for (file, good) in files.iter().zip(&good) {
            assert_eq!(&fs::read(file).expect("it is replaced"), good, "{what}");
        }
    }
    // Each file gets the contents of another.
    for (at, file) in files.iter().enumerate() {
        fs::write(file, &good[(at + 1) % good.len()]).expect("it is written");
    }
    assert_eq!(folder.build(), all, "exchanged");
    for file in &files {
        set_mode(file, 0o622);
    }
    assert_eq!(folder.build(), all, "files that others may write");
    assert!(files.iter().all(|file| mode(file) == 0o600));
    // If others may write to the folder, its files may not be the user's.
    set_mode(&folder.0, 0o777);
    files.iter().for_each(|file| fs::remove_file(file).expect("it goes"));
    assert_eq!(folder.build(), all);
    assert_eq!(folder.files(), Vec::<PathBuf>::new(), "a folder that others may write to");
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 4;
    bytes
}

#[test]
fn two_processes_at_once() {
    if !is_simulated() {
        return;
    }
    let folder = Folder::new("two");
    let start = || {
        Command::new(env::current_exe().expect("this program"))
            .args(["--exact", "code_cache::build_once", "--ignored", "--nocapture"])
            .env(VARIABLE, folder.text())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts")
    };
    let both: Vec<_> = (0..4).map(|_| start()).collect();
    for mut one in both {
        assert!(one.wait().expect("it ends").success());
    }
    assert_eq!(folder.build(), 0);
    assert!(folder.files().iter().all(|file| file.extension().is_some_and(|kind| kind == "cubin")));
}

#[test]
fn where_nothing_can_be_kept_everything_is_compiled() {
    if !is_simulated() {
        return;
    }
    let folder = Folder::new("nowhere");
    fs::write(&folder.0, "a file in the place of a folder").expect("it is written");
    let below = folder.0.join("below");
    let build = |value: &str| links(&apart("code_cache::build_once", &[(VARIABLE, value)]));
    let all = build(below.to_str().expect("a path"));
    assert!(all >= 3);
    fs::remove_file(&folder.0).expect("it goes");
    for off in ["0", "off", ""] {
        assert_eq!(build(off), all, "{off:?}");
    }
    // By default, the simulated driver does not use the user's folder.
    let home = [("XDG_CACHE_HOME", folder.text()), ("HOME", folder.text())];
    assert_eq!(links(&apart("code_cache::build_once", &home)), all);
    assert!(!folder.0.exists());
}

#[test]
#[ignore = "runs in a process of its own"]
fn build_in_a_chosen_folder() {
    let folder = PathBuf::from(env::var_os("CHOSEN").expect("a folder"));
    set_code_cache(CodeCache::At(folder.clone()));
    run();
    assert!(fs::read_dir(&folder).is_ok_and(|files| files.count() >= 3));
    let links = calls("cuLinkComplete");
    // Code that is kept in memory is not compiled again, even if all users are dropped and the disk cache is off.
    set_code_cache(CodeCache::Off);
    fs::remove_dir_all(&folder).expect("it goes");
    run();
    assert_eq!(calls("cuLinkComplete"), links);
    assert!(!folder.exists());
}

#[test]
fn a_program_chooses_the_folder() {
    if is_simulated() {
        let folder = Folder::new("chosen");
        apart("code_cache::build_in_a_chosen_folder", &[("CHOSEN", folder.text())]);
    }
}

#[test]
#[ignore = "runs in a process of its own"]
fn only_kernels_in_use_are_compiled() {
    let device = alone();
    let mut x = device.upload(&ramp(8));
    let before = device.live();
    let graph = scaled(&device.ctx, 8, &mut x).expect("it builds");
    assert_eq!((calls("cuLinkComplete"), calls("cuModuleLoadDataEx")), (1, 1));
    drop(graph);
    assert_eq!(device.live().map(|live| live.modules), before.map(|live| live.modules));
    drop(scaled(&device.ctx, 8, &mut x).expect("it builds"));
    assert_eq!((calls("cuLinkComplete"), calls("cuModuleLoadDataEx")), (1, 2), "compiled once");
    let ctx = device.ctx.clone();
    drop(device);
    run();
    assert_eq!(calls("cuLinkComplete"), 4, "two more kernels are in use, and the one that they are fused to");
    assert_eq!((calls("cuLinkCreate_v2"), calls("cuLinkDestroy")), (4, 4));
    // The complete block is loaded by name.
    let kept = set::load(&ctx).expect("it loads");
    let all = calls("cuLinkComplete");
    assert!(all > 4);
    run();
    assert_eq!(calls("cuLinkComplete"), all);
    drop(kept);
}

#[test]
fn kernels_are_compiled_when_they_are_launched() {
    if is_simulated() {
        apart("code_cache::only_kernels_in_use_are_compiled", &[(VARIABLE, "0")]);
    }
}

/// If a call around linked code fails, the driver gets the PTX instead.
#[test]
fn a_failure_of_the_linker_is_no_error() {
    if is_simulated() {
        let calls =
            ["cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete", "cuLinkDestroy", "cuModuleLoadDataEx"];
        for call in calls {
            apart("code_cache::a_link_fails", &[("CALL", call), (VARIABLE, "0")]);
        }
    }
}

#[test]
#[ignore = "runs in a process of its own"]
fn a_link_fails() {
    let call = env::var("CALL").expect("a call");
    // Loads the driver.
    drop(alone());
    cuweave_sim::inject_fault(&call, 2, 801).expect("the simulated driver");
    run();
    assert_eq!(cuweave_sim::clear_faults(), Ok(0), "`{call}` was called twice");
}
