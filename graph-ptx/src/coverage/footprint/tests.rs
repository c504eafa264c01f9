//! Footprints of small kernels; the proof is compared with a list of all bytes.

use super::*;
use crate::analysis::{Analysis, ParameterKinds};
use crate::coverage::{BackwardSlice, LaunchInputs, RangedInputs};
use crate::syntax::parse;
use std::collections::BTreeMap;

/// Returns the slice of the accesses through `x` and `y` of a kernel with two pointers and a number.
pub(in crate::coverage) fn slice(body: &str) -> BackwardSlice {
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n\
         .visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n) {{\n\
         .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>; .reg .f32 %f<9>;\n\
         ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r9, [n];\n\
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r5, %nctaid.x;\n\
         mov.u32 %r6, %ctaid.y; mov.u32 %r7, %tid.y;\n\
         {body}\nEND: ret; }}"
    );
    let module = parse(&text).unwrap();
    let mut analysis = Analysis::new(&module);
    let taken = ParameterKinds {
        pointers: &[true, true, false],
        never_null: &[],
        scalars: &[false, false, true],
        ..ParameterKinds::default()
    };
    analysis.slice_accesses("k", taken)
}

/// Returns the reads of `x`, the writes of `x`, the reads of `y` and the writes of `y`.
fn regions(body: &str, grid: [u32; 3], block: [u32; 3], n: Option<u64>) -> Vec<Region> {
    let scalar = |_: u32| n;
    slice(body)
        .footprint_and_sites(&LaunchInputs { grid, block, scalar: &scalar, ranged: RangedInputs::default() })
        .0
}

fn blocks_apart(one: &Region, other: &Region) -> bool {
    blocks_are_disjoint(one, 0, other, 0)
}

pub(in crate::coverage) const INDEX: &str = "mad.lo.s32 %r4, %r1, %r2, %r3; setp.ge.s32 %p1, %r4, %r9; @%p1 bra END; \
                     mul.wide.s32 %rd4, %r4, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; ";

#[test]
fn blocks_of_element_wise_kernels_are_apart() {
    let body = format!("{INDEX} ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd6], %f1;");
    for n in [Some(1), Some(1000), Some(1024), Some(5000), None] {
        let found = regions(&body, [4, 1, 1], [256, 1, 1], n);
        assert!(found[1].is_empty() && found[2].is_empty());
        assert!(blocks_apart(&found[0], &found[3]), "{n:?} {found:?}");
    }
    // Each thread reads the element of its neighbour.
    let body = format!("{INDEX} ld.global.f32 %f1, [%rd5+4]; st.global.f32 [%rd6], %f1;");
    let found = regions(&body, [4, 1, 1], [256, 1, 1], Some(1024));
    assert!(!blocks_apart(&found[0], &found[3]));
    // The same launch with one block.
    let found = regions(&body, [1, 1, 1], [256, 1, 1], Some(1024));
    assert!(blocks_apart(&found[0], &found[3]));
}

#[test]
fn strides_over_the_grid_keep_blocks_apart() {
    let body = "mad.lo.s32 %r4, %r1, %r2, %r3; mul.lo.u32 %r8, %r5, %r2; \
                LOOP: setp.ge.s32 %p1, %r4, %r9; @%p1 bra END; \
                mul.wide.s32 %rd4, %r4, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; \
                ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd6], %f1; add.s32 %r4, %r4, %r8; bra LOOP;";
    for n in [100, 4096, 100_000] {
        let strided = regions(body, [4, 1, 1], [256, 1, 1], Some(n));
        assert!(blocks_apart(&strided[0], &strided[3]), "{n}: {strided:?}");
    }
    let strided = regions(body, [4, 1, 1], [256, 1, 1], Some(4096));
    let plain = format!("{INDEX} ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd6], %f1;");
    let plain = regions(&plain, [4, 1, 1], [256, 1, 1], Some(1024));
    assert!(blocks_apart(&strided[3], &plain[0]));
    // With a different number of threads per block, the blocks differ.
    let wide = format!("{} ld.global.f32 %f1, [%rd5];", INDEX.replace("%r2, %r3", "64, %r3"));
    let wide = regions(&wide, [4, 1, 1], [256, 1, 1], Some(1024));
    assert!(!blocks_apart(&wide[0], &plain[3]));
}

#[test]
fn rows_belong_to_their_block() {
    // y[row] = x[row * n + i], for i starting at the thread index.
    let body = "mul.lo.s32 %r8, %r1, %r9; mov.u32 %r4, %r3; LOOP: setp.ge.s32 %p1, %r4, %r9; @%p1 bra DONE; add.s32 \
                %r10, %r8, %r4; mul.wide.s32 %rd4, %r10, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5]; \
                add.s32 %r4, %r4, %r2; bra LOOP; DONE: setp.ne.s32 %p2, %r3, 0; @%p2 bra END; mul.wide.s32 %rd7, \
                %r1, 4; add.s64 %rd8, %rd2, %rd7; st.global.f32 [%rd8], %f1;";
    let rows = regions(body, [64, 1, 1], [128, 1, 1], Some(1000));
    assert!(blocks_apart(&rows[0], &rows[0]) && blocks_apart(&rows[3], &rows[3]), "{rows:?}");
    // In a flat array of 64,000 elements with 256 per block, other blocks make the accesses.
    let flat = format!("{INDEX} st.global.f32 [%rd5], %f1;");
    let flat = regions(&flat, [64, 1, 1], [128, 1, 1], Some(64_000));
    assert!(!blocks_apart(&rows[0], &flat[1]));
    // Without a value of `n` the stride of the rows is unknown.
    let rows = regions(body, [64, 1, 1], [128, 1, 1], None);
    assert!(matches!(rows[0], Region::Anywhere(_)), "{rows:?}");
}

#[test]
fn tiles_of_two_dimensions_are_apart() {
    let body = "mad.lo.s32 %r4, %r1, 16, %r3; mad.lo.s32 %r8, %r6, 16, %r7; mad.lo.s32 %r10, %r8, %r9, %r4; \
                mul.wide.s32 %rd4, %r10, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; \
                ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd6], %f1;";
    let tiles = regions(body, [8, 4, 1], [16, 16, 1], Some(128));
    assert!(blocks_apart(&tiles[0], &tiles[3]), "{tiles:?}");
    // Rows of 120 elements: the last tile of a row overlaps the next row.
    let tiles = regions(body, [8, 4, 1], [16, 16, 1], Some(120));
    assert!(!blocks_apart(&tiles[0], &tiles[3]));
    // The transposed tile.
    let transposed = body.replace("mad.lo.s32 %r10, %r8, %r9, %r4", "mad.lo.s32 %r10, %r4, %r9, %r8");
    let transposed = regions(&transposed, [8, 4, 1], [16, 16, 1], Some(128));
    assert!(!blocks_apart(&tiles[3], &transposed[0]));
}

#[test]
fn loaded_data_decides_on_the_access_and_not_on_the_address() {
    let body = format!(
        "{INDEX} ld.global.f32 %f1, [%rd5]; setp.gt.f32 %p2, %f1, 0f00000000; @%p2 bra ONE; \
         st.global.f32 [%rd6], %f1; bra END; ONE: ld.global.f32 %f2, [%rd6]; st.global.f32 [%rd5], %f2;"
    );
    let found = regions(&body, [4, 1, 1], [256, 1, 1], Some(1000));
    assert!(found.iter().all(|region| !region.is_empty()), "{found:?}");
    for (one, other) in [(0, 1), (2, 3), (1, 1), (3, 3)] {
        assert!(blocks_apart(&found[one], &found[other]), "{found:?}");
    }
    // A loaded address.
    let body = format!(
        "{INDEX} ld.global.u32 %r8, [%rd5]; mul.wide.u32 %rd7, %r8, 4; add.s64 %rd8, %rd2, %rd7; \
            st.global.f32 [%rd8], %f1;"
    );
    let found = regions(&body, [4, 1, 1], [256, 1, 1], Some(1000));
    assert!(matches!(found[3], Region::Anywhere(_)) && matches!(found[0], Region::Accesses(_)), "{found:?}");
}

/// Returns the blocks that access each byte.
fn bytes(touch: &StridedAccess) -> BTreeMap<i128, Vec<[u64; 3]>> {
    let mut all: BTreeMap<i128, Vec<[u64; 3]>> = BTreeMap::new();
    let [x, y, z] = touch.axes.map(|axis| axis.first..axis.first + axis.count);
    for block in
        x.flat_map(|x| y.clone().map(move |y| (x, y))).flat_map(|(x, y)| z.clone().map(move |z| [x, y, z]))
    {
        let stride = |axis: usize| touch.axes[axis].stride.unwrap_or(0) * i128::from(block[axis]);
        let mut addresses = vec![touch.constant + stride(0) + stride(1) + stride(2)];
        for &(coefficient, count) in &touch.inner {
            addresses = addresses
                .iter()
                .flat_map(|at| (0..i128::from(count)).map(move |turn| at + coefficient * turn))
                .collect();
        }
        for at in addresses {
            (0..i128::from(touch.bytes)).for_each(|byte| all.entry(at + byte).or_default().push(block));
        }
    }
    all
}

/// Small random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn touch(&mut self, strides: [i128; 3], grid: [u64; 3]) -> StridedAccess {
        let mut axes = [AxisBlocks { first: 0, count: 1, stride: None }; 3];
        for (at, axis) in axes.iter_mut().enumerate() {
            axis.count = 1 + self.below(grid[at]);
            axis.first = self.below(grid[at] - axis.count + 1);
            axis.stride = (axis.count > 1).then_some(strides[at]);
        }
        let coefficients = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128];
        let inner = (0..self.below(3)).map(|_| (coefficients[self.below(12) as usize], 2 + self.below(3)));
        let mut inner: Vec<(i128, u64)> = inner.collect();
        inner.sort_unstable();
        StridedAccess {
            bytes: [1, 4, 8][self.below(3) as usize],
            constant: i128::from(self.below(24)),
            axes,
            inner,
        }
    }
}

#[test]
fn what_is_proved_apart_is_apart_byte_for_byte() {
    let mut random = Random(7);
    let (mut proved, mut missed) = (0, 0);
    let strides = [4, 8, 16, 32, 64, 96, 128, 256];
    for _ in 0..40_000 {
        let of = [0; 3].map(|_| strides[random.below(8) as usize]);
        let grid = [1 + random.below(4), 1 + random.below(3), 1 + random.below(2)];
        let (one, other) = (random.touch(of, grid), random.touch(of, grid));
        let all = bytes(&one);
        let conflict = bytes(&other).iter().any(|(byte, blocks)| {
            let others = all.get(byte).into_iter().flatten();
            others.into_iter().any(|mine| blocks.iter().any(|theirs| theirs != mine))
        });
        match (are_apart(&one, &other) == Some(true), conflict) {
            (true, true) => panic!("{one:?}\n{other:?}"),
            (true, false) => proved += 1,
            (false, false) => missed += 1,
            (false, true) => {}
        }
    }
    println!("{proved} proved, {missed} not");
    assert!(proved > 2000, "{proved} proved, {missed} not");
}
