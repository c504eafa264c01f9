//! Tests of the search for compilers and headers, in folders that imitate installations.

use super::*;
use crate::compiler::Compiler;
use crate::headers::{self, Headers};

#[test]
fn no_compiler_says_what_was_tried() {
    let folder = Folder::new("tried");
    folder.write("toolkit/lib64/libcudart.so", "");
    folder.write("venv/lib/python3.12/site-packages/numpy/x", "");
    folder.write("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc-builtins.so.13.5", "");
    let mut environment = folder.environment(&[("CUDA_HOME", "toolkit"), ("VIRTUAL_ENV", "venv")]);
    environment.default_roots.push(folder.0.join("usual"));
    let error = Compiler::find(&environment, None).err().unwrap();
    let root = folder.0.display().to_string();
    let expected = "neither NVRTC nor nvcc was found: one of them is needed to compile CUDA C++
  = note: not set: `CUWEAVE_NVRTC`, `CUDA_PATH`, `CONDA_PREFIX`, `NVCC`
  = note: `ROOT/toolkit` (`CUDA_HOME`) has no libnvrtc in its `lib64` or `lib`
  = note: `ROOT/venv/lib/python3.12/site-packages` (`VIRTUAL_ENV`) has no `nvidia/cu13/lib` or `nvidia/cuda_nvrtc/lib` with libnvrtc
  = note: `ROOT/usual` (the usual folder) does not exist
  = note: no nvcc in `PATH`, nor in `bin` of these folders
  = help: `pip install \"nvidia-cuda-nvrtc<13.1\"` is enough, in an active virtual environment or for python3 in \
      `PATH`: no toolkit and no GPU is needed
  = help: or set `CUDA_HOME` to a toolkit, `CUWEAVE_NVRTC` to the file libnvrtc or `NVCC` to nvcc; or declare PTX, `#[cuweave::kernels(\"kernels/file.ptx\")]`";
    assert_eq!(error.to_string(), expected.replace("ROOT", &root));
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn a_file_that_is_no_nvrtc_is_an_error() {
    let folder = Folder::new("no_nvrtc");
    folder.write("libnvrtc.so.13", "text");
    for (file, reason) in [("libnvrtc.so.13", "cannot be loaded: "), ("nowhere.so", "cannot be loaded: ")] {
        let error =
            Compiler::find(&folder.environment(&[("CUWEAVE_NVRTC", file)]), None).err().unwrap().to_string();
        let path = folder.0.join(file).display().to_string();
        assert!(
            error.starts_with(&format!(
                "`CUWEAVE_NVRTC` is not an NVRTC library that can be loaded: `{path}`\n"
            )),
            "{error}"
        );
        assert!(error.contains(&format!("  = note: `{path}` {reason}")), "{error}");
    }
}

/// Variables precede the usual folders, and both precede the packages of Python in `PATH`.
#[cfg(unix)]
#[test]
fn places_have_an_order() {
    let folder = Folder::new("order");
    folder.write("venv/lib/python3.11/site-packages/x", "");
    folder.write("conda/lib/python3.9/site-packages/x", "");
    folder.write("python/site-packages/x", "");
    folder.write("python/lib/x", "");
    let root = folder.0.display();
    folder.program(
        "bin/python3",
        &format!("#!/bin/sh\necho\necho {root}/python/lib\necho {root}/python/site-packages\n"),
    );
    folder.program("tools/bin/nvcc", "#!/bin/sh\n");
    let mut environment = folder.environment(&[
        ("CONDA_PREFIX", "conda"),
        ("VIRTUAL_ENV", "venv"),
        ("CUDA_HOME", "home"),
        ("CUDA_PATH", "path"),
    ]);
    environment
        .variables
        .insert("PATH".to_owned(), format!("{root}/bin:{root}/tools/bin:/bin:/usr/bin").into());
    environment.default_roots.push(folder.0.join("usual"));
    let canonical = fs::canonicalize(&folder.0).unwrap();
    let found: Vec<String> = environment
        .install_folders()
        .iter()
        .map(|place| {
            place
                .folder
                .strip_prefix(&folder.0)
                .or(place.folder.strip_prefix(&canonical))
                .unwrap()
                .display()
                .to_string()
        })
        .collect();
    assert_eq!(
        found,
        [
            "path",
            "home",
            "venv/lib/python3.11/site-packages",
            "conda",
            "conda/lib/python3.9/site-packages",
            "usual",
            "tools",
            "python/site-packages"
        ]
    );
}

fn installed(folder: &Folder) {
    let api = |version: u32| format!("#define __X\n#define CUDART_VERSION  {version}\n");
    folder.write("venv/lib/python3.11/site-packages/nvidia/cu13/include/cuda_runtime_api.h", &api(13050));
    folder.write("venv/lib/python3.11/site-packages/nvidia/cu13/include/cccl/nv/target", "");
    folder.write(
        "venv/lib/python3.11/site-packages/nvidia/cuda_runtime/include/cuda_runtime_api.h",
        &api(12090),
    );
    folder.write("venv/lib/python3.11/site-packages/nvidia/cuda_cccl/include/nv/target", "");
    folder.write("venv/lib/python3.11/site-packages/nvidia/cuda_nvcc/include/crt/host_defines.h", "");
    folder.write("toolkit/targets/x86_64-linux/include/cuda_runtime_api.h", &api(13000));
    folder.write("toolkit/targets/sbsa-linux/include/cuda_runtime_api.h", &api(13000));
    folder.write("toolkit/include/cuda_runtime_api.h", &api(13000));
}

#[test]
fn headers_are_of_the_version_of_the_compiler() {
    let folder = Folder::new("versions");
    installed(&folder);
    let environment = folder.environment(&[("CUDA_HOME", "toolkit"), ("VIRTUAL_ENV", "venv")]);
    let find = |major, minor| {
        let headers = Headers::find(&environment, Path::new("libnvrtc.so"), Version::new(major, minor));
        let name = |path: &PathBuf| {
            path.strip_prefix(&folder.0)
                .unwrap()
                .display()
                .to_string()
                .replace("venv/lib/python3.11/site-packages/", "")
        };
        let folders: Vec<String> =
            headers.folders.iter().map(name).filter(|name| !name.contains("targets")).collect();
        (folders, headers)
    };
    let wheels = ["nvidia/cu13/include", "nvidia/cu13/include/cccl"];
    assert_eq!(find(13, 5).0, [wheels[0], wheels[1], "toolkit/include"]);
    assert_eq!(find(13, 0).0, ["toolkit/include", wheels[0], wheels[1]]);
    assert_eq!(
        find(12, 4).0,
        ["cuda_runtime", "cuda_cccl", "cuda_nvcc"].map(|part| format!("nvidia/{part}/include"))
    );
    let (none, headers) = find(11, 8);
    assert_eq!(none, Vec::<String>::new());
    let lines = headers::help("cuda_fp16.h", Version::new(11, 8), &headers);
    let site = folder.0.join("venv/lib/python3.11/site-packages");
    let other = format!(
        "note: `{}/nvidia/cu13/include` has headers of CUDA 13, and NVRTC is of CUDA 11.8",
        site.display()
    );
    assert!(lines.contains(&other), "{lines:?}");
    assert_eq!(
        lines.last().unwrap(),
        "help: `cuda_fp16.h` is one of CUDA's headers: `pip install \"nvidia-cuda-runtime-cu11==11.8.*\"`, or set \
         `CUDA_HOME` to a toolkit of CUDA 11.8"
    );
}

/// If a compiler is named by its file, the headers beside it are used.
#[test]
fn headers_lie_beside_the_compiler() {
    let folder = Folder::new("beside");
    installed(&folder);
    let environment = folder.environment(&[]);
    let site = folder.0.join("venv/lib/python3.11/site-packages/nvidia");
    let find = |library: PathBuf, version| Headers::find(&environment, &library, version).folders;
    let found = find(site.join("cuda_nvrtc/lib/libnvrtc.so.12"), Version::new(12, 9));
    assert_eq!(found[0], site.join("cuda_runtime/include"));
    let found = find(folder.0.join("toolkit/lib64/libnvrtc.so.13"), Version::new(13, 0));
    assert_eq!(found[0], folder.0.join("toolkit/include"));
}
