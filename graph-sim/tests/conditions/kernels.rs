//! The kernels of the tests of conditional nodes. Each has one thread and 64-bit parameters.

// Each test program uses only some of them.
#![allow(dead_code)]

use cudarc::driver::sys;
use cuweave_testkit::raw::*;

fn kernel(name: &str, parameters: &[&str], body: &str) -> String {
    let list: Vec<String> = parameters.iter().map(|name| format!(".param .u64 {name}")).collect();
    let loads: String = parameters.iter().map(|name| format!("ld.param.u64 %{name}, [{name}];\n")).collect();
    let registers: String = parameters.iter().map(|name| format!(".reg .b64 %{name};\n")).collect();
    format!(
        ".visible .entry {name}({}) {{\n.reg .b32 %r<6>;\n{registers}{loads}{body}\nret;\n}}\n",
        list.join(", ")
    )
}

/// Returns the call that sets the condition of a handle to a register.
fn set(register: &str) -> String {
    format!(
        "{{ .param .b64 a; .param .b32 b; st.param.b64 [a], %handle; st.param.b32 [b], {register};
            call.uni cudaGraphSetConditional, (a, b); }}"
    )
}

/// Returns the PTX of the kernels.
pub fn ptx() -> String {
    let kernels = [
        // *p = value
        kernel("put", &["p", "value"], "cvt.u32.u64 %r1, %value; st.global.u32 [%p], %r1;"),
        // *p = 31 *p + value: two of these do not commute.
        kernel(
            "mix",
            &["p", "value"],
            "cvt.u32.u64 %r1, %value; ld.global.u32 %r2, [%p]; mad.lo.u32 %r2, %r2, 31, %r1; st.global.u32 [%p], %r2;",
        ),
        // *to = *from
        kernel("move", &["to", "from"], "ld.global.u32 %r1, [%from]; st.global.u32 [%to], %r1;"),
        kernel("nothing", &[], ""),
        // Sets the condition to a number, or to the value at p.
        kernel("set_to", &["handle", "value"], &format!("cvt.u32.u64 %r1, %value; {}", set("%r1"))),
        kernel("set_from", &["handle", "p"], &format!("ld.global.u32 %r1, [%p]; {}", set("%r1"))),
        // Sets the condition to *p / 16 modulo a number.
        kernel(
            "set_modulo",
            &["handle", "p", "number"],
            &format!(
                "ld.global.u32 %r1, [%p]; shr.u32 %r1, %r1, 4; cvt.u32.u64 %r2, %number; rem.u32 %r1, %r1, %r2; {}",
                set("%r1")
            ),
        ),
        // Decrements *p, and sets the condition to it.
        kernel(
            "count_down",
            &["handle", "p"],
            &format!("ld.global.u32 %r1, [%p]; sub.u32 %r1, %r1, 1; st.global.u32 [%p], %r1; {}", set("%r1")),
        ),
        // Each thread sets the condition to its index.
        kernel("set_thread", &["handle"], &format!("mov.u32 %r1, %tid.x; {}", set("%r1"))),
    ];
    format!(".version 7.0\n.target sm_70\n.address_size 64\n{SET_CONDITION}{}", kernels.concat())
}

/// A context with the kernels.
pub struct Setup {
    pub context: Context,
    module: sys::CUmodule,
}

impl Setup {
    pub fn new() -> Self {
        let context = Context::new();
        let module = context.module(&ptx());
        Setup { context, module }
    }

    /// Uses the device's primary context, which drivers of every version support.
    pub fn primary() -> Self {
        let simulated = cuweave_sim::load().unwrap().is_simulated();
        let (mut context, mut stream) = (std::ptr::null_mut(), std::ptr::null_mut());
        cuweave_testkit::ok!(sys::cuInit(0));
        cuweave_testkit::ok!(sys::cuDevicePrimaryCtxRetain(&mut context, 0));
        cuweave_testkit::ok!(sys::cuCtxSetCurrent(context));
        cuweave_testkit::ok!(sys::cuStreamCreate(&mut stream, 1));
        let context = Context { context, stream, simulated };
        let module = context.module(&ptx());
        Setup { context, module }
    }

    pub fn function(&self, name: &str) -> sys::CUfunction {
        self.context.function(self.module, name)
    }

    /// Adds a kernel of one thread.
    pub fn add(&self, graph: &Graph, after: &[Node], name: &str, args: &[u64]) -> Node {
        graph.kernel(after, self.function(name), 1, 1, args)
    }

    /// A word of memory with a value.
    pub fn word(&self, value: u32) -> u64 {
        self.context.upload(&[value])
    }

    pub fn read(&self, address: u64) -> u32 {
        self.context.download(address, 1)[0]
    }

    /// Changes the arguments of a node of an instance.
    pub fn update(&self, exec: &Exec, node: Node, name: &str, args: &[u64]) -> sys::CUresult {
        let mut pointers: Vec<_> = args.iter().map(|arg| std::ptr::from_ref(arg).cast_mut().cast()).collect();
        let params = kernel_params(self.function(name), 1, 1, &mut pointers);
        unsafe { sys::cuGraphExecKernelNodeSetParams_v2(exec.0, node, &params) }
    }
}
