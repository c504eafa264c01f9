//! Modules: the file of a kernels block, loaded once per context and shared by all users.
//!
//! [`LoadedModule`] splits a PTX file into parts and loads a part when one of its kernels is first launched.
//! [`load`] keeps all kernels of a file loaded.

use std::collections::BTreeSet;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use cudarc::driver::CudaContext;
use cuweave_core::launches::Allowed;
use cuweave_ptx as ptx;
use cuweave_ptx::rewrite::EntryTexts;

use crate::context;
use crate::cuda::{self, Context, Driver, RawModule, record};
use crate::error::{
    DriverFailure, Error, KernelFault, ModuleFailure, Result, describe_load_failure, load_failure_line,
};
use crate::waits::{self, OwnedEvent};

use super::code;
use super::function::{FunctionInfo, MAX_DYNAMIC_SHARED_SIZE_BYTES};
use super::image::{self, LoadTarget};
use super::notes::VariableLaunches;
use super::param::Param;
use super::text::{KernelEntry, Programmatic, PtxText, TextForm, programmatic};
use super::values::{VariableValues, address};
use super::variants::ModuleVariants;

/// A list in a static.
type List<T> = ManuallyDrop<Mutex<Vec<T>>>;

/// A module that was loaded into a context. It may have been unloaded since.
struct LoadedInContext {
    context: Context,
    form: TextForm,
    module: Weak<LoadedModule>,
}

/// The module of a kernels block. Identified by its address.
pub struct Module {
    path: &'static str,
    image: &'static [u8],
    // `ManuallyDrop` because modules are statics, which are never dropped, but rustc would compile their drop
    // code in the user's crate.
    loaded: List<LoadedInContext>,
    forms: List<(Context, Weak<LoadedForms>)>,
    /// The declared variables that its kernels write.
    written: &'static [&'static str],
    /// The values of its declared variables.
    values: ManuallyDrop<VariableValues>,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Module { path, image, .. } = self;
        f.debug_struct("Module").field("path", path).field("bytes", &image.len()).finish_non_exhaustive()
    }
}

impl Module {
    /// Returns the module of a file: PTX text, a cubin or a fat binary.
    pub const fn new(path: &'static str, image: &'static [u8]) -> Module {
        let loaded = ManuallyDrop::new(Mutex::new(Vec::new()));
        let forms = ManuallyDrop::new(Mutex::new(Vec::new()));
        let values = ManuallyDrop::new(VariableValues::new());
        Module { path, image, loaded, forms, written: &[], values }
    }

    /// Sets the declared variables that its kernels write.
    pub const fn writing(mut self, variables: &'static [&'static str]) -> Module {
        self.written = variables;
        self
    }

    /// Returns the path of the file as the declaration states it.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// Returns the PTX of the file. `None` for machine code.
    pub(super) fn text(&self) -> Option<&'static str> {
        let text = std::str::from_utf8(self.image).ok()?.trim_end_matches('\0');
        text.contains(".version").then_some(text)
    }

    /// Returns the contents of the file.
    pub(super) fn image(&self) -> &'static [u8] {
        self.image
    }

    /// Returns the module in a context: the loaded one of that form, or a new one. If a [`Loaded`] for the file
    /// exists, it stays loaded as long.
    pub(crate) fn load(
        &'static self,
        driver: &'static Driver,
        ctx: &Arc<CudaContext>,
        form: TextForm,
    ) -> Result<Arc<LoadedModule>> {
        let module = self.load_form(driver, ctx, form)?;
        if let Some(kept) = self.loaded_forms(ctx) {
            let mut modules = kept.modules.lock().unwrap_or_else(PoisonError::into_inner);
            if !modules.iter().any(|other| Arc::ptr_eq(other, &module)) {
                modules.push(module.clone());
            }
        }
        Ok(module)
    }

    /// Returns the loaded module that has the variables in a context, if there is one.
    pub(super) fn loaded_variables(&self, ctx: &CudaContext) -> Option<Arc<LoadedModule>> {
        let context = Context::from_cudarc(ctx);
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let mut here = loaded.iter().filter(|known| known.context == context);
        here.find_map(|known| known.module.upgrade().filter(|module| module.variables_in.is_none()))
    }

    /// Returns the values of its declared variables.
    pub(super) fn values(&self) -> &VariableValues {
        &self.values
    }

    /// Returns the owner of the file's loaded modules in a context, if it still exists.
    fn loaded_forms(&self, ctx: &CudaContext) -> Option<Arc<LoadedForms>> {
        let context = Context::from_cudarc(ctx);
        let kept = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().filter(|entry| entry.0 == context).find_map(|entry| entry.1.upgrade())
    }

    fn load_form(
        &'static self,
        driver: &'static Driver,
        ctx: &Arc<CudaContext>,
        form: TextForm,
    ) -> Result<Arc<LoadedModule>> {
        let context = Context::from_cudarc(ctx);
        // Locked during the load, so that two threads do not load it twice.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |form| {
            let mut of = loaded.iter().filter(|known| known.context == context && known.form == form);
            of.find_map(|known| known.module.upgrade())
        };
        if let Some(module) = find(form) {
            return Ok(module);
        }
        let variables_in = find(form.other()).filter(|other| other.has_state());
        // Machine code has no other form.
        if let Some(other) = variables_in.as_ref().filter(|other| other.text.is_none()) {
            return Ok(other.clone());
        }
        loaded.retain(|known| known.module.strong_count() > 0);
        let parsed = ptx::parse_bytes(self.image).ok();
        let text = parsed.as_ref().map(|parsed| PtxText::read(parsed, form));
        let module = Arc::new(LoadedModule {
            module: self,
            parsed,
            text,
            form,
            variables_in,
            elsewhere: Mutex::default(),
            parts: Mutex::default(),
            driver,
            ctx: ctx.clone(),
            functions: Mutex::new(Vec::new()),
            variants: Mutex::default(),
            companion: OnceLock::new(),
            in_flight: Mutex::new(Vec::new()),
            notes: VariableLaunches::default(),
        });
        loaded.push(LoadedInContext { context, form, module: Arc::downgrade(&module) });
        Ok(module)
    }

    /// Returns the error for an image, or a function in it, that cannot be loaded. Adds an explanation from the
    /// image.
    fn failed(&self, driver: &Driver, ctx: &CudaContext, failure: DriverFailure) -> Error {
        // CUdevice_attribute: compute capability, major and minor. 0 if the query fails.
        let capability = [75, 76].map(|attribute| driver.device_attribute(ctx, attribute).unwrap_or(0));
        let target = LoadTarget {
            capability: (capability[0], capability[1]),
            driver: cuda::version().unwrap_or((0, 0)),
        };
        let help = image::explain(self.image, failure.code, target);
        Error::Module(Box::new(ModuleFailure { path: self.path.to_owned(), failure, help }))
    }
}

/// The reason why kernels are loaded without the wait.
const AS_WRITTEN: &str = "another graph has loaded the file unmodified, and it has variables";

/// A loaded part of a file.
#[derive(Debug)]
struct LoadedPart {
    kernels: PartKernels,
    raw: RawModule,
    /// `Ok` if its kernels wait first wherever possible, or the reason why they do not.
    waiting: Programmatic,
}

#[derive(Debug)]
enum PartKernels {
    One(String),
    /// All but those with a part of their own.
    Without(BTreeSet<String>),
    All,
}

impl PartKernels {
    fn has(&self, name: &str) -> bool {
        match self {
            PartKernels::One(kernel) => kernel == name,
            PartKernels::Without(others) => !others.contains(name),
            PartKernels::All => true,
        }
    }
}

/// A file in a context. Loads kernels when they are first launched. Kernels that use none of the file's
/// variables are loaded in modules of their own, all others in a single one, so that no state exists twice.
#[derive(Debug)]
pub(crate) struct LoadedModule {
    pub(crate) module: &'static Module,
    /// The parsed file. `None` for machine code, or for text that cannot be parsed.
    parsed: Option<ptx::Module<'static>>,
    /// Its properties. `None` if it is not parsed.
    text: Option<PtxText>,
    form: TextForm,
    /// The module of the other form, if that was loaded first and the file has variables. Its kernels are launched
    /// wherever kernels share a variable that one of them writes.
    variables_in: Option<Arc<LoadedModule>>,
    /// The requested kernels of that module.
    elsewhere: Mutex<BTreeSet<&'static str>>,
    parts: Mutex<Vec<LoadedPart>>,
    pub(crate) driver: &'static Driver,
    ctx: Arc<CudaContext>,
    functions: Mutex<Vec<(&'static str, FunctionInfo)>>,
    pub(crate) variants: Mutex<ModuleVariants>,
    /// A module of cuweave's own kernels that the same graphs use. Stays loaded as long as this one.
    companion: OnceLock<Arc<LoadedModule>>,
    /// Launches that may still run its functions after the last owner has dropped the module.
    in_flight: Mutex<Vec<Arc<OwnedEvent>>>,
    /// The last launches that used its variables.
    pub(crate) notes: VariableLaunches,
}

impl LoadedModule {
    /// Returns the parsed file. `None` for machine code, or for text that cannot be parsed.
    pub fn parsed(&self) -> Option<&ptx::Module<'static>> {
        self.parsed.as_ref()
    }

    /// Returns the properties of a kernel from the text.
    pub fn entry(&self, name: &str) -> Option<&KernelEntry> {
        self.text.as_ref()?.entries.iter().find(|entry| entry.name == name)
    }

    /// Loads all kernels of the file.
    fn load_all(&self) -> Result<()> {
        let entries = self.text.as_ref().map_or(&[][..], |text| &text.entries);
        let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        match names.is_empty() {
            true => self.part("", &[]).map(drop),
            false => names.iter().try_for_each(|name| self.part(name, &names).map(drop)),
        }
    }

    /// Keeps a module of cuweave's own kernels loaded as long as this one.
    pub fn keep_companion(&self, companion: &Arc<LoadedModule>) {
        // If one is set already, it is the same module.
        let _ = self.companion.set(companion.clone());
    }

    /// Returns true if its kernels may write module variables. Loading it twice would create two copies of
    /// them.
    fn has_state(&self) -> bool {
        self.text.as_ref().is_none_or(|text| text.has_state)
    }

    /// Returns the other module, if this kernel is one of those that were requested of it.
    fn other_with(&self, kernel: &str) -> Option<&Arc<LoadedModule>> {
        let elsewhere = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        self.variables_in.as_ref().filter(|_| elsewhere.contains(kernel))
    }

    /// Returns the module that has the variables that kernels share: `module`, or that of the other form.
    pub fn with_variables(module: &Arc<LoadedModule>) -> &Arc<LoadedModule> {
        module.variables_in.as_ref().unwrap_or(module)
    }

    pub fn context(&self) -> &CudaContext {
        &self.ctx
    }

    /// Returns true if a kernel executes the grid dependency wait first.
    pub fn waits(&self, name: &str) -> bool {
        self.entry(name).is_some_and(|entry| self.waiting(entry).is_ok())
    }

    /// Returns `Ok` if a loaded kernel from PTX executes the wait first, or the reason why it does not.
    pub fn waiting(&self, entry: &KernelEntry) -> Programmatic {
        if let Some(other) = self.other_with(&entry.name) {
            return other.entry(&entry.name).map_or(Err(AS_WRITTEN.to_owned()), |entry| other.waiting(entry));
        }
        entry.waiting.clone()?;
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        match parts.iter().find(|part| part.kernels.has(&entry.name)) {
            Some(part) => part.waiting.clone(),
            None => Err("it is not loaded".to_owned()),
        }
    }

    /// Returns the loaded part that has a kernel. Loads it if needed, together with the kernels of `expected`
    /// that are in the file, whose code is linked in parallel.
    fn part(&self, name: &str, expected: &[String]) -> Result<RawModule> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = parts.iter().find(|part| part.kernels.has(name));
        if let Some(known) = known {
            return Ok(known.raw);
        }
        self.driver.enter(Context::from_cudarc(&self.ctx))?;
        let before = parts.len();
        let raw = self.load_part(name, expected, &mut parts)?;
        let (values, context) = (&self.module.values, Context::from_cudarc(&self.ctx));
        let write = |part: &LoadedPart| values.write(self.driver, context, part.raw, self.module.path);
        match parts[before..].iter().try_for_each(write) {
            Ok(()) => Ok(raw),
            Err(error) => {
                // Without the values its kernels must not run.
                for part in parts.drain(before..) {
                    let _ = self.driver.unload_module(part.raw);
                }
                Err(error)
            }
        }
    }

    fn load_part(&self, name: &str, expected: &[String], parts: &mut Vec<LoadedPart>) -> Result<RawModule> {
        let found =
            |parts: &[LoadedPart]| parts.iter().find(|part| part.kernels.has(name)).map(|part| part.raw);
        let mut why = None;
        if let Some(text) = &self.text {
            self.load_parts(text, name, expected, parts, &mut why);
            if let Some(raw) = found(parts) {
                return Ok(raw);
            }
        }
        let image = self.module.image;
        let raw = self.driver.load_module(image);
        let raw = raw.map_err(|(failure, log)| {
            self.module.failed(self.driver, &self.ctx, describe_load_failure(failure, &log))
        })?;
        let waiting = Err(why.unwrap_or_else(|| AS_WRITTEN.to_owned()));
        parts.push(LoadedPart { kernels: PartKernels::All, raw, waiting });
        Ok(raw)
    }

    /// Returns the address of a variable of `bytes` bytes in each loaded part that has it.
    pub(super) fn variable(&self, variable: &str, bytes: usize) -> Result<Vec<u64>> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let of =
            |part: &LoadedPart| address(self.driver, part.raw, variable, bytes, self.module.path).transpose();
        parts.iter().filter_map(of).collect()
    }

    /// Loads the kernels of the file that use its variables, if they are not loaded.
    pub(super) fn load_variables(&self) -> Result<()> {
        match self
            .text
            .as_ref()
            .and_then(|text| text.entries.iter().find(|entry| !text.independent.contains_key(&entry.name)))
        {
            Some(entry) => self.part(&entry.name, &[]).map(drop),
            None => self.load_all(),
        }
    }

    /// Loads the parts with the kernel `name` and with the expected ones. `reason` receives the reason if the
    /// part of `name` could not be loaded.
    fn load_parts(
        &self,
        text: &PtxText,
        name: &str,
        expected: &[String],
        parts: &mut Vec<LoadedPart>,
        reason: &mut Option<String>,
    ) {
        let missing = |entry: &&str| {
            let known = text.entries.iter().any(|known| known.name == *entry);
            known && !parts.iter().any(|part| part.kernels.has(entry))
        };
        let mut wanted: Vec<&str> = expected.iter().map(String::as_str).filter(missing).collect();
        wanted.push(name);
        let waits = self.form == TextForm::Waiting && text.waiting.is_some();
        let Some(parsed) = &self.parsed else { return };
        let Some(EntryTexts { alone, rest }) = text.split(parsed, waits, &wanted) else { return };
        let alone = alone.into_iter().map(|(kernel, text)| (PartKernels::One(kernel), text));
        let rest = rest.map(|rest| (PartKernels::Without(text.independent.keys().cloned().collect()), rest));
        let texts: Vec<(PartKernels, String)> = alone.chain(rest).collect();
        let each: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
        code::link_all(self.driver, &self.ctx, &each);
        for (kernels, text) in texts {
            let waiting = if waits { Ok(()) } else { Err(AS_WRITTEN.to_owned()) };
            match code::load(self.driver, &self.ctx, &text) {
                Ok(raw) => parts.push(LoadedPart { kernels, raw, waiting }),
                // If one of these kernels is launched, the whole file is loaded unchanged instead.
                Err((failure, log)) if kernels.has(name) => {
                    let why = load_failure_line(failure, &log);
                    *reason = Some(format!(
                        "the driver rejects the file with the wait added to its kernels: {why}"
                    ));
                }
                Err(_) => {}
            }
        }
    }

    /// Returns a kernel's function. Checks it against its declaration on first use. `shares_state` is true for a
    /// kernel that shares a variable which some kernel writes. `expected` names the kernels that are likely to be
    /// needed next.
    pub fn function(
        &self,
        name: &'static str,
        params: &[Param],
        shares_state: bool,
        expected: &[String],
    ) -> Result<FunctionInfo> {
        if let Some(other) = self.variables_in.as_ref().filter(|_| shares_state) {
            self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
            return other.function(name, params, shares_state, expected);
        }
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, info)) = functions.iter().find(|entry| entry.0 == name) {
            return Ok(*info);
        }
        let raw = self.part(name, expected)?;
        let fault = |reason: KernelFault| Error::Kernel {
            kernel: name.to_owned(),
            path: self.module.path.to_owned(),
            reason,
        };
        // With lazy loading, a driver may compile or reject the code only here.
        let function = self
            .driver
            .function(raw, name)
            .map_err(|failure| {
                self.module.failed(self.driver, &self.ctx, describe_load_failure(failure, ""))
            })?
            .ok_or_else(|| fault(KernelFault::Missing))?;
        let entry = self.entry(name);
        // The driver ends the list of sizes with an error, which tools report. So query it only if the sizes
        // are not known from the text.
        let sizes = match entry {
            Some(entry) => Some(entry.sizes.clone()),
            None => self.driver.parameter_sizes(function)?,
        };
        if let Some(sizes) = sizes {
            if sizes.len() != params.len() {
                return Err(fault(KernelFault::Parameters { found: sizes.len(), declared: params.len() }));
            }
            for (index, (&bytes, &Param { name, size: declared, .. })) in sizes.iter().zip(params).enumerate()
            {
                if bytes != u64::from(declared) {
                    return Err(fault(KernelFault::ParameterSize { index, name, bytes, declared }));
                }
            }
        }
        let required = entry.and_then(|entry| entry.required_block);
        let info = FunctionInfo::query(self.driver, function, required)?;
        functions.push((name, info));
        Ok(info)
    }

    /// Raises the dynamic shared memory that a function can be launched with, in bytes.
    pub fn raise_dynamic_shared(&self, name: &'static str, bytes: u32) -> Result<()> {
        if let Some(other) = self.other_with(name) {
            return other.raise_dynamic_shared(name, bytes);
        }
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, info)) = functions.iter_mut().find(|entry| entry.0 == name)
            && info.dynamic_shared < bytes
        {
            self.driver.set_function_attribute(info.function, MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?;
            info.dynamic_shared = bytes;
        }
        Ok(())
    }

    /// Keeps the module loaded until the work that `event` last recorded is complete.
    pub fn keep_loaded_until(&self, event: &Arc<OwnedEvent>) {
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
        let over = in_flight.iter().try_for_each(|event| waits::wait_on_host(self.driver, event.raw(), None));
        if let Err(failure) = over {
            record(&self.ctx, failure);
        }
        if !entered || over.is_err() {
            // Launches in flight may need the code, so it is leaked.
            return;
        }
        // Ignore failures: a module that cannot be unloaded goes with its context.
        let parts = std::mem::take(self.parts.get_mut().unwrap_or_else(PoisonError::into_inner));
        let Module { values, written, .. } = self.module;
        let context = Context::from_cudarc(&self.ctx);
        let kept = parts.iter().try_for_each(|part| values.keep(self.driver, context, part.raw, written));
        if let Err(failure) = kept {
            record(&self.ctx, failure);
        }
        let variants = self.variants.get_mut().unwrap_or_else(PoisonError::into_inner);
        for raw in variants.modules.iter().copied().chain(parts.iter().map(|part| part.raw)) {
            let _ = self.driver.unload_module(raw);
        }
    }
}

/// The loaded forms of a file. Shared by the [`Loaded`] values of a context.
#[derive(Debug, Default)]
struct LoadedForms {
    modules: Mutex<Vec<Arc<LoadedModule>>>,
}

/// Keeps the module of a kernels block loaded in a context.
#[derive(Clone)]
#[must_use = "the module is kept loaded only as long as this lives"]
pub struct Loaded {
    module: &'static Module,
    _forms: Arc<LoadedForms>,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("path", &self.module.path).finish_non_exhaustive()
    }
}

/// Loads the module of a kernels block with all of its kernels, and keeps it loaded.
pub fn load(module: &'static Module, ctx: &Arc<CudaContext>) -> Result<Loaded> {
    let driver = cuda::driver()?;
    context::enter(driver, ctx)?;
    let kept = module.loaded_forms(ctx).unwrap_or_else(|| {
        let new = Arc::new(LoadedForms::default());
        let mut kept = module.forms.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|entry| entry.1.strong_count() > 0);
        kept.push((Context::from_cudarc(ctx), Arc::downgrade(&new)));
        new
    });
    let loaded =
        module.load(driver, ctx, TextForm::for_edges(&programmatic(driver, ctx, Allowed::by(None))))?;
    loaded.load_all()?;
    Ok(Loaded { module, _forms: kept })
}
