//! Linkers: what was added to them, and the machine code that they have made.

use super::image;
use crate::base::log;
use crate::base::status::{Result, Status};

/// A linker.
#[derive(Debug, Default)]
pub struct Link {
    text: Option<Vec<u8>>,
    /// The machine code, which does not move while the linker lives.
    code: Option<Box<[u8]>>,
}

impl Link {
    /// Adds PTX.
    ///
    /// # Errors
    /// Input after the code was made; a second input, which this driver does not link.
    pub fn add(&mut self, text: Vec<u8>) -> Result {
        if self.code.is_some() {
            return Err(Status::INVALID_VALUE);
        }
        if self.text.is_some() {
            return Err(log::say(Status::NOT_SUPPORTED, "a linker of this driver takes one input"));
        }
        self.text = Some(text);
        Ok(())
    }

    /// Makes the machine code, once.
    ///
    /// # Errors
    /// No input.
    pub fn complete(&mut self) -> Result<&[u8]> {
        let text = self.text.as_ref().ok_or(Status::INVALID_VALUE)?;
        Ok(self.code.get_or_insert_with(|| image::machine_code(text).into()))
    }
}
