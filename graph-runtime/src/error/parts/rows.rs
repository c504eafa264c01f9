//! The faults of the rows of pitched copies and fills.

use cuweave_core::location::SourceLocation;

/// Rows that cannot be copied or filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: `{text}`: {reason}")]
#[non_exhaustive]
pub struct BadRows {
    /// The copy or fill.
    pub at: Box<SourceLocation>,
    /// The rows: `b[lo..].rows(h, w, pitch)`.
    pub text: String,
    /// The reason.
    pub reason: RowsFault,
}

/// The reason why rows cannot be copied or filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowsFault {
    /// Rows that are longer than their pitch.
    #[error("a row has {width} elements, but the next one begins {pitch} elements after it")]
    #[non_exhaustive]
    Pitch {
        /// The elements of a row.
        width: u64,
        /// The elements from the start of a row to the start of the next one.
        pitch: u64,
    },
    /// Planes with more rows than lie between their starts.
    #[error("a plane has {count} rows, but the next one begins {height} rows after it")]
    #[non_exhaustive]
    Height {
        /// The rows of a plane.
        count: u64,
        /// The rows from the start of a plane to the start of the next one.
        height: u64,
    },
    /// A copy between rows of different shapes.
    #[error("the source has {}, and the destination {}", shape(.from), shape(.to))]
    #[non_exhaustive]
    Shapes {
        /// The planes, rows and elements of a row of the source.
        from: [u64; 3],
        /// The planes, rows and elements of a row of the destination.
        to: [u64; 3],
    },
    /// A pitch above the device's limit.
    #[error("its pitch is {bytes} bytes, and CU_DEVICE_ATTRIBUTE_MAX_PITCH of this device is {max}")]
    #[non_exhaustive]
    Limit {
        /// The pitch in bytes.
        bytes: u64,
        /// The device's limit in bytes.
        max: u64,
    },
}

fn shape(&[planes, rows, width]: &[u64; 3]) -> String {
    match planes {
        1 => format!("{rows} rows of {width} elements"),
        _ => format!("{planes} planes of {rows} rows of {width} elements"),
    }
}
