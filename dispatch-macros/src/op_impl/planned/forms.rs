//! The kernels to which a planned kernel expands: the functional one, and one for each form.

use dispatch_schema::Schema;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::{Outputs, PlannedKernel};
use crate::crate_path;
use crate::op_impl::when;
use crate::syntax::keys::{key_name, static_keys};
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
            function: self.functional_kernel(),
            operator: operator.clone(),
            name: "__functional",
            output_count: 0,
        }];
        if let Some(form) = &checked.properties.in_place {
            let operator = quote!(<#operator as __r::HasInPlace>::Form);
            kernels.push(FormKernel {
                function: self.in_place_kernel(form, &operator),
                operator,
                name: "__in_place",
                output_count: 0,
            });
        }
        // The `out=` form of a factory takes fewer arguments. Its default kernel copies.
        if let (Some(form), Outputs::Tensors(outs)) = (&checked.properties.out, &self.outputs)
            && form.arguments.len() == self.types.len() + outs
        {
            let operator = quote!(<#operator as __r::HasOut>::Form);
            kernels.push(FormKernel {
                function: self.out_kernel(form, *outs, &operator),
                operator,
                name: "__out",
                output_count: *outs,
            });
        }
        let serve = self.shared_function();
        let keys = static_keys(&checked.attribute.keys, &quote!(__r));
        let condition = self.condition_function();
        let (functions, records): (Vec<_>, Vec<_>) =
            kernels.iter().map(|kernel| (&kernel.function, self.form_record(kernel))).unzip();
        let (count, root) = (records.len(), crate_path::runtime());
        quote! {
            #[allow(clippy::all, clippy::pedantic, unused_imports, unused_qualifications, unused_lifetimes, unused_variables)]
            const _: () = {
                use #root as __r;
                use #root::__private as __p;
                #serve
                #(#functions)*
                #condition
                #keys
                const __LOCATION: __r::Location = __r::Location::new(::core::file!(), ::core::line!());
                static __KERNELS: [__r::KernelRecord; #count] = [#(#records),*];
                __r::__submit! { __p::Record::KernelAndForms(&__KERNELS) }
            };
        }
    }

    fn form_record(&self, kernel: &FormKernel) -> TokenStream {
        let FormKernel { operator, name, output_count, .. } = kernel;
        let attribute = &self.checked.attribute;
        let (kernel, function) = (&self.checked.signature.ident, format_ident!("{name}"));
        let overriding = attribute.overrides.is_some().then(|| quote!(.overriding()));
        let priority = attribute.priority.as_ref().map(|priority| quote!(.with_priority(#priority)));
        let derived = (*name != "__functional").then(|| quote!(.derived()));
        let record = quote! {
            __r::KernelRecord::typed::<#operator>(#function, &__KEYS, ::core::stringify!(#kernel), __LOCATION)
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

    fn condition_function(&self) -> Option<TokenStream> {
        let names = self.checked.schema.arguments.iter().enumerate().map(|(at, _)| {
            let named = self.named.iter().find(|(_, named)| *named == at);
            named.and_then(|(parameter, _)| parameter.name.clone())
        });
        when::condition_function(&self.checked.attribute, &self.checked.schema, names, &self.types, &quote!(__r))
    }

    fn functional_kernel(&self) -> TokenStream {
        let Self { checked, arguments, keys, .. } = self;
        let operator = checked.attribute.operator.to_token_stream();
        let types = self.types.iter().map(|ty| ty.tokens(&quote!(__r)));
        let output = RustType::of_returns(&checked.schema).tokens(&quote!(__r));
        let shared_arguments = self.shared_arguments();
        let body = match self.outputs {
            _ if self.runs_in_engine() => self.run_functional(),
            Outputs::None => {
                let (plan, call) = (self.plan_call(&operator), self.shared_function_call(&quote!(())));
                quote!(#plan #call)
            }
            Outputs::List => {
                let (plan, call, device) = (
                    self.plan_call(&operator),
                    self.shared_function_call(&quote!(&mut __out[..])),
                    self.result_device(),
                );
                quote! {
                    #plan
                    let mut __out = __p::allocate_all_on(__plan.outputs, #device)?;
                    let __value = __plan.value;
                    #call?;
                    ::core::result::Result::Ok(__out)
                }
            }
            Outputs::Tensors(n) => {
                let (outs, device) = (numbered_idents("__out", n), self.result_device());
                let call =
                    self.shared_function_call(&if n == 1 { quote!(&mut __out0) } else { quote!([#(&mut #outs),*]) });
                quote! {
                    let (__value, [#(mut #outs),*]) =
                        <#operator>::__fresh(#device, #(#shared_arguments),*).map_err(__p::error_in_operator::<#operator>)?;
                    #call?;
                    ::core::result::Result::Ok((#(#outs),*))
                }
            }
        };
        quote! {
            fn __functional(
                #(#arguments: #types,)*
                #keys: __r::KeySet,
                _: __p::TableRef,
            ) -> __r::Result<#output> {
                #body
            }
        }
    }

    fn in_place_kernel(&self, form: &Schema, operator: &TokenStream) -> TokenStream {
        let Self { arguments, keys, .. } = self;
        let types = form.arguments.iter().filter_map(RustType::of_argument).map(|ty| ty.tokens(&quote!(__r)));
        let first = &arguments[0];
        let mut shared_arguments = self.shared_arguments();
        shared_arguments[0] = quote!(&*#first);
        if self.runs_in_engine() {
            let run = self.run_in_place(operator);
            return quote! {
                fn __in_place(#(#arguments: #types,)* #keys: __r::KeySet, _: __p::TableRef) -> __r::Result<()> {
                    #run
                }
            };
        }
        let functional = &self.checked.attribute.operator;
        let (reads, writes) = (self.read_tensor_list(1), self.write_flags());
        let reads_first = self.named.iter().any(|&(_, at)| at == 0);
        // The kernel reads the first argument through another handle, which stays as it is even if the kernel changes the written one.
        let second = reads_first.then(|| quote!(let __read = ::core::clone::Clone::clone(&*#first);));
        let lent = reads_first.then(|| quote!(let #first = &__read;));
        let call = self.shared_function_call(&quote!(__target.written_tensor()));
        quote! {
            fn __in_place(#(#arguments: #types,)* #keys: __r::KeySet, _: __p::TableRef) -> __r::Result<()> {
                let __r::Plan { value: __value, outputs: [__spec] } =
                    <#functional>::plan(#(#shared_arguments),*).map_err(__p::error_in_operator::<#operator>)?;
                #second
                let mut __target = __p::OutputTensor::new(&__spec, "self", #first, #reads, #writes)
                    .map_err(__p::error_in_operator::<#operator>)?;
                #lent
                #call.map_err(__p::into_form_error::<#functional, #operator>("self"))?;
                __target.finish()
            }
        }
    }

    fn out_kernel(&self, form: &Schema, count: usize, operator: &TokenStream) -> TokenStream {
        let Self { arguments, keys, .. } = self;
        let types = self.types.iter().map(|ty| ty.tokens(&quote!(__r)));
        let functional = &self.checked.attribute.operator;
        let (shared_arguments, reads, writes) = (self.shared_arguments(), self.read_tensor_list(0), self.write_flags());
        let [outs, specs, targets] = ["__out", "__spec", "__target"].map(|name| numbered_idents(name, count));
        let names: Vec<&String> = form.arguments[arguments.len()..].iter().map(|argument| &argument.name).collect();
        if self.runs_in_engine() {
            let run = self.run_out(names[0], &outs[0], operator);
            return quote! {
                fn __out(
                    #(#arguments: #types,)*
                    #(#outs: &mut __r::Tensor,)*
                    #keys: __r::KeySet,
                    _: __p::TableRef,
                ) -> __r::Result<()> {
                    #run
                }
            };
        }
        let call = self.shared_function_call(&if count == 1 {
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
                #(#outs: &mut __r::Tensor,)*
                #keys: __r::KeySet,
                _: __p::TableRef,
            ) -> __r::Result<()> {
                let __r::Plan { value: __value, outputs: [#(#specs),*] } =
                    <#functional>::plan(#(#shared_arguments),*).map_err(__p::error_in_operator::<#operator>)?;
                #apart
                let __reads: &[(&'static str, &dyn __p::HasTensors)] = #reads;
                #(let mut #targets = __p::OutputTensor::new(&#specs, #names, #outs, __reads, #writes)
                    .map_err(__p::error_in_operator::<#operator>)?;)*
                #call.map_err(__p::into_form_error::<#functional, #operator>(#first))?;
                #(#targets.finish()?;)*
                ::core::result::Result::Ok(())
            }
        }
    }

    /// Generates the plan of a call without outputs, or with a list of outputs.
    fn plan_call(&self, operator: &TokenStream) -> TokenStream {
        let shared_arguments = self.shared_arguments();
        let value = match self.outputs {
            Outputs::List => TokenStream::new(),
            _ => quote!(let __value = __plan.value;),
        };
        quote! {
            let __plan = <#operator>::plan(#(#shared_arguments),*).map_err(__p::error_in_operator::<#operator>)?;
            #value
        }
    }

    /// Generates the call of the kernel with the arguments that it names.
    fn shared_function_call(&self, out: &TokenStream) -> TokenStream {
        let (arguments, keys) = (self.named.iter().map(|&(_, at)| &self.arguments[at]), &self.keys);
        quote!(__serve(&__value, #out, #(#arguments,)* #keys))
    }

    /// Returns every argument as a plan takes it: written ones by shared reference.
    pub(super) fn shared_arguments(&self) -> Vec<TokenStream> {
        let look = |(argument, ty): (&Ident, &RustType)| match (ty.is_mutable_reference(), ty.is_optional()) {
            (false, _) => quote!(#argument),
            (true, false) => quote!(&*#argument),
            (true, true) => quote!(#argument.as_deref()),
        };
        self.arguments.iter().zip(&self.types).map(look).collect()
    }

    /// Generates the device of fresh results.
    fn result_device(&self) -> TokenStream {
        let Self { checked, .. } = self;
        if let [key] = &checked.attribute.keys[..]
            && key_name(key).is_some_and(|word| word == "CPU")
        {
            return quote!(__r::Device::CPU);
        }
        let mut found = quote!(::core::option::Option::None);
        if let Some(device) = checked.schema.device_argument() {
            let device = &self.arguments[device];
            found = quote!(::core::option::Option::<__r::Device>::from(#device));
        }
        for argument in self.read_tensors(0) {
            let argument = &self.arguments[argument];
            found = quote!(__p::result_device(#found, &#argument));
        }
        quote!(#found.unwrap_or(__r::Device::CPU))
    }

    /// Returns the arguments, from index `first` on, that hold tensors and are only read.
    fn read_tensors(&self, first: usize) -> impl Iterator<Item = usize> {
        (first..self.types.len())
            .filter(|&i| self.types[i].text().contains("Tensor") && !self.types[i].is_mutable_reference())
    }

    /// Generates the list of tensors that outputs may not overlap.
    fn read_tensor_list(&self, first: usize) -> TokenStream {
        let each = self.read_tensors(first).map(|i| {
            let (name, argument) = (&self.checked.schema.arguments[i].name, &self.arguments[i]);
            quote!((#name, &#argument))
        });
        quote!(&[#(#each),*])
    }

    fn write_flags(&self) -> TokenStream {
        let has = |word: &str| self.checked.attribute.direct_writes.iter().any(|flag| flag == word);
        let (in_place, strided, converts) = (has("in_place"), has("strided"), has("converts"));
        quote!(__p::DirectOutputs { in_place: #in_place, strided: #strided, converts: #converts })
    }
}

fn numbered_idents(name: &str, count: usize) -> Vec<Ident> {
    (0..count).map(|i| format_ident!("{name}{i}")).collect()
}
