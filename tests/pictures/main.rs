//! Pictures of realistic graphs. If `CUWEAVE_PICTURES=FOLDER` is set, they are written to that folder for
//! inspection.

mod graphs;
#[path = "../../benches/graphs/shapes.rs"]
#[allow(dead_code)]
mod shapes;
mod support;

use std::sync::OnceLock;

use cuweave::builder::Builder;
use cuweave_testkit::device::{alone, device, driver, simulated_alone};
use cuweave_testkit::process::apart;
use serde_json::Value;
use support::Drawn;

const HOSTILE: &str = "</script><script>alert(1)</script>\" onload='x' & \\N\u{202e}\u{1}\u{0} é";

/// Returns the pictures of graphs on one device, which are drawn only once.
fn all() -> &'static [Drawn] {
    static ALL: OnceLock<Vec<Drawn>> = OnceLock::new();
    ALL.get_or_init(draw)
}

fn draw() -> Vec<Drawn> {
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

/// Checks that a page is complete: its pictures are well-formed, its data is JSON that refers to the pictures, and
/// it refers to nothing external.
fn check_page(name: &str, page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{name}");
    let elements: Vec<&str> = page.match_indices("<script").map(|(at, _)| &page[at..]).collect();
    let [data, script] = elements.as_slice() else { panic!("{name}: {} scripts", elements.len()) };
    assert!(
        data.starts_with("<script type=\"application/json\" id=\"data\">") && script.starts_with("<script>")
    );
    assert_eq!(page.matches("</script>").count(), 2, "{name}");
    for outside in ["<link", " src=", "url(http", "@import", "import(", "fetch("] {
        assert!(!page.contains(outside), "{name}: {outside}");
    }
    let mut pictures = Vec::new();
    let mut rest = page;
    while let Some(from) = rest.find("<svg") {
        let to = from + rest[from..].find("</svg>").expect("an end") + 6;
        let text = &rest[from..to];
        pictures
            .push(roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}")));
        rest = &rest[to..];
    }
    let json = data.split_once('>').and_then(|(_, rest)| rest.split_once("</script>")).expect("the data").0;
    let data: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (buffers, views) =
        (data["buffers"].as_array().expect("buffers"), data["views"].as_array().expect("views"));
    // The pictures of the graph come first, then the memory picture.
    for (view, picture) in views.iter().zip(&pictures) {
        let (boxes, edges) =
            (view["boxes"].as_array().expect("boxes"), view["edges"].as_array().expect("edges"));
        let numbers = |attribute: &str| -> Vec<usize> {
            let found = picture.descendants().filter_map(|node| node.attribute(attribute));
            found.map(|number| number.parse().expect("a number")).collect()
        };
        assert_eq!(numbers("data-v"), (0..boxes.len()).collect::<Vec<_>>(), "{name}");
        assert!(numbers("data-e").iter().all(|&edge| edge < edges.len()), "{name}");
        let indices = |list: &Value, less: usize| {
            let list = list.as_array().expect("a list");
            assert!(list.iter().all(|one| one.as_u64().expect("a number") < less as u64), "{name}: {list:?}");
        };
        edges.iter().for_each(|edge| [0, 1].iter().for_each(|&side| indices(&edge[side], boxes.len())));
        boxes.iter().for_each(|one| ["r", "w"].iter().for_each(|&key| indices(&one[key], buffers.len())));
    }
    let memory = pictures.get(views.len()).expect("the memory");
    for number in memory.descendants().filter_map(|node| node.attribute("data-b")) {
        assert!(number.parse::<usize>().expect("a number") < buffers.len(), "{name}");
    }
}

#[test]
fn a_hostile_name_is_text_wherever_it_stands() {
    let list = all();
    let Drawn { page, dot, svg, memory, .. } = find(list, "hostile");
    for text in [page, svg, memory] {
        assert!(!text.contains("<script>alert") && !text.contains("onload='"), "{text}");
        assert!(text.contains("&lt;script&gt;alert(1)"), "{text}");
    }
    for text in [page, svg, memory, dot] {
        let plain = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
        assert!(text.chars().all(plain), "{text:?}");
    }
    // A quote does not end a DOT string, and a backslash does not start an escape.
    assert!(dot.contains("</script><script>alert(1)</script>\\\" onload='x' & \\\\N"), "{dot}");
}

/// If a graph has many statements outside of loops, only the first are drawn.
#[test]
fn very_many_boxes_are_cut() {
    let device = device();
    let mut out = device.zeros::<f32>(64);
    let mut many = Builder::with_name(&device.ctx, "many");
    let x = many.exclusive("x", 64, &mut out);
    for at in 0..1600 {
        many.named(&format!("s{at}")).fill(x.write(), 1.0_f32).expect("a fill");
    }
    let graph = many.build().expect("it builds");
    let page = graph.page().expect("a page");
    check_page("many", &page);
    assert!(page.contains(">100 more nodes are not drawn<") && page.len() < 3_000_000, "{}", page.len());
}

/// Pages of large graphs are folded, so they are small and do not take quadratic time.
#[test]
fn loops_are_one_box_in_large_graphs() {
    let list = all();
    let Drawn { page, svg, .. } = find(list, "long");
    assert_eq!(svg.matches("class=\"node\"").count(), 4, "{svg}");
    assert!(
        svg.contains("copy × 2500") && svg.contains("axpy × 2500") && svg.contains("to a later iteration"),
        "{svg}"
    );
    assert!(page.len() < 1_500_000, "{}", page.len());
    let Drawn { page, .. } = find(list, "transformer");
    assert!(page.contains("block[..].attention.own × 22") && page.contains(">block[13].attention.own<"));
    assert!(page.contains("loops folded"));
    assert!(!find(list, "block").page.contains("loops folded"));
}

#[test]
fn bodies_stand_inside_of_bodies() {
    let list = all();
    let picture = &find(list, "nested").svg;
    let document = roxmltree::Document::parse(picture).expect("a picture");
    let area = |node: roxmltree::Node<'_, '_>| {
        ["x", "y", "width", "height"]
            .map(|key| node.attribute(key).expect("it has").parse::<f64>().expect("a number"))
    };
    let bodies: Vec<(String, [f64; 4])> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("body"))
        .map(|node| {
            (node.first_element_child().and_then(|title| title.text()).unwrap_or("").to_owned(), area(node))
        })
        .collect();
    let names: Vec<&str> = bodies.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["match which: 0", "match which: 1", "while count", "if which", "match which: _"]);
    let holds = |outer: usize, inner: usize| {
        let ([x, y, w, h], [u, v, s, t]) = (bodies[outer].1, bodies[inner].1);
        x < u && y < v && u + s < x + w && v + t < y + h
    };
    assert!(holds(1, 2) && holds(2, 3) && !holds(0, 2) && !holds(4, 2), "{bodies:?}");
    // The boxes of nodes do not overlap.
    let boxes: Vec<[f64; 4]> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("node"))
        .filter_map(|node| node.children().find(|child| child.has_tag_name("rect")).map(area))
        .collect();
    for (at, [x, y, w, h]) in boxes.iter().enumerate() {
        for [u, v, s, t] in &boxes[..at] {
            assert!(x + w <= *u || u + s <= *x || y + h <= *v || v + t <= *y, "{boxes:?}");
        }
    }
}

/// The times of a profile are shown in the picture of its own graph, but not of another.
#[test]
fn a_profile_is_part_of_the_page_of_its_graph() {
    let device = alone();
    let (g, many) = (device.zeros::<f32>(64), device.zeros::<f32>(4 * 64 * 64));
    let (mut x, mut y) = (device.zeros::<f32>(4 * 64), device.zeros::<f32>(64));
    let graph = graphs::decided(&device.ctx, 2, 4, 64, &many, &many, &g, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let profile = exec.profile(&device.stream, 2).expect("a profile");
    let page = exec.page_with(&profile).expect("a page");
    check_page("profiled", &page);
    assert!(page.contains("<section id=\"profile\"") && page.contains("on the critical path"));
    assert!(page.matches(" us · ").count() >= profile.entries.len() / 2, "{page}");
    assert!(!exec.page().expect("a page").contains("<section id=\"profile\""));
    support::keep("profiled.html", &page);
    support::keep("profile.svg", &profile.svg());
    let other = graphs::single(&device.ctx, 64, &mut y).expect("it builds");
    let page = other.page_with(&profile).expect("a page");
    check_page("other", &page);
    assert!(
        page.contains("<section id=\"profile\"")
            && page.contains("\"t\":\"\"")
            && !page.contains("\"t\":\"0")
    );
}

#[test]
fn every_picture_is_well_formed() {
    for Drawn { name, dot, memory, svg, page, .. } in all() {
        assert!(dot.starts_with("digraph \"") && dot.ends_with("}\n"), "{name}: {dot}");
        assert!(!dot.chars().any(|c| c != '\n' && c.is_control()), "{name}: {dot:?}");
        for picture in [&memory, &svg] {
            roxmltree::Document::parse(picture).unwrap_or_else(|error| panic!("{name}: {error}\n{picture}"));
            assert!(!picture.contains("NaN") && !picture.contains("inf"), "{name}: {picture}");
        }
        check_page(name, page);
    }
}

/// The memory picture shows the offsets of the built graph: fused launches are on one level, and buffers in
/// registers have no offset.
#[test]
fn the_picture_of_the_memory_is_that_of_the_graph() {
    let mut checked = 0;
    for Drawn { name, report, memory, .. } in all() {
        let planned = report.lines().find_map(|line| line.strip_prefix("temporaries  "));
        let Some((planned, _)) = planned.and_then(|line| line.split_once(" planned")) else { continue };
        assert!(memory.contains(&format!(" in {planned}, ")), "{name}: {planned}\n{memory}");
        checked += 1;
    }
    assert!(checked > 5, "only {checked} pictures have a plan");
    let Drawn { report, memory, .. } = find(all(), "decided");
    assert!(report.contains("without memory: `decided_block[..].down`"), "{report}");
    assert!(memory.contains("[0].up · ") && !memory.contains("].down · "), "{memory}");
    assert!(memory.contains("; 8 buffers more only in registers"), "{memory}");
    // Without a plan, the driver chooses the addresses.
    let memory = &find(all(), "inception").memory;
    assert!(memory.contains("; each has an alloc node, and the driver chooses its address"), "{memory}");
}

fn find<'d>(list: &'d [Drawn], name: &str) -> &'d Drawn {
    list.iter().find(|drawn| drawn.name == name).expect("it is drawn")
}

#[test]
fn edges_name_the_buffers_that_they_are_there_for() {
    let list = all();
    let dot = &find(list, "block").dot;
    for label in [" block[0].h", " block[0].attention.q", " x"] {
        assert!(dot.contains(&format!("label=\"{label}\" ")), "{label}: {dot}");
    }
    assert!(dot.contains("on an edge: the buffers it is there for"), "{dot}");
    assert!(!dot.contains("dashed: starts early"), "{dot}");
    let dot = &find(list, "solve").dot;
    assert!(
        dot.contains("label=\" r, p and 3 more\" edgetooltip=\"r, p, rr, go, q")
            || dot.contains("and 3 more"),
        "{dot}"
    );
    assert!(dot.contains("end of while") && dot.contains("label=\"while go\""), "{dot}");
    let empty = &find(list, "nothing").dot;
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
