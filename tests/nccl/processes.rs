//! One process for each rank. The test runs this program once per rank, with the rank in the environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cuweave::nccl::{Communicator, Reduce, UniqueId, all_gather, all_reduce};
use cuweave::prelude::*;
use cuweave_testkit::device::driver;

use crate::library::{Control, devices, silent};

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
}

#[cuweave::graph]
fn step(n: u32, rank: u32, times: u32, comm: &Communicator, x: &mut [u32; n], all: &mut [u32; 2 * n]) {
    for _ in 0..times {
        mix[per_item(n)](&mut x, rank, n);
        all_reduce(&comm, &mut x, Reduce::Sum, n);
    }
    all_gather(&comm, &x, &mut all, n);
}

const RANK: &str = "CUWEAVE_TEST_RANK";
const CASE: &str = "CUWEAVE_TEST_CASE";
/// The folder for the communicator's name and for the data that the stand-in exchanges.
const FOLDER: &str = "CUWEAVE_TEST_NCCL_FOLDER";

/// Runs both ranks of a case, and returns their output.
fn run(case: &str) -> [String; 2] {
    let folder = std::env::temp_dir().join(format!("cuweave-ranks-{}-{case}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let this = std::env::current_exe().expect("the path of this program");
    let start = |rank: usize| {
        Command::new(&this)
            .args(["--exact", "processes::one_rank", "--ignored", "--nocapture"])
            .env(RANK, rank.to_string())
            .env(CASE, case)
            .env(FOLDER, &folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts")
    };
    let ranks = [start(0), start(1)];
    let texts = ranks.map(|rank| {
        let output = rank.wait_with_output().expect("it ends");
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat()
    });
    let _ = std::fs::remove_dir_all(folder);
    println!("{case}\n{}\n{}", texts[0], texts[1]);
    texts
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn a_process_for_each_rank() {
    if std::env::var_os(RANK).is_some() || devices(2).is_none() {
        return;
    }
    for text in run("right") {
        assert!(text.contains("the results are right"), "{text}");
    }
    for text in run("differs") {
        assert!(
            text.contains(
                "collective 1 of the communicator is `all_gather of 8 u32 each` on rank 0, and \
            `all_reduce sum of 8 u32` on rank 1"
            ),
            "{text}"
        );
    }
    let reason = match driver().is_simulated() {
        true => "has failed on rank 0",
        false => "was aborted: a launch has taken longer than 1s",
    };
    for case in ["silent", "gone"] {
        let [waits, other] = run(case);
        assert!(waits.contains(&format!("error: the communicator of `step` {reason}")), "{waits}");
        assert!(other.contains("it does not launch"), "{other}");
    }
}

/// Returns the name that rank 0 has written.
fn id_of(folder: &Path, rank: u32) -> UniqueId {
    let place = folder.join("id");
    if rank == 0 {
        let id = UniqueId::new().expect("an id");
        let part = folder.join("part of id");
        let written = std::fs::write(&part, id.to_bytes()).and_then(|()| std::fs::rename(&part, &place));
        written.expect("it is written");
        return id;
    }
    let began = Instant::now();
    loop {
        if let Ok(bytes) = std::fs::read(&place) {
            return UniqueId::from_bytes(bytes.try_into().expect("128 bytes"));
        }
        assert!(began.elapsed() < Duration::from_secs(20), "there is no id");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs one rank of a case in a separate process.
#[test]
#[ignore = "run by `a_process_for_each_rank`"]
fn one_rank() {
    let Ok(rank) = std::env::var(RANK) else { return };
    let rank: u32 = rank.parse().expect("a rank");
    let case = std::env::var(CASE).expect("a case");
    let folder = PathBuf::from(std::env::var_os(FOLDER).expect("a folder"));
    let Some((contexts, streams)) = devices(2) else { panic!("two devices") };
    let (ctx, stream) = (&contexts[rank as usize], &streams[rank as usize]);
    let control = Control::of_simulated();
    if matches!(case.as_str(), "silent" | "gone") {
        control.iter().for_each(|control| control.patience(500));
    }
    let comm = Communicator::new(ctx, id_of(&folder, rank), rank, 2).expect("it joins");
    let mut x = stream.clone_htod(&[rank + 1; 8]).expect("ok");
    let mut all = stream.alloc_zeros::<u32>(16).expect("ok");
    let times = if case == "differs" { 1 + rank } else { 3 };
    let graph = match step(ctx, 8, rank, times, &comm, &mut x, &mut all) {
        Ok(graph) => graph,
        Err(error) => return println!("error: {error}"),
    };
    let mut exec = graph.instantiate().expect("it instantiates");
    match (case.as_str(), rank) {
        ("silent", 1) => {
            println!("it does not launch");
            std::thread::sleep(Duration::from_secs(4));
            return;
        }
        ("gone", 1) => {
            println!("it does not launch");
            std::process::exit(0);
        }
        ("silent" | "gone", _) => comm.set_timeout(Some(Duration::from_secs(1))),
        _ => {}
    }
    for _ in 0..2 {
        let launched = exec.launch(stream).map(drop);
        if let Err(error) = launched.and_then(|()| exec.synchronize()) {
            return println!("error: {error}");
        }
    }
    drop(exec);
    let mut expected = [1u32, 2];
    for _ in 0..2 * times {
        let steps = [0, 1].map(|rank| expected[rank as usize].wrapping_mul(31).wrapping_add(rank));
        expected = [steps[0].wrapping_add(steps[1]); 2];
    }
    assert_eq!(stream.clone_dtoh(&x).expect("ok"), [expected[0]; 8]);
    assert_eq!(stream.clone_dtoh(&all).expect("ok"), [expected[0]; 16]);
    println!("the results are right");
    silent();
}
