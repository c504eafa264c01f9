//! Substitutes for headers that NVRTC lacks: those of the C library and of the host's libraries.
//!
//! Sources for nvcc include them for three reasons: for functions that NVRTC has built in (mathematics,
//! `printf`, `assert`), for types and limits, and for their host code. The texts below provide the types
//! and limits. A header of the same name in one of the user's folders takes precedence. [`crate::device`]
//! passes the result to NVRTC.

use std::path::PathBuf;

/// The headers of the C library with their substitute texts. The types equal those of `<cuda/std/cstdint>`,
/// so that a source may include both.
const TEXTS: [(&str, &str); 12] = [
    ("assert.h", "#ifdef NDEBUG\n#undef assert\n#define assert(e) ((void)0)\n#endif\n"),
    ("float.h", FLOAT),
    ("inttypes.h", "#include <stdint.h>\n"),
    ("limits.h", LIMITS),
    ("math.h", MATH),
    ("stdarg.h", ""),
    ("stdbool.h", ""),
    ("stddef.h", STDDEF),
    ("stdint.h", STDINT),
    ("stdio.h", "#pragma once\nstruct _IO_FILE;\ntypedef struct _IO_FILE FILE;\n"),
    (
        "stdlib.h",
        "#include <stddef.h>\n#define EXIT_SUCCESS 0\n#define EXIT_FAILURE 1\n#define RAND_MAX 2147483647\n",
    ),
    ("string.h", "#include <stddef.h>\n"),
];

/// A header for what nvcc includes in every file: `cuda_runtime.h`, and with it some headers of C.
pub const IMPLIED: &str = "cuweave/implied.h";

/// The functions that `<cmath>` declares in `std`.
const CMATH_FUNCTIONS: &str = "abs fabs fmod remainder fma fmax fmin fdim exp exp2 expm1 log log10 log2 log1p pow \
                               sqrt cbrt hypot sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf \
                               erfc tgamma lgamma ceil floor trunc round nearbyint rint lround llround ldexp frexp \
                               modf scalbn logb ilogb copysign nextafter isnan isinf isfinite signbit";

const STDDEF: &str = "#pragma once
typedef decltype(nullptr) nullptr_t;
#ifndef offsetof
#define offsetof(type, member) ((size_t)__INTADDR__(&(((type *)0)->member)))
#endif
";

const STDINT: &str = "#pragma once
#include <limits.h>
typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
#define CUWEAVE_SIZED(kind) \\
    typedef int8_t int_##kind##8_t; typedef int16_t int_##kind##16_t; typedef int32_t int_##kind##32_t; \\
    typedef int64_t int_##kind##64_t; typedef uint8_t uint_##kind##8_t; typedef uint16_t uint_##kind##16_t; \\
    typedef uint32_t uint_##kind##32_t; typedef uint64_t uint_##kind##64_t;
CUWEAVE_SIZED(fast)
CUWEAVE_SIZED(least)
#undef CUWEAVE_SIZED
#ifndef INT8_MAX
#define INT8_MIN SCHAR_MIN
#define INT16_MIN SHRT_MIN
#define INT32_MIN INT_MIN
#define INT64_MIN LLONG_MIN
#define INT8_MAX SCHAR_MAX
#define INT16_MAX SHRT_MAX
#define INT32_MAX INT_MAX
#define INT64_MAX LLONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MIN INT64_MIN
#define INTMAX_MAX INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define SIZE_MAX UINT64_MAX
#define INT8_C(x) x
#define INT16_C(x) x
#define INT32_C(x) x
#define INT64_C(x) x##LL
#define UINT8_C(x) x
#define UINT16_C(x) x
#define UINT32_C(x) x##U
#define UINT64_C(x) x##ULL
#define INTMAX_C(x) x##LL
#define UINTMAX_C(x) x##ULL
#endif
";

const LIMITS: &str = "#pragma once
#ifndef CHAR_BIT
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN ((char)-1 < 0 ? SCHAR_MIN : 0)
#define CHAR_MAX ((char)-1 < 0 ? SCHAR_MAX : UCHAR_MAX)
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX 0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffffU
#define LONG_MIN (-LONG_MAX - 1L)
#define LONG_MAX ((long)(~0UL >> 1))
#define ULONG_MAX (~0UL)
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffULL
#endif
";

const FLOAT: &str = "#pragma once
#ifndef FLT_MAX
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_DECIMAL_DIG 9
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_10_EXP 38
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_TRUE_MIN 1.401298464e-45F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_DECIMAL_DIG 17
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_10_EXP 308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_TRUE_MIN 4.9406564584124654e-324
#define DBL_EPSILON 2.2204460492503131e-16
#endif
";

const MATH: &str = "#pragma once
#ifndef INFINITY
#define INFINITY (__builtin_bit_cast(float, 0x7f800000))
#define NAN (__builtin_bit_cast(float, 0x7fc00000))
#endif
#ifndef HUGE_VAL
#define HUGE_VALF INFINITY
#define HUGE_VAL ((double)INFINITY)
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
";

/// Substitutes for `<algorithm>` in device code, used if CCCL's headers are not installed.
const ALGORITHM: &str = "#pragma once
namespace std {
template <class T> __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
}
";

/// CUDA headers whose contents are built into NVRTC.
const BUILT_IN: [&str; 6] = [
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "vector_types.h",
    "vector_functions.h",
    "driver_types.h",
];

/// Headers with a dot in their name that only host code uses: those of the system, of graphics, and of
/// CUDA's libraries.
const HOST_HEADERS: &str = "conio.h cublas.h cublasLt.h cublas_v2.h cudaEGL.h cudaGL.h cuda_profiler_api.h cudnn.h \
                            cufft.h cufftXt.h cufftw.h curand.h cusolverDn.h cusolverSp.h cusolverRf.h cusparse.h \
                            cusparse_v2.h cutensor.h ctype.h dirent.h dlfcn.h errno.h fcntl.h getopt.h glob.h io.h \
                            libgen.h locale.h malloc.h memory.h mpi.h nccl.h npp.h nppi.h npps.h nvToolsExt.h nvml.h \
                            nvrtc.h omp.h process.h pthread.h sched.h semaphore.h signal.h strings.h time.h tchar.h \
                            unistd.h windows.h Windows.h winsock2.h cuda_gl_interop.h cuda_egl_interop.h \
                            cuda_vdpau_interop.h cuda_d3d11_interop.h";

/// Folders whose headers only host code uses.
const HOST_HEADER_FOLDERS: [&str; 12] =
    ["sys", "GL", "GLFW", "GLUT", "GLES2", "GLES3", "EGL", "X11", "nvtx3", "linux", "arpa", "netinet"];

/// Returns the headers to pass to NVRTC, name and text. A header found in `folders` is omitted.
pub fn header_texts(folders: &[PathBuf]) -> Vec<(String, String)> {
    let is_missing = |name: &str| !folders.iter().any(|folder| folder.join(name).is_file());
    let mut all: Vec<(String, String)> = Vec::new();
    for (name, text) in TEXTS {
        let name_in_cpp = format!("c{}", name.trim_end_matches(".h"));
        let in_std = match name {
            "math.h" => in_std("CMATH", CMATH_FUNCTIONS.split_whitespace()),
            "stdint.h" => in_std("CSTDINT", sized().iter().map(String::as_str)),
            "stddef.h" => in_std("CSTDDEF", ["size_t", "ptrdiff_t", "nullptr_t"].into_iter()),
            "string.h" => in_std("CSTRING", ["size_t", "memcpy", "memset"].into_iter()),
            "stdio.h" => in_std("CSTDIO", ["printf"].into_iter()),
            _ => String::new(),
        };
        all.push((name_in_cpp, format!("#include <{name}>\n{in_std}")));
        all.push((name.to_owned(), text.to_owned()));
    }
    all.extend(BUILT_IN.map(|name| (name.to_owned(), String::new())));
    // C++ headers that CCCL provides for devices in `cuda::std`.
    for name in ["algorithm", "array", "functional", "limits", "numeric", "tuple", "type_traits", "utility"] {
        let inside = folders.iter().any(|folder| folder.join("cuda/std").join(name).is_file());
        let text = match name {
            _ if inside => {
                format!(
                    "#pragma once\n#include <cuda/std/{name}>\nnamespace std {{ using namespace cuda::std; }}\n"
                )
            }
            "algorithm" => ALGORITHM.to_owned(),
            _ => continue,
        };
        all.push((name.to_owned(), text));
    }
    all.retain(|(name, _)| is_missing(name));
    let implied =
        ["math.h", "stdint.h", "stdio.h", "stdlib.h", "string.h"].map(|name| format!("#include <{name}>\n"));
    all.push((IMPLIED.to_owned(), implied.concat()));
    all
}

/// Returns guarded `using` declarations that bring names into `std`.
fn in_std<'n>(guard: &str, names: impl Iterator<Item = &'n str>) -> String {
    let uses: String = names.map(|name| format!("using ::{name};\n")).collect();
    format!("#ifndef CUWEAVE_{guard}\n#define CUWEAVE_{guard}\nnamespace std {{\n{uses}}}\n#endif\n")
}

fn sized() -> Vec<String> {
    let sizes =
        [8, 16, 32, 64].into_iter().flat_map(|bits| [format!("int{bits}_t"), format!("uint{bits}_t")]);
    sizes.chain(["intptr_t", "uintptr_t", "intmax_t", "uintmax_t"].map(str::to_owned)).collect()
}

/// Returns true for a header that only host code uses: C++ headers (all names without a dot), and headers
/// of the system, of graphics and of CUDA's host libraries.
pub fn is_host_header(header: &str) -> bool {
    let folder = header.split_once('/').map(|(folder, _)| folder);
    match folder {
        Some(folder) => HOST_HEADER_FOLDERS.contains(&folder),
        None => !header.contains('.') || HOST_HEADERS.split_whitespace().any(|name| name == header),
    }
}

/// Returns the replacement text of a host header. For cuBLAS it includes the device headers that the
/// original includes.
pub fn replacement(header: &str) -> &'static str {
    if header.starts_with("cublas") {
        "#pragma once\n#if __has_include(<cuda_bf16.h>)\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#endif\n"
    } else {
        ""
    }
}
