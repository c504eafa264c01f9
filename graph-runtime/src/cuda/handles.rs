//! The driver's handles as plain numbers.

use cudarc::driver::{CudaContext, CudaStream};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub(super) usize);

        #[allow(dead_code)]
        impl $name {
            /// The null handle.
            pub const NONE: $name = $name(0);
        }
    )*};
}
handles! {
    /// A `CUgraph`.
    RawGraph;
    /// A `CUgraphNode`.
    Node;
    /// A `CUgraphExec`.
    RawExec;
    /// A `CUmodule`.
    RawModule;
    /// A `CUfunction`.
    Function;
    /// A `CUstream`.
    Stream;
    /// A `CUevent`.
    Event;
    /// A `CUcontext`.
    Context;
    /// A `CUexternalSemaphore`.
    RawSemaphore;
}

impl Stream {
    /// The legacy default stream.
    pub const LEGACY: Stream = Stream(0);

    /// Returns the stream's handle.
    pub fn from_cudarc(stream: &CudaStream) -> Stream {
        Stream(stream.cu_stream().expose_provenance())
    }

    /// Returns true for the legacy default stream.
    pub fn is_legacy(self) -> bool {
        self.0 <= 1
    }

    /// Returns true for the legacy default stream and the per-thread default stream.
    pub fn is_default(self) -> bool {
        self.0 <= 2
    }

    /// Returns true for the per-thread default stream: one handle that denotes a different stream on each
    /// thread.
    pub fn is_per_thread(self) -> bool {
        self.0 == 2
    }
}

impl Event {
    /// Returns the event's handle.
    pub fn from_cudarc(event: &cudarc::driver::CudaEvent) -> Event {
        Event(event.cu_event().expose_provenance())
    }

    /// Returns the handle of an event of other code.
    pub fn from_raw(event: cudarc::driver::sys::CUevent) -> Event {
        Event(event.expose_provenance())
    }

    /// Returns the handle for other code.
    pub fn to_raw(self) -> cudarc::driver::sys::CUevent {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

impl RawGraph {
    /// Returns the handle of a graph of other code.
    pub fn from_raw(graph: cudarc::driver::sys::CUgraph) -> RawGraph {
        RawGraph(graph.expose_provenance())
    }
}

impl Context {
    /// Returns the context's handle.
    pub fn from_cudarc(ctx: &CudaContext) -> Context {
        Context(ctx.cu_ctx().expose_provenance())
    }
}
