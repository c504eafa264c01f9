//! Boxes the state of a graph as a trait object, so that its drop is compiled in this crate.
//!
//! rustc compiles the drop of a type, with the drops of all its fields, in each crate that drops it. A `Core` owns most
//! types of the runtime, and users' crates drop execs. A trait object's drop is called through its vtable instead.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::core::Core;

/// Access to a [`Core`].
trait AsCore: Send {
    fn get(&self) -> &Core;
    fn get_mut(&mut self) -> &mut Core;
}

impl AsCore for Core {
    fn get(&self) -> &Core {
        self
    }

    fn get_mut(&mut self) -> &mut Core {
        self
    }
}

/// The owner of a [`Core`].
pub(crate) struct BoxedCore(Box<dyn AsCore>);

impl BoxedCore {
    pub fn new(core: Core) -> BoxedCore {
        BoxedCore(Box::new(core))
    }
}

impl Deref for BoxedCore {
    type Target = Core;

    fn deref(&self) -> &Core {
        self.0.get()
    }
}

impl DerefMut for BoxedCore {
    fn deref_mut(&mut self) -> &mut Core {
        self.0.get_mut()
    }
}

impl fmt::Debug for BoxedCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
