//! Tests of whole compilations, with a fake nvcc, and with NVRTC if it is installed.

mod host;
mod messages;
mod places;

use crate::environment::Environment;
use crate::version::Version;
use crate::*;
use std::fs;
use std::io::Write;

/// A temporary folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("cuweave-build-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("kernels")).unwrap();
        Folder(folder)
    }

    /// Writes a file and creates its parent folders.
    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[cfg(unix)]
    fn program(&self, file: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        // A separate process writes the executable. If this process wrote it, a child that another test
        // forks meanwhile would inherit the open handle, and a file that is open for writing cannot be
        // executed.
        let source = format!("{file}.text");
        self.write(&source, text);
        let copied =
            std::process::Command::new("cp").args([source.as_str(), file]).current_dir(&self.0).status();
        assert!(copied.unwrap().success(), "{file} is written");
        fs::set_permissions(self.0.join(file), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns an environment with only these variables. Their values are paths relative to this folder.
    fn environment(&self, variables: &[(&str, &str)]) -> Environment {
        let mut environment = Environment::default();
        for (name, value) in variables {
            environment.variables.insert((*name).to_owned(), self.0.join(value).into());
        }
        environment
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_star_stands_for_any_characters() {
    for (pattern, name, expected) in [
        ("*.cu", "nn.cu", true),
        ("*.cu", "nn.cuh", false),
        ("nn.cu", "nn.cu", true),
        ("nn.cu", "nn.cuh", false),
        ("a*b*.cu", "axxbyy.cu", true),
        ("a*b*.cu", "axx.cu", false),
        ("*", "anything", true),
        ("a*a", "a", false),
    ] {
        assert_eq!(sources::fits(pattern, name), expected, "{pattern} {name}");
    }
}

#[test]
fn a_header_changes_the_key() {
    let folder = Folder::new("headers");
    folder.write(
        "kernels/a.cu",
        "# include \"sub/a.cuh\"\n#include <math.h>\n#include \"not_there.h\"\n#include <given.cuh>\n",
    );
    folder.write("kernels/sub/a.cuh", "#include \"b.cuh\"\n");
    folder.write("kernels/sub/b.cuh", "#include \"a.cuh\"\n#define N 1\n");
    folder.write("include/given.cuh", "#define M 1\n");
    let includes = [PathBuf::from("include")];
    let inputs = || sources::with_headers(&folder.0, Path::new("kernels/a.cu"), &includes).unwrap();
    let before = inputs();
    let names: Vec<_> = before.iter().map(|input| input.path.strip_prefix(&folder.0).unwrap()).collect();
    assert_eq!(
        names,
        ["kernels/a.cu", "kernels/sub/a.cuh", "include/given.cuh", "kernels/sub/b.cuh"].map(Path::new)
    );
    for header in ["kernels/sub/b.cuh", "include/given.cuh"] {
        folder.write(header, "#define N 2\n");
        assert_ne!(sources::key(&["x"], &before), sources::key(&["x"], &inputs()), "{header}");
    }
    assert_ne!(sources::key(&["x"], &before), sources::key(&["y"], &before));
}

/// A fake nvcc: it writes its options as the PTX and counts its runs. For `broken*` it prints errors, for
/// `warned*` a warning.
#[cfg(unix)]
const STAND_IN: &str = "#!/bin/sh
if [ \"$1\" = --version ]; then echo 'Cuda compilation tools, release 12.9, V12.9.86'; exit; fi
for last; do :; done
case \"${last##*/}\" in
*broken*) printf '%s(1): error: identifier \"nothing\" is undefined\\n  x[0] = nothing;\\n         ^\\n\\n' \"$last\" \
    >&2
  printf '%s/shared.cuh(3): error: expected a \";\"\\n  }\\n  ^\\n\\n2 errors detected in the compilation of \
      \"x\".\\n' \"$(dirname \"$last\")\" >&2; exit 1;;
*warned*) printf '%s(2): warning #177-D: variable \"unused\" was declared but never referenced\\n  \\tint unused;\\n  \
    \\t    ^\\n\\n' \"$last\" >&2;;
esac
echo run >> \"$(dirname \"$0\")/runs\"
all=$*
while [ $# -gt 0 ]; do case \"$1\" in --output-file) o=$2;; esac; shift; done
printf '.version 8.8\\n// %s\\n' \"$all\" > \"$o\"
";

#[cfg(unix)]
#[test]
fn nvcc_runs_only_for_what_has_changed() {
    let folder = Folder::new("nvcc");
    folder.program("nvcc", STAND_IN);
    folder.write("kernels/a.cu", "1");
    folder.write("kernels/b.cu", "1");
    let build =
        Build::new().files("kernels/*.cu").files("kernels/a.cu").architectures(["compute_80", "compute_90"]);
    let environment = folder.environment(&[("NVCC", "nvcc")]);
    let run = || build.compile_in(&folder.0, &folder.0.join("out"), &environment);
    let runs = || fs::read_to_string(folder.0.join("runs")).unwrap().lines().count();
    let Outcome { ptx_files: made, dependencies: seen, warnings } = run().unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    let names: Vec<_> =
        made.iter().map(|path| path.strip_prefix(folder.0.join("out/cuweave")).unwrap()).collect();
    assert_eq!(
        names,
        ["kernels/a.ptx", "kernels/a.compute_90.ptx", "kernels/b.ptx", "kernels/b.compute_90.ptx"]
            .map(Path::new)
    );
    assert!(seen.contains(&folder.0.join("kernels/b.cu")) && seen.contains(&folder.0.join("kernels")));
    assert!(fs::read_to_string(&made[1]).unwrap().contains("--gpu-architecture=compute_90 "));
    assert_eq!(runs(), 4);
    run().unwrap();
    assert_eq!(runs(), 4);
    folder.write("kernels/b.cu", "2");
    run().unwrap();
    assert_eq!(runs(), 6);
}

/// Errors of all files are reported together, and an error in a shared header once. Warnings are repeated
/// when the cached PTX is reused.
#[cfg(unix)]
#[test]
fn errors_come_together_and_warnings_again() {
    let folder = Folder::new("broken");
    folder.program("nvcc", STAND_IN);
    folder.write("kernels/broken1.cu", "");
    folder.write("kernels/broken2.cu", "");
    let environment = folder.environment(&[("NVCC", "nvcc")]);
    let run = |build: &Build| build.compile_in(&folder.0, &folder.0.join("out"), &environment);
    let build = Build::new().files("kernels/*.cu").architectures(["compute_80", "compute_90"]);
    let Error::Compile { files, log } = run(&build).err().unwrap() else { panic!("another error") };
    assert_eq!(files, ["kernels/broken1.cu", "kernels/broken2.cu"].map(PathBuf::from));
    let one = |name: &str| {
        format!(
            "error: identifier `nothing` is undefined\n --> kernels/{name}.cu:1:8\n  |\n1 | x[0] = nothing;\n  |        \
             ^^^^^^^\n\n"
        )
    };
    let shared = "error: expected a `;`\n --> kernels/shared.cuh:3:1\n  |\n3 | }\n  | ^\n\n";
    let end = "`kernels/broken1.cu`, `kernels/broken2.cu` do not compile";
    assert_eq!(log, format!("{}{shared}{}{end}", one("broken1"), one("broken2")));

    folder.write("kernels/warned.cu", "");
    let build = Build::new().files("kernels/warned.cu");
    let expected = "warning: variable `unused` was declared but never referenced\n --> kernels/warned.cu:2:6\n  |\n\
                    2 |     int unused;\n  |         ^^^^^^";
    for _ in 0..2 {
        assert_eq!(run(&build).unwrap().warnings, [expected]);
    }
    assert_eq!(fs::read_to_string(folder.0.join("runs")).unwrap().lines().count(), 1);
}

/// The PTX of a source outside the crate stays in `OUT_DIR`. Stale PTX is removed when its source no longer
/// compiles.
#[cfg(unix)]
#[test]
fn nothing_is_written_outside() {
    let folder = Folder::new("outside");
    folder.program("nvcc", STAND_IN);
    folder.write("shared/a.cu", "");
    folder.write("crate/Cargo.toml", "");
    let (manifest, out) = (folder.0.join("crate"), folder.0.join("out"));
    let environment = folder.environment(&[("NVCC", "nvcc")]);
    let run = |pattern: &str| Build::new().files(pattern).compile_in(&manifest, &out, &environment);
    assert_eq!(run("../shared/*.cu").unwrap().ptx_files, [out.join("cuweave/__/shared/a.ptx")]);
    let absolute = folder.0.join("shared/a.cu");
    let error = run(absolute.to_str().unwrap()).err().unwrap();
    assert!(
        matches!(&error, Error::AbsolutePath(_)) && error.to_string().contains("is an absolute path"),
        "{error}"
    );

    folder.write("crate/broken.cu", "");
    folder.write("out/cuweave/broken.ptx", "of before");
    run("broken.cu").err().unwrap();
    assert!(!out.join("cuweave/broken.ptx").exists());
}

/// Line information follows cargo's debug setting. Variables set the architecture and the version limit.
/// Calls override variables.
#[cfg(unix)]
#[test]
fn defaults_and_what_changes_them() {
    let folder = Folder::new("defaults");
    folder.program("nvcc", STAND_IN);
    folder.write("a.cu", "");
    let made = |build: &Build, variables: &[(&str, &str)]| {
        let mut environment = folder.environment(&[("NVCC", "nvcc")]);
        environment
            .variables
            .extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())));
        let made = build.compile_in(&folder.0, &folder.0.join("out"), &environment)?.ptx_files;
        Ok::<String, Error>(fs::read_to_string(&made[0]).unwrap())
    };
    let build = Build::new().files("a.cu");
    let lines = |build: &Build, debug: &str| {
        made(build, &[("DEBUG", debug)]).unwrap().contains("--generate-line-info")
    };
    assert!(lines(&build, "true") && lines(&build, "1") && !lines(&build, "false") && !lines(&build, ""));
    assert!(
        lines(&build.clone().line_info(true), "false") && !lines(&build.clone().line_info(false), "true")
    );

    let architecture = |build: &Build, variables| {
        let ptx = made(build, variables).unwrap();
        ptx.split("--gpu-architecture=").nth(1).unwrap().split(' ').next().unwrap().to_owned()
    };
    let named: &[_] = &[("CUWEAVE_ARCHITECTURE", "compute_89")];
    assert_eq!(architecture(&build, &[]), "compute_75");
    assert_eq!(architecture(&build, named), "compute_89");
    assert_eq!(architecture(&build.clone().architecture("compute_90"), named), "compute_90");

    let relocatable = |text: &str, build: &Build| {
        folder.write("a.cu", text);
        made(build, &[]).unwrap().matches("relocatable-device-code").count()
    };
    let sets = "// cudaGraphSetConditional(go, 1);";
    assert_eq!([relocatable("", &build), relocatable(sets, &build)], [0, 1]);
    assert_eq!(relocatable(sets, &build.clone().option("--relocatable-device-code=false")), 1);
    folder.write("a.cu", "");

    let limited: &[_] = &[("CUWEAVE_PTX_VERSION", "8.7")];
    let error = made(&build, limited).unwrap_err().to_string();
    let first = "no compiler found emits PTX 8.7 or older, which a driver of CUDA 12.8 needs\n";
    assert!(
        error.starts_with(first) && error.contains("nvcc` is nvcc 12.9, which emits PTX 8.8\n"),
        "{error}"
    );
    assert!(error.ends_with("`pip install \"nvidia-cuda-nvrtc-cu12<12.9\"`"), "{error}");
    made(&build.clone().max_ptx_version(8, 8), limited).unwrap();
    let error = made(&build, &[("CUWEAVE_PTX_VERSION", "new")]).unwrap_err();
    assert_eq!(error.to_string(), "`CUWEAVE_PTX_VERSION` is `new`, which is not a version such as `9.0`");
}

/// Returns the environment if NVRTC is installed. Otherwise says so on the terminal, even if output is
/// captured.
fn nvrtc() -> Option<Environment> {
    let environment = Environment::from_process();
    match compiler::Compiler::find(&environment, None) {
        Ok(compiler::Compiler::Nvrtc(_)) => Some(environment),
        _ => {
            let _ = writeln!(std::io::stderr(), "cuweave-build: no NVRTC here: its tests are not run");
            None
        }
    }
}

#[test]
fn nvrtc_compiles() {
    let Some(mut environment) = nvrtc() else { return };
    environment.variables.insert("DEBUG".to_owned(), "true".into());
    let folder = Folder::new("nvrtc");
    folder.write(
        "kernels/a.cu",
        "#include \"sub/a.cuh\"\nextern \"C\" __global__ void k(float *x) { x[0] = VALUE; }",
    );
    folder.write("kernels/sub/a.cuh", "#include \"b.cuh\"\n");
    folder.write("kernels/sub/b.cuh", "#define VALUE 2.0f\n");
    folder.write("kernels/b.cu", "extern \"C\" __global__ void k(float *x) {\n\tx[0] = nothing;\n}\n");
    folder.write("kernels/c.cu", "#include <nowhere/c.cuh>\n");
    let run = |file: &str| Build::new().files(file).compile_in(&folder.0, &folder.0, &environment);
    let ptx = fs::read_to_string(&run("kernels/a.cu").unwrap().ptx_files[0]).unwrap();
    assert!(ptx.contains(".entry k(") && ptx.contains(".loc"), "{ptx}");
    folder.write(
        "kernels/decides.cu",
        "extern \"C\" __global__ void decides(cudaGraphConditionalHandle go) { cudaGraphSetConditional(go, 1); }",
    );
    let ptx = fs::read_to_string(&run("kernels/decides.cu").unwrap().ptx_files[0]).unwrap();
    assert!(ptx.contains("cudaGraphSetConditional"), "{ptx}");
    let error = run("kernels/b.cu").err().unwrap().to_string();
    let expected = "error: identifier `nothing` is undefined\n --> kernels/b.cu:2:9\n  |\n\
                    2 |     x[0] = nothing;\n  |            ^^^^^^^\n\n`kernels/b.cu` does not compile";
    assert_eq!(error, expected);
    let error = run("kernels/c.cu").err().unwrap().to_string();
    assert!(
        error.starts_with("error: the header `nowhere/c.cuh` is not found\n --> kernels/c.cu:1:11\n"),
        "{error}"
    );
    assert!(error.contains("  = help: a folder of headers is added by `Build::include`"), "{error}");
    let error = Build::new().files("kernels/a.cu").architecture("compute_1").compile_in(
        &folder.0,
        &folder.0,
        &environment,
    );
    let error = error.err().unwrap().to_string();
    assert!(
        error.contains("does not compile for `compute_1`\n  = help: it compiles for `compute_"),
        "{error}"
    );
}

/// A name also resolves to a library that another thread opened by its path and may close. The builtins
/// beside it must stay open.
#[cfg(target_os = "linux")]
#[test]
fn nvrtc_of_another_thread_is_found_with_its_builtins() {
    let Some(environment) = nvrtc() else { return };
    let Ok(compiler::Compiler::Nvrtc(first)) = compiler::Compiler::find(&environment, None) else { return };
    let name = first.path().file_name().unwrap().to_owned();
    let second = nvrtc::Nvrtc::open(Path::new(&name)).unwrap();
    assert!(second.path().is_absolute() && second.path().is_file(), "{}", second.path().display());
    drop(first);
    let folder = Folder::new("open");
    folder.write("a.cu", "extern \"C\" __global__ void k(float *x) { x[0] = 1; }");
    let text = fs::read(folder.0.join("a.cu")).unwrap();
    let (ptx, _) = second.compile(&folder.0.join("a.cu"), &text, &[], &[]).unwrap();
    assert!(ptx.contains(".entry k("));
}

/// Passes without CUDA's headers, too: then it checks the error message.
#[test]
fn nvrtc_finds_the_headers_of_cuda() {
    let Some(environment) = nvrtc() else { return };
    let folder = Folder::new("cuda");
    folder.write(
        "a.cu",
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n\
         extern \"C\" __global__ void k(__half *x, __nv_bfloat16 *y) { x[0] = x[1] * x[2]; y[0] = y[1] + y[2]; }\n",
    );
    match Build::new().files("a.cu").compile_in(&folder.0, &folder.0, &environment) {
        Ok(outcome) => assert!(fs::read_to_string(&outcome.ptx_files[0]).unwrap().contains(".entry k(")),
        Err(error) => {
            let error = error.to_string();
            assert!(
                error.contains("`cuda_fp16.h` is one of CUDA's headers: `pip install \"nvidia-cuda-runtime"),
                "{error}"
            );
            let _ = writeln!(std::io::stderr(), "cuweave-build: no headers of CUDA here: a test is not run");
        }
    }
}
