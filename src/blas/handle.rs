//! `Blas`: the handles of cuBLAS and cuBLASLt, or kernels of ours in their place.

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
use super::kernels::{self, Kernels, Kinds, Operands};
use super::library::{Library, driver_version, wait};
use super::lt::{Lt, Plan, Problem};
use super::product::{Product, Writes};
use super::raw::{Handle, Raw};

/// Products of matrices on a device: by cuBLASLt, or by kernels of cuweave's.
///
/// A graph function takes it as the host value `blas: &Blas`, and passes it to the calls of this module. It is made before any
/// graph; several threads may build graphs with one. Dropping it waits for the work of its context; while another thread captures a
/// library call, its handles are left alive instead.
pub struct Blas {
    ctx: Arc<CudaContext>,
    /// Loaded when a product needs them, before anything is captured.
    kernels: OnceLock<Kernels>,
    cublas: Option<Cublas>,
    /// The default of [`Product::workspace_limit`].
    limit: u64,
    /// True once it has said that a product runs on a kernel of ours.
    said: AtomicBool,
}

struct Cublas {
    library: &'static Library,
    lt: Lt,
    raw: Mutex<Raw>,
    /// The algorithms chosen so far.
    plans: Mutex<HashMap<Problem, Result<Arc<Plan>, Error>>>,
}

impl fmt::Debug for Blas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blas").field("cublas", &self.cublas_version()).finish_non_exhaustive()
    }
}

impl Blas {
    /// Products by cuBLAS, or by kernels of cuweave's on the simulated driver and where cuBLAS cannot be loaded: they have the same
    /// meaning and are many times slower, so standard error says it once.
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

    /// Products by cuBLAS.
    ///
    /// # Errors
    ///
    /// cuBLAS cannot be loaded: the error says what to install. Those of the driver and of cuBLAS.
    pub fn cublas(ctx: &Arc<CudaContext>) -> Result<Blas, Error> {
        ctx.bind_to_thread()?;
        let driver = if is_simulated() { None } else { Some(driver_version()?) };
        let library = Library::get(driver)?;
        let cublas = Cublas {
            library,
            lt: Lt::new(library)?,
            raw: Mutex::new(Raw::new(library)?),
            plans: Mutex::default(),
        };
        Ok(Blas {
            ctx: ctx.clone(),
            kernels: OnceLock::new(),
            cublas: Some(cublas),
            limit: limit(ctx)?,
            said: AtomicBool::new(false),
        })
    }

    /// Products by kernels of cuweave's: a thread computes an element. The sum over k runs in order, in parts of 128 and more where
    /// few elements have many terms; in `f64` for `f64` and in `f32` for all others, rounded once at the end.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    pub fn kernels(ctx: &Arc<CudaContext>) -> Result<Blas, Error> {
        let kernels = OnceLock::from(Kernels::load(ctx)?);
        Ok(Blas { ctx: ctx.clone(), kernels, cublas: None, limit: limit(ctx)?, said: AtomicBool::new(false) })
    }

    /// Returns the version of cuBLASLt, 130100 for 13.1.0: `None` if products run on kernels of cuweave's.
    #[must_use]
    pub fn cublas_version(&self) -> Option<usize> {
        self.cublas.as_ref().map(|cublas| cublas.library.version)
    }

    /// Returns the bytes of scratch for a call of plain cuBLAS of this size, which cannot be asked: 32 MiB from compute capability
    /// 9.0 on, 4 MiB before. For calls of your own, with [`Blas::handle`].
    #[must_use]
    pub fn workspace(&self, m: u32, n: u32, k: u32) -> u64 {
        if self.cublas.is_none() || m == 0 || n == 0 || k == 0 { 0 } else { self.limit }
    }

    /// Locks the handle of cuBLAS for a call of your own, and gives it the stream and the workspace of that call.
    ///
    /// # Errors
    ///
    /// There is no cuBLAS; what it returns.
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

    /// Returns the handle of cuBLASLt, which several threads may use at a time: `None` if there is no cuBLAS.
    #[must_use]
    pub fn lt_handle(&self) -> Option<cublasLtHandle_t> {
        self.cublas.as_ref().map(|cublas| cublas.lt.raw())
    }

    /// Returns the bytes of scratch of a product with factors of `T` and a result of `C`, behind which a bias is added or not. Its
    /// algorithm is chosen and kept. 0 for a product whose layout is wrong: its call says so.
    #[must_use]
    pub fn scratch<T: Element, C: ResultOf<T>>(&self, product: &Product, bias: bool) -> u64 {
        self.prepared(product, kinds::<T, C>(), bias)
    }

    /// Chooses the algorithm of a product, loads what its call will need, and returns the bytes of its scratch. Failures are those of
    /// the call too, which tells them.
    fn prepared(&self, product: &Product, kinds: Kinds, bias: bool) -> u64 {
        if product.elements() == 0 || product.check(Writes::Some).is_err() {
            return 0;
        }
        let product = &product.computed(kinds.factors.summed());
        let limited = product.workspace_limit(product.limit.unwrap_or(self.limit));
        let Some(cublas) = self.cublas_for(product) else {
            let _ = self.loaded();
            return kernels::scratch(&limited, kinds);
        };
        let Ok(plan) = cublas.plan(&self.ctx, &Problem::of(product, kinds, bias, self.limit)) else {
            return 0;
        };
        if !plan.does_all(kinds) {
            let _ = self.loaded();
        }
        if plan.is_empty() { kernels::scratch(&limited, kinds) } else { plan.workspace }
    }

    /// Returns cuBLAS for a product that has terms. Without any, of k = 0 or α = 0, cuBLASLt scales c by β, or does nothing, and leaves
    /// bias and activation out.
    fn cublas_for(&self, product: &Product) -> Option<&Cublas> {
        self.cublas.as_ref().filter(|_| product.k > 0)
    }

    /// Returns the kernels of ours.
    fn loaded(&self) -> Result<&Kernels, Error> {
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
        kinds: Kinds,
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
            self.loaded()?.run(stream, &fits, kinds, operands)
        };
        let Some(cublas) = self.cublas_for(product) else { return alone() };
        let problem = Problem::of(product, kinds, operands.bias.is_some(), self.limit);
        let plan = cublas.plan(&self.ctx, &problem)?;
        let Some(algorithm) = plan.algorithm(operands) else {
            if !self.said.swap(true, Ordering::Relaxed) {
                eprintln!("cuweave: cuBLASLt has no algorithm for {product:?}: a kernel of cuweave's runs");
            }
            return alone();
        };
        cublas.lt.run(stream.cu_stream(), product, &problem, &plan, algorithm, operands)?;
        if plan.unfinished {
            self.loaded()?.finish_stored(stream, product, kinds, operands)?;
        }
        Ok(())
    }

    fn same_context(&self, stream: &CallStream) -> Result<(), Error> {
        if stream.context().cu_ctx() == self.ctx.cu_ctx() { Ok(()) } else { Err(Error::other_context()) }
    }
}

impl Cublas {
    /// Returns the algorithms of a problem: those chosen before, or what the heuristic answers now.
    fn plan(&self, ctx: &Arc<CudaContext>, problem: &Problem) -> Result<Arc<Plan>, Error> {
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
        // An exec that was forgotten may still run the kernels, and cuBLAS waits for the context too. What cannot wait is left alive.
        let held = ManuallyDrop::new((self.kernels.take(), self.cublas.take()));
        between_captures(|| wait(&self.ctx).map(|()| drop(ManuallyDrop::into_inner(held))));
    }
}

/// Returns the default of [`Product::workspace_limit`].
fn limit(ctx: &CudaContext) -> Result<u64, Error> {
    let major = ctx.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    Ok(if major >= 9 { 32 << 20 } else { 4 << 20 })
}

fn kinds<T: Element, C: ResultOf<T>>() -> Kinds {
    Kinds { factors: T::KIND, result: C::KIND }
}
