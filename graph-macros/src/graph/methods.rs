//! Generates the methods of a graph function's exec: `launch`, `output`, the setters, and the methods that
//! every exec has.

use cuweave_core::index::Index;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Type;

use super::expansion::Expansion;
use super::idents::ident;
use super::parts::{AggregateType, BufferMemory, BufferType, with_lifetime};
use super::setter_traits::{method_name, setter_bounds, whole_name};
use super::signature::{Argument, ArgumentKind, HostType};

impl Expansion<'_> {
    /// Generates the methods of the exec. They are placed in the function's own scope.
    pub(super) fn methods(&self) -> TokenStream {
        let name = self.name();
        let (launch, common) = (self.launch(), self.common());
        let (edit, edit_setters) = (self.edit(), self.edit_setters());
        let parts = self.parts();
        let turns = self.turns();
        let arguments = self.signature.arguments.iter().enumerate();
        let setters = arguments.filter_map(|(at, argument)| match &argument.kind {
            ArgumentKind::Part(_) | ArgumentKind::Host(HostType { resource: true, .. }) => {
                Some(self.no_setter(at, argument))
            }
            ArgumentKind::Scalar(_) | ArgumentKind::Host(_) => self.value_setter(argument),
            ArgumentKind::Buffer(_) | ArgumentKind::Array(..) => self.buffer_setter(at, argument),
        });
        quote! {
            // Setters are named after arguments. rustc reports an argument's style at its declaration.
            #[allow(non_snake_case)]
            impl<'a> #name::Exec<'a> {
                #launch
                #(#setters)*
                #edit
                #parts
                #turns
                #common
            }
            #edit_setters
        }
    }

    /// Generates the methods that return the iterations of the labelled loops with a limit.
    fn turns(&self) -> TokenStream {
        let core = self.core_call("core");
        let method = |label: &Ident| {
            let (method, name) =
                (format_ident!("iterations_{}", label, span = label.span()), label.to_string());
            let documented = format!(
                "Waits on the host for the last launch, and returns the turns of the loop `'{name}` in it."
            );
            quote! {
                #[doc = #documented]
                ///
                /// `limit_hit` is true if `#[at_most(n)]` ended the loop, and not its operand. If a launch
                /// reaches the loop several times, the counts are summed over all of them. If it does not
                /// reach the loop, they are zero, as before the first launch.
                ///
                /// # Errors
                ///
                /// A panic in a host statement that no call has returned yet, or a failure of the driver.
                pub fn #method(&self) -> ::cuweave::Result<::cuweave::LoopIterations> {
                    #core.iterations(#name)
                }
            }
        };
        self.lowered.loops.loop_labels.iter().map(method).collect()
    }

    /// Generates a setter that cannot be called, for a record, a list or a resource. rustc prints the
    /// message of its bound, which says which setters to use instead, or why there is none.
    fn no_setter(&self, at: usize, argument: &Argument) -> TokenStream {
        let (setter, reason) = (self.setter(&argument.name), whole_name(at));
        quote! {
            #[doc(hidden)]
            pub fn #setter<__V>(&mut self, _: __V) -> ::cuweave::Result<()>
            where
                for<'__setter> (): #reason,
            {
                ::core::result::Result::Ok(())
            }
        }
    }

    /// Generates the setter of a scalar or a host value.
    fn value_setter(&self, argument: &Argument) -> Option<TokenStream> {
        let (setter, core) = (self.setter(&argument.name), self.core_call("core_mut"));
        let (value, bound) = (&argument.name, argument.bound_value());
        let scalar = self.signature.numbered().find(|known| known.argument.name == *value)?.number;
        let (index, bounds) = (scalar.index(), setter_bounds(self, scalar));
        let is_fixed = self.setters[scalar].reason().is_some();
        // A value that is borrowed for the whole life of the exec cannot be replaced.
        let (ty, method) = match &argument.kind {
            ArgumentKind::Host(_) if !argument.is_kept() => {
                return Some(quote! {
                    #[doc(hidden)]
                    pub fn #setter<__V>(&mut self, _: __V) -> ::cuweave::Result<()> #bounds {
                        ::core::result::Result::Ok(())
                    }
                });
            }
            ArgumentKind::Host(_) => (argument.parameter_type(), quote!(set_host_value)),
            _ if self.setters[scalar].is_size => (argument.parameter_type(), quote!(set_size)),
            _ => (argument.parameter_type(), quote!(set_scalar)),
        };
        let text = format!("Sets the argument `{value}`: only what uses it is updated.");
        // Hidden if fixed: a call of it fails to compile, with the reason.
        let documented = match (is_fixed, argument.is_scalar()) {
            (true, _) => quote!(#[doc(hidden)]),
            (false, true) => quote! {
                #[doc = #text]
                ///
                /// Ranges that depend on it move, and are checked again. The order of the graph is
                /// valid for all values.
                ///
                /// # Errors
                ///
                /// A range is not within its buffer, a launch does not write all that it must, a launch
                /// configuration exceeds the device's limits, or the driver fails. The exec is then
                /// unchanged.
            },
            (false, false) => quote! {
                #[doc = #text]
                ///
                /// The old value is dropped when the launches that use it are over, at the next setter of
                /// such a value, at `synchronize`, or with the exec.
                ///
                /// # Errors
                ///
                /// It belongs to another context, a panic in a host statement that no call has returned
                /// yet, or the driver fails. The exec is then unchanged.
            },
        };
        Some(quote! {
            #documented
            pub fn #setter(&mut self, #value: #ty) -> ::cuweave::Result<()> #bounds {
                #core.#method(#index, #bound, |args| &mut args.#value)
            }
        })
    }

    /// Generates the setter of a buffer or of an array of buffers.
    fn buffer_setter(&self, at: usize, argument: &Argument) -> Option<TokenStream> {
        let (setter, core) = (self.setter(&argument.name), self.core_call("core_mut"));
        let value = &argument.name;
        let (ty, bound) = (argument.parameter_type(), argument.bound_value());
        let number = Ident::new("first", Span::mixed_site());
        let first = self.first_buffer(at)?;
        let documented = format!("Binds the argument `{value}` anew: only what uses it is updated.");
        Some(quote! {
            #[doc = #documented]
            ///
            /// # Errors
            ///
            /// A buffer is too short, belongs to another context, or overlaps another buffer while one of
            /// them is written; or the driver fails.
            pub fn #setter(&mut self, #value: #ty) -> ::cuweave::Result<()> {
                let #number = #first;
                #core.set_buffer(#number, #bound, |args| &mut args.#value)
            }
        })
    }

    /// Generates the number of an argument's first buffer.
    fn first_buffer(&self, at: usize) -> Option<TokenStream> {
        if self.has_aggregates() {
            let (at, core) = (at as u32, self.core_call("core"));
            return Some(quote!(#core.arguments().__first(#at, ::cuweave::__private::Token)));
        }
        let first = self.lowered.arguments.buffers[at]?.as_u32();
        Some(quote!(#first))
    }

    /// Generates the methods that return the setters of records and of elements.
    fn parts(&self) -> TokenStream {
        let name = self.name();
        let core_mut = self.core_call("core_mut");
        let [first, index] = ["first", "index"].map(|name| Ident::new(name, Span::mixed_site()));
        let arguments = (0u32..).zip(&self.signature.arguments);
        let part = |(at, argument): (u32, &Argument)| {
            let (value, text) = (&argument.name, argument.name.to_string());
            let bound = argument.field_type();
            let whole = quote!(::cuweave::__private::ExecArgument<'_, #name::Args<'a>, #bound>);
            let place = quote!(::cuweave::__private::ListElement<#whole>);
            let (indexed, setters) = match &argument.kind {
                ArgumentKind::Scalar(_) | ArgumentKind::Host(_) | ArgumentKind::Buffer(_) => return None,
                ArgumentKind::Array(buffer, _) => (true, element(buffer, &place)),
                ArgumentKind::Part(AggregateType::Buffers(buffer)) => (true, element(buffer, &place)),
                ArgumentKind::Part(AggregateType::Record(ty)) => (false, record(ty, &whole)),
                ArgumentKind::Part(AggregateType::Records(ty, _)) => (true, record(ty, &place)),
            };
            let (ty, setters) = setters;
            let method = method_name(value);
            let number = self.first_buffer(at as usize)?;
            let part = quote! {
                #core_mut.part(#at, #text, #first, |args: &mut #name::Args<'a>| &mut args.#value)
            };
            let token = quote!(::cuweave::__private::Token);
            Some(if indexed {
                let is_optional = matches!(&argument.kind, ArgumentKind::Part(AggregateType::Buffers(buffer)) if buffer.optional);
                let (documented, fails, parameter, index) = indexed_by(is_optional, &index);
                let documented = format!("Returns the setters of {documented} the argument `{value}`.");
                quote! {
                    #[doc = #documented]
                    ///
                    /// # Errors
                    ///
                    #[doc = #fails]
                    pub fn #method(&mut self, #parameter) -> ::cuweave::Result<#ty> {
                        let #first = #number;
                        ::core::result::Result::Ok(#setters(
                            ::cuweave::__private::ArgumentMut::element(#part, #index)?,
                            #token
                        ))
                    }
                }
            } else {
                let documented = format!("Returns the setters of the argument `{value}`.");
                quote! {
                    #[doc = #documented]
                    pub fn #method(&mut self) -> #ty {
                        let #first = #number;
                        #setters(#part, #token)
                    }
                }
            })
        };
        arguments.filter_map(part).collect()
    }

    /// Generates the call of a method of `Generated` on `self`, which gives access to the exec's private
    /// contents.
    pub(super) fn core_call(&self, method: &str) -> TokenStream {
        let (name, method) = (self.name(), ident(method));
        quote! {
            <#name::Args<'a> as ::cuweave::__private::Generated>::#method(self, ::cuweave::__private::Token)
        }
    }

    /// Generates the methods that every exec has.
    fn common(&self) -> TokenStream {
        let name = self.name();
        let [core, core_mut, into_core] =
            ["core", "core_mut", "into_core"].map(|method| self.core_call(method));
        let reports = self.reports();
        quote! {
            /// Uploads the graph to the device and maps its memory, so that the first launch does not have
            /// to.
            ///
            /// # Errors
            ///
            /// The stream belongs to another context or is capturing, or the driver fails.
            pub fn upload(
                &mut self,
                stream: &::std::sync::Arc<::cuweave::cudarc::driver::CudaStream>,
            ) -> ::cuweave::Result<()> {
                #core_mut.upload(stream)
            }

            /// Blocks until the last launch has finished.
            ///
            /// # Errors
            ///
            /// A panic in a host statement that no call has returned yet, or a failure of the driver.
            pub fn synchronize(&mut self) -> ::cuweave::Result<()> {
                #core_mut.synchronize()
            }

            /// Returns the number of launches so far, including those of profiles. It is the number of the
            /// next launch, by which the values of flags and semaphores advance.
            #[must_use]
            pub fn launches(&self) -> u64 {
                #core.launches()
            }

            /// Blocks until the last launch has finished, and returns the counts of a loop with
            /// `#[at_most(n)]`: its iterations, how often the launch reached the loop, and if the limit was
            /// hit.
            ///
            /// The name is the loop's label, prefixed by the names of the enclosing calls: `'solve: while
            /// go` is `"solve"`. In a function that `layers` calls while the index of the enclosing loop is
            /// 2, it is `"layers[2].solve"`. If a function is called at several places, `"layers:12.solve"`
            /// is the loop of the call on line 12, and `"layers.solve"` stands for those of all calls. A
            /// loop without a label is called `while`. Loops that are the same in the source and have the
            /// same name are summed, as the iterations of a `for` are.
            ///
            /// # Errors
            ///
            /// The name does not denote exactly one loop with a limit; a panic in a host statement that no
            /// call has returned yet; or a failure of the driver.
            pub fn iterations(&self, name: &str) -> ::cuweave::Result<::cuweave::LoopIterations> {
                #core.iterations(name)
            }

            /// Enables or disables a statement for later launches: a launch, `fill` or `copy` with a name, as in
            /// `#[switchable] let extra = scale[..](..);`. While it is disabled, what it would have written keeps
            /// its values.
            ///
            /// In a loop it is the statement of all iterations. In a called function the name is prefixed by
            /// that of the call, as for `iterations`: `"layers[2].extra"`. A statement without
            /// `#[switchable]` can be switched if the build has left it a node of its own.
            ///
            /// # Errors
            ///
            /// The name does not denote exactly one statement; the statement cannot be switched; a panic in a
            /// host statement that no call has returned yet; or the driver fails. The exec is then unchanged.
            pub fn enable(&mut self, name: &str, on: bool) -> ::cuweave::Result<()> {
                #core_mut.enable(name, on)
            }

            /// Returns true if [`enable`](Self::enable) has not disabled a statement.
            ///
            /// # Errors
            ///
            /// The name does not denote exactly one statement.
            pub fn is_enabled(&self, name: &str) -> ::cuweave::Result<bool> {
                #core.is_enabled(name)
            }

            /// Returns views of the bound buffers. Their uses are ordered after the last launch, and the
            /// next launch is ordered after them. The view of a `cuweave::Buffer` has no address: its
            /// method `buffer` returns the buffer.
            #[must_use]
            pub fn args(&self) -> #name::Views<'_> {
                #core.views()
            }

            /// Returns mutable views of the buffers that are bound mutably or owned. Contents can be
            /// changed, addresses cannot.
            #[must_use]
            pub fn args_mut(&mut self) -> #name::ViewsMut<'_> {
                #core_mut.views_mut()
            }

            /// Returns the arguments. Their uses are ordered after the last launch.
            #[must_use]
            pub fn into_args(self) -> #name::Args<'a> {
                #into_core.into_args()
            }

            #reports
        }
    }

    /// Generates the methods that report on the graph.
    fn reports(&self) -> TokenStream {
        let [core, core_mut] = ["core", "core_mut"].map(|method| self.core_call(method));
        quote! {
            // Empty without cuweave's feature `inspect`.
            ::cuweave::__inspected! {
                /// Returns a report on the graph: its nodes, its memory and the decisions of the build.
                #[must_use]
                pub fn report(&self) -> ::cuweave::report::Report {
                    #core.report()
                }

                /// Measures the time of each statement in microseconds. The graph is launched `launches`
                /// times as it is, and as often in a serialised form, with an event after each node.
                ///
                /// Profiling **runs** the graph: its data advances by `2 * launches` launches, and its
                /// outputs are freed. The bodies of library calls run once more. The graph that `launch`
                /// launches is unchanged.
                ///
                /// # Errors
                ///
                /// `launches` is 0, the graph takes over outputs of other graphs, `launch` would fail, or
                /// the driver fails. The exec can be launched as before.
                pub fn profile(
                    &mut self,
                    stream: &::std::sync::Arc<::cuweave::cudarc::driver::CudaStream>,
                    launches: u32,
                ) -> ::cuweave::Result<::cuweave::profile::Profile> {
                    #core_mut.profile(stream, launches)
                }

                /// Returns the graph in the DOT language: nodes by depth, edges labelled with the buffers
                /// that require them, boxes for conditional bodies and devices, and a legend.
                #[must_use]
                pub fn dot(&self) -> ::std::string::String {
                    #core.dot()
                }

                /// Returns an SVG of the temporaries as boxes, with the graph's levels on one axis and the
                /// bytes of their memory on the other. Shared bytes are shaded. The buffers that determine
                /// the lower bound are outlined.
                ///
                /// # Errors
                ///
                /// A size overflows.
                pub fn memory_svg(&self) -> ::cuweave::Result<::std::string::String> {
                    #core.memory_svg()
                }

                /// Returns the graph as an SVG: nodes in layers by their depth, conditional bodies as
                /// boxes, and devices side by side. In graphs of more than 120 nodes the iterations of a
                /// loop are merged.
                #[must_use]
                pub fn svg(&self) -> ::std::string::String {
                    #core.svg()
                }

                /// Returns a self-contained HTML page with the graph, its temporaries, its statements and
                /// its report. Pointing at a box shows its buffers, the lines of its statements and the
                /// reasons for its edges.
                ///
                /// # Errors
                ///
                /// A size overflows.
                pub fn page(&self) -> ::cuweave::Result<::std::string::String> {
                    #core.page()
                }

                /// Returns the page together with a profile, whose times are shown at the nodes. Times of
                /// another graph's profile are shown only in the profile's own picture.
                ///
                /// # Errors
                ///
                /// A size overflows.
                pub fn page_with(
                    &self,
                    profile: &::cuweave::profile::Profile,
                ) -> ::cuweave::Result<::std::string::String> {
                    #core.page_with(profile)
                }
            }

            /// Returns the certificate of the graph with the current settings: the program and its nodes,
            /// for [`check`](::cuweave::certificate::check). Takes time linear in the number of accesses
            /// and edges.
            #[must_use]
            pub fn certificate(&self) -> ::cuweave::certificate::Certificate {
                #core.certificate()
            }

            /// Returns the collectives of the graph in the order in which each rank runs them. Ranks with
            /// equal digests run the same ones.
            #[must_use]
            pub fn collectives(&self) -> ::cuweave::report::Collectives {
                #core.collectives()
            }

            /// Returns the length of the longest chain of statements against the bytes of the temporaries,
            /// for up to `points` budgets from the plan without a budget down to the floor, largest first.
            /// Launches are taken as written. A budget applies to each device.
            ///
            /// # Errors
            ///
            /// A size overflows.
            pub fn budget_curve(
                &self,
                points: u64,
            ) -> ::cuweave::Result<::std::vec::Vec<::cuweave::report::CurvePoint>> {
                #core.budget_curve(points)
            }
        }
    }

    /// Returns the name of an argument's setter. It is `set_s` for `_s`, too, unless another argument is
    /// called `s`.
    pub(super) fn setter(&self, argument: &Ident) -> Ident {
        let text = argument.to_string();
        let plain = text.trim_start_matches('_');
        let own = plain == text
            || plain.is_empty()
            || self.signature.arguments.iter().any(|other| other.name == plain);
        if own {
            format_ident!("set_{}", argument)
        } else {
            format_ident!("set_{plain}", span = argument.span())
        }
    }

    /// Generates `launch` and `output`.
    fn launch(&self) -> TokenStream {
        let taken: Vec<&BufferType> = self
            .signature
            .arguments
            .iter()
            .filter_map(Argument::buffer)
            .filter(|buffer| buffer.memory == BufferMemory::Taken)
            .collect();
        let elements: Vec<&Type> = taken.iter().map(|buffer| &buffer.element).collect();
        let (parameter, handed) = if elements.is_empty() {
            (quote!(), quote!(()))
        } else {
            (quote!(, taken: (#(::cuweave::Output<'_, #elements>,)*)), quote!(taken))
        };
        let [core, core_mut] = ["core", "core_mut"].map(|method| self.core_call(method));
        let outputs: Vec<&Type> = self.signature.returned.iter().map(|returned| &returned.element).collect();
        let result = match outputs.as_slice() {
            [] => quote!(()),
            [one] => quote!(::cuweave::Output<'_, #one>),
            many => quote!((#(::cuweave::Output<'_, #many>),*)),
        };
        let indices = (0..outputs.len()).map(proc_macro2::Literal::usize_unsuffixed);
        let value = match outputs.as_slice() {
            [] => quote!(()),
            [one] => quote!(#core.output::<#one>(0)?),
            many => quote!((#(#core.output::<#many>(#indices)?),*)),
        };
        let descriptions = self.descriptions(&outputs);
        quote! {
            #descriptions

            /// Launches the graph into a stream.
            ///
            /// # Errors
            ///
            /// The stream belongs to another context or is capturing; an output handed over is not the
            /// expected one, or is no longer alive; a `cuweave::Buffer` is borrowed elsewhere, or setters
            /// have bound it twice in conflict; or the driver fails. The exec is then unchanged.
            pub fn launch(
                &mut self,
                stream: &::std::sync::Arc<::cuweave::cudarc::driver::CudaStream>
                #parameter
            ) -> ::cuweave::Result<#result> {
                #core_mut.launch(stream, #handed)?;
                ::core::result::Result::Ok(#value)
            }

            /// Compares this graph with its statements as written, on this device and with the bytes that its
            /// arguments have now: runs both on the same bytes, and compares what they leave in outputs and
            /// arguments bit by bit. The host waits. Afterwards the arguments have their bytes again, and no
            /// launch is counted. Outputs that are taken over are freed.
            ///
            /// Meanwhile no other exec can use a `cuweave::Buffer`. Needs device memory for a second set of
            /// all temporaries and outputs, device or host memory for the bytes that the graph may write, and
            /// host memory for these bytes, or for 1 GiB of them. Takes two runs of the statements, three
            /// launches and five copies of these bytes for each GiB of them. Builds a second graph, so the
            /// bodies of library calls run once more; after a difference, once for each step of the search.
            ///
            /// # Errors
            ///
            /// The graph has a host statement, an event, a flag, a semaphore, a collective or a mapped multicast
            /// object, or writes a module variable; `launch` would fail; or the driver fails. The exec can be
            /// launched as before. Lack of memory is no error: see `Verification::not_verified`.
            pub fn verify(
                &mut self,
                stream: &::std::sync::Arc<::cuweave::cudarc::driver::CudaStream>
                #parameter
            ) -> ::cuweave::Result<::cuweave::verify::Verification> {
                #core_mut.verify(stream, #handed)
            }
        }
    }

    /// Generates `output`, for functions that return allocations.
    fn descriptions(&self, outputs: &[&Type]) -> TokenStream {
        let core = self.core_call("core");
        let indices = (0..outputs.len()).map(proc_macro2::Literal::usize_unsuffixed);
        match outputs {
            [] => quote!(),
            [one] => quote! {
                /// Returns the description of the output, from which a graph that takes it over is built.
                #[must_use]
                pub fn output(&self) -> ::cuweave::output::OutputDescription<#one> {
                    #core.description::<#one>(0)
                }
            },
            many => quote! {
                /// Returns the descriptions of the outputs, from which graphs that take them over are built.
                #[must_use]
                pub fn output(&self) -> (#(::cuweave::output::OutputDescription<#many>),*) {
                    (#(#core.description::<#many>(#indices)),*)
                }
            },
        }
    }
}

/// Returns the type of the setters of a record at `place`, and the function that creates them.
pub fn record(ty: &Type, place: &TokenStream) -> (TokenStream, TokenStream) {
    let ty = with_lifetime(ty, "'a");
    let settable = quote!(<#ty as ::cuweave::__private::Settable>);
    (quote!(#settable::Setters<#place>), quote!(#settable::setters))
}

/// Returns the type of the setter of a buffer at `place`, and the function that creates it.
pub fn element(buffer: &BufferType, place: &TokenStream) -> (TokenStream, TokenStream) {
    let name = ident(if buffer.mutable { "ElementMut" } else { "Element" });
    (quote!(::cuweave::__private::#name<#place>), quote!(::cuweave::__private::#name::new))
}

/// Returns the phrases for the setters of a list's element or of an optional buffer: the subject, the
/// error, the parameter for the index, and the index.
pub fn indexed_by(
    is_optional: bool,
    index: &Ident,
) -> (&'static str, &'static str, Option<TokenStream>, TokenStream) {
    match is_optional {
        true => ("the buffer of", "It is `None`: no setter makes a buffer of it.", None, quote!(0usize)),
        false => {
            let parameter = quote!(#index: usize);
            ("an element of", "An index that is not below the length.", Some(parameter), quote!(#index))
        }
    }
}
