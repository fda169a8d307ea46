//! Expansion of the parts of a definition that concern its plan.

use dispatch_schema::TypeKind;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Definition;
use super::forms::is_out_form;
use super::shape::CheckedShapeWord;
use crate::op_plan::add_lifetime_to_references;
use crate::syntax::signature::rust_argument_name;

impl Definition {
    /// Returns whether the operator has a plan: a function under `#[op_plan]`, or a shape word.
    pub(super) fn has_plan(&self) -> bool {
        self.plan || self.shape.is_some()
    }

    /// Returns the tokens that the operator's macro passes after the schema: the properties of the definition.
    pub(super) fn properties_tokens(&self) -> TokenStream {
        let plan = self.has_plan().then(|| quote!(plan));
        let data_dependent = self.data_dependent.then(|| quote!(data_dependent));
        let float8 = self.float8.then(|| quote!(float8));
        let pointwise = match &self.shape {
            Some(CheckedShapeWord::Pointwise { operands, dtypes, .. }) => {
                let dtypes = dtypes.iter().map(|name| format_ident!("{name}"));
                Some(quote!(pointwise [#(#operands)*] [#(#dtypes)*]))
            }
            _ => None,
        };
        // If the operator is a call of another operator, its forms call the forms of that one, and have no kernels here.
        let forms = self.forms.iter().filter(|_| self.has_plan() && self.defining_call.is_none()).map(|form| {
            let text = form.to_string();
            if is_out_form(form, &self.schema) { quote!(out #text) } else { quote!(in_place #text) }
        });
        quote!(#plan #data_dependent #float8 #pointwise #(#forms)*)
    }

    /// Generates the implementations of `HasOut` and `HasInPlace`, which name the types of the forms.
    pub(super) fn generate_form_impls(&self, forms: &[Self]) -> TokenStream {
        let Self { runtime, function, schema, .. } = self;
        let name = &function.signature.ident;
        let forms = forms.iter().filter(|_| self.has_plan()).map(|form| {
            let form_name = &form.function.signature.ident;
            let has = if is_out_form(&form.schema, schema) { quote!(HasOut) } else { quote!(HasInPlace) };
            quote!(#[allow(non_local_definitions)] impl #runtime::#has for #name { type Form = #form_name; })
        });
        quote!(#(#forms)*)
    }

    /// Generates the optional function that computes the specs of the results of a boxed call.
    pub(super) fn result_specs_tokens(&self) -> TokenStream {
        let Self { runtime, function, .. } = self;
        let name = &function.signature.ident;
        if self.has_plan() {
            quote!(::core::option::Option::Some(<#name as #runtime::Planned>::result_specs))
        } else {
            quote!(::core::option::Option::None)
        }
    }

    /// Generates the plan of a shape word, as functions of the operator's type.
    pub(super) fn generate_shape_word_plan(&self) -> Option<TokenStream> {
        let Self { runtime, function, types, schema, .. } = self;
        let shape = self.shape.as_ref()?;
        let operator = &function.signature.ident;
        let names: Vec<Ident> = schema.arguments.iter().map(|argument| rust_argument_name(&argument.name)).collect();
        let shared: Vec<TokenStream> =
            types.iter().map(|ty| add_lifetime_to_references(&ty.to_shared().tokens(runtime))).collect();
        let owned = types.iter().map(|ty| ty.to_shared().tokens(runtime));
        let positions = 0..names.len();
        let (value, plan) = self.value_type_and_plan(shape, &names);
        let fresh = self.generate_plan_and_allocation(shape, &names);
        let condition = match &self.check {
            Some(check) => quote!(::core::result::Result::map_err(#check, ::core::convert::Into::into)),
            None => quote!(::core::result::Result::Ok(())),
        };
        let outline = if self.check.is_some() {
            quote! {
                let __operator = <#operator as #runtime::Operation>::operator();
                let [#(#names),*] = __arguments else {
                    return ::core::result::Result::Err(#runtime::too_few_arguments_error(__operator, __arguments.len()));
                };
                #(let #names = #runtime::convert_argument::<#owned>(__operator, #names, #positions)?;)*
                ::core::result::Result::Ok(Self::plan(#(#names),*)?.outputs.into())
            }
        } else {
            quote!(#runtime::shape_word_specs(<#operator as #runtime::Operation>::operator(), __arguments))
        };
        Some(quote! {
            #[allow(dead_code, unused_variables, unused_lifetimes, clippy::all, clippy::pedantic, non_local_definitions)]
            const _: () = {
                impl #operator {
                    /// Checks the arguments of a call, and returns the plan: the descriptions of the results, and a value for the kernels.
                    #[inline]
                    pub fn plan<'a>(#(#names: #shared),*) -> #runtime::Result<#runtime::Plan<#value>> {
                        Self::__check(#(#names),*)?;
                        #plan
                    }

                    #[doc(hidden)]
                    #[inline(always)]
                    pub fn __check<'a>(#(#names: #shared),*) -> #runtime::Result<()> {
                        #condition
                    }

                    #[doc(hidden)]
                    #[inline(always)]
                    pub fn __plan_and_allocate<'a>(
                        __device: #runtime::Device,
                        #(#names: #shared),*
                    ) -> #runtime::Result<(#value, [#runtime::Tensor; 1])> {
                        #fresh
                    }
                }

                impl #runtime::Planned for #operator {
                    type Value<'a> = #value;

                    fn result_specs(
                        __arguments: &mut [#runtime::Value],
                    ) -> #runtime::Result<::std::vec::Vec<#runtime::Spec>> {
                        #outline
                    }
                }
            };
        })
    }

    /// Returns the type of the plan's value, and the expression that computes the plan.
    fn value_type_and_plan(&self, shape: &CheckedShapeWord, names: &[Ident]) -> (TokenStream, TokenStream) {
        let Self { runtime, schema, .. } = self;
        let this = quote!(<Self as #runtime::Operation>::operator());
        match shape {
            CheckedShapeWord::Pointwise { operands, .. } => {
                let parts = operands.iter().map(|&at| &names[at]);
                let parts = quote!(&[#(#runtime::PointwiseOperand::from(#parts)),*]);
                (quote!(#runtime::PointwisePlan), quote!(#runtime::pointwise_plan(#this, #parts)))
            }
            CheckedShapeWord::Reduce { dims, keepdim, .. } => {
                let first = &names[0];
                let dims = dims.map_or_else(
                    || quote!(&[]),
                    |at| {
                        let dims = &names[at];
                        quote!(#runtime::DimList::dims(&#dims))
                    },
                );
                let keep = keepdim.map_or_else(
                    || quote!(false),
                    |at| {
                        let keep = &names[at];
                        quote!(#keep)
                    },
                );
                let dtype = schema
                    .argument("dtype")
                    .filter(|(_, dtype)| dtype.ty.without_optional().kind == TypeKind::ScalarType);
                let dtype = dtype.map_or_else(
                    || quote!(::core::option::Option::None),
                    |(at, _)| {
                        let dtype = &names[at];
                        quote!(::core::convert::From::from(#dtype))
                    },
                );
                let plan = quote!(#runtime::reduction_plan(#this, #first, #dims, #keep, #dtype));
                (quote!(#runtime::ReductionDims), plan)
            }
            CheckedShapeWord::Product(letters) => (quote!(()), self.generate_product_plan(letters, names, &this)),
        }
    }

    /// Generates code that computes the plan's value and allocates the result on `__device`.
    fn generate_plan_and_allocation(&self, shape: &CheckedShapeWord, names: &[Ident]) -> TokenStream {
        let Self { runtime, types, .. } = self;
        match shape {
            CheckedShapeWord::Pointwise { operands, .. }
                if operands.iter().all(|&at| types[at].text() == "&Tensor") =>
            {
                let tensors = operands.iter().map(|&at| &names[at]);
                quote! {
                    Self::__check(#(#names),*)?;
                    #runtime::allocate_pointwise::<Self, _>(__device, [#(#tensors),*])
                }
            }
            _ => quote! {
                let #runtime::Plan { value: __value, outputs: [__spec] } = Self::plan(#(#names),*)?;
                ::core::result::Result::Ok((__value, [__spec.on(__device)?]))
            },
        }
    }

    /// Generates the plan of a product. Patterns match tensors whose sizes agree; the runtime reports the error for all others.
    fn generate_product_plan(&self, letters: &str, names: &[Ident], operator: &TokenStream) -> TokenStream {
        let runtime = &self.runtime;
        let (inputs, output) = letters.split_once("->").unwrap_or((letters, ""));
        let words: Vec<&str> = inputs.split(',').collect();
        let tensors = &names[..words.len()];
        let size = |word: usize, at: usize| format_ident!("__size{word}_{at}");
        let first = |letter: char| {
            words.iter().enumerate().find_map(|(word, letters)| letters.find(letter).map(|at| size(word, at)))
        };
        let patterns = words.iter().enumerate().map(|(word, letters)| {
            let sizes = (0..letters.len()).map(|at| size(word, at));
            quote!(&[#(#sizes),*])
        });
        let again = words.iter().enumerate().flat_map(|(word, letters)| {
            let one = move |(at, letter)| (size(word, at), letter);
            letters.chars().enumerate().map(one)
        });
        let again = again.filter_map(|(size, letter)| {
            first(letter).filter(|first| *first != size).map(|first| quote!(&& #first == #size))
        });
        let one = &tensors[0];
        let same = tensors[1..].iter().map(|tensor| quote!(&& #tensor.dtype() == #one.dtype()));
        let result = output.chars().filter_map(first);
        quote! {
            if let (#(#patterns,)*) = (#(#tensors.sizes(),)*) && !#one.dtype().is_float8() #(#again)* #(#same)* {
                let __spec = #runtime::Spec::contiguous(#one.dtype(), &[#(#result),*]);
                return ::core::result::Result::Ok(#runtime::Plan::new((), [__spec]));
            }
            #runtime::product_plan(#operator, &[#(#tensors),*])
        }
    }
}
