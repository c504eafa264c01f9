//! Launch configurations: from the block directives of the PTX, and from `sizes.txt` for kernels with other
//! requirements.

use std::collections::BTreeMap;

use super::entries::Entry;

/// The launch of an entry.
#[derive(Clone, Debug)]
pub struct Size {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// The value of integer parameters.
    pub integer: i64,
    /// The value of a floating-point parameter, or of each element of a buffer, by parameter; 0 if absent.
    pub values: BTreeMap<usize, i64>,
    /// The kind of report that is expected.
    pub report: Option<String>,
}

/// The contents of `sizes.txt`, by kernel name.
pub struct Sizes(BTreeMap<String, Vec<(String, String)>>);

impl Sizes {
    pub fn read(text: &str) -> Sizes {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let words = |line: &str| {
            let mut words = line.split_whitespace().map(str::to_owned);
            let name = words.next().unwrap();
            let pair = |word: String| {
                let (key, value) =
                    word.split_once('=').unwrap_or_else(|| panic!("`{line}`: no `=` in `{word}`"));
                (key.to_owned(), value.to_owned())
            };
            (name, words.map(pair).collect())
        };
        Sizes(lines.map(words).collect())
    }

    /// Returns the names of the kernels in the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the parameters of a kernel that are pointers although its PTX does not show it.
    pub fn pointers(&self, name: &str) -> Vec<usize> {
        let settings = self.0.get(name).into_iter().flatten();
        let said = settings.filter(|(key, _)| key == "pointers").flat_map(|(_, value)| value.split(','));
        said.map(|at| at.parse().unwrap()).collect()
    }

    /// Returns the launch of an entry.
    pub fn of(&self, entry: &Entry) -> Size {
        let block = entry.required.unwrap_or([entry.most.map_or(64, |most| most.min(64)), 1, 1]);
        let shared = if entry.dynamic_shared { 32 << 10 } else { 0 };
        let grid = entry.cluster.unwrap_or([2, 1, 1]);
        let mut size = Size { grid, block, shared, integer: 16, values: BTreeMap::new(), report: None };
        for (key, value) in self.0.get(&entry.name).into_iter().flatten() {
            let three = || {
                let mut parts = value.split('x').map(|part| part.parse::<u32>().unwrap());
                [0; 3].map(|_| parts.next().unwrap_or(1))
            };
            let number = || value.parse::<i64>().unwrap();
            match key.as_str() {
                "grid" => size.grid = three(),
                "block" => size.block = three(),
                "shared" => size.shared = number() as u32,
                "pointers" => {}
                "report" => size.report = Some(value.clone()),
                "integer" => size.integer = number(),
                key => {
                    let at = key.strip_prefix('p').and_then(|at| at.parse().ok());
                    size.values.insert(at.unwrap_or_else(|| panic!("`{key}` of `{}`", entry.name)), number());
                }
            }
        }
        size
    }
}
