//! The numbers of the rows of a pitched `copy` or `fill`.

use cuweave_core::index::Vector;
use cuweave_core::ir::{Access, DimId, Rows};

use crate::cuda::CopyPitch;

/// The rows of a pitched access, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowNumbers {
    /// The rows of each plane.
    pub count: u64,
    /// The elements of a row.
    pub width: u64,
    /// The elements from the start of a row to the start of the next one.
    pub pitch: u64,
    /// The planes.
    pub planes: u64,
    /// The rows from the start of a plane to the start of the next one.
    pub height: u64,
}

impl RowNumbers {
    /// Returns the numbers of rows.
    pub fn new(rows: Rows, dims: &Vector<DimId, u64>) -> RowNumbers {
        let [count, width, pitch, planes, height] = rows.dims().map(|dim| dims[dim]);
        RowNumbers { count, width, pitch, planes, height }
    }

    /// Returns the rows of an access. `None` if it is not pitched.
    pub fn of(access: &Access, dims: &Vector<DimId, u64>) -> Option<RowNumbers> {
        access.rows.map(|rows| RowNumbers::new(rows, dims))
    }

    /// Returns rows of this shape without gaps.
    pub fn packed(self) -> RowNumbers {
        RowNumbers { pitch: self.width, height: self.count, ..self }
    }

    /// Returns the number of elements.
    pub fn elements(self) -> u64 {
        self.width.saturating_mul(self.count).saturating_mul(self.planes)
    }

    /// Returns the numbers that two ends of a copy have in common: planes, rows, elements of a row.
    pub fn shape(self) -> [u64; 3] {
        [self.planes, self.count, self.width]
    }

    /// Returns the distances between rows for elements of this size. 0 for a single row.
    pub fn bytes(self, element: u64) -> CopyPitch {
        match self.count > 1 || self.planes > 1 {
            true => CopyPitch { bytes: self.pitch.saturating_mul(element), height: self.height },
            false => CopyPitch::default(),
        }
    }
}

/// Returns the bytes from the start of the first row to the start of each row.
pub(crate) fn row_offsets(rows: u64, planes: u64, pitch: CopyPitch) -> impl Iterator<Item = u64> {
    let plane = pitch.bytes.saturating_mul(pitch.height);
    (0..planes).flat_map(move |at| {
        let first = at.saturating_mul(plane);
        (0..rows).map(move |row| first.saturating_add(row.saturating_mul(pitch.bytes)))
    })
}
