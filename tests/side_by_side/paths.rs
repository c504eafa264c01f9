//! The paths of statements: values of loop variables, and places of calls.

use cuweave::builder::Builder;
use cuweave::prelude::*;
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph(launches = "as-written")]
fn twice(n: u32, y: &mut [f32; n]) {
    scale[per_item(n)](&mut y, 2.0, n);
}

#[cuweave::graph(launches = "as-written")]
#[rustfmt::skip]
fn places(n: u32, y: &mut [f32; n]) {
    twice(n, &mut y);
    twice(n, &mut y);
    twice(n, &mut y); twice(n, &mut y);
}

/// The line of the first call in `places`.
const FIRST: u32 = 20;

#[cuweave::graph(launches = "as-written")]
fn loops(n: u32, layers: u32, y: &mut [f32; n], parts: &[&mut [f32; n]], array: [&mut [f32; n]; 2]) {
    for _ in (0..layers).rev() {
        twice(n, &mut y);
    }
    for l in (1..=layers).rev() {
        if l > 1 {
            rest(n, &mut y);
        }
    }
    for (_, part) in parts.iter_mut().enumerate().rev() {
        backwards(n, &mut part);
    }
    for part in parts.iter_mut() {
        forwards(n, &mut part);
    }
    for i in 0..2 {
        for _ in (i..layers).rev() {
            for _ in (0..2).rev() {
                unrolled(n, &mut y);
            }
        }
    }
    for one in array.iter_mut().rev() {
        element(n, &mut one);
    }
}

macro_rules! functions {
    ($($name:ident)*) => {$(
        #[cuweave::graph(launches = "as-written")]
        fn $name(n: u32, y: &mut [f32; n]) {
            twice(n, &mut y);
        }
    )*};
}
functions!(rest backwards forwards unrolled element);

fn names(profile: &cuweave::profile::Profile) -> Vec<&str> {
    profile.entries.iter().map(|entry| &entry.name[..]).collect()
}

#[test]
fn calls_at_several_places_have_paths_of_their_own() {
    let device = device();
    let mut y = device.upload(&[1.0_f32; 8]);
    let mut exec = places(&device.ctx, 8, &mut y).expect("it builds").instantiate().expect("an exec");
    let profile = exec.profile(&device.stream, 1).expect("a profile");
    let line = |at: u32| format!("twice:{}", FIRST + at);
    let expected = [line(0), line(1), format!("{}:5", line(2)), format!("{}:23", line(2))];
    assert_eq!(names(&profile), expected.map(|path| format!("{path}.scale")));
    let table = profile.to_string();
    let rows = table.lines().filter(|line| line.contains(".scale"));
    assert_eq!(rows.count(), 4, "{table}");
}

#[test]
fn the_paths_of_loops_have_the_values_of_their_variables() {
    let device = device();
    let mut y = device.upload(&[1.0_f32; 8]);
    let new = || device.upload(&[1.0_f32; 8]);
    let graph = loops(&device.ctx, 8, 3, &mut y, vec![new(), new()], [new(), new()]).expect("it builds");
    let mut exec = graph.instantiate().expect("an exec");
    let profile = exec.profile(&device.stream, 1).expect("a profile");
    let mut found = names(&profile);
    found.sort_unstable();
    let mut expected = vec![
        "twice[0].scale",
        "twice[1].scale",
        "twice[2].scale",
        "rest[2].twice.scale",
        "rest[3].twice.scale",
        "backwards[0].twice.scale",
        "backwards[1].twice.scale",
        "forwards[0].twice.scale",
        "forwards[1].twice.scale",
        "element[0].twice.scale",
        "element[1].twice.scale",
    ];
    let nested: Vec<String> = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2)]
        .iter()
        .flat_map(|(i, l)| [0, 1].map(|last| format!("unrolled[{i}][{l}][{last}].twice.scale")))
        .collect();
    expected.extend(nested.iter().map(String::as_str));
    expected.sort_unstable();
    assert_eq!(found, expected);
    let of = |name: &str| profile.entries.iter().position(|entry| entry.name == name).expect("an entry");
    assert!(of("twice[2].scale") < of("twice[0].scale"), "the loop counts down");
}

#[test]
fn a_builders_calls_have_paths_of_their_own() {
    let device = device();
    let mut y = device.upload(&[1.0_f32; 8]);
    let mut b = Builder::new(&device.ctx);
    let n = b.scalar("n", 8_u32);
    let y = b.exclusive("y", n, &mut y);
    for _ in 0..2 {
        b.call(twice::twice {}, (n, y.write())).expect("a call");
    }
    b.call(twice::twice {}, (n, y.write())).expect("a call");
    let mut exec = b.build().expect("it builds").instantiate().expect("an exec");
    let profile = exec.profile(&device.stream, 1).expect("a profile");
    let table = profile.to_string();
    let rows: Vec<&str> = table.lines().filter(|line| line.contains(".scale")).collect();
    assert_eq!(rows.len(), 2, "{table}");
}
