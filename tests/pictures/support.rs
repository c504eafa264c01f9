//! The graphs of the tests, and their pictures.

use std::fmt::Display;

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
    /// Writes the pictures into the folder that `CUWEAVE_PICTURES` names, if it does.
    pub fn kept(self) -> Drawn {
        if let Ok(folder) = std::env::var("CUWEAVE_PICTURES") {
            let write = |end: &str, text: &dyn Display| {
                let file = format!("{folder}/{}.{end}", self.name);
                std::fs::write(file, text.to_string()).expect("the picture can be written");
            };
            write("txt", &self.report);
            write("dot", &self.dot);
            write("memory.svg", &self.memory);
            write("svg", &self.svg);
            write("html", &self.page);
        }
        self
    }
}

/// Returns the pictures of a graph, built by a function or a builder.
#[macro_export]
macro_rules! drawn {
    ($name:literal, $graph:expr) => {{
        let graph = &$graph;
        $crate::support::Drawn {
            name: $name,
            report: graph.report().to_string(),
            dot: graph.dot(),
            memory: graph.memory_svg().expect("a picture"),
            svg: graph.svg(),
            page: graph.page().expect("a page"),
        }
        .kept()
    }};
}
