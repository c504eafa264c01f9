//! The pictures of real graphs. With `CUWEAVE_PICTURES=FOLDER` they are written there, to be looked at.

mod graphs;
#[path = "../../benches/graphs/shapes.rs"]
#[allow(dead_code)]
mod shapes;
mod support;

use cuweave::builder::Builder;
use cuweave_testkit::device::{device, driver, simulated_alone};
use cuweave_testkit::process::apart;
use support::Drawn;

const HOSTILE: &str = "</script><script>alert(1)</script>\" onload='x' & \\N\u{202e}\u{1}\u{0} é";

/// Returns the pictures of graphs of one device.
fn all() -> Vec<Drawn> {
    let device = device();
    let (ctx, n) = (&device.ctx, 64_u32);
    let many = device.zeros::<f32>(4 * 64 * 64);
    let (g, b) = (device.zeros::<f32>(64), device.zeros::<f32>(64));
    let mut list = Vec::new();
    let mut x = device.zeros::<f32>(4 * 64);
    list.push(drawn!(
        "block",
        graphs::transformer(ctx, 1, 4, n, &many, &many, &g, &mut x).expect("it builds")
    ));
    list.push(drawn!(
        "transformer",
        graphs::transformer(ctx, 22, 4, n, &many, &many, &g, &mut x).expect("it builds")
    ));
    list.push(drawn!("decided", graphs::decided(ctx, 8, 4, n, &many, &many, &g, &mut x).expect("it builds")));
    let (mut y, mut turns) = (device.zeros::<f32>(64), device.zeros::<u32>(1));
    list.push(drawn!("solve", graphs::solve(ctx, n, 2.5, 1e-3, &b, &mut y, &mut turns).expect("it builds")));
    let which = device.zeros::<u32>(1);
    let (mut one, mut other) = (device.zeros::<u32>(64), device.zeros::<u32>(64));
    let nested = graphs::nested(ctx, n, &which, &mut turns, &mut one, &mut other).expect("it builds");
    list.push(drawn!("nested", nested));
    drop(nested);
    list.push(drawn!("long", graphs::long(ctx, 2500, n, &mut y).expect("it builds")));
    list.push(drawn!("single", graphs::single(ctx, n, &mut y).expect("it builds")));
    list.push(drawn!("nothing", graphs::nothing(ctx, n).expect("it builds")));
    let image = device.zeros::<f32>(16 * 16 * 64 * 64);
    let weights = device.zeros::<f32>(100 * 16 * 16);
    list.push(drawn!(
        "unet",
        shapes::unet_arena(ctx, 16, 64, weights.slice(..18 * 16 * 16), image).expect("it builds")
    ));
    let image = device.zeros::<f32>(16 * 16 * 64 * 64);
    list.push(drawn!("inception", shapes::inception_nodes(ctx, 16, 64, &weights, image).expect("it builds")));
    list.push(drawn!(
        "butterflies",
        shapes::butterflies_arena(ctx, 1 << 10, device.zeros::<f32>(8 << 10)).expect("it builds")
    ));
    let mut hostile = Builder::with_name(ctx, HOSTILE);
    let h = hostile.exclusive(HOSTILE, 64, &mut y);
    let t = hostile.named(HOSTILE).alloc::<f32>(64);
    hostile.named(HOSTILE).copy(&h, t.write()).expect("a copy");
    hostile.named("b").copy(&t, h.write()).expect("a copy");
    list.push(drawn!("hostile", hostile.build().expect("it builds")));
    list
}

#[test]
fn every_picture_is_well_formed() {
    for Drawn { name, dot, memory, .. } in all() {
        assert!(dot.starts_with("digraph \"") && dot.ends_with("}\n"), "{name}: {dot}");
        assert!(!dot.chars().any(|c| c != '\n' && c.is_control()), "{name}: {dot:?}");
        roxmltree::Document::parse(&memory).unwrap_or_else(|error| panic!("{name}: {error}\n{memory}"));
    }
}

fn find<'d>(list: &'d [Drawn], name: &str) -> &'d Drawn {
    list.iter().find(|drawn| drawn.name == name).expect("it is drawn")
}

#[test]
fn edges_name_the_buffers_that_they_are_there_for() {
    let list = all();
    let dot = &find(&list, "block").dot;
    for label in [" block[0].h", " block[0].attention.q", " x"] {
        assert!(dot.contains(&format!("label=\"{label}\" ")), "{label}: {dot}");
    }
    assert!(dot.contains("on an edge: the buffers it is there for"), "{dot}");
    assert!(!dot.contains("dashed: starts early"), "{dot}");
    let dot = &find(&list, "solve").dot;
    assert!(
        dot.contains("label=\" r, p and 3 more\" edgetooltip=\"r, p, rr, go, q")
            || dot.contains("and 3 more"),
        "{dot}"
    );
    assert!(dot.contains("end of while") && dot.contains("label=\"while go\""), "{dot}");
    let empty = &find(&list, "nothing").dot;
    assert!(!empty.contains("legend") && !empty.contains("->"), "{empty}");
}

#[test]
fn two_devices() {
    if simulated_alone().is_some() {
        apart("two_devices_apart", &[("CUWEAVE_SIM_DEVICES", "2")]);
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn two_devices_apart() {
    driver();
    let contexts = [0, 1].map(|at| cuweave::context(at).expect("a context"));
    let streams = [0, 1].map(|at: usize| contexts[at].new_stream().expect("a stream"));
    let x = streams[0].alloc_zeros::<f32>(64).expect("memory");
    let mut out = streams[1].alloc_zeros::<f32>(64).expect("memory");
    let across = drawn!("across", graphs::across(&contexts, 64, &x, &mut out).expect("it builds"));
    assert!(across.dot.contains("cluster_device_1"), "{}", across.dot);
    assert!(across.dot.contains("label=\" h\" color=firebrick penwidth=2"), "{}", across.dot);
}
