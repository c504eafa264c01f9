//! Broken PTX and wrong arguments cause errors, never a crash. Randomly changed kernels of the tests and examples
//! are loaded and launched, with a fixed seed.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult};
use cuweave_testkit::random::Random;
use cuweave_testkit::raw::*;
use cuweave_testkit::{files, ok};

/// The number of cases. Each is a changed file, all of whose kernels are launched.
const CASES: usize = 1000;

/// Returns the files of the tests and the examples.
fn corpus() -> Vec<String> {
    let files = files::ptx(&["graph-sim/tests", "examples/kernels", "tests/kernels"]);
    files.iter().map(|file| std::fs::read_to_string(file).expect("a file that can be read")).collect()
}

/// Changes a text: cuts it; swaps, drops or duplicates words or lines; inserts unusual numbers.
fn change(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=random.below(3) {
        let at = random.below(lines.len());
        match random.below(8) {
            0 => lines.truncate(at.max(4)),
            1 => drop(lines.remove(at)),
            2 => lines.insert(at, lines[random.below(lines.len())].clone()),
            3 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            kind => {
                let mut words: Vec<String> = lines[at].split(' ').map(str::to_owned).collect();
                let word = random.below(words.len());
                const ODD: [&str; 12] = [
                    "0",
                    "-1",
                    "0xffffffffffffffff",
                    "%r1",
                    "%rd1",
                    "%p1",
                    "%nosuch",
                    "[%rd1]",
                    "bra",
                    "st.global.u64",
                    ";",
                    "{",
                ];
                words[word] = match kind {
                    4 => ODD[random.below(ODD.len())].to_owned(),
                    5 => format!("{}{}", words[word], ODD[random.below(ODD.len())]),
                    6 => words[random.below(words.len())].clone(),
                    _ => String::new(),
                };
                lines[at] = words.join(" ");
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

/// Launches every kernel of a module with arguments of all kinds. Returns the number of launches that ran to
/// their end.
fn launch_all(context: &Context, module: sys::CUmodule, random: &mut Random) -> usize {
    let mut count = 0;
    ok!(sys::cuModuleGetFunctionCount(&mut count, module));
    let mut functions = vec![null_mut(); count as usize];
    ok!(sys::cuModuleEnumerateFunctions(functions.as_mut_ptr(), count, module));
    let memory = context.upload(&[0u32; 4096]);
    let mut finished = 0;
    for function in functions {
        let mut name = std::ptr::null();
        ok!(sys::cuFuncGetName(&mut name, function));
        let name = unsafe { CStr::from_ptr(name) };
        let mut found = null_mut();
        // A kernel that cannot be simulated is refused here.
        if unsafe { sys::cuModuleGetFunction(&mut found, module, name.as_ptr()) } != OK {
            continue;
        }
        // Room for the largest possible parameters.
        let mut values = vec![[0u64; 64]; 64];
        for value in &mut values {
            value[0] = match random.below(6) {
                0 => random.word(),
                1 => 0,
                2 => random.word() % 64,
                _ => memory + (random.word() % 128) * 4,
            };
        }
        let mut pointers: Vec<*mut c_void> =
            values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
        let (blocks, threads) = (1 + random.below(3) as u32, [1, 32, 33, 64][random.below(4)]);
        let stream = context.stream;
        let code = unsafe {
            sys::cuLaunchKernel(
                found,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                256,
                stream,
                pointers.as_mut_ptr(),
                null_mut(),
            )
        };
        let synced = context.sync();
        assert!(code == OK || synced == OK, "{code:?} {synced:?}");
        if synced != OK {
            break;
        }
        finished += usize::from(code == OK);
    }
    finished
}

#[test]
fn changed_kernels_end_in_results_or_errors() {
    // SAFETY: this is the program's only test, and nothing else reads the environment yet.
    unsafe { std::env::set_var("CUWEAVE_SIM_INSTRUCTIONS", "20000") };
    if !cuweave_sim::load().unwrap().is_simulated() {
        return;
    }
    let corpus = corpus();
    let mut random = Random::new(1);
    let (mut loaded, mut finished) = (0, 0);
    for case in 0..CASES {
        let context = Context::new();
        let text = &corpus[random.below(corpus.len())];
        // Every tenth case is an unchanged file with random arguments.
        let text = if case % 10 == 0 { text.clone() } else { change(text, &mut random) };
        let mut bytes = text.into_bytes();
        bytes.push(0);
        let mut module = null_mut();
        let code = unsafe { sys::cuModuleLoadData(&mut module, bytes.as_ptr().cast()) };
        use CUresult::*;
        match code {
            CUDA_SUCCESS => {
                loaded += 1;
                finished += launch_all(&context, module, &mut random);
            }
            CUDA_ERROR_INVALID_PTX
            | CUDA_ERROR_INVALID_IMAGE
            | CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUDA_ERROR_OUT_OF_MEMORY => {}
            other => panic!("case {case}: {other:?}"),
        }
    }
    println!("{CASES} cases: {loaded} files loaded, {finished} launches ran to their end");
    assert!(loaded > CASES / 10 && finished > CASES / 10);
}
