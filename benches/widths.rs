//! Independent branches at several widths: the time of a launch and the device memory of the exec, for the default
//! width, for fixed ones, and without a bound. The default is to take at most 2.2 KiB a node and 2.5 MiB, unless more
//! gains over a hundredth of the time.
//!
//! Launches of one kernel would be batched, so the branches differ in their kernels or in the threads of a block.

#[macro_use]
mod common;

use std::sync::Arc;

use cuweave::Buffer;
use cuweave::builder::{Args, Builder, Launches, View};
use cuweave::prelude::*;

use common::table::Table;
use common::{Race, Result, Setup, Until, ratio, us};

#[cuweave::kernels("benches/kernels/launches.ptx")]
unsafe extern "ptx-kernel" {
    fn turns(x: &mut [f32; n], count: u32, n: u32);
}

macro_rules! different {
    ($($kernel:ident $at:literal)*) => {
        #[cuweave::kernels("benches/kernels/different.ptx")]
        unsafe extern "ptx-kernel" {
            $(fn $kernel(x: &mut [f32; n], n: u32);)*
        }

        /// Launches one of 96 kernels of different code.
        fn different(b: &mut Builder<'_>, at: u32, config: (u32, u32), own: &View, n: u32) -> Result<()> {
            match at % 96 {
                $($at => b.launch($kernel {}, config, (own.write(), n))?,)*
                _ => return Err("there are 96 kernels".into()),
            };
            Ok(())
        }
    };
}
each_different!(different 96);

/// `branches` chains of `steps` kernels of `blocks` blocks.
#[derive(Clone, Copy)]
struct Shape {
    branches: u32,
    steps: u32,
    blocks: u32,
    /// The iterations of each kernel. `None` for short kernels.
    turns: Option<u32>,
}

const SHAPES: [Shape; 8] = [
    Shape { branches: 96, steps: 10, blocks: 1, turns: None },
    Shape { branches: 384, steps: 3, blocks: 1, turns: None },
    Shape { branches: 384, steps: 3, blocks: 8, turns: None },
    Shape { branches: 96, steps: 10, blocks: 132, turns: None },
    Shape { branches: 32, steps: 30, blocks: 1, turns: Some(2_000) },
    Shape { branches: 32, steps: 30, blocks: 8, turns: Some(2_000) },
    Shape { branches: 32, steps: 30, blocks: 1, turns: Some(20_000) },
    Shape { branches: 32, steps: 30, blocks: 132, turns: Some(500) },
];

/// The widths. `None` is the default, and `u32::MAX` no bound.
const WIDTHS: [Option<u32>; 8] =
    [None, Some(4), Some(8), Some(19), Some(32), Some(64), Some(128), Some(u32::MAX)];

impl Shape {
    fn name(self) -> String {
        let kind = self.turns.map_or("short".to_owned(), |turns| format!("{turns} turns"));
        format!("{} x {}, {} blocks, {kind}", self.branches, self.steps, self.blocks)
    }

    /// Returns the number of threads of a block.
    fn threads(self, branch: u32) -> u32 {
        match self.turns {
            Some(_) => 32 * (1 + branch % 32),
            None => 256 >> (branch / 96 % 4),
        }
    }

    /// Returns the number of elements of a branch.
    fn elements(self) -> u32 {
        self.blocks * 1_024
    }

    fn build(
        self,
        setup: &Setup,
        launches: Option<Launches>,
        width: Option<u32>,
        memory: &Buffer<f32>,
    ) -> Result<cuweave::Graph<Args<'static>>> {
        let mut b = Builder::with_name(&setup.ctx, "widths");
        if let Some(launches) = launches {
            b.launches(launches);
        }
        if let Some(width) = width {
            b.width(width);
        }
        let x = b.exclusive("x", self.elements() * self.branches, memory.clone());
        for _ in 0..self.steps {
            for branch in 0..self.branches {
                let config = (self.blocks, self.threads(branch));
                let first = branch * self.elements();
                let n = config.0 * config.1;
                let own = x.range(first, first + n);
                match self.turns {
                    Some(count) => drop(b.launch(turns {}, config, (own.write(), count, n))?),
                    None => different(&mut b, branch, config, &own, n)?,
                }
            }
        }
        Ok(b.build()?)
    }
}

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let columns = [
        "shape",
        "launches",
        "asked",
        "width",
        "nodes",
        "estimated KiB",
        "taken KiB",
        "host us",
        "to the fastest",
    ];
    let mut table = Table::new(&setup, "widths", &columns)?;
    for (at, shape) in SHAPES.into_iter().enumerate() {
        // The simulated driver shows that one shape of each kind works.
        if setup.driver.is_simulated() && at % 4 != 0 {
            continue;
        }
        for launches in [None, Some(Launches::AsWritten)] {
            rows(&setup, shape, launches, &mut table)?;
        }
    }
    table.note(
        "Times from the launch until the stream is synchronised, all widths of a shape in one race. The memory was \
         taken by instantiating and the first launch, in steps of the driver, and may be reused from earlier graphs.",
    )?;
    table.finish()
}

fn rows(setup: &Setup, shape: Shape, launches: Option<Launches>, table: &mut Table) -> Result<()> {
    let stream: &Arc<_> = &setup.stream;
    let memory = Buffer::<f32>::zeros(stream, (shape.elements() * shape.branches) as usize)?;
    let mut cells = Vec::new();
    let mut race = Race::new(Until::Synchronized, 20);
    for width in WIDTHS {
        let graph = shape.build(setup, launches, width, &memory)?;
        let report = graph.report();
        stream.synchronize()?;
        let before = cudarc::driver::result::mem_get_info()?.0;
        let mut exec = graph.instantiate()?;
        exec.launch(stream)?;
        stream.synchronize()?;
        let taken = before.saturating_sub(cudarc::driver::result::mem_get_info()?.0);
        let name = match width {
            None => "default".to_owned(),
            Some(u32::MAX) => "no bound".to_owned(),
            Some(width) => width.to_string(),
        };
        cells.push([
            report.width.to_string(),
            report.nodes().to_string(),
            kib(report.exec_bytes),
            kib(taken as u64),
        ]);
        race.ours(&name, move |stream| Ok(exec.launch(stream).map(drop)?));
    }
    let times = race.run(setup)?;
    let fastest = times.iter().map(|times| times.host).min().unwrap_or_default();
    let kind = launches.map_or("all", |_| "as written");
    for (times, [width, nodes, estimated, taken]) in times.iter().zip(cells) {
        let relative = format!("{:.3}", ratio(times.host, fastest));
        let name = times.name.clone();
        table.row(&[
            shape.name(),
            kind.into(),
            name,
            width,
            nodes,
            estimated,
            taken,
            us(times.host),
            relative,
        ])?;
    }
    Ok(())
}

fn kib(bytes: u64) -> String {
    bytes.div_ceil(1024).to_string()
}
