//! The state of a graph behind a trait object, whose drop is compiled in this crate.
//!
//! rustc compiles the drop of a type in each crate that drops it, with the drops of all fields. A `Core` owns most types of
//! the runtime, and users' crates drop execs. Through the vtable they call the drop that is compiled here.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::core::Core;

/// Access to a [`Core`].
trait Holds: Send {
    fn get(&self) -> &Core;
    fn get_mut(&mut self) -> &mut Core;
}

impl Holds for Core {
    fn get(&self) -> &Core {
        self
    }

    fn get_mut(&mut self) -> &mut Core {
        self
    }
}

/// The owner of a [`Core`].
pub(crate) struct Owned(Box<dyn Holds>);

impl Owned {
    pub fn new(core: Core) -> Owned {
        Owned(Box::new(core))
    }
}

impl Deref for Owned {
    type Target = Core;

    fn deref(&self) -> &Core {
        self.0.get()
    }
}

impl DerefMut for Owned {
    fn deref_mut(&mut self) -> &mut Core {
        self.0.get_mut()
    }
}

impl fmt::Debug for Owned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
