//! Products by cuBLASLt: algorithm and workspace are chosen before the capture, and used in it. The heuristic is
//! queried for several alignments of the addresses, and a call uses the first algorithm that fits its addresses.
//! If no algorithm applies bias and activation, a kernel does so afterwards.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::{from_ref, null, null_mut, with_exposed_provenance_mut};

use cudarc::cublaslt::sys::cublasLtMatmulPreferenceAttributes_t::{
    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
};
use cudarc::cublaslt::sys::cublasLtReductionScheme_t::{
    CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, CUBLASLT_REDUCTION_SCHEME_NONE,
};
use cudarc::cublaslt::sys::{cublasLtHandle_t, cublasLtMatmulAlgo_t, cublasLtMatmulPreference_t};
use cudarc::driver::sys::CUstream;

use crate::__private::CallNodes;

use super::element::ElementKind;
use super::error::Error;
use super::kernels::{ElementKinds, Operands};
use super::library::{HeuristicResult, Library, check_status};
use super::product::{Activation, Order};

mod description;
mod nodes;
mod problem;

use description::Description;
use nodes::captured_nodes;
pub(super) use problem::Problem;

/// The statuses with which the heuristic reports that it knows no algorithm.
const NO_ALGORITHM: [u32; 2] = [7, 15];
/// The address alignments for which algorithms are requested: the alignment of allocations, which is the
/// heuristic's default, and of vector loads. The alignment of the elements is requested last.
const ALIGNMENTS: [u64; 2] = [256, 16];

/// The split-k reductions that do not round partial sums to the type of the result.
const REDUCTION_SCHEMES: u32 =
    CUBLASLT_REDUCTION_SCHEME_NONE as u32 | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE as u32;

/// The algorithms among which one with as many nodes is searched.
const MAX_ANSWERS: usize = 16;

/// A handle of cuBLASLt.
pub(super) struct CublasLt {
    library: &'static Library,
    handle: cublasLtHandle_t,
}

// SAFETY: several threads may use a cuBLASLt handle concurrently, according to its documentation.
unsafe impl Send for CublasLt {}
// SAFETY: as above.
unsafe impl Sync for CublasLt {}

impl Drop for CublasLt {
    fn drop(&mut self) {
        // SAFETY: created by `cublasLtCreate` and not used any more. Nobody could handle its status here.
        let _ = unsafe { (self.library.cublasLtDestroy)(self.handle) };
    }
}

/// The algorithms for a problem.
#[derive(Clone, Debug, Default)]
pub(super) struct AlgorithmPlan {
    /// Each with the alignment in bytes that it needs, largest first.
    algorithms: Vec<(u64, cublasLtMatmulAlgo_t)>,
    /// The workspace bytes of the first algorithm. The others need no more.
    pub workspace: u64,
    /// True if a kernel adds bias and activation after the product.
    pub unfinished: bool,
}

impl AlgorithmPlan {
    /// Returns the algorithm for these addresses.
    pub fn algorithm(&self, operands: &Operands) -> Option<&cublasLtMatmulAlgo_t> {
        let addresses = [operands.a, operands.b, operands.c, operands.bias.unwrap_or(0)];
        let fits = |alignment: u64| addresses.iter().all(|address| address % alignment == 0);
        self.algorithms.iter().find(|(alignment, _)| fits(*alignment)).map(|(_, algorithm)| algorithm)
    }

    /// Returns true if cuBLASLt computes all of the product for operands at any address.
    pub fn covers_all_addresses(&self, kinds: ElementKinds) -> bool {
        let any = |(alignment, _): &(u64, _)| *alignment == kinds.alignment();
        !self.unfinished && self.algorithms.iter().any(any)
    }

    /// Returns true if cuBLASLt knows no algorithm.
    pub fn is_empty(&self) -> bool {
        self.algorithms.is_empty()
    }
}

/// A preference of the heuristic.
struct Preference<'l>(&'l Library, cublasLtMatmulPreference_t);

impl Drop for Preference<'_> {
    fn drop(&mut self) {
        // SAFETY: created by its call and not used any more.
        let _ = unsafe { (self.0.cublasLtMatmulPreferenceDestroy)(self.1) };
    }
}

impl CublasLt {
    /// Creates a handle. The context must be current.
    pub fn new(library: &'static Library) -> Result<CublasLt, Error> {
        let mut handle = null_mut();
        // SAFETY: the pointer is to a local.
        check_status("cublasLtCreate", unsafe { (library.cublasLtCreate)(&mut handle) })?;
        Ok(CublasLt { library, handle })
    }

    /// Returns the raw handle.
    pub fn raw(&self) -> cublasLtHandle_t {
        self.handle
    }

    /// Chooses the algorithms for a problem. If none computes all of it, bias and activation are left to a
    /// kernel. The context must be current, and no stream of this thread may be capturing.
    pub fn plan(&self, problem: &Problem) -> Result<AlgorithmPlan, Error> {
        let finished = problem.activation == Activation::None && !problem.bias;
        for unfinished in [false, true] {
            let mut plan = AlgorithmPlan { unfinished, ..AlgorithmPlan::default() };
            for alignment in ALIGNMENTS.into_iter().chain([problem.kinds.alignment()]) {
                let limit = if plan.is_empty() { problem.limit } else { plan.workspace };
                if let Some(answer) = self.query(problem, unfinished, alignment, limit)? {
                    plan.workspace = plan.workspace.max(answer.workspace as u64);
                    plan.algorithms.push((alignment, answer.algorithm));
                }
            }
            if !plan.is_empty() || finished {
                return Ok(plan);
            }
        }
        Ok(AlgorithmPlan::default())
    }

    /// Queries the heuristic for an address alignment and a workspace limit, both in bytes. `None` if it
    /// knows no algorithm.
    fn query(
        &self,
        problem: &Problem,
        unfinished: bool,
        alignment: u64,
        workspace: u64,
    ) -> Result<Option<HeuristicResult>, Error> {
        let ElementKinds { factors, result } = problem.kinds;
        let schemes = if result == factors.summed() { None } else { Some(REDUCTION_SCHEMES) };
        let first = self.answers(problem, unfinished, [alignment, workspace], schemes)?;
        let Some(CallNodes { fill, kernels, cluster }) = problem.nodes else {
            return Ok(first.into_iter().next());
        };
        // Some algorithms sum up parts by a kernel of its own, some clear a part of the workspace first, and kernels get
        // slow if an update makes their clusters smaller. Nothing but a capture tells that.
        let kernels = kernels.saturating_sub(usize::from(unfinished));
        let fits = |answer: &HeuristicResult| {
            let same = |nodes: CallNodes| nodes.kernels == kernels && nodes.cluster == cluster;
            let nodes = self.nodes(problem, unfinished, answer).ok().flatten();
            nodes.is_some_and(|nodes| same(nodes) && nodes.fill <= fill)
        };
        let mut all = first.clone();
        if kernels == 1 {
            let alone = Some(CUBLASLT_REDUCTION_SCHEME_NONE as u32);
            all.extend(self.answers(problem, unfinished, [alignment, workspace], alone)?);
        }
        for answer in all {
            if fits(&answer) {
                return Ok(Some(answer));
            }
        }
        Ok(first.into_iter().next())
    }

    /// Returns the heuristic's algorithms, best first: one, or several for a problem with given nodes.
    fn answers(
        &self,
        problem: &Problem,
        unfinished: bool,
        [alignment, workspace]: [u64; 2],
        schemes: Option<u32>,
    ) -> Result<Vec<HeuristicResult>, Error> {
        let [x, y, c, bias] = problem.alignments(alignment);
        // The heuristic derives the alignment of the bias from its address and does not read through it.
        let description = Description::new(self.library, problem, unfinished, (1 << 20) + bias)?;
        let mut raw = null_mut();
        // SAFETY: the pointer is to a local.
        let status = unsafe { (self.library.cublasLtMatmulPreferenceCreate)(&mut raw) };
        check_status("cublasLtMatmulPreferenceCreate", status)?;
        let preference = Preference(self.library, raw);
        let set = |attribute: u32, value: *const c_void, bytes| {
            // SAFETY: the preference lives, and the value has the size of the attribute.
            let status = unsafe {
                (self.library.cublasLtMatmulPreferenceSetAttribute)(preference.1, attribute, value, bytes)
            };
            check_status("cublasLtMatmulPreferenceSetAttribute", status)
        };
        set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES as u32, from_ref(&workspace).cast(), 8)?;
        for (attribute, alignment) in [
            (CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, x),
            (CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, y),
            (CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c),
            (CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, c),
        ] {
            set(attribute as u32, from_ref(&(alignment as u32)).cast(), 4)?;
        }
        if let Some(schemes) = schemes {
            set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK as u32, from_ref(&schemes).cast(), 4)?;
        }
        let none = HeuristicResult {
            algorithm: cublasLtMatmulAlgo_t { data: [0; 8] },
            workspace: 0,
            state: 0,
            waves: 0.0,
            reserved: [0; 4],
        };
        let mut answers = [none; MAX_ANSWERS];
        let requested = if problem.nodes.is_some() { MAX_ANSWERS } else { 1 };
        let mut count = 0;
        let [a, b, c] = description.layouts;
        // SAFETY: all descriptions are alive, and there is room for the requested results.
        let status = unsafe {
            (self.library.cublasLtMatmulAlgoGetHeuristic)(
                self.handle,
                description.operation,
                a,
                b,
                c,
                c,
                preference.1,
                requested as i32,
                answers.as_mut_ptr(),
                &mut count,
            )
        };
        if NO_ALGORITHM.contains(&status) {
            return Ok(Vec::new());
        }
        check_status("cublasLtMatmulAlgoGetHeuristic", status)?;
        let known = answers.into_iter().take(usize::try_from(count).unwrap_or(0));
        Ok(known.filter(|answer| answer.state == 0).collect())
    }

    /// Returns the nodes that a product captures. `None` for others than kernels after a fill.
    fn nodes(
        &self,
        problem: &Problem,
        unfinished: bool,
        answer: &HeuristicResult,
    ) -> Result<Option<CallNodes>, Error> {
        // Nothing is launched, so that any aligned addresses do.
        let at = |place: u64| (1 << 20) + (place << 40);
        let operands = Operands {
            a: at(1),
            b: at(2),
            c: at(3),
            bias: problem.bias.then_some(at(4)),
            scratch: at(5),
            scratch_bytes: answer.workspace as u64,
        };
        captured_nodes(|stream| {
            self.run(stream, [1.0, 0.0], problem, unfinished, &answer.algorithm, &operands)
        })
    }

    /// Enqueues a product with the factors α and β. The context must be current.
    pub fn run(
        &self,
        stream: CUstream,
        [alpha, beta]: [f64; 2],
        problem: &Problem,
        unfinished: bool,
        algorithm: &cublasLtMatmulAlgo_t,
        operands: &Operands,
    ) -> Result<(), Error> {
        let description = Description::new(self.library, problem, unfinished, operands.bias.unwrap_or(0))?;
        let [a, b, c] = description.layouts;
        let (mut x, mut y) = (operands.a, operands.b);
        if problem.matrices[2].order == Order::Row {
            (x, y) = (y, x);
        }
        let (wide, narrow) = ([alpha, beta], [alpha as f32, beta as f32]);
        let scale = |at: usize| -> *const c_void {
            match problem.kinds.factors {
                ElementKind::F64 => from_ref(&wide[at]).cast(),
                ElementKind::F32 | ElementKind::F16 | ElementKind::BF16 => from_ref(&narrow[at]).cast(),
            }
        };
        let address = |address: u64| with_exposed_provenance_mut::<c_void>(address as usize);
        let workspace = match operands.scratch_bytes {
            0 => null(),
            _ => address(operands.scratch).cast_const(),
        };
        // SAFETY: the matrices are as long as their layouts require, the scratch as the algorithm requires,
        // and the call reads α and β before it returns.
        let status = unsafe {
            (self.library.cublasLtMatmul)(
                self.handle,
                description.operation,
                scale(0),
                address(x).cast_const(),
                a,
                address(y).cast_const(),
                b,
                scale(1),
                address(operands.c).cast_const(),
                c,
                address(operands.c),
                c,
                algorithm,
                workspace.cast_mut(),
                operands.scratch_bytes as usize,
                stream,
            )
        };
        check_status("cublasLtMatmul", status)
    }
}
