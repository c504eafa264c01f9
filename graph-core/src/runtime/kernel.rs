//! Kernels and the modules they come from: one load per context and kernels block, shared while anyone uses it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use cudarc::driver::CudaContext;

use crate::launches::Allowed;
use cuweave_ptx::declare::Open;

use super::driver::{self, Context, Driver, Failure, Function, RawModule};
use super::error::{DriverFailure, Error, Result, describe};
use super::graph::Token;
use super::image::{self, Target};
use super::record;
use super::state::Notes;
use super::variants::{self, Early, Entry, Form, Text, Variants};
use super::waits::{self, OwnedEvent};

/// What a kernel's declaration says of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// `&[T; len]`.
    Read,
    /// `&mut [T; len]`.
    ReadWrite,
    /// `&mut [MaybeUninit<T>; len]`.
    Write,
    /// `&[Atomic<T>; len]`.
    Atomic,
    /// A scalar.
    Scalar,
}

/// What a kernel does to a buffer that launches update by atomics, as far as their order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updates {
    /// Something whose result depends on the order, or that is not known.
    Ordered,
    /// Nothing.
    Nothing,
    /// It is only read.
    Reads,
    /// Reductions of one operation and type (`add.u32`) whose results are not used: they commute with their like.
    Reduction(&'static str),
}

/// A parameter of a kernel's declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: ParamKind,
    /// Its size as a parameter, in bytes.
    pub size: u32,
    /// For [`ParamKind::Atomic`]: which launches it commutes with.
    pub updates: Updates,
    /// The size of an element of a buffer, in bytes.
    pub element: u32,
    /// Set where any bits are a value of an element, as far as that was asked.
    pub any_bits: bool,
    /// Set where it was asked.
    pub checks_bits: bool,
    /// Set where an element is known to have no padding.
    pub dense: bool,
    /// The parts of the declaration that the PTX does not prove, and the reasons: the user vouches for them.
    pub unproved: &'static [(Open, &'static str)],
}

impl Param {
    /// A buffer of elements `T`.
    pub const fn fixed<T>(name: &'static str, kind: ParamKind) -> Param {
        Param { size: 8, element: size_of::<T>() as u32, ..Param::bytes(name, 8) }.of(kind)
    }

    const fn of(mut self, kind: ParamKind) -> Param {
        self.kind = kind;
        self
    }

    /// The 8-byte words that its value takes.
    #[inline]
    pub(super) const fn words(&self) -> usize {
        let words = (self.size as usize).div_ceil(8);
        if words == 0 { 1 } else { words }
    }

    /// Whether it is a scalar.
    pub(super) const fn is_scalar(&self) -> bool {
        matches!(self.kind, ParamKind::Scalar)
    }

    /// So many bytes of a kernel that is not declared.
    pub(super) const fn bytes(name: &'static str, size: u32) -> Param {
        Param {
            name,
            kind: ParamKind::Scalar,
            size,
            updates: Updates::Ordered,
            element: 0,
            any_bits: false,
            checks_bits: false,
            dense: false,
            unproved: &[],
        }
    }

    /// A scalar.
    pub const fn scalar<T>(name: &'static str) -> Param {
        Param::bytes(name, size_of::<T>() as u32)
    }

    /// Updated like this by every launch.
    pub const fn updates(mut self, updates: Updates) -> Param {
        self.updates = updates;
        self
    }

    /// Of elements that are written: whether any bits are a value of them, and whether they have no padding.
    pub const fn written(mut self, any_bits: bool, dense: bool) -> Param {
        self.any_bits = any_bits;
        self.checks_bits = true;
        self.dense = dense;
        self
    }

    /// With what of the declaration is not proved.
    pub const fn unproved(mut self, unproved: &'static [(Open, &'static str)]) -> Param {
        self.unproved = unproved;
        self
    }
}

/// A kernel's declaration.
#[derive(Debug)]
pub struct Kernel {
    /// Its name.
    pub name: &'static str,
    /// Where it comes from.
    pub module: &'static Module,
    /// Its parameters.
    pub params: &'static [Param],
    /// The words that the values of its parameters take.
    pub words: usize,
    /// Which of the first 64 of them are addresses of buffers.
    addresses: u64,
    /// Module-level variables that it reads and that something writes.
    pub hidden_reads: &'static [&'static str],
    /// Module-level variables that it writes.
    pub hidden_writes: &'static [&'static str],
    /// Which elements it writes: an encoded [`Outline`](cuweave_ptx::coverage::Outline), or nothing.
    pub outline: &'static [u8],
}

impl Kernel {
    /// A kernel that shares no hidden state.
    pub const fn new(name: &'static str, module: &'static Module, params: &'static [Param]) -> Kernel {
        let (mut words, mut at, mut addresses) = (0, 0, 0);
        while at < params.len() {
            if words < 64 && !params[at].is_scalar() {
                addresses |= 1 << words;
            }
            words += params[at].words();
            at += 1;
        }
        Kernel { name, module, params, words, addresses, hidden_reads: &[], hidden_writes: &[], outline: &[] }
    }

    /// The words that are addresses of buffers, in the order of the parameters.
    #[inline]
    pub(super) fn address_words(&self) -> AddressWords<'_> {
        AddressWords { kernel: self, left: self.addresses, next: None }
    }

    /// Whether it shares module-level variables that something writes.
    pub(super) fn shares_state(&self) -> bool {
        !(self.hidden_reads.is_empty() && self.hidden_writes.is_empty())
    }

    /// With which elements it writes.
    pub const fn outlined(mut self, outline: &'static [u8]) -> Kernel {
        self.outline = outline;
        self
    }

    /// With the module-level variables that it reads and writes.
    pub const fn hidden(mut self, reads: &'static [&'static str], writes: &'static [&'static str]) -> Kernel {
        self.hidden_reads = reads;
        self.hidden_writes = writes;
        self
    }
}

/// A kernel's item, which `#[kernels]` generates. Nothing else can implement it: only generated code can name a
/// [`Token`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "a launch names a kernel that a `#[kernels]` block declares"
)]
pub trait KernelItem {
    /// Returns the kernel's declaration.
    fn kernel(token: Token) -> &'static Kernel;
}

/// See [`Kernel::address_words`]: the bits of a mask, and a walk over the parameters behind its end.
pub(super) struct AddressWords<'k> {
    kernel: &'k Kernel,
    left: u64,
    /// The parameter, and its word, to go on with behind the mask.
    next: Option<(usize, usize)>,
}

impl Iterator for AddressWords<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.left != 0 {
            let word = self.left.trailing_zeros() as usize;
            self.left &= self.left - 1;
            return Some(word);
        }
        if self.kernel.words <= 64 { None } else { self.behind() }
    }
}

impl AddressWords<'_> {
    #[cold]
    fn behind(&mut self) -> Option<usize> {
        let params = self.kernel.params;
        let (mut at, mut word) = self.next.unwrap_or_default();
        while let Some(param) = params.get(at) {
            let here = word;
            (at, word) = (at + 1, word + param.words());
            if here >= 64 && !param.is_scalar() {
                self.next = Some((at, word));
                return Some(here);
            }
        }
        self.next = Some((at, word));
        None
    }
}

/// The module of a kernels block. Its address is its identity.
#[derive(Debug)]
pub struct Module {
    path: &'static str,
    image: &'static [u8],
    loaded: Mutex<Vec<(Context, Form, Weak<LoadedModule>)>>,
    kept: Mutex<Vec<(Context, Weak<Kept>)>>,
}

impl Module {
    /// The module of a file: PTX text, a cubin or a fat binary.
    pub const fn new(path: &'static str, image: &'static [u8]) -> Module {
        Module { path, image, loaded: Mutex::new(Vec::new()), kept: Mutex::new(Vec::new()) }
    }

    /// The file, as the declaration names it.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// The file's bytes.
    pub(super) fn image(&self) -> &'static [u8] {
        self.image
    }

    /// The module in a context: what is loaded in that form, or a new load. It stays loaded while someone keeps the file.
    pub(super) fn load(
        &'static self,
        driver: &'static Driver,
        ctx: &Arc<CudaContext>,
        form: Form,
    ) -> Result<Arc<LoadedModule>> {
        let module = self.load_form(driver, ctx, form)?;
        if let Some(kept) = self.kept(ctx) {
            let mut modules = kept.modules.lock().unwrap_or_else(PoisonError::into_inner);
            if !modules.iter().any(|other| Arc::ptr_eq(other, &module)) {
                modules.push(module.clone());
            }
        }
        Ok(module)
    }

    /// What keeps the file loaded in a context.
    fn kept(&self, ctx: &CudaContext) -> Option<Arc<Kept>> {
        let context = Context::of(ctx);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().filter(|entry| entry.0 == context).find_map(|entry| entry.1.upgrade())
    }

    fn load_form(
        &'static self,
        driver: &'static Driver,
        ctx: &Arc<CudaContext>,
        form: Form,
    ) -> Result<Arc<LoadedModule>> {
        let context = Context::of(ctx);
        // Held over the load, so that two threads do not load twice.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |form| {
            let mut of = loaded.iter().filter(|entry| entry.0 == context && entry.1 == form);
            of.find_map(|entry| entry.2.upgrade())
        };
        if let Some(module) = find(form).or_else(|| find(form.other()).filter(|other| other.has_state())) {
            return Ok(module);
        }
        loaded.retain(|entry| entry.2.strong_count() > 0);
        let text = Text::read(self.image, form);
        let waiting =
            text.as_ref().filter(|_| form == Form::Waiting).and_then(|text| text.waiting.as_deref());
        let waiting = match waiting {
            Some(text) => driver.load_module(text.as_bytes()).map_err(|(failure, log)| {
                let why = variants::one_line(failure, &log);
                format!("the driver does not take the file with the wait in front of its kernels: {why}")
            }),
            None => {
                Err("the file is loaded as it is written for another graph, and it has variables".to_owned())
            }
        };
        let raw = match waiting {
            Ok(raw) => raw,
            Err(_) => driver
                .load_module(self.image)
                .map_err(|(failure, log)| self.failed(driver, ctx, refused(failure, &log)))?,
        };
        let module = Arc::new(LoadedModule {
            module: self,
            text,
            waiting: waiting.map(drop),
            raw,
            driver,
            ctx: ctx.clone(),
            functions: Mutex::new(Vec::new()),
            variants: Mutex::default(),
            companion: OnceLock::new(),
            in_flight: Mutex::new(Vec::new()),
            notes: Notes::default(),
        });
        loaded.push((context, form, Arc::downgrade(&module)));
        Ok(module)
    }

    /// The error of a call that took the image, or a function out of it: with what the image says of itself.
    fn failed(&self, driver: &Driver, ctx: &CudaContext, failure: DriverFailure) -> Error {
        // CUdevice_attribute: compute capability, major and minor. Told as far as the driver still answers.
        let capability = [75, 76].map(|attribute| driver.device_attribute(ctx, attribute).unwrap_or(0));
        let target = Target {
            capability: (capability[0], capability[1]),
            driver: driver::version().unwrap_or((0, 0)),
        };
        let help = image::explain(self.image, failure.code, target);
        Error::Module { path: self.path.to_owned(), failure: Box::new(failure), help }
    }
}

/// An image that is not loaded, with what the compiler in the driver says of it.
pub(super) fn refused(failure: Failure, log: &str) -> DriverFailure {
    let mut described = describe(failure, None);
    if !log.is_empty() {
        described.text = format!("{}: {log}", described.text);
    }
    described
}

/// A module in a context.
#[derive(Debug)]
pub(super) struct LoadedModule {
    pub(super) module: &'static Module,
    /// What the text says; `None` for machine code.
    text: Option<Text>,
    /// Whether its kernels begin with the wait, those that may; or why they do not.
    waiting: Early,
    raw: RawModule,
    pub(super) driver: &'static Driver,
    ctx: Arc<CudaContext>,
    functions: Mutex<Vec<(&'static str, FunctionInfo)>>,
    pub(super) variants: Mutex<Variants>,
    /// A module that graphs with this one use beside it: it stays loaded as long.
    companion: OnceLock<Arc<LoadedModule>>,
    /// Launches that may still run its functions when nobody holds the module any more.
    in_flight: Mutex<Vec<Arc<OwnedEvent>>>,
    /// The launches that used its variables last.
    pub(super) notes: Notes,
}

/// What is known of a loaded function.
#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionInfo {
    /// The function.
    pub function: Function,
    /// The most threads that a block can have.
    pub most_threads: u32,
    /// Its own shared memory, in bytes.
    pub shared: u32,
    /// The local memory of a thread, in bytes.
    pub local: u32,
    /// The most dynamic shared memory that it is set to take.
    pub dynamic_shared: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// The block that it requires, where that is known.
    pub required_block: Option<[u32; 3]>,
    /// The clusters that it has to be launched in; zeros where the launch has to give their size.
    pub cluster: Option<[u32; 3]>,
}

// CUfunction_attribute
const MAX_THREADS_PER_BLOCK: u32 = 0;
const SHARED_SIZE_BYTES: u32 = 1;
const LOCAL_SIZE_BYTES: u32 = 3;
const NUM_REGS: u32 = 4;
const MAX_DYNAMIC_SHARED_SIZE_BYTES: u32 = 8;
const CLUSTER_SIZE_MUST_BE_SET: u32 = 10;
const REQUIRED_CLUSTER: [u32; 3] = [11, 12, 13];

impl FunctionInfo {
    /// Asks the driver.
    pub fn of(
        driver: &Driver,
        function: Function,
        required_block: Option<[u32; 3]>,
    ) -> std::result::Result<FunctionInfo, Failure> {
        let ask = |attribute| driver.function_attribute(function, attribute);
        let required = [ask(REQUIRED_CLUSTER[0])?, ask(REQUIRED_CLUSTER[1])?, ask(REQUIRED_CLUSTER[2])?];
        let in_clusters = required != [0; 3] || ask(CLUSTER_SIZE_MUST_BE_SET)? != 0;
        Ok(FunctionInfo {
            function,
            most_threads: ask(MAX_THREADS_PER_BLOCK)?,
            shared: ask(SHARED_SIZE_BYTES)?,
            local: ask(LOCAL_SIZE_BYTES)?,
            dynamic_shared: ask(MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
            registers: ask(NUM_REGS)?,
            required_block,
            cluster: in_clusters.then_some(required),
        })
    }
}

impl LoadedModule {
    /// What the text says of a kernel.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.text.as_ref()?.entries.iter().find(|entry| entry.name == name)
    }

    /// Keeps a module of the compiler's own loaded as long as this one.
    pub fn accompany(&self, companion: &Arc<LoadedModule>) {
        // One that is there already is the same.
        let _ = self.companion.set(companion.clone());
    }

    /// Whether it has variables that its kernels may write, so that two loads are not one.
    fn has_state(&self) -> bool {
        self.text.as_ref().is_none_or(|text| text.has_state)
    }

    /// Whether a kernel begins with the wait.
    pub fn waits(&self, name: &str) -> bool {
        self.waiting.is_ok() && self.entry(name).is_some_and(|entry| entry.waiting.is_ok())
    }

    /// Whether a kernel of PTX begins with the wait, or why not.
    pub fn waiting(&self, entry: &Entry) -> Early {
        entry.waiting.clone().and_then(|()| self.waiting.clone())
    }

    /// A kernel's function, checked against its declaration when it is first asked for.
    pub fn function(&self, name: &'static str, params: &[Param]) -> Result<FunctionInfo> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, info)) = functions.iter().find(|entry| entry.0 == name) {
            return Ok(*info);
        }
        let fault = |reason: String| Error::Kernel {
            kernel: name.to_owned(),
            path: self.module.path.to_owned(),
            reason,
        };
        // A driver that loads lazily may meet the machine code only here.
        let function = self
            .driver
            .function(self.raw, name)
            .map_err(|failure| self.module.failed(self.driver, &self.ctx, refused(failure, "")))?
            .ok_or_else(|| fault("does not exist there".to_owned()))?;
        let entry = self.entry(name);
        // The driver tells the end of a list by an error, which tools report: it is asked only where nothing else
        // tells.
        let sizes = match entry {
            Some(entry) => Some(entry.sizes.clone()),
            None => self.driver.parameter_sizes(function)?,
        };
        if let Some(sizes) = sizes {
            if sizes.len() != params.len() {
                return Err(fault(format!(
                    "has {} parameters, and {} are declared",
                    sizes.len(),
                    params.len()
                )));
            }
            for (at, (&size, param)) in sizes.iter().zip(params).enumerate() {
                if size != u64::from(param.size) {
                    let declared = param.size;
                    let param = param.name;
                    return Err(fault(format!(
                        "has {size} bytes in its parameter {at}, and `{param}` is declared with {declared}"
                    )));
                }
            }
        }
        let required = entry.and_then(|entry| entry.required_block);
        let info = FunctionInfo::of(self.driver, function, required)?;
        functions.push((name, info));
        Ok(info)
    }

    /// Lets a function take more dynamic shared memory than by default.
    pub fn raise_dynamic_shared(&self, name: &'static str, bytes: u32) -> Result<()> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, info)) = functions.iter_mut().find(|entry| entry.0 == name)
            && info.dynamic_shared < bytes
        {
            self.driver.set_function_attribute(info.function, MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?;
            info.dynamic_shared = bytes;
        }
        Ok(())
    }

    /// Keeps the module loaded until what the event recorded is over.
    pub fn outlives(&self, event: &Arc<OwnedEvent>) {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        let driver = self.driver;
        driver.relaxed(|| in_flight.retain(|event| driver.is_over(event.raw()) != Ok(true)));
        in_flight.push(event.clone());
    }
}

impl Drop for LoadedModule {
    fn drop(&mut self) {
        let entered = waits::enter(self.driver, &self.ctx);
        let in_flight = self.in_flight.get_mut().unwrap_or_else(PoisonError::into_inner);
        let over = in_flight.iter().try_for_each(|event| waits::on_host(self.driver, event.raw(), None));
        if let Err(failure) = over {
            record(&self.ctx, failure);
        }
        if !entered || over.is_err() {
            // What may be in flight keeps its code.
            return;
        }
        // A module that cannot be unloaded is lost with its context; nothing depends on it.
        let variants = self.variants.get_mut().unwrap_or_else(PoisonError::into_inner);
        for &raw in variants.modules.iter().chain([&self.raw]) {
            let _ = self.driver.unload_module(raw);
        }
    }
}

/// The forms of a file that are loaded, and stay so.
#[derive(Debug, Default)]
struct Kept {
    modules: Mutex<Vec<Arc<LoadedModule>>>,
}

/// Keeps the module of a kernels block loaded in a context.
#[derive(Clone, Debug)]
pub struct Loaded {
    _kept: Arc<Kept>,
}

/// Loads the module of a kernels block, or finds it loaded.
pub fn load(module: &'static Module, ctx: &Arc<CudaContext>) -> Result<Loaded> {
    let driver = driver::driver()?;
    super::context::enter(driver, ctx)?;
    let kept = module.kept(ctx).unwrap_or_else(|| {
        let new = Arc::new(Kept::default());
        let mut kept = module.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|entry| entry.1.strong_count() > 0);
        kept.push((Context::of(ctx), Arc::downgrade(&new)));
        new
    });
    module.load(driver, ctx, Form::of(&variants::early(driver, ctx, Allowed::by(None))))?;
    Ok(Loaded { _kept: kept })
}
