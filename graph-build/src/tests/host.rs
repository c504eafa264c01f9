//! Tests of sources written for nvcc: C library headers, and host code mixed with kernels.

use super::*;
use crate::host::{Source, macros};
use crate::substitutes;

/// Returns a source without its certain host code, with runs of blanks collapsed.
fn left(text: &str) -> String {
    let mut source = Source::new(text, &macros([text].into_iter()));
    source.remove_host_code();
    assert_eq!(source.text().len(), text.len());
    assert_eq!(source.text().matches('\n').count(), text.matches('\n').count());
    source.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn host_functions_and_variables_are_taken_out() {
    let kept = [
        "__device__ float twice(float x) { return 2 * x; }",
        "template <class T> T larger(T a, T b) { return a < b ? b : a; }",
        "extern \"C\" __global__ void __launch_bounds__(256) k(float *x) { if (x) { x[0] = '}'; } }",
        "__host__ __device__ int both() { return 1; }",
        "constexpr int four() { return 4; }",
        "static const int N = 3;",
        "__constant__ float table[2] = {1, 2};",
        "typedef float real;",
        "using other = real;",
        "namespace cg = cooperative_groups;",
        "struct Pair { float a, b; Pair() : a{0}, b(0) {} float sum() { return a + b; } };",
        "enum class Mode : int { One, Two };",
        "#define KERNEL(name) extern \"C\" __global__ void name(float *x)\nKERNEL(a) { x[0] = 1; }",
        "#define MARKED __device__ inline\n#define BOTH MARKED\nBOTH float one() { return 1; }",
        "#define OP(name) __global__ void name() {}\nOP(first)\nOP(second)\n__global__ void third() {}",
        "#define BOUND(n) __global__ __launch_bounds__(n)\nBOUND(256) void k() {}",
        "OF_ANOTHER_HEADER(3) void k() {}",
        "DEVICE_OF_ANOTHER_HEADER float one() { return 1; }",
        "template __global__ void scale<float>(float *);",
        "float Pair::sum() { return a + b; }",
    ];
    for text in kept {
        assert_eq!(left(text), text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    let taken_out = [
        "int main(int argc, char **argv) { k<<<1, 2>>>(0); return 0; }",
        "static inline std::vector<float> f(const std::string &s = \"}\") { return {}; }",
        "static size_t workspace = 32 * 1024;",
        "std::map<int, float> all{{1, 2}};",
        "extern cudaDeviceProp properties;",
        "float3 operator+(float3 a, float3 b) { return a; }",
        "__host__ void f() {}",
        "void g(int x) // a comment {\n{ /* } */ }",
        "extern \"C\" void h(void *a) {}",
        "void operator()(int a) {}",
    ];
    for text in taken_out {
        assert_eq!(left(text), "", "{text}");
    }
    assert_eq!(
        left("namespace a { extern \"C\" { void f() {} __device__ int x; } }"),
        "namespace a { extern \"C\" { __device__ int x; } }"
    );
    // Directives stay. If several `#if` branches begin the same function, only one of them counts.
    assert_eq!(left("void f() {\n#define N 1\n}\n__device__ int x;"), "#define N 1 __device__ int x;");
    let branches = "#ifdef A\nvoid f(int a) {\n#else\nvoid f() {\n#endif\n}\n__device__ int x;";
    assert_eq!(left(branches), "#ifdef A #else #endif __device__ int x;");
}

/// An error removes the smallest declaration around it that is not device code.
#[test]
fn errors_take_out_what_they_are_in() {
    let text = "struct Timer {\n  int count;\n  void start() { now(); }\n  std::string name(int x) { return x; \
        }\n};\nvoid f(FILE *x);\n\
                struct Log { std::string text; };\n__device__ int g() { return missing; }\n";
    let mut source = Source::new(text, &macros([text].into_iter()));
    assert!(source.remove_at(3, Some(18), "in a body") && source.remove_at(4, Some(3), "in a head"));
    assert!(source.remove_at(6, None, "a prototype") && source.remove_at(7, Some(14), "a member"));
    assert!(!source.remove_at(8, Some(29), "device code") && !source.remove_at(99, None, "nowhere"));
    let words = source.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words, "struct Timer { int count; void start() ; }; __device__ int g() { return missing; }");
    let removed: Vec<_> =
        source.removed.iter().map(|removed| (removed.name.as_str(), removed.line)).collect();
    assert_eq!(removed, [("start", 3), ("name", 4), ("f", 6), ("Log", 7)]);
}

#[test]
fn a_header_of_the_users_comes_first() {
    let folder = Folder::new("named");
    folder.write("include/stdint.h", "");
    let names = |folders: &[PathBuf]| -> Vec<String> {
        substitutes::header_texts(folders).into_iter().map(|(name, _)| name).collect()
    };
    let has = |names: &[String], name: &str| names.iter().any(|known| known == name);
    assert!(
        has(&names(&[]), "stdint.h") && has(&names(&[]), "cstdint") && has(&names(&[]), "cuda_runtime.h")
    );
    let names = names(&[folder.0.join("include")]);
    assert!(!has(&names, "stdint.h") && has(&names, "cstdint"));
    assert!(substitutes::is_host_header("vector") && substitutes::is_host_header("sys/time.h"));
    assert!(!substitutes::is_host_header("nn.cuh") && !substitutes::is_host_header("cub/cub.cuh"));
}

/// Compiles the declarations of each C header alone, and of all headers together.
#[test]
fn nvrtc_has_headers_of_c() {
    let Some(environment) = nvrtc() else { return };
    let folder = Folder::new("library");
    let uses = [
        ("stdint.h", "uint8_t a = UINT8_MAX; int64_t b = INT64_C(-5); x[0] = a + b + (uintptr_t)x;"),
        ("cstdint", "std::uint32_t a = UINT32_MAX; x[0] = a;"),
        (
            "stddef.h",
            "struct A { int a; float b; }; static_assert(offsetof(A, b) == 4, \"\"); ptrdiff_t d = x - x; x[0] = \
                (size_t)d;",
        ),
        (
            "limits.h",
            "static_assert(INT_MIN < 0 && CHAR_BIT == 8 && LLONG_MAX > UINT_MAX, \"\"); x[0] = LONG_MAX;",
        ),
        ("float.h", "x[0] = FLT_MAX * DBL_EPSILON;"),
        ("math.h", "x[0] = fminf(M_PI, -INFINITY) + (isnan(x[1]) ? NAN : HUGE_VAL);"),
        ("cmath", "x[0] = std::sqrt(x[1]) + std::pow(x[2], 2.0f) + std::abs(x[3]);"),
        ("assert.h", "assert(x != 0);"),
        ("stdio.h", "printf(\"%f\", x[0]);"),
        ("stdlib.h", "x[0] = EXIT_FAILURE; free(malloc(4));"),
        ("string.h", "memcpy(x, x + 4, 4); memset(x, 0, 4);"),
        ("stdbool.h", "bool a = true; x[0] = a;"),
        ("algorithm", "x[0] = std::min(x[1], std::max(x[2], x[3]));"),
        ("cuda_runtime.h", "float4 v = make_float4(1, 2, 3, 4); x[threadIdx.x] = v.x;"),
    ];
    let mut all = (String::new(), String::new());
    for (at, (header, code)) in uses.iter().enumerate() {
        let kernel = format!("extern \"C\" __global__ void k{at}(float *x) {{ {code} }}\n");
        folder.write(&format!("each/{at}.cu"), &format!("#include <{header}>\n{kernel}"));
        all.0 += &format!("#include <{header}>\n");
        all.1 += &kernel;
    }
    folder.write("all.cu", &format!("{}{}", all.0, all.1));
    let build = Build::new().files("each/*.cu").files("all.cu");
    let outcome = build.compile_in(&folder.0, &folder.0.join("out"), &environment).unwrap();
    assert_eq!(outcome.warnings, Vec::<String>::new());
    let ptx = fs::read_to_string(outcome.ptx_files.last().unwrap()).unwrap();
    assert_eq!(ptx.matches(".entry").count(), uses.len());
}

const SOURCE: &str = "#include <cstdio>
#include <cublas_v2.h>
#include <iostream>
#include <vector>
#include \"common.h\"

// The reference.
void scale_cpu(std::vector<float> &x, float by) {
    for (auto &value : x) value *= by;
}

class Timer {
    cudaEvent_t start;
public:
    Timer() { check(cudaEventCreate(&start)); }
    std::string name() const { return \"timer\"; }
};

template <class T> __global__ void scale(T *x, T by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = times(x[i], by) + OFFSET;
}
template __global__ void scale<float>(float *, float, int);

KERNEL(twice)(float *x) { x[threadIdx.x] *= 2; }

template <class T> void launch(T *x, int n) { scale<T><<<blocks(n), 256>>>(x, T(2), n); }

int main() {
    std::cout << \"begin\" << std::endl;
    Timer timer;
    twice<<<1, 32>>>(nullptr);
    return EXIT_SUCCESS;
}
";

#[test]
fn nvrtc_compiles_the_kernels_of_a_program() {
    let Some(environment) = nvrtc() else { return };
    let folder = Folder::new("program");
    let header = "#pragma once\n#include <stdexcept>\n#include \"more/marks.h\"\nextern int verbose;\nstatic FILE \
        *log_file = stderr;\n\
                  inline void check(cudaError_t error) { if (error) throw std::runtime_error(cudaGetErrorString(error)); }\n\
                  inline int blocks(int n) { return (n + 255) / 256; }\ntemplate <class T> DEVICE T times(T a, T b) { return a * b; }\n";
    folder.write("kernels/a.cu", SOURCE);
    folder.write("kernels/common.h", header);
    folder.write(
        "kernels/more/marks.h",
        "#pragma once\n#define DEVICE __device__ inline\n#define KERNEL(name) extern \"C\" __global__ void \
            name\nconst float OFFSET = 0.5f;\n",
    );
    let run =
        |file: &str| Build::new().files(file).compile_in(&folder.0, &folder.0.join("out"), &environment);
    let outcome = run("kernels/a.cu").unwrap();
    let ptx = fs::read_to_string(&outcome.ptx_files[0]).unwrap();
    assert_eq!(ptx.matches(".entry").count(), 2, "{ptx}");
    assert!(ptx.contains(".entry twice(") && !ptx.contains("main") && !ptx.contains("verbose"), "{ptx}");
    assert_eq!(outcome.warnings, Vec::<String>::new());

    // An error in device code stays an error, at its own position.
    folder.write("kernels/b.cu", &SOURCE.replace("threadIdx.x] *= 2", "threadIdx.x] *= blocks(2) + nothing"));
    let error = run("kernels/b.cu").err().unwrap().to_string();
    let place = " --> kernels/b.cu:25:45\n";
    assert!(
        error.starts_with("error: identifier `blocks` is undefined\n") && error.contains(place),
        "{error}"
    );
    let note = "   = note: `blocks`, kernels/common.h:7, is host code, which was removed\n   = help: mark what \
        kernels use with `__device__`\n";
    assert!(error.contains(note), "{error}");
    assert!(
        error.contains("identifier `nothing` is undefined\n") && !error.contains("common.h:6"),
        "{error}"
    );

    // The same holds for a missing header of the program's own.
    folder.write("kernels/c.cu", &SOURCE.replace("common.h", "commons.h"));
    let error = run("kernels/c.cu").err().unwrap().to_string();
    assert!(error.starts_with("error: the header `commons.h` is not found\n --> kernels/c.cu:5:"), "{error}");

    // Bytes that are not UTF-8, in a comment.
    let mut bytes = b"// \xa9 NVIDIA\n".to_vec();
    bytes.extend(SOURCE.bytes());
    fs::write(folder.0.join("kernels/e.cu"), bytes).unwrap();
    run("kernels/e.cu").unwrap();

    // Templates without an instantiation.
    folder.write(
        "kernels/d.cu",
        "template <class T> __global__ void k(T *x) {}\nint main() { k<<<1, 1>>>((int *)0); }\n",
    );
    let warnings = run("kernels/d.cu").unwrap().warnings;
    assert!(
        warnings.len() == 1 && warnings[0].starts_with("the PTX of `kernels/d.cu` has no kernel: "),
        "{warnings:?}"
    );
    assert_eq!(run("kernels/d.cu").unwrap().warnings, warnings);
}

/// Thrust's containers are host code. NVRTC finds their headers but rejects them, so they are replaced by
/// empty ones.
#[test]
fn nvrtc_leaves_out_thrust() {
    let Some(environment) = nvrtc() else { return };
    let folder = Folder::new("thrust");
    let kernel = "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }\n";
    let host = "int main() { thrust::device_vector<float> d(32); twice<<<1, 32>>>(d.data().get()); }\n";
    folder.write(
        "kernels/a.cu",
        &format!("#include <cstdio>\n#include <thrust/device_vector.h>\n{kernel}{host}"),
    );
    let outcome = Build::new()
        .files("kernels/a.cu")
        .compile_in(&folder.0, &folder.0.join("out"), &environment)
        .expect("it compiles");
    let ptx = fs::read_to_string(&outcome.ptx_files[0]).expect("it is written");
    assert!(ptx.contains(".entry twice(") && !ptx.contains("main"), "{ptx}");
    assert_eq!(outcome.warnings, Vec::<String>::new());
}
