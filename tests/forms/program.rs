//! Graph programs that are generated at run time: the compiler's program, and the effects of its statements.

use cuweave_core::index::ids;
use cuweave_core::ir::{Access, BufferId, Launches, Memory, Options, Program, StatementId};
use cuweave_core::table::{Scalar, Setting};

/// Lengths and bounds are multiples of this, up to [`LONGEST`].
pub const UNIT: u32 = 8;
/// The longest buffer.
pub const LONGEST: u32 = 72;
/// The arguments. The graph writes `x` and `z`, and reads `y`.
pub const X: BufferId = BufferId::from_u32(0);
pub const Y: BufferId = BufferId::from_u32(1);
pub const Z: BufferId = BufferId::from_u32(2);
/// The number of scalar arguments.
pub const SCALARS: usize = 4;
/// The maximum number of parameters of any kernel here.
const PARAMETERS: u32 = 16;

/// A number that is passed to a launch.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Fixed(u32),
    /// The scalar argument with this index.
    Argument(usize),
}

/// The effect of a statement.
#[derive(Clone, Debug)]
pub enum Does {
    /// An allocation, free or copy, which the statement fully describes.
    Nothing,
    Copy,
    Fill(u32),
    Launch(Launch),
}

/// A launch of one of the kernels.
#[derive(Clone, Debug)]
pub struct Launch {
    pub kernel: usize,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub number: Number,
    /// The scalar argument that determines the number of blocks in x.
    pub blocks_by: Option<usize>,
    /// The scalar argument that determines the number of threads per block.
    pub threads_by: Option<usize>,
}

/// A program with the effects of its statements.
#[derive(Clone)]
pub struct Function {
    pub program: Program,
    pub does: Vec<Does>,
}

impl Function {
    /// Returns the scalars that have setters, with the statements that each of them affects.
    pub fn scalars(&self) -> Vec<Scalar> {
        let of = |scalar: usize, which: fn(&Launch, usize) -> bool| -> Vec<StatementId> {
            let uses = |does: &Does| matches!(does, Does::Launch(launch) if which(launch, scalar));
            ids(self.does.len()).zip(&self.does).filter(|(_, does)| uses(does)).map(|(id, _)| id).collect()
        };
        (0..SCALARS)
            .map(|scalar| Scalar {
                name: format!("s{scalar}").into(),
                argument: cuweave_core::ids::ArgumentId::NONE,
                path: Vec::new(),
                line: 1,
                setting: Setting::Free,
                leaf: None,
                statements: of(scalar, |launch, scalar| launch.mentions(scalar)),
                grids: of(scalar, |launch, scalar| launch.blocks_by == Some(scalar)),
                blocks: of(scalar, |launch, scalar| launch.threads_by == Some(scalar)),
                // Any of their parameters may be the number.
                parameters: of(scalar, Launch::mentions)
                    .into_iter()
                    .flat_map(|statement| (0..PARAMETERS).map(move |parameter| (statement, parameter)))
                    .collect(),
            })
            .collect()
    }

    /// Returns true if its first launches have equal grids.
    pub fn begins_alike(&self) -> bool {
        let grid = |at: usize| match &self.does[at] {
            Does::Launch(launch) => Some(launch.grid),
            _ => None,
        };
        grid(0) == grid(1)
    }

    /// Returns the checked program with these options.
    pub fn with(&self, launches: Option<Launches>, memory: Memory) -> Function {
        let mut function = self.clone();
        function.program.options = Options { launches, memory: Some(memory), ..self.program.options };
        function
    }

    /// Returns the program with a budget, in bytes.
    pub fn within(&self, budget: u64) -> Function {
        let mut function = self.clone();
        function.program.options.budget = Some(function.program.dims.push(budget.to_string().into()));
        function
    }
}

impl Launch {
    fn mentions(&self, scalar: usize) -> bool {
        let by_number = matches!(self.number, Number::Argument(other) if other == scalar);
        by_number || self.blocks_by == Some(scalar) || self.threads_by == Some(scalar)
    }
}
/// Returns the length of a launch's buffer.
pub fn len_of(accesses: &[Access], buffer: usize) -> u32 {
    (accesses[buffer].hi.as_u32() - accesses[buffer].lo.as_u32()) * UNIT
}
