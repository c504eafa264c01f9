//! `Blas`: the handles of cuBLAS and cuBLASLt, or cuweave's own kernels instead.
//!
//! A product's algorithm is chosen when its scratch size is requested, before anything is captured, and cached by
//! its `Problem`. `run` enqueues the product with cuBLASLt, or with `kernels` if cuBLASLt is missing or has no
//! algorithm.

use std::collections::HashMap;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cudarc::cublaslt::sys::cublasLtHandle_t;
use cudarc::driver::sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
use cudarc::driver::{CudaContext, CudaViewMut};

use crate::__private::{between_captures, is_simulated};
use crate::CallStream;

use super::element::{Element, ResultOf};
use super::error::Error;
use super::kernels::{self, ElementKinds, Kernels, Operands};
use super::library::{Library, driver_version, wait};
use super::lt::{AlgorithmPlan, CublasLt, Problem};
use super::product::{Product, Writes};
use super::raw::{CublasHandle, Handle};

/// Matrix products on a device, by cuBLASLt or by cuweave's own kernels.
///
/// A graph function takes it as the host value `blas: &Blas` and passes it to the calls of this module. It must be
/// created before any graph. Several threads can build graphs with one `Blas`. Dropping it waits for the work of
/// its context; if another thread is capturing a library call at that time, the handles are leaked instead.
pub struct Blas {
    ctx: Arc<CudaContext>,
    /// Loaded when a product first needs them, before anything is captured.
    kernels: OnceLock<Kernels>,
    cublas: Option<Cublas>,
    /// The default of [`Product::workspace_limit`].
    limit: u64,
    /// True after the message that a product runs on one of cuweave's kernels.
    has_warned: AtomicBool,
}

struct Cublas {
    library: &'static Library,
    lt: CublasLt,
    raw: Mutex<CublasHandle>,
    /// The algorithms chosen so far.
    plans: Mutex<HashMap<Problem, Result<Arc<AlgorithmPlan>, Error>>>,
}

impl fmt::Debug for Blas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blas").field("cublas", &self.cublas_version()).finish_non_exhaustive()
    }
}

impl Blas {
    /// Returns products by cuBLAS. On the simulator, or if cuBLAS cannot be loaded, they run on cuweave's own kernels
    /// instead. These give the same results but are many times slower, so a message on standard error says so once.
    ///
    /// # Errors
    ///
    /// The errors of the driver and of cuBLAS.
    pub fn new(ctx: &Arc<CudaContext>) -> Result<Blas, Error> {
        match Blas::cublas(ctx) {
            Err(error) if error.is_missing() => {
                static SAID: AtomicBool = AtomicBool::new(false);
                if !SAID.swap(true, Ordering::Relaxed) {
                    eprintln!("cuweave: products run on kernels of cuweave's: {error}");
                }
                Blas::kernels(ctx)
            }
            result => result,
        }
    }

    /// Returns products by cuBLAS.
    ///
    /// # Errors
    ///
    /// cuBLAS cannot be loaded: the error says what to install. The errors of the driver and of cuBLAS.
    pub fn cublas(ctx: &Arc<CudaContext>) -> Result<Blas, Error> {
        ctx.bind_to_thread()?;
        let driver = if is_simulated() { None } else { Some(driver_version()?) };
        let library = Library::get(driver)?;
        let cublas = Cublas {
            library,
            lt: CublasLt::new(library)?,
            raw: Mutex::new(CublasHandle::new(library)?),
            plans: Mutex::default(),
        };
        Ok(Blas {
            ctx: ctx.clone(),
            kernels: OnceLock::new(),
            cublas: Some(cublas),
            limit: limit(ctx)?,
            has_warned: AtomicBool::new(false),
        })
    }

    /// Returns products by cuweave's own kernels: one thread per element. The sum over k is in order; where
    /// few elements have long sums, k is split into parts of at least 128. Accumulates in `f64` for `f64` and
    /// in `f32` for all others, and rounds once at the end.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    pub fn kernels(ctx: &Arc<CudaContext>) -> Result<Blas, Error> {
        let kernels = OnceLock::from(Kernels::load(ctx)?);
        Ok(Blas {
            ctx: ctx.clone(),
            kernels,
            cublas: None,
            limit: limit(ctx)?,
            has_warned: AtomicBool::new(false),
        })
    }

    /// Returns the version of cuBLASLt, 130100 for 13.1.0. `None` if products run on cuweave's own kernels.
    #[must_use]
    pub fn cublas_version(&self) -> Option<usize> {
        self.cublas.as_ref().map(|cublas| cublas.library.version)
    }

    /// Returns the scratch bytes for a call of plain cuBLAS of this size, in your own calls with
    /// [`Blas::handle`]. cuBLAS does not report its needs, so this is a fixed size: 32 MiB from compute
    /// capability 9.0 on, 4 MiB before.
    #[must_use]
    pub fn workspace(&self, m: u32, n: u32, k: u32) -> u64 {
        if self.cublas.is_none() || m == 0 || n == 0 || k == 0 { 0 } else { self.limit }
    }

    /// Locks the handle of cuBLAS for your own call and sets the stream and the workspace of that call.
    ///
    /// # Errors
    ///
    /// There is no cuBLAS; the errors of cuBLAS.
    pub fn handle(
        &self,
        stream: &CallStream,
        workspace: &mut CudaViewMut<'_, u8>,
    ) -> Result<Handle<'_>, Error> {
        let cublas = self.cublas.as_ref().ok_or_else(Error::kernels)?;
        self.same_context(stream)?;
        let raw = cublas.raw.lock().unwrap_or_else(PoisonError::into_inner);
        Handle::new(cublas.library, raw, stream, workspace)
    }

    /// Returns the handle of cuBLASLt, which several threads can use concurrently. `None` if there is no cuBLAS.
    #[must_use]
    pub fn lt_handle(&self) -> Option<cublasLtHandle_t> {
        self.cublas.as_ref().map(|cublas| cublas.lt.raw())
    }

    /// Returns the scratch bytes of a product with factors of type `T` and a result of type `C`. `bias` is
    /// true if a bias is added. The product's algorithm is chosen and kept. Returns 0 for a product with an
    /// invalid layout, which its call reports.
    #[must_use]
    pub fn scratch<T: Element, C: ResultOf<T>>(&self, product: &Product, bias: bool) -> u64 {
        self.prepare(product, kinds::<T, C>(), bias)
    }

    /// Chooses the algorithm of a product, loads what its call needs, and returns its scratch bytes. Failures
    /// are not reported here: the call fails for the same reason and reports it.
    fn prepare(&self, product: &Product, kinds: ElementKinds, bias: bool) -> u64 {
        if product.elements() == 0 || product.check(Writes::Some).is_err() {
            return 0;
        }
        let product = &product.computed(kinds.factors.summed());
        let limited = product.workspace_limit(product.limit.unwrap_or(self.limit));
        let Some(cublas) = self.cublas_for(product) else {
            let _ = self.own_kernels();
            return kernels::scratch(&limited, kinds);
        };
        let Ok(plan) = cublas.plan(&self.ctx, &Problem::new(product, kinds, bias, self.limit)) else {
            return 0;
        };
        if !plan.covers_all_addresses(kinds) {
            let _ = self.own_kernels();
        }
        if plan.is_empty() { kernels::scratch(&limited, kinds) } else { plan.workspace }
    }

    /// Returns cuBLAS, unless the product has no terms. For k = 0 or α = 0 cuBLASLt scales c by β or does
    /// nothing, and ignores bias and activation.
    fn cublas_for(&self, product: &Product) -> Option<&Cublas> {
        self.cublas.as_ref().filter(|_| product.k > 0)
    }

    /// Returns cuweave's own kernels. Loads them if necessary.
    fn own_kernels(&self) -> Result<&Kernels, Error> {
        if let Some(kernels) = self.kernels.get() {
            return Ok(kernels);
        }
        let kernels = Kernels::load(&self.ctx)?;
        Ok(self.kernels.get_or_init(|| kernels))
    }

    /// Enqueues a product.
    pub(super) fn run<T: Element, C: ResultOf<T>>(
        &self,
        stream: &CallStream,
        product: &Product,
        writes: Writes,
        operands: &Operands,
    ) -> Result<(), Error> {
        self.run_kinds(stream, product, writes, kinds::<T, C>(), operands)
    }

    fn run_kinds(
        &self,
        stream: &CallStream,
        product: &Product,
        writes: Writes,
        kinds: ElementKinds,
        operands: &Operands,
    ) -> Result<(), Error> {
        product.check(writes)?;
        self.same_context(stream)?;
        if product.elements() == 0 {
            return Ok(());
        }
        let product = &product.computed(kinds.factors.summed());
        let alone = || {
            let fits = product.workspace_limit(operands.scratch_bytes);
            stream.relaxed(|| self.own_kernels())?.run(stream, &fits, kinds, operands)
        };
        let Some(cublas) = self.cublas_for(product) else { return alone() };
        let problem = Problem::new(product, kinds, operands.bias.is_some(), self.limit);
        // A setter of a size replaces nodes by such nodes.
        let (problem, plan) = match stream.sized_nodes() {
            Some(nodes) => {
                let problem = problem.with_nodes(nodes, operands.scratch_bytes);
                (problem, stream.relaxed(|| cublas.plan(&self.ctx, &problem))?)
            }
            None => (problem, cublas.plan(&self.ctx, &problem)?),
        };
        // The size has a value between those for which the scratch was planned.
        let (problem, plan) = match plan.workspace > operands.scratch_bytes {
            true => {
                let problem = Problem { limit: operands.scratch_bytes, ..problem };
                (problem, stream.relaxed(|| cublas.plan(&self.ctx, &problem))?)
            }
            false => (problem, plan),
        };
        let Some(algorithm) = plan.algorithm(operands) else {
            if !self.has_warned.swap(true, Ordering::Relaxed) {
                eprintln!("cuweave: cuBLASLt has no algorithm for {product:?}: a kernel of cuweave's runs");
            }
            return alone();
        };
        let factors = [product.alpha, product.beta];
        cublas.lt.run(stream.cu_stream(), factors, &problem, plan.unfinished, algorithm, operands)?;
        if plan.unfinished {
            stream.relaxed(|| self.own_kernels())?.finish_stored(stream, product, kinds, operands)?;
        }
        Ok(())
    }

    fn same_context(&self, stream: &CallStream) -> Result<(), Error> {
        if stream.context().cu_ctx() == self.ctx.cu_ctx() { Ok(()) } else { Err(Error::other_context()) }
    }
}

impl Cublas {
    /// Returns the algorithms for a problem: the ones chosen before, or the heuristic's answer now.
    fn plan(&self, ctx: &Arc<CudaContext>, problem: &Problem) -> Result<Arc<AlgorithmPlan>, Error> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = plans.get(problem) {
            return known.clone();
        }
        ctx.bind_to_thread()?;
        let plan = self.lt.plan(problem).map(Arc::new);
        plans.insert(*problem, plan.clone());
        plan
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        // A forgotten exec may still run the kernels, and cuBLAS also waits for the context. If waiting
        // fails, both are leaked.
        let held = ManuallyDrop::new((self.kernels.take(), self.cublas.take()));
        between_captures(|| wait(&self.ctx).map(|()| drop(ManuallyDrop::into_inner(held))));
    }
}

/// Returns the default of [`Product::workspace_limit`].
fn limit(ctx: &CudaContext) -> Result<u64, Error> {
    let major = ctx.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    Ok(if major >= 9 { 32 << 20 } else { 4 << 20 })
}

fn kinds<T: Element, C: ResultOf<T>>() -> ElementKinds {
    ElementKinds { factors: T::KIND, result: C::KIND }
}
