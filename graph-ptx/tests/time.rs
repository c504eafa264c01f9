//! The time that `#[kernels]` adds to a build, unoptimised like a macro.

use cuweave_ptx::{self as ptx, Analysis};
use std::time::{Duration, Instant};

/// Parses a file and analyses ten of its kernels. Best of five, because tests share the machine.
#[test]
fn ten_kernels_take_little_time() {
    let corpus = cuweave_testkit::files::root().join("tests/ptx-corpus");
    let mut worst = Duration::ZERO;
    for file in ["nvrtc/basic.ptx", "nvrtc/basic.debug.ptx", "nvrtc/nn.ptx", "nvrtc/sparse.ptx"] {
        let text = std::fs::read_to_string(corpus.join(file)).unwrap();
        let whole = ptx::parse(&text).unwrap();
        // The file reduced to its first ten kernels.
        let end = whole.entries().nth(9).unwrap().span.end as usize;
        let text = &text[..end];
        let mut best = Duration::MAX;
        for _ in 0..5 {
            let start = Instant::now();
            let module = ptx::parse(text).unwrap();
            let mut analysis = Analysis::new(&module);
            for entry in module.entries() {
                let pointers: Vec<bool> =
                    entry.parameters.iter().map(|parameter| parameter.may_be_pointer()).collect();
                let kernel = analysis.kernel(entry.name, &pointers);
                assert_eq!(kernel.parameters.len(), entry.parameters.len());
            }
            best = best.min(start.elapsed());
        }
        println!("{file}: {} bytes, 10 kernels: {best:?}", text.len());
        worst = worst.max(best);
    }
    assert!(worst < Duration::from_millis(200), "{worst:?}");
}
