use cuweave_core::plan::{csv, *};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let p = csv::problem(&csv::read(&std::fs::read_to_string(&args[1]).unwrap()).unwrap());
    for e in [Effort::Quick, Effort::Default, Effort::Thorough, Effort::Exhaustive] {
        if args.len() > 2 && !args[2].contains(&format!("{e:?}")) {
            continue;
        }
        let t = std::time::Instant::now();
        let r = place_all(&p, e);
        let ms = t.elapsed().as_micros() as f64 / 1000.0;
        for a in 0..p.sizes.len() {
            for b in 0..a {
                if p.conflicts.conflict(a as u32, b as u32) {
                    let (oa, ob) = (r.offsets[a], r.offsets[b]);
                    assert!(oa + p.sizes[a] <= ob || ob + p.sizes[b] <= oa);
                }
            }
            assert!(r.offsets[a] + p.sizes[a] <= r.total);
        }
        println!(
            "{e:?} n={} bound={} planned={} ratio={:.4} ms {ms}",
            p.sizes.len(),
            p.bound.bytes,
            r.total,
            r.total as f64 / p.bound.bytes as f64
        );
    }
}
