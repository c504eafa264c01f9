use super::*;
use std::fs;

/// A temporary folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("cuweave-build-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("kernels")).unwrap();
        Folder(folder)
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).unwrap();
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
    folder.write("kernels/a.cu", "# include \"a.cuh\"\n#include <math.h>\n#include \"not_there.h\"\n");
    folder.write("kernels/a.cuh", "#include \"a.cuh\"\n#define N 1\n");
    let inputs = |folder: &Folder| sources::with_headers(&folder.0, Path::new("kernels/a.cu"), &[]).unwrap();
    let before = inputs(&folder);
    assert_eq!(before.len(), 2);
    folder.write("kernels/a.cuh", "#define N 2\n");
    assert_ne!(sources::key(&["x"], &before), sources::key(&["x"], &inputs(&folder)));
    assert_ne!(sources::key(&["x"], &before), sources::key(&["y"], &before));
}

#[test]
fn what_is_missing_is_said() {
    let folder = Folder::new("missing");
    let build = Build::new().files("kernels/*.cu");
    let error = build.compile_in(&folder.0, &folder.0, None).unwrap_err();
    assert!(matches!(&error, Error::NoSource(pattern) if pattern == "kernels/*.cu"), "{error}");
    folder.write("kernels/a.cu", "");
    let error = build.compile_in(&folder.0, &folder.0, None).unwrap_err();
    assert!(matches!(error, Error::NoCompiler), "{error}");
}

/// A stand-in for nvcc: writes its architecture, and counts its runs.
#[cfg(unix)]
#[test]
fn nvcc_runs_only_for_what_has_changed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("nvcc");
    folder.write(
        "nvcc",
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo stand-in; exit; fi\n\
         case \"$*\" in *broken*) echo 'broken.cu(1): error' >&2; exit 1;; esac\n\
         echo run >> \"$(dirname \"$0\")/runs\"\n\
         while [ $# -gt 0 ]; do case \"$1\" in --gpu-architecture=*) a=$1;; --output-file) o=$2;; esac; shift; done\n\
         echo \"$a\" > \"$o\"\n",
    );
    let program = folder.0.join("nvcc");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let compiler = Compiler::nvcc(program).unwrap();
    folder.write("kernels/a.cu", "1");
    folder.write("kernels/b.cu", "1");
    let build = Build::new().files("kernels/*.cu").architectures(["compute_80", "compute_90"]);
    let run = || build.compile_in(&folder.0, &folder.0.join("out"), Some(&compiler));
    let runs = || fs::read_to_string(folder.0.join("runs")).unwrap().lines().count();
    let (made, seen) = run().unwrap();
    let names: Vec<_> =
        made.iter().map(|path| path.strip_prefix(folder.0.join("out/cuweave")).unwrap()).collect();
    assert_eq!(
        names,
        ["kernels/a.ptx", "kernels/a.compute_90.ptx", "kernels/b.ptx", "kernels/b.compute_90.ptx"]
            .map(Path::new)
    );
    assert!(seen.contains(&folder.0.join("kernels/b.cu")) && seen.contains(&folder.0.join("kernels")));
    assert_eq!(fs::read_to_string(&made[1]).unwrap(), "--gpu-architecture=compute_90\n");
    assert_eq!(runs(), 4);
    run().unwrap();
    assert_eq!(runs(), 4);
    folder.write("kernels/b.cu", "2");
    run().unwrap();
    assert_eq!(runs(), 6);
    folder.write("kernels/broken.cu", "");
    let error = run().unwrap_err().to_string();
    assert!(
        error.contains("`kernels/broken.cu` does not compile") && error.contains("broken.cu(1): error"),
        "{error}"
    );
}

/// Runs only if NVRTC is installed.
#[test]
fn nvrtc_compiles() {
    let Some(nvrtc) = nvrtc::Nvrtc::find(&[]) else {
        println!("no NVRTC here: not run");
        return;
    };
    let folder = Folder::new("nvrtc");
    folder.write(
        "kernels/a.cu",
        "#include \"a.cuh\"\nextern \"C\" __global__ void k(float *x) { x[0] = VALUE; }",
    );
    folder.write("kernels/a.cuh", "#define VALUE 2.0f\n");
    folder.write("kernels/b.cu", "extern \"C\" __global__ void k(float *x) { x[0] = nothing; }");
    let compiler = Compiler::Nvrtc(nvrtc);
    let (made, _) =
        Build::new().files("kernels/a.cu").compile_in(&folder.0, &folder.0, Some(&compiler)).unwrap();
    assert!(fs::read_to_string(&made[0]).unwrap().contains(".entry k("));
    let error =
        Build::new().files("kernels/b.cu").compile_in(&folder.0, &folder.0, Some(&compiler)).unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
}
