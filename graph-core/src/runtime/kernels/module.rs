//! Modules: one load per context and kernels block, shared while anyone uses it.

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use cudarc::driver::CudaContext;

use crate::launches::Allowed;
use crate::runtime::context;
use crate::runtime::cuda::{self, Context, Driver, RawModule, record};
use crate::runtime::error::{DriverFailure, Error, ModuleFailure, Result, one_line, refused};
use crate::runtime::waits::{self, OwnedEvent};

use super::function::{FunctionInfo, MAX_DYNAMIC_SHARED_SIZE_BYTES};
use super::image::{self, Target};
use super::notes::Notes;
use super::param::Param;
use super::text::{Entry, Form, Programmatic, Text, programmatic};
use super::variants::Variants;

/// A list in a static.
type List<T> = ManuallyDrop<Mutex<Vec<T>>>;

/// The module of a kernels block. Its address is its identity.
pub struct Module {
    path: &'static str,
    image: &'static [u8],
    // `ManuallyDrop`: modules are statics, which are never dropped, but rustc would compile their drops in the user's crate.
    loaded: List<(Context, Form, Weak<LoadedModule>)>,
    forms: List<(Context, Weak<LoadedForms>)>,
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
        Module { path, image, loaded, forms: ManuallyDrop::new(Mutex::new(Vec::new())) }
    }

    /// Returns the file, as the declaration names it.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// Returns the file's bytes.
    pub(crate) fn image(&self) -> &'static [u8] {
        self.image
    }

    /// Returns the module in a context: the loaded one of that form, or a new one. It stays loaded while the file is kept.
    pub(crate) fn load(
        &'static self,
        driver: &'static Driver,
        ctx: &Arc<CudaContext>,
        form: Form,
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

    /// Returns the owner of the file's loaded modules in a context, if it is alive.
    fn loaded_forms(&self, ctx: &CudaContext) -> Option<Arc<LoadedForms>> {
        let context = Context::of(ctx);
        let kept = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().filter(|entry| entry.0 == context).find_map(|entry| entry.1.upgrade())
    }

    fn load_form(
        &'static self,
        driver: &'static Driver,
        ctx: &Arc<CudaContext>,
        form: Form,
    ) -> Result<Arc<LoadedModule>> {
        let context = Context::of(ctx);
        // Locked during the load, so that two threads do not load twice.
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
                let why = one_line(failure, &log);
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

    /// Returns the error of a failed load of the image, or of a function in it, with an explanation from the image.
    fn failed(&self, driver: &Driver, ctx: &CudaContext, failure: DriverFailure) -> Error {
        // CUdevice_attribute: compute capability, major and minor; 0 if the query fails.
        let capability = [75, 76].map(|attribute| driver.device_attribute(ctx, attribute).unwrap_or(0));
        let target =
            Target { capability: (capability[0], capability[1]), driver: cuda::version().unwrap_or((0, 0)) };
        let help = image::explain(self.image, failure.code, target);
        Error::Module(Box::new(ModuleFailure { path: self.path.to_owned(), failure, help }))
    }
}

/// A module in a context.
#[derive(Debug)]
pub(crate) struct LoadedModule {
    pub(crate) module: &'static Module,
    /// The parsed text; `None` for machine code.
    text: Option<Text>,
    /// Success if its kernels run the wait first wherever possible, or the reason that they do not.
    waiting: Programmatic,
    raw: RawModule,
    pub(crate) driver: &'static Driver,
    ctx: Arc<CudaContext>,
    functions: Mutex<Vec<(&'static str, FunctionInfo)>>,
    pub(crate) variants: Mutex<Variants>,
    /// A module of the compiler's own that the same graphs use. It stays loaded as long as this one.
    companion: OnceLock<Arc<LoadedModule>>,
    /// Launches that may still run its functions after the last holder of the module is dropped.
    in_flight: Mutex<Vec<Arc<OwnedEvent>>>,
    /// The last launches that used its variables.
    pub(crate) notes: Notes,
}

impl LoadedModule {
    /// Returns the properties of a kernel from the text.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.text.as_ref()?.entries.iter().find(|entry| entry.name == name)
    }

    /// Keeps a module of the compiler's own loaded as long as this one.
    pub fn accompany(&self, companion: &Arc<LoadedModule>) {
        // A companion that is set already is the same module.
        let _ = self.companion.set(companion.clone());
    }

    /// Returns true if it has variables that its kernels may write. Two loads would have two copies of them.
    fn has_state(&self) -> bool {
        self.text.as_ref().is_none_or(|text| text.has_state)
    }

    /// Returns true if a kernel runs the wait first.
    pub fn waits(&self, name: &str) -> bool {
        self.waiting.is_ok() && self.entry(name).is_some_and(|entry| entry.waiting.is_ok())
    }

    /// Returns success if a kernel of PTX runs the wait first, or the reason that it does not.
    pub fn waiting(&self, entry: &Entry) -> Programmatic {
        entry.waiting.clone().and_then(|()| self.waiting.clone())
    }

    /// Returns a kernel's function, which is checked against its declaration on first use.
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
        // With lazy loading, a driver may compile or reject the machine code only here.
        let function = self
            .driver
            .function(self.raw, name)
            .map_err(|failure| self.module.failed(self.driver, &self.ctx, refused(failure, "")))?
            .ok_or_else(|| fault("does not exist there".to_owned()))?;
        let entry = self.entry(name);
        // The driver ends the list of sizes with an error, which tools report, so it is queried only if the sizes are not
        // known otherwise.
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

    /// Raises the dynamic shared memory that a function can be launched with.
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

    /// Keeps the module loaded until the work of the event's last record is complete.
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
            // Launches that may be in flight need the code, so it is leaked.
            return;
        }
        // A module that cannot be unloaded is lost with its context; nothing depends on it.
        let variants = self.variants.get_mut().unwrap_or_else(PoisonError::into_inner);
        for &raw in variants.modules.iter().chain([&self.raw]) {
            let _ = self.driver.unload_module(raw);
        }
    }
}

/// The loaded forms of a file.
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

/// Loads the module of a kernels block, or returns the loaded one.
pub fn load(module: &'static Module, ctx: &Arc<CudaContext>) -> Result<Loaded> {
    let driver = cuda::driver()?;
    context::enter(driver, ctx)?;
    let kept = module.loaded_forms(ctx).unwrap_or_else(|| {
        let new = Arc::new(LoadedForms::default());
        let mut kept = module.forms.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|entry| entry.1.strong_count() > 0);
        kept.push((Context::of(ctx), Arc::downgrade(&new)));
        new
    });
    module.load(driver, ctx, Form::of(&programmatic(driver, ctx, Allowed::by(None))))?;
    Ok(Loaded { module, _forms: kept })
}
