//! Tests of the texts of errors and warnings.

use super::*;
use crate::headers::{self, Headers};

fn rendered(log: &str, failed: bool) -> Vec<String> {
    log::parse(log, failed).iter().map(|diagnostic| diagnostic.render(Path::new("/crate"))).collect()
}

/// A log of NVRTC 13.5.
#[test]
fn logs_become_diagnostics() {
    let log = "/crate/k/sub/a.cuh(3): error: return value type does not match the function type\n  \
               __device__ int bad() { return \"text\"; }\n                                ^\n\n\
               /crate/k/err.cu(104): error: identifier \"nothing\" is undefined\n  \t\u{e4}[0] = nothing;\n  \t       \
               ^\n\n\
               /other/err.cu(3): warning #177-D: variable \"unused\" was declared but never referenced\n  \tint \
               unused = 3;\n  \t    ^\n\n\
               Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n\
               2 errors detected in the compilation of \"k/err.cu\".\n";
    assert_eq!(
        rendered(log, true),
        [
            "error: return value type does not match the function type\n --> k/sub/a.cuh:3:31\n  |\n\
             3 | __device__ int bad() { return \"text\"; }\n  |                               ^",
            "error: identifier `nothing` is undefined\n   --> k/err.cu:104:9\n    |\n\
             104 |     \u{e4}[0] = nothing;\n    |            ^^^^^^^",
            "warning: variable `unused` was declared but never referenced\n --> /other/err.cu:3:6\n  |\n\
             3 |     int unused = 3;\n  |         ^^^^^^",
        ]
    );
}

/// A log from CUB. The last of dozens of instantiations is the user's line.
#[test]
fn instantiations_end_at_the_user() {
    let log = "cub/a.cuh(132): error: member \"A::B\" was declared \"deprecated\"\n          IS = (Traits<S>::C == \
        I)\n                \
               ^\ncub/util.cuh(930): note #3287-D: because of a \"deprecated\" attribute\n      A(\"b\") static C;\n      \
               ^\n          \
               detected during:\n            instantiation of class \"X\" at line 553\n            instantiation of \
               \"Y\" at line 4 of k.cu\n\n";
    let found = rendered(log, true);
    assert_eq!(found.len(), 1);
    let notes: Vec<&str> = found[0].lines().filter(|line| line.contains(" = ")).collect();
    let expected = [
        "    = note: cub/util.cuh:930: because of a `deprecated` attribute",
        "    = note: in the instantiation of `Y` at line 4 of k.cu",
    ];
    assert_eq!(notes[1..], expected, "{found:?}");
}

#[test]
fn logs_without_places() {
    assert_eq!(
        rendered("nvrtc: error: unrecognized option --nonsense found\n", true),
        ["error: unrecognized option --nonsense found"]
    );
    assert_eq!(
        rendered("nvcc fatal   : Unknown option '--nonsense'\n", true),
        ["error: Unknown option '--nonsense'"]
    );
    assert_eq!(rendered("sh: cc1plus: not found\n", true), ["error: sh: cc1plus: not found"]);
    assert_eq!(rendered("some remark\n", false), Vec::<String>::new());
}

#[test]
fn what_is_missing_is_said() {
    let folder = Folder::new("missing");
    folder.write("src/other/deep.cu", "");
    let environment = folder.environment(&[]);
    let error = |pattern: &str| {
        let build = Build::new().files(pattern);
        build.compile_in(&folder.0, &folder.0, &environment).err().unwrap().to_string()
    };
    assert_eq!(error("kernels/*.cu"), "no file matches `kernels/*.cu` in the folder of `Cargo.toml`");
    folder.write("kernels/a.cu", "");
    folder.write("kernels/b.cu", "");
    for pattern in ["kernels/nn.cu", "kernel/a.cu", "*.cu"] {
        assert_eq!(
            error(pattern),
            format!(
                "no file matches `{pattern}` in the folder of `Cargo.toml`\n  = note: there is `kernels/a.cu`, \
                    `kernels/b.cu`"
            )
        );
    }
    assert!(error("kernels/*.cu").starts_with("neither NVRTC nor nvcc was found"));
}

#[test]
fn headers_of_the_host() {
    let folder = Folder::new("host");
    folder.write("include/cuda/std/version", "");
    folder.write("include/cuda/std/span", "");
    let mut headers = Headers::default();
    let version = Version::new(13, 5);
    let note = "note: NVRTC compiles device code only and has no host headers: for the C library there are \
        substitutes with what kernels use"
        .to_owned();
    let package = "help: `<cuda/std/span>` of the package nvidia-cuda-cccl may have the same, in `cuda::std`"
        .to_owned();
    assert_eq!(headers::help("span", version, &headers), [note.clone(), package]);
    headers.folders.push(folder.0.join("include"));
    let write = "help: write `#include <cuda/std/span>`, whose names are in `cuda::std`".to_owned();
    assert_eq!(headers::help("span", version, &headers), [note.clone(), write]);
    for of_the_host in ["vector", "unistd.h"] {
        assert_eq!(headers::help(of_the_host, version, &headers), std::slice::from_ref(&note));
    }
    let of = |header: &str, version| headers::help(header, version, &headers).pop().unwrap();
    assert!(of("cub/cub.cuh", version).contains("`pip install \"nvidia-cuda-cccl==13.*\"`"));
    assert!(of("crt/mma.h", version).contains("`pip install \"nvidia-cuda-crt==13.5.*\"`"));
    assert!(of("crt/mma.h", Version::new(12, 9)).contains("`pip install \"nvidia-cuda-nvcc-cu12==12.9.*\"`"));
}

#[test]
fn versions_of_ptx_and_of_drivers() {
    for (cuda, ptx) in [
        ((11, 8), (7, 8)),
        ((12, 4), (8, 4)),
        ((12, 6), (8, 5)),
        ((12, 9), (8, 8)),
        ((13, 0), (9, 0)),
        ((13, 5), (9, 5)),
    ] {
        let (cuda, ptx) = (Version::new(cuda.0, cuda.1), Version::new(ptx.0, ptx.1));
        assert_eq!(cuda.ptx_of_cuda(), ptx);
        assert!(ptx.driver_of_ptx() <= cuda && ptx.driver_of_ptx().ptx_of_cuda() == ptx);
    }
    assert_eq!(Version::from_ptx("//\n.version 9.5\n.target sm_75\n"), Some(Version::new(9, 5)));
    assert_eq!(Version::from_cuda_number(13050), Version::new(13, 5));
    assert_eq!(too_old_warning(Version::new(9, 0), Version::new(13, 0)), None);
    assert_eq!(
        too_old_warning(Version::new(9, 5), Version::new(13, 0)).unwrap(),
        "the PTX is of version 9.5, which needs a driver of CUDA 13.5 or newer, and this machine's is of CUDA 13.0\n  \
            = help: to run it \
         here, `pip install \"nvidia-cuda-nvrtc<13.1\"`, or update the driver; `Build::max_ptx_version(9, 0)` makes \
         it an error"
    );
}
