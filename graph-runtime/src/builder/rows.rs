//! Rows of a buffer, which `copy` and `fill` take.

use cuweave_core::codes::Code;
use cuweave_core::ir::{self, Access, Mode};

use crate::error::{Error, Result};

use super::handle::{CallSite, RowSizes, View};
use super::program::{Program, StatementSite};
use super::size::ToSize;

impl Program {
    /// Returns an error for rows that are given to anything but `copy` and `fill`.
    pub(super) fn rows_error(&self, site: &StatementSite<'_>) -> Error {
        let message = format!("rows of a buffer are given to `{}`", site.name);
        let help = "only `copy` and `fill` take them: `copy` them into an allocation and use that";
        self.refuse(site, Code::CW001, &message, Some(help))
    }

    /// Returns the access of `fill` or `copy` to a part of a buffer, or to rows of it.
    pub(super) fn transferred(
        &mut self,
        site: &StatementSite<'_>,
        view: &View,
        user: &str,
        mode: Mode,
    ) -> Result<Access> {
        let whole = self.access(site, &View { rows: None, ..view.clone() }, mode)?;
        let Some(rows) = view.rows.as_deref() else { return Ok(whole) };
        let RowSizes { count, width, pitch, planes, place } = rows.clone();
        match user {
            "copy" => {}
            "fill" if planes.is_none() => {}
            "fill" => {
                let help = "no memset node fills planes: `fill` the rows of each plane";
                return Err(self.refuse(site, Code::CW001, "`fill` takes rows, and no planes", Some(help)));
            }
            _ => return Err(self.rows_error(site)),
        }
        let (several, height) = planes.clone().unwrap_or((1u64.to_size(), count.clone()));
        let numbers = [count.clone(), width.clone(), pitch.clone(), several, height];
        numbers.iter().try_for_each(|number| self.check(site, number))?;
        let before = planes.map(|(planes, height)| (planes - 1u64) * height);
        let last = before.map_or(count.clone() - 1u64, |before| before + count - 1u64);
        let lo = self.bounds.dims[whole.lo].0.clone();
        let end = self.sum(&lo, &(last * pitch + width));
        self.check(site, &end)?;
        let hi = self.dim(&end);
        if !self.is_whole(whole.buffer, whole.lo, whole.hi) {
            let CallSite { file, line, column } = place;
            let (buffer, lo, of) = (whole.buffer, whole.lo, (whole.lo, whole.hi));
            let file = (file != self.buffers[buffer].place.file).then_some(file);
            self.views.insert(ir::View { buffer, line, column, file, lo, hi, of });
        }
        let rows = Some(ir::Rows::from_dims(numbers.map(|number| self.dim(&number))));
        Ok(Access { hi, rows, ..whole })
    }
}
