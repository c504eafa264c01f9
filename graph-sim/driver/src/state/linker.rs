//! Linkers: their input and the machine code that they produce.

use super::image;
use crate::base::log;
use crate::base::status::{Result, Status};

/// A linker.
#[derive(Debug, Default)]
pub struct Linker {
    text: Option<Vec<u8>>,
    /// The machine code. It must not move while the linker lives, since the program holds a pointer to it.
    code: Option<Box<[u8]>>,
}

impl Linker {
    /// Adds PTX.
    ///
    /// # Errors
    /// The code was produced already, or there is an input already: this driver links a single input.
    pub fn add(&mut self, text: Vec<u8>) -> Result {
        if self.code.is_some() {
            return Err(Status::INVALID_VALUE);
        }
        if self.text.is_some() {
            return Err(log::log_error(Status::NOT_SUPPORTED, "a linker of this driver takes one input"));
        }
        self.text = Some(text);
        Ok(())
    }

    /// Produces the machine code. A second call returns the same code.
    ///
    /// # Errors
    /// There is no input.
    pub fn complete(&mut self) -> Result<&[u8]> {
        let text = self.text.as_ref().ok_or(Status::INVALID_VALUE)?;
        Ok(self.code.get_or_insert_with(|| image::machine_code(text).into()))
    }
}
