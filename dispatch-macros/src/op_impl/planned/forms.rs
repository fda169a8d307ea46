//! The kernels to which a planned kernel expands: the functional one, and one for each form.

use dispatch_schema::Schema;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::{OutputKind, PlannedKernel};
use crate::crate_path;
use crate::op_impl::when;
use crate::syntax::keys::{generate_static_keys, key_name};
use crate::syntax::rust_type::RustType;

/// The kernel of one form of the operator, which the expansion registers.
struct FormKernel {
    operator: TokenStream,
    name: &'static str,
    function: TokenStream,
    /// The number of arguments after those of the functional operator.
    output_count: usize,
}

impl PlannedKernel<'_> {
    pub(super) fn expand(&self) -> TokenStream {
        let Self { checked, .. } = self;
        let operator = checked.attribute.operator.to_token_stream();
        let mut kernels = vec![FormKernel {
            function: self.generate_functional_kernel(),
            operator: operator.clone(),
            name: "__functional",
            output_count: 0,
        }];
        if let Some(form) = &checked.properties.in_place {
            let operator = quote!(<#operator as __p::HasInPlace>::Form);
            kernels.push(FormKernel {
                function: self.generate_in_place_kernel(form, &operator),
                operator,
                name: "__in_place",
                output_count: 0,
            });
        }
        // The `out=` form of a factory takes fewer arguments. Its default kernel copies.
        if let (Some(form), OutputKind::Tensors(outs)) = (&checked.properties.out, &self.outputs)
            && form.arguments.len() == self.types.len() + outs
        {
            let operator = quote!(<#operator as __p::HasOut>::Form);
            kernels.push(FormKernel {
                function: self.generate_out_kernel(form, *outs, &operator),
                operator,
                name: "__out",
                output_count: *outs,
            });
        }
        let serve = self.generate_shared_function();
        let keys = generate_static_keys(&checked.attribute.keys, &quote!(__p));
        let condition = self.generate_condition();
        let (functions, records): (Vec<_>, Vec<_>) =
            kernels.iter().map(|kernel| (&kernel.function, self.generate_form_record(kernel))).unzip();
        let (count, runtime) = (records.len(), crate_path::runtime_path());
        quote! {
            #[allow(clippy::all, clippy::pedantic, unused_imports, unused_qualifications, unused_lifetimes, unused_variables)]
            const _: () = {
                use #runtime as __p;
                #serve
                #(#functions)*
                #condition
                #keys
                const __LOCATION: __p::Location = __p::Location::new(::core::file!(), ::core::line!());
                static __KERNELS: [__p::KernelRecord; #count] = [#(#records),*];
                __p::__submit! { __p::Record::KernelAndForms(&__KERNELS) }
            };
        }
    }

    fn generate_form_record(&self, kernel: &FormKernel) -> TokenStream {
        let FormKernel { operator, name, output_count, .. } = kernel;
        let attribute = &self.checked.attribute;
        let (kernel, function) = (&self.checked.signature.ident, format_ident!("{name}"));
        let overriding = attribute.overrides.is_some().then(|| quote!(.overriding()));
        let priority = attribute.priority.as_ref().map(|priority| quote!(.with_priority(#priority)));
        let derived = (*name != "__functional").then(|| quote!(.derived()));
        let record = quote! {
            __p::KernelRecord::typed::<#operator>(#function, &__KEYS, ::core::stringify!(#kernel), __LOCATION)
                #overriding #priority #derived
        };
        let Some(when) = &attribute.when else {
            return record;
        };
        let text = crate::syntax::user_tokens::source_text(&when.condition);
        let more = (0..*output_count).map(|_| quote!(_));
        let arguments = &self.arguments;
        // The condition takes the functional operator's arguments, which every form has.
        let holds = if *output_count == 0 {
            quote!(__holds)
        } else {
            quote!(|#(#arguments,)* #(#more),*| __holds(#(#arguments),*))
        };
        quote!(unsafe { #record.when::<#operator>(#holds, #text) })
    }

    fn generate_condition(&self) -> Option<TokenStream> {
        let names = self.checked.schema.arguments.iter().enumerate().map(|(at, _)| {
            let named = self.named.iter().find(|(_, named)| *named == at);
            named.and_then(|(parameter, _)| parameter.name.clone())
        });
        when::generate_condition(&self.checked.attribute, &self.checked.schema, names, &self.types, &quote!(__p))
    }

    fn generate_functional_kernel(&self) -> TokenStream {
        let Self { checked, arguments, keys, .. } = self;
        let operator = checked.attribute.operator.to_token_stream();
        let types = self.types.iter().map(|ty| ty.tokens(&quote!(__p)));
        let output = RustType::from_returns(&checked.schema).tokens(&quote!(__p));
        let plan_arguments = self.plan_arguments();
        let body = match self.outputs {
            _ if self.runs_in_engine() => self.generate_functional_run(),
            OutputKind::None => {
                let (plan, call) =
                    (self.generate_plan_call(&operator), self.generate_shared_function_call(&quote!(())));
                quote!(#plan #call)
            }
            OutputKind::List => {
                let (plan, call, device) = (
                    self.generate_plan_call(&operator),
                    self.generate_shared_function_call(&quote!(&mut __out[..])),
                    self.generate_result_device(),
                );
                quote! {
                    #plan
                    let mut __out = __p::allocate_all_on(__plan.outputs, #device)?;
                    let __value = __plan.value;
                    #call?;
                    ::core::result::Result::Ok(__out)
                }
            }
            OutputKind::Tensors(n) => {
                let (outs, device) = (numbered_idents("__out", n), self.generate_result_device());
                let call = self.generate_shared_function_call(&if n == 1 {
                    quote!(&mut __out0)
                } else {
                    quote!([#(&mut #outs),*])
                });
                quote! {
                    let (__value, [#(mut #outs),*]) =
                        <#operator>::__plan_and_allocate(#device, #(#plan_arguments),*).map_err(__p::error_in_operator::<#operator>)?;
                    #call?;
                    ::core::result::Result::Ok((#(#outs),*))
                }
            }
        };
        quote! {
            fn __functional(
                #(#arguments: #types,)*
                #keys: __p::KeySet,
                _: __p::TableRef,
            ) -> __p::Result<#output> {
                #body
            }
        }
    }

    fn generate_in_place_kernel(&self, form: &Schema, operator: &TokenStream) -> TokenStream {
        let Self { arguments, keys, .. } = self;
        let types = form.arguments.iter().filter_map(RustType::from_argument).map(|ty| ty.tokens(&quote!(__p)));
        let first = &arguments[0];
        let mut plan_arguments = self.plan_arguments();
        plan_arguments[0] = quote!(&*#first);
        if self.runs_in_engine() {
            let run = self.generate_in_place_run(operator);
            return quote! {
                fn __in_place(#(#arguments: #types,)* #keys: __p::KeySet, _: __p::TableRef) -> __p::Result<()> {
                    #run
                }
            };
        }
        let functional = &self.checked.attribute.operator;
        let (reads, writes) = (self.generate_read_tensor_list(1), self.direct_write_flags());
        let reads_first = self.named.iter().any(|&(_, at)| at == 0);
        // The kernel reads the first argument through another handle, which stays as it is even if the kernel changes the written one.
        let second = reads_first.then(|| quote!(let __read = ::core::clone::Clone::clone(&*#first);));
        let lent = reads_first.then(|| quote!(let #first = &__read;));
        let call = self.generate_shared_function_call(&quote!(__target.written_tensor()));
        quote! {
            fn __in_place(#(#arguments: #types,)* #keys: __p::KeySet, _: __p::TableRef) -> __p::Result<()> {
                let __p::Plan { value: __value, outputs: [__spec] } =
                    <#functional>::plan(#(#plan_arguments),*).map_err(__p::error_in_operator::<#operator>)?;
                #second
                let mut __target = __p::OutputTensor::new(&__spec, "self", #first, #reads, #writes)
                    .map_err(__p::error_in_operator::<#operator>)?;
                #lent
                #call.map_err(__p::into_form_error::<#functional, #operator>("self"))?;
                __target.finish()
            }
        }
    }

    fn generate_out_kernel(&self, form: &Schema, count: usize, operator: &TokenStream) -> TokenStream {
        let Self { arguments, keys, .. } = self;
        let types = self.types.iter().map(|ty| ty.tokens(&quote!(__p)));
        let functional = &self.checked.attribute.operator;
        let (plan_arguments, reads, writes) =
            (self.plan_arguments(), self.generate_read_tensor_list(0), self.direct_write_flags());
        let [outs, specs, targets] = ["__out", "__spec", "__target"].map(|name| numbered_idents(name, count));
        let names: Vec<&String> = form.arguments[arguments.len()..].iter().map(|argument| &argument.name).collect();
        if self.runs_in_engine() {
            let run = self.generate_out_run(names[0], &outs[0], operator);
            return quote! {
                fn __out(
                    #(#arguments: #types,)*
                    #(#outs: &mut __p::Tensor,)*
                    #keys: __p::KeySet,
                    _: __p::TableRef,
                ) -> __p::Result<()> {
                    #run
                }
            };
        }
        let call = self.generate_shared_function_call(&if count == 1 {
            quote!(__target0.written_tensor())
        } else {
            quote!([#(#targets.written_tensor()),*])
        });
        let first = names[0];
        let apart = (count > 1).then(|| {
            quote! {
                __p::check_outputs_disjoint(&[#((#names, &*#outs)),*]).map_err(__p::error_in_operator::<#operator>)?;
            }
        });
        quote! {
            fn __out(
                #(#arguments: #types,)*
                #(#outs: &mut __p::Tensor,)*
                #keys: __p::KeySet,
                _: __p::TableRef,
            ) -> __p::Result<()> {
                let __p::Plan { value: __value, outputs: [#(#specs),*] } =
                    <#functional>::plan(#(#plan_arguments),*).map_err(__p::error_in_operator::<#operator>)?;
                #apart
                let __reads: &[(&'static ::core::primitive::str, &dyn __p::HasTensors)] = #reads;
                #(let mut #targets = __p::OutputTensor::new(&#specs, #names, #outs, __reads, #writes)
                    .map_err(__p::error_in_operator::<#operator>)?;)*
                #call.map_err(__p::into_form_error::<#functional, #operator>(#first))?;
                #(#targets.finish()?;)*
                ::core::result::Result::Ok(())
            }
        }
    }

    /// Generates the plan of a call without outputs, or with a list of outputs.
    fn generate_plan_call(&self, operator: &TokenStream) -> TokenStream {
        let plan_arguments = self.plan_arguments();
        let value = match self.outputs {
            OutputKind::List => TokenStream::new(),
            _ => quote!(let __value = __plan.value;),
        };
        quote! {
            let __plan = <#operator>::plan(#(#plan_arguments),*).map_err(__p::error_in_operator::<#operator>)?;
            #value
        }
    }

    /// Generates the call of the kernel with the arguments that it names.
    fn generate_shared_function_call(&self, out: &TokenStream) -> TokenStream {
        let (arguments, keys) = (self.named.iter().map(|&(_, at)| &self.arguments[at]), &self.keys);
        quote!(__call_kernel(&__value, #out, #(#arguments,)* #keys))
    }

    /// Returns every argument as a plan takes it: written ones by shared reference.
    pub(super) fn plan_arguments(&self) -> Vec<TokenStream> {
        let look = |(argument, ty): (&Ident, &RustType)| match (ty.is_mutable_reference(), ty.is_optional()) {
            (false, _) => quote!(#argument),
            (true, false) => quote!(&*#argument),
            (true, true) => quote!(#argument.as_deref()),
        };
        self.arguments.iter().zip(&self.types).map(look).collect()
    }

    /// Generates the device of fresh results.
    fn generate_result_device(&self) -> TokenStream {
        let Self { checked, .. } = self;
        if let [key] = &checked.attribute.keys[..]
            && key_name(key).is_some_and(|word| word == "CPU")
        {
            return quote!(__p::Device::CPU);
        }
        let mut found = quote!(::core::option::Option::None);
        if let Some(device) = checked.schema.device_argument() {
            let device = &self.arguments[device];
            found = quote!(::core::option::Option::<__p::Device>::from(#device));
        }
        for argument in self.read_tensor_arguments(0) {
            let argument = &self.arguments[argument];
            found = quote!(__p::result_device(#found, &#argument));
        }
        quote!(#found.unwrap_or(__p::Device::CPU))
    }

    /// Returns the arguments, from index `first` on, that hold tensors and are only read.
    fn read_tensor_arguments(&self, first: usize) -> impl Iterator<Item = usize> {
        (first..self.types.len())
            .filter(|&i| self.types[i].text().contains("Tensor") && !self.types[i].is_mutable_reference())
    }

    /// Generates the list of tensors that outputs may not overlap.
    fn generate_read_tensor_list(&self, first: usize) -> TokenStream {
        let each = self.read_tensor_arguments(first).map(|i| {
            let (name, argument) = (&self.checked.schema.arguments[i].name, &self.arguments[i]);
            quote!((#name, &#argument))
        });
        quote!(&[#(#each),*])
    }

    fn direct_write_flags(&self) -> TokenStream {
        let has = |word: &str| self.checked.attribute.direct_writes.iter().any(|flag| flag == word);
        let (in_place, strided, converts) = (has("in_place"), has("strided"), has("converts"));
        quote!(__p::DirectOutputKinds { in_place: #in_place, strided: #strided, converts: #converts })
    }
}

fn numbered_idents(name: &str, count: usize) -> Vec<Ident> {
    (0..count).map(|i| format_ident!("{name}{i}")).collect()
}
