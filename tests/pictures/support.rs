//! The graphs of the tests, and their pictures.

/// The pictures of a graph.
pub struct Drawn {
    pub name: &'static str,
    pub report: String,
    pub dot: String,
    pub memory: String,
    pub svg: String,
    pub page: String,
}

impl Drawn {
    /// Writes the pictures to the folder that `CUWEAVE_PICTURES` names, if it is set.
    pub fn kept(self) -> Drawn {
        let Drawn { name, report, dot, memory, svg, page } = &self;
        let files = [("txt", report), ("dot", dot), ("memory.svg", memory), ("svg", svg), ("html", page)];
        files.iter().for_each(|(end, text)| keep(&format!("{name}.{end}"), text));
        self
    }
}

/// Writes a picture to that folder.
pub fn keep(name: &str, text: &str) {
    if let Ok(folder) = std::env::var("CUWEAVE_PICTURES") {
        std::fs::write(format!("{folder}/{name}"), text).expect("the picture can be written");
    }
}

/// Returns the pictures of a graph, built by a function or a builder.
#[macro_export]
macro_rules! drawn {
    ($name:literal, $graph:expr) => {{
        let graph = &$graph;
        $crate::support::Drawn {
            name: $name,
            report: graph.report().all().to_string(),
            dot: graph.dot(),
            memory: graph.memory_svg().expect("a picture"),
            svg: graph.svg(),
            page: graph.page().expect("a page"),
        }
        .kept()
    }};
}
