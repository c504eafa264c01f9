//! Boxes the state of a graph as a trait object, so that its drop is compiled in this crate.
//!
//! rustc compiles the drop of a type, with the drops of all its fields, in each crate that drops it. A `Core` owns most
//! types of the runtime, and users' crates drop execs. A trait object's drop is called through its vtable instead.

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
