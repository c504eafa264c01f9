//! The prologue of a batched variant: it finds the block's member and the grid registers of that member's launch.
//!
//! For a batch along an axis, the member is the block index along it. For a flat batch, the prologue searches the
//! first blocks of the members; see [`BatchTable::search_words`].

use super::scan::GridRegisters;
use super::table::{BatchTable, GridShape};
use std::fmt::Write;

/// The names that a variant's added code uses. None of them is a prefix of a name of the module.
#[derive(Clone, Debug)]
pub(super) struct AddedNames {
    /// A prefix that occurs in no name of the module.
    pub prefix: String,
}

impl AddedNames {
    /// Returns the register for a grid register, numbered as in [`GridRegisters`]. The last one is the fourth
    /// component, which is always 0.
    pub fn grid(&self, register: usize) -> String {
        let name = ["cx", "cy", "cz", "nx", "ny", "nz", "zero"][register];
        format!("%{}{name}", self.prefix)
    }

    /// Returns the parameter through which a function receives a grid register.
    pub fn argument(&self, register: usize) -> String {
        format!("{}of", self.grid(register)).replacen('%', "", 1)
    }

    /// Returns the register with the address of the member's record in parameter space.
    pub fn record(&self) -> String {
        format!("%{}record", self.prefix)
    }

    /// Returns the name of the table parameter.
    pub fn table(&self) -> String {
        format!("{}table", self.prefix)
    }

    /// Returns the register with the address of a parameter that is used other than by loads.
    pub fn address(&self, number: usize) -> String {
        format!("%{}p{number}q", self.prefix)
    }
}

/// The prologue of a variant.
pub(super) struct Prologue<'t> {
    pub own: &'t AddedNames,
    pub table: &'t BatchTable,
    pub shape: GridShape,
    /// True if it begins with `griddepcontrol.wait`.
    pub waits: bool,
    /// The grid registers that the body reads through [`AddedNames::grid`].
    pub grid: GridRegisters,
    /// True if the body reads the fourth component.
    pub zero: bool,
    /// The offsets in the record whose addresses the body reads through [`AddedNames::address`].
    pub addresses: &'t [i64],
}

impl Prologue<'_> {
    /// Returns the code. Before the wait it only reads parameters.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).unwrap_or_else(|_| unreachable!("a String takes all that is written"));
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let (own, prefix) = (self.own, &self.own.prefix);
        writeln!(out, ".reg .b64 {}, %{prefix}t;", own.record())?;
        for register in self.grid.registers() {
            writeln!(out, "\t.reg .b32 {};", own.grid(register))?;
        }
        match self.shape {
            GridShape::Axis(axis) => {
                let axis = ["x", "y", "z"][axis.index()];
                writeln!(out, "\t.reg .b32 %{prefix}m;\n\tmov.u32 %{prefix}m, %ctaid.{axis};")?;
                writeln!(out, "\tmul.wide.u32 {}, %{prefix}m, {};", own.record(), self.table.stride)?;
                writeln!(out, "\tmov.b64 %{prefix}t, {};", own.table())?;
                writeln!(out, "\tadd.s64 {0}, {0}, %{prefix}t;", own.record())?;
            }
            GridShape::Flat => self.search(out)?,
        }
        if self.waits {
            writeln!(out, "\tgriddepcontrol.wait;")?;
        }
        match self.shape {
            GridShape::Axis(axis) => self.axis_grid(out, axis.index())?,
            GridShape::Flat => self.flat_grid(out)?,
        }
        if self.zero {
            writeln!(out, "\t.reg .b32 {0};\n\tmov.b32 {0}, 0;", own.grid(GridRegisters::COUNT))?;
        }
        for (number, offset) in self.addresses.iter().enumerate() {
            let name = own.address(number);
            let offset = offset.wrapping_add(i64::from(self.table.records));
            writeln!(out, "\t.reg .b64 {name};\n\tadd.s64 {name}, {}, {offset};", own.record())?;
        }
        write!(out, "\t")
    }

    /// Writes the search for the last member whose first block is not after this block: see
    /// [`BatchTable::search_words`]. Dependent loads from the table are slow: there are two, and one more for each
    /// halving of the members in the block's segment.
    fn search(&self, out: &mut String) -> std::fmt::Result {
        let (own, p) = (self.own, &self.own.prefix);
        let (starts, stride) = (self.table.starts.unwrap_or(0), self.table.stride);
        writeln!(
            out,
            "\t.reg .pred %{p}q;\n\t.reg .b32 %{p}s, %{p}b, %{p}l, %{p}h, %{p}m;\n\t.reg .b64 %{p}a;"
        )?;
        writeln!(out, "\tmov.u32 %{p}b, %ctaid.x;\n\tmov.b64 %{p}t, {};", own.table())?;
        writeln!(out, "\tld.param.u32 %{p}s, [{}+{}];", own.table(), self.table.shift())?;
        writeln!(out, "\tshr.u32 %{p}s, %{p}b, %{p}s;")?;
        writeln!(out, "\tmul.wide.u32 %{p}a, %{p}s, 4;\n\tadd.s64 %{p}a, %{p}a, %{p}t;")?;
        writeln!(out, "\tld.param.u32 %{p}s, [%{p}a+{}];", self.table.segments())?;
        writeln!(out, "\tand.b32 %{p}l, %{p}s, 65535;\n\tshr.u32 %{p}h, %{p}s, 16;")?;
        writeln!(out, "{p}search:\n\tsetp.ge.u32 %{p}q, %{p}l, %{p}h;\n\t@%{p}q bra.uni {p}found;")?;
        writeln!(out, "\tadd.u32 %{p}m, %{p}l, %{p}h;\n\tadd.u32 %{p}m, %{p}m, 1;")?;
        writeln!(out, "\tshr.u32 %{p}m, %{p}m, 1;\n\tmul.wide.u32 %{p}a, %{p}m, 4;")?;
        writeln!(out, "\tadd.s64 %{p}a, %{p}a, %{p}t;\n\tld.param.u32 %{p}s, [%{p}a+{starts}];")?;
        writeln!(out, "\tsetp.le.u32 %{p}q, %{p}s, %{p}b;\n\tselp.u32 %{p}l, %{p}m, %{p}l, %{p}q;")?;
        writeln!(out, "\tsub.u32 %{p}m, %{p}m, 1;\n\tselp.u32 %{p}h, %{p}h, %{p}m, %{p}q;")?;
        writeln!(out, "\tbra.uni {p}search;\n{p}found:")?;
        writeln!(out, "\tmul.wide.u32 %{p}a, %{p}l, 4;\n\tadd.s64 %{p}a, %{p}a, %{p}t;")?;
        writeln!(out, "\tld.param.u32 %{p}s, [%{p}a+{starts}];\n\tsub.u32 %{p}b, %{p}b, %{p}s;")?;
        writeln!(out, "\tmul.wide.u32 {0}, %{p}l, {stride};\n\tadd.s64 {0}, {0}, %{p}t;", own.record())
    }

    /// Writes the grid of a member of a batch along an axis: one block along that axis, the batch's extents along the
    /// others.
    fn axis_grid(&self, out: &mut String, axis: usize) -> std::fmt::Result {
        for register in self.grid.registers() {
            let name = self.own.grid(register);
            let component = ["x", "y", "z"][register % 3];
            match (register / 3, register % 3 == axis) {
                (0, true) => writeln!(out, "\tmov.u32 {name}, 0;")?,
                (0, false) => writeln!(out, "\tmov.u32 {name}, %ctaid.{component};")?,
                (_, true) => writeln!(out, "\tmov.u32 {name}, 1;")?,
                (_, false) => writeln!(out, "\tmov.u32 {name}, %nctaid.{component};")?,
            }
        }
        Ok(())
    }

    /// Writes the division of a block's index in its member into x, y and z. One-dimensional grids skip the division.
    fn flat_grid(&self, out: &mut String) -> std::fmt::Result {
        let (own, prefix) = (self.own, &self.own.prefix);
        let grid = self.table.grid.unwrap_or(0) + self.table.records;
        if self.grid.0 == 0 {
            return Ok(());
        }
        let name = |register: usize| match self.grid.has(register) {
            true => own.grid(register),
            false => format!("%{prefix}g{register}g"),
        };
        for register in (0..GridRegisters::COUNT).filter(|&register| !self.grid.has(register)) {
            writeln!(out, "\t.reg .b32 {};", name(register))?;
        }
        for axis in 0..3 {
            writeln!(
                out,
                "\tld.param.u32 {}, [{}+{}];",
                name(3 + axis),
                own.record(),
                grid + 4 * axis as u32
            )?;
        }
        let [x, y, z, nx, ny, nz] = [0, 1, 2, 3, 4, 5].map(name);
        writeln!(out, "\tmov.u32 {x}, %{prefix}b;\n\tmov.u32 {y}, 0;\n\tmov.u32 {z}, 0;")?;
        writeln!(out, "\tmul.lo.u32 %{prefix}s, {ny}, {nz};\n\tsetp.eq.u32 %{prefix}q, %{prefix}s, 1;")?;
        writeln!(out, "\t@%{prefix}q bra.uni {prefix}line;")?;
        writeln!(out, "\tdiv.u32 %{prefix}s, %{prefix}b, {nx};\n\tmul.lo.u32 {y}, %{prefix}s, {nx};")?;
        writeln!(out, "\tsub.u32 {x}, %{prefix}b, {y};\n\tdiv.u32 {z}, %{prefix}s, {ny};")?;
        writeln!(out, "\tmul.lo.u32 {y}, {z}, {ny};\n\tsub.u32 {y}, %{prefix}s, {y};")?;
        writeln!(out, "{prefix}line:")
    }
}
