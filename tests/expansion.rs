//! The example of the README with its attributes expanded by hand: the contract between the macros and the runtime,
//! and a test of the runtime without the macros.

#![allow(missing_docs)]

use std::error::Error;

mod nn {
    //! `#[cuweave::kernels("examples/kernels/nn.ptx")]`

    #[allow(non_camel_case_types)]
    #[derive(Clone, Copy, Debug)]
    pub struct matvec {}
    #[allow(non_camel_case_types)]
    #[derive(Clone, Copy, Debug)]
    pub struct relu {}
    #[allow(non_camel_case_types)]
    #[derive(Clone, Copy, Debug)]
    pub struct add {}

    const _: () = {
        use ::cuweave::__private;

        // A static and a function, not a constant: before Rust 1.90 no constant may refer to a static with a lock.
        static MODULE: __private::Module =
            __private::Module::new("examples/kernels/nn.ptx", include_bytes!("../examples/kernels/nn.ptx"));

        impl matvec {
            #[doc(hidden)]
            pub fn __launch<
                A0: __private::Fits<__private::param::Read<f32>, matvec>,
                A1: __private::Fits<__private::param::Read<f32>, matvec>,
                A2: __private::Fits<__private::param::Write<f32>, matvec>,
            >(
                evaluation: &mut __private::Evaluation<'_>,
                config: impl __private::Config,
                a0: A0,
                a1: A1,
                a2: A2,
                n: u32,
            ) -> ::cuweave::Result<()> {
                static KERNEL: __private::Kernel = __private::Kernel::new(
                    "matvec",
                    &MODULE,
                    &[
                        __private::Param::fixed::<f32>("w", __private::ParamKind::Read),
                        __private::Param::fixed::<f32>("x", __private::ParamKind::Read),
                        __private::Param::fixed::<f32>("y", __private::ParamKind::Write),
                        __private::Param::scalar::<u32>("n"),
                    ],
                );
                let mut launch = evaluation.launch(&KERNEL, config)?;
                launch.buffer(a0, __private::dim(n) * __private::dim(n))?;
                launch.buffer(a1, __private::dim(n))?;
                launch.buffer(a2, __private::dim(n))?;
                launch.scalar::<u32>(n);
                launch.finish()
            }
        }

        impl relu {
            #[doc(hidden)]
            pub fn __launch<A0: __private::Fits<__private::param::ReadWrite<f32>, relu>>(
                evaluation: &mut __private::Evaluation<'_>,
                config: impl __private::Config,
                a0: A0,
                n: u32,
            ) -> ::cuweave::Result<()> {
                static KERNEL: __private::Kernel = __private::Kernel::new(
                    "relu",
                    &MODULE,
                    &[
                        __private::Param::fixed::<f32>("x", __private::ParamKind::ReadWrite),
                        __private::Param::scalar::<u32>("n"),
                    ],
                );
                let mut launch = evaluation.launch(&KERNEL, config)?;
                launch.buffer(a0, __private::dim(n))?;
                launch.scalar::<u32>(n);
                launch.finish()
            }
        }

        impl add {
            #[doc(hidden)]
            pub fn __launch<
                A0: __private::Fits<__private::param::Read<f32>, add>,
                A1: __private::Fits<__private::param::Read<f32>, add>,
                A2: __private::Fits<__private::param::Write<f32>, add>,
            >(
                evaluation: &mut __private::Evaluation<'_>,
                config: impl __private::Config,
                a0: A0,
                a1: A1,
                a2: A2,
                n: u32,
            ) -> ::cuweave::Result<()> {
                static KERNEL: __private::Kernel = __private::Kernel::new(
                    "add",
                    &MODULE,
                    &[
                        __private::Param::fixed::<f32>("a", __private::ParamKind::Read),
                        __private::Param::fixed::<f32>("b", __private::ParamKind::Read),
                        __private::Param::fixed::<f32>("out", __private::ParamKind::Write),
                        __private::Param::scalar::<u32>("n"),
                    ],
                );
                let mut launch = evaluation.launch(&KERNEL, config)?;
                launch.buffer(a0, __private::dim(n))?;
                launch.buffer(a1, __private::dim(n))?;
                launch.buffer(a2, __private::dim(n))?;
                launch.scalar::<u32>(n);
                launch.finish()
            }
        }

        /// Loads the module of these kernels.
        pub fn load(
            ctx: &::std::sync::Arc<::cuweave::cudarc::driver::CudaContext>,
        ) -> ::cuweave::Result<::cuweave::Loaded> {
            __private::load(&MODULE, ctx)
        }
        impl Block {
            pub const LOAD: fn(
                &::std::sync::Arc<::cuweave::cudarc::driver::CudaContext>,
            ) -> ::cuweave::Result<::cuweave::Loaded> = load;
        }
    };

    pub struct Block {}
}

use nn::{add, matvec, relu};

// fn residual(n: u32, w: &[f32; n * n], x: &[f32; n], out: &mut [f32; n]) {
//     let h = alloc::<f32>(n);
//     matvec[per_item(n)](&w, &x, &mut h, n);
//     relu[per_item(n)](&mut h, n);
//     add[per_item(n)](&x, &h, &mut out, n);
// }
pub fn residual<'a>(
    ctx: &::std::sync::Arc<::cuweave::cudarc::driver::CudaContext>,
    n: u32,
    w: impl ::cuweave::__private::BindShared<'a, f32>,
    x: impl ::cuweave::__private::BindShared<'a, f32>,
    out: impl ::cuweave::__private::BindMut<'a, f32>,
) -> ::cuweave::Result<::cuweave::Graph<residual::Args<'a>>> {
    ::cuweave::__private::build(
        ctx,
        residual::Args {
            n,
            w: ::cuweave::__private::BindShared::bind_shared(w),
            x: ::cuweave::__private::BindShared::bind_shared(x),
            out: ::cuweave::__private::BindMut::bind_mut(out),
            __lifetime: ::core::marker::PhantomData,
        },
    )
}

pub mod residual {
    pub struct Args<'a> {
        pub n: u32,
        pub w: ::cuweave::__private::Shared<'a, f32>,
        pub x: ::cuweave::__private::Shared<'a, f32>,
        pub out: ::cuweave::__private::Exclusive<'a, f32>,
        #[doc(hidden)]
        pub __lifetime: ::core::marker::PhantomData<&'a ()>,
    }

    pub struct Views<'v> {
        pub n: u32,
        pub w: ::cuweave::cudarc::driver::CudaView<'v, f32>,
        pub x: ::cuweave::cudarc::driver::CudaView<'v, f32>,
        pub out: ::cuweave::cudarc::driver::CudaView<'v, f32>,
    }

    pub struct ViewsMut<'v> {
        pub w: ::core::option::Option<::cuweave::cudarc::driver::CudaViewMut<'v, f32>>,
        pub x: ::core::option::Option<::cuweave::cudarc::driver::CudaViewMut<'v, f32>>,
        pub out: ::cuweave::cudarc::driver::CudaViewMut<'v, f32>,
    }

    pub struct Methods<'a>(#[doc(hidden)] pub ::cuweave::__private::ExecCore<Args<'a>>);
}

const _: () = {
    use ::cuweave::__private;
    use ::cuweave::__private::ir;

    #[allow(non_camel_case_types)]
    mod __buffers {
        pub struct w {}
        pub struct x {}
        pub struct out {}
        pub struct h {}
    }

    static PROGRAM: ir::Program = ir::Program {
        name: ::std::borrow::Cow::Borrowed("residual"),
        file: ::std::borrow::Cow::Borrowed(file!()),
        options: ir::Options { order: ir::Order::Inferred, memory: None, launches: None, budget: None },
        // The range bound 0, then the lengths as written.
        dims: ::std::borrow::Cow::Borrowed(&[
            ::std::borrow::Cow::Borrowed("0"),
            ::std::borrow::Cow::Borrowed("n * n"),
            ::std::borrow::Cow::Borrowed("n"),
        ]),
        buffers: ::std::borrow::Cow::Borrowed(&[
            ir::Buffer::fixed::<f32>("w", 130, ir::Origin::Device { mutable: false }, 1),
            ir::Buffer::fixed::<f32>("x", 130, ir::Origin::Device { mutable: false }, 2),
            ir::Buffer::fixed::<f32>("out", 130, ir::Origin::Device { mutable: true }, 2),
            ir::Buffer::fixed::<f32>("h", 131, ir::Origin::Alloc(0), 2),
        ]),
        statements: ::std::borrow::Cow::Borrowed(&[
            ir::Statement::fixed("h", 131, ir::Kind::Alloc(3), &[], &[]),
            ir::Statement::fixed(
                "matvec",
                132,
                ir::Kind::Launch,
                &[
                    ir::Access::fixed(0, ir::Mode::Read, 0, 1, false),
                    ir::Access::fixed(1, ir::Mode::Read, 0, 2, false),
                    ir::Access::fixed(3, ir::Mode::Write, 0, 2, true),
                ],
                &[],
            ),
            ir::Statement::fixed(
                "relu",
                133,
                ir::Kind::Launch,
                &[ir::Access::fixed(3, ir::Mode::ReadWrite, 0, 2, false)],
                &[],
            ),
            ir::Statement::fixed(
                "add",
                134,
                ir::Kind::Launch,
                &[
                    ir::Access::fixed(1, ir::Mode::Read, 0, 2, false),
                    ir::Access::fixed(3, ir::Mode::Read, 0, 2, false),
                    ir::Access::fixed(2, ir::Mode::ReadWrite, 0, 2, false),
                ],
                &[],
            ),
        ]),
        outputs: ::std::borrow::Cow::Borrowed(&[]),
        edges: ::std::borrow::Cow::Borrowed(&[(1, 2), (2, 3)]),
        edges_before_reduction: 3,
    };

    fn evaluate_0(
        args: &residual::Args<'_>,
        statement: u32,
        evaluation: &mut __private::Evaluation<'_>,
    ) -> ::cuweave::Result<()> {
        let residual::Args { n, .. } = args;
        let n = *n;
        match statement {
            1 => <matvec>::__launch(
                evaluation,
                __private::per_item(__private::dim(n)),
                __private::mark::Shared::<__buffers::w, f32>::at(0),
                __private::mark::Shared::<__buffers::x, f32>::at(1),
                __private::mark::Fresh::<__buffers::h, f32>::at(2),
                n,
            ),
            2 => <relu>::__launch(
                evaluation,
                __private::per_item(__private::dim(n)),
                __private::mark::Unique::<__buffers::h, f32>::at(0),
                n,
            ),
            3 => <add>::__launch(
                evaluation,
                __private::per_item(__private::dim(n)),
                __private::mark::Shared::<__buffers::x, f32>::at(0),
                __private::mark::Shared::<__buffers::h, f32>::at(1),
                __private::mark::Unique::<__buffers::out, f32>::at(2),
                n,
            ),
            _ => Ok(()),
        }
    }

    impl<'a> __private::GraphFn for residual::Args<'a> {
        type Methods = residual::Methods<'a>;
        type Views<'v>
            = residual::Views<'v>
        where
            Self: 'v;
        type ViewsMut<'v>
            = residual::ViewsMut<'v>
        where
            Self: 'v;
        const PROGRAM: &'static ir::Program = &PROGRAM;
        const SCALARS: &'static [__private::Scalar] =
            &[__private::Scalar { name: "n", line: 130, dims: true, statements: &[1, 2, 3] }];

        fn dims(&self, dims: &mut __private::Dims) {
            let Self { n, .. } = self;
            let n = *n;
            dims.push(__private::dim(0));
            dims.push(__private::dim(n) * __private::dim(n));
            dims.push(__private::dim(n));
        }

        fn operands(&mut self, visitor: &mut __private::Visitor<'_>) {
            __private::Bound::visit(&mut self.w, visitor);
            __private::Bound::visit(&mut self.x, visitor);
            __private::Bound::visit(&mut self.out, visitor);
        }

        fn evaluate(
            &self,
            statement: u32,
            evaluation: &mut __private::Evaluation<'_>,
        ) -> ::cuweave::Result<()> {
            match statement {
                ..=3 => evaluate_0(self, statement, evaluation),
                _ => Ok(()),
            }
        }

        fn views(&self) -> Self::Views<'_> {
            residual::Views { n: self.n, w: self.w.view(), x: self.x.view(), out: self.out.view() }
        }

        fn views_mut(&mut self) -> Self::ViewsMut<'_> {
            residual::ViewsMut { w: self.w.view_mut(), x: self.x.view_mut(), out: self.out.view_mut() }
        }

        fn methods(core: __private::ExecCore<Self>) -> Self::Methods {
            residual::Methods(core)
        }

        fn core(methods: &Self::Methods) -> &__private::ExecCore<Self> {
            &methods.0
        }

        fn core_mut(methods: &mut Self::Methods) -> &mut __private::ExecCore<Self> {
            &mut methods.0
        }

        fn into_core(methods: Self::Methods) -> __private::ExecCore<Self> {
            methods.0
        }
    }

    impl<'a> residual::Methods<'a> {
        /// Launches the graph into a stream.
        pub fn launch(
            &mut self,
            stream: &::std::sync::Arc<::cuweave::cudarc::driver::CudaStream>,
        ) -> ::cuweave::Result<()> {
            // With taken-over arguments: a tuple of the outputs. With outputs: `Ok(self.0.output::<f32>(0)?)`, or a
            // tuple of them, of type `Output<'_, f32>`; and beside it, for the graph that takes it over,
            // `pub fn output(&self) -> OutputDescription<f32> { self.0.description(0) }`.
            self.0.launch(stream, ())?;
            Ok(())
        }

        /// Sets the argument `n`.
        pub fn set_n(&mut self, n: u32) -> ::cuweave::Result<()> {
            self.0.set_scalar(0, n, |args| &mut args.n)
        }

        /// Binds the argument `x` anew.
        pub fn set_x(&mut self, x: impl ::cuweave::__private::BindShared<'a, f32>) -> ::cuweave::Result<()> {
            let x = ::cuweave::__private::BindShared::bind_shared(x);
            self.0.set_buffer(1, x, |args| &mut args.x)
        }

        /// Binds the argument `out` anew.
        pub fn set_out(&mut self, out: impl ::cuweave::__private::BindMut<'a, f32>) -> ::cuweave::Result<()> {
            let out = ::cuweave::__private::BindMut::bind_mut(out);
            self.0.set_buffer(2, out, |args| &mut args.out)
        }
    }
};

#[test]
fn the_expanded_example_runs() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;
    let _loaded = nn::Block::LOAD(&ctx)?;

    let n = 40_u32;
    let w_host: Vec<f32> = (0..n * n).map(|i| ((i * 7 % 13) as f32 - 6.0) / 8.0).collect();
    let x_host: Vec<f32> = (0..n).map(|i| (i % 5) as f32 - 2.0).collect();
    let want = |x: &[f32]| -> Vec<f32> {
        let row =
            |row: usize| (0..n as usize).map(|col| w_host[row * n as usize + col] * x[col]).sum::<f32>();
        (0..n as usize).map(|at| x[at] + row(at).max(0.0)).collect()
    };
    let (w, x) = (stream.clone_htod(&w_host)?, stream.clone_htod(&x_host)?);
    let mut out = stream.alloc_zeros::<f32>(n as usize)?;

    let graph = residual(&ctx, n, &w, &x, &mut out)?;
    let report = graph.report();
    assert_eq!((report.kernels, report.allocs, report.frees, report.edges, report.depth), (3, 1, 1, 4, 3));
    assert!(graph.dot().starts_with("digraph \"residual\""));
    let mut exec = graph.instantiate()?;
    exec.upload(&stream)?;
    exec.launch(&stream)?;
    assert_eq!(stream.clone_dtoh(&exec.args().out)?, want(&x_host));

    let other_host: Vec<f32> = x_host.iter().map(|x| 3.0 - x).collect();
    let other = stream.clone_htod(&other_host)?;
    exec.set_x(&other)?;
    exec.launch(&stream)?;
    assert!(exec.set_n(3).is_err());
    drop(exec);
    assert_eq!(stream.clone_dtoh(&out)?, want(&other_host));
    Ok(())
}
