//! The expansion of a gradient formula: a rule of the autograd layer, and a kernel for Autograd that records the call.

use dispatch_schema::{Schema, TypeKind};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Path;

use super::check::{CheckedDerivative, FormulaParameter};
use super::saved_for::ALL_GRADIENT_BITS;
use crate::crate_path;
use crate::syntax::rust_type::RustType;

/// Absolute paths to the runtime and to the autograd layer.
struct CratePaths {
    runtime: TokenStream,
    layer: TokenStream,
}

impl CratePaths {
    fn new() -> Self {
        let layer = crate_path::layer_path("dispatch-autograd", "autograd");
        Self { runtime: crate_path::runtime_path(), layer }
    }
}

pub(super) fn expand_derivative(
    schema: &Schema,
    operator: &Path,
    name: &Ident,
    derivative: &CheckedDerivative,
) -> TokenStream {
    let paths = CratePaths::new();
    let CratePaths { layer, .. } = &paths;
    let (inputs, results) = (&derivative.inputs, &derivative.results);
    // Arguments are saved before the call, and results after it.
    let is_argument = |taken: &&FormulaParameter| matches!(taken, FormulaParameter::Argument { .. });
    let is_result = |taken: &&FormulaParameter| matches!(taken, FormulaParameter::Result { .. });
    let saved = derivative.parameters.iter().filter(is_argument).chain(derivative.parameters.iter().filter(is_result));
    let sources = saved.map(|taken| match taken {
        FormulaParameter::Argument { index: at, outline: false, saved_for } => {
            quote!(#layer::SavedSource::Argument(#at, #saved_for))
        }
        FormulaParameter::Argument { index: at, outline: true, .. } => {
            quote!(#layer::SavedSource::ArgumentOutline(#at))
        }
        FormulaParameter::Result { index: at, outline: false } => quote!(#layer::SavedSource::Result(#at)),
        FormulaParameter::Result { index: at, outline: true } => quote!(#layer::SavedSource::ResultOutline(#at)),
        FormulaParameter::Gradient { .. } | FormulaParameter::AllGradients | FormulaParameter::NeededGradients => {
            TokenStream::new()
        }
    });
    let run = generate_formula_call(schema, name, derivative, &paths);
    let rule = generate_rule_record(
        operator,
        &quote!(inputs: &[#(#inputs),*], differentiable_results: &[#(#results),*], saved: &[#(#sources),*], run: ::core::option::Option::Some(__run_formula)),
        &paths,
    );
    let kernel =
        (!writes_any_argument(schema)).then(|| generate_recording_kernel(schema, operator, name, derivative, &paths));
    quote! {
        #[allow(clippy::all, clippy::pedantic, unused_qualifications, unused_variables, unused_mut)]
        const _: () = {
            #run
            #rule
            #kernel
        };
    }
}

/// Generates the declaration that an operator has no derivative.
pub(super) fn expand_not_differentiable(schema: &Schema, operator: &Path) -> TokenStream {
    let paths = CratePaths::new();
    let rule = generate_rule_record(
        operator,
        &quote!(inputs: &[], differentiable_results: &[], saved: &[], run: ::core::option::Option::None),
        &paths,
    );
    let takes_tensors = schema.arguments.iter().any(|argument| argument.ty.is_tensor_like());
    let kernel = (takes_tensors && !writes_any_argument(schema)).then(|| {
        let name = Ident::new("not_differentiable", Span::call_site());
        generate_not_differentiable_kernel(schema, operator, &name, &paths)
    });
    quote! {
        #[allow(clippy::all, clippy::pedantic, unused_qualifications, unused_variables, unused_mut)]
        const _: () = {
            #rule
            #kernel
        };
    }
}

/// Returns whether an operator writes to an argument. The layer's fallback records such operators.
fn writes_any_argument(schema: &Schema) -> bool {
    schema.arguments.iter().any(dispatch_schema::Argument::is_written)
}

fn generate_rule_record(operator: &Path, fields: &TokenStream, paths: &CratePaths) -> TokenStream {
    let CratePaths { runtime, layer } = paths;
    quote! {
        static __DERIVATIVE: #layer::Derivative = #layer::Derivative {
            operator: <#operator as #runtime::Operation>::operator,
            #fields
        };
        static __RULE: #runtime::RuleRecord = #runtime::RuleRecord::new(
            <#operator as #runtime::Operation>::operator,
            &__DERIVATIVE,
            #runtime::Location::new(::core::file!(), ::core::line!()),
        );
        #runtime::__submit! { #runtime::Record::Rule(&__RULE) }
    }
}

/// Generates the function that calls the formula with its parameters, and converts the gradients that it returns.
fn generate_formula_call(
    schema: &Schema,
    name: &Ident,
    derivative: &CheckedDerivative,
    paths: &CratePaths,
) -> TokenStream {
    let CratePaths { runtime, layer } = paths;
    let arguments =
        derivative.parameters.iter().filter(|taken| matches!(taken, FormulaParameter::Argument { .. })).count();
    let saved_count = derivative
        .parameters
        .iter()
        .filter(|taken| matches!(taken, FormulaParameter::Argument { .. } | FormulaParameter::Result { .. }))
        .count();
    let saved: Vec<Ident> = (0..saved_count).map(|i| format_ident!("__saved{i}")).collect();
    let (mut next_argument, mut next_result) = (0..arguments, arguments..saved_count);
    let mut before = TokenStream::new();
    let mut given = Vec::new();
    for (i, taken) in derivative.parameters.iter().enumerate() {
        let local = format_ident!("__given{i}");
        let take = |at: Option<usize>, outline: bool, list: bool, ty: TokenStream| {
            let saved = at.map(|at| &saved[at]);
            match (outline, list) {
                (true, false) => quote!(#layer::unpack_outline(#saved)?),
                (true, true) => quote!(#layer::unpack_outlines(#saved)?),
                (false, _) => quote!(#layer::unpack_value::<#ty>(#saved)?),
            }
        };
        given.push(match taken {
            FormulaParameter::Gradient { result, optional: false } => {
                before.extend(quote!(let #local = __backwards.result_gradient_or_zeros(#result)?;));
                quote!(&#local)
            }
            FormulaParameter::Gradient { result, optional: true } => {
                before.extend(quote!(let #local = __backwards.optional_result_gradient(#result);));
                quote!(#local.as_ref())
            }
            FormulaParameter::AllGradients => {
                before.extend(quote!(let #local = __backwards.result_gradients();));
                quote!(&#local)
            }
            FormulaParameter::NeededGradients => {
                before.extend(quote!(let #local = __backwards.requested_gradient_flags();));
                quote!(&#local)
            }
            FormulaParameter::Argument { index: at, outline, .. } => {
                let ty = RustType::from_argument(&schema.arguments[*at]).map(|ty| ty.to_shared().tokens(runtime));
                take(next_argument.next(), *outline, is_list_argument(schema, *at), quote!(#ty))
            }
            FormulaParameter::Result { outline, index: at } => {
                let list = schema.returns.get(*at).is_some_and(|ret| matches!(ret.ty.kind, TypeKind::List(..)));
                let ty = if list { quote!(&[#runtime::Tensor]) } else { quote!(&#runtime::Tensor) };
                take(next_result.next(), *outline, list, ty)
            }
        });
    }
    let gradients: Vec<Ident> = (0..derivative.inputs.len()).map(|i| format_ident!("__gradient{i}")).collect();
    let pattern = match &gradients[..] {
        [one] => quote!(#one),
        several => quote!((#(#several),*)),
    };
    let question = derivative.returns_result.then(|| quote!(?));
    quote! {
        fn __run_formula(
            __backwards: &mut #layer::BackwardStep<'_>,
            __saved: &mut [#layer::UnpackedValue],
        ) -> #runtime::Result<()> {
            let [#(#saved),*] = __saved else { return #layer::saved_count_error() };
            #before
            let #pattern = #name(#(#given),*) #question;
            #(__backwards.push_gradient(#gradients)?;)*
            ::core::result::Result::Ok(())
        }
    }
}

/// The signature of a kernel: its arguments, their types, and the output.
struct KernelSignature {
    arguments: Vec<Ident>,
    types: Vec<TokenStream>,
    output: TokenStream,
}

impl KernelSignature {
    fn new(schema: &Schema, runtime: &TokenStream) -> Self {
        let types: Vec<TokenStream> =
            schema.arguments.iter().filter_map(RustType::from_argument).map(|ty| ty.tokens(runtime)).collect();
        let arguments = (0..types.len()).map(|i| format_ident!("__argument{i}")).collect();
        Self { arguments, types, output: RustType::from_returns(schema).tokens(runtime) }
    }
}

/// Returns names for the results, and the tokens that take an output apart and put it together again.
fn result_idents_and_pattern(schema: &Schema) -> (Vec<Ident>, TokenStream) {
    let names: Vec<Ident> = schema.new_returns().map(|(i, _)| format_ident!("__result{i}")).collect();
    let whole = match &names[..] {
        [one] => quote!(#one),
        several => quote!((#(#several),*)),
    };
    (names, whole)
}

fn mutable_result_pattern(schema: &Schema) -> TokenStream {
    let names: Vec<Ident> = schema.new_returns().map(|(i, _)| format_ident!("__result{i}")).collect();
    match &names[..] {
        [one] => quote!(mut #one),
        several => quote!((#(mut #several),*)),
    }
}

fn is_list_argument(schema: &Schema, argument: usize) -> bool {
    matches!(schema.arguments[argument].ty.kind, TypeKind::List(..))
}

/// Returns whether the call may write to a saved argument although the schema does not say so.
fn may_write_undeclared(schema: &Schema, derivative: &CheckedDerivative) -> bool {
    derivative.parameters.iter().any(|taken| match taken {
        FormulaParameter::Argument { index: at, outline: false, .. } => {
            let ty = &schema.arguments[*at].ty;
            ty.is_tensor_like() && ty.accepts_none()
        }
        _ => false,
    })
}

/// Generates the calls that save the arguments of the derivative's formulas.
fn saved_argument_calls<'a>(
    schema: &'a Schema,
    derivative: &'a CheckedDerivative,
    arguments: &'a [Ident],
) -> impl Iterator<Item = TokenStream> + 'a {
    derivative.parameters.iter().filter_map(move |taken| match taken {
        FormulaParameter::Argument { index: at, outline, saved_for } => {
            let argument = &arguments[*at];
            Some(match (*outline, is_list_argument(schema, *at)) {
                (true, false) => quote!(__recording.save_outline(#argument);),
                (true, true) => quote!(__recording.save_outlines(#argument);),
                (false, _) if *saved_for == ALL_GRADIENT_BITS => quote!(__recording.save_argument(&#argument)?;),
                (false, _) => quote!(__recording.save_argument_if_needed(#saved_for, &#argument)?;),
            })
        }
        _ => None,
    })
}

/// Generates the kernel that records the call.
fn generate_recording_kernel(
    schema: &Schema,
    operator: &Path,
    name: &Ident,
    derivative: &CheckedDerivative,
    paths: &CratePaths,
) -> TokenStream {
    let CratePaths { runtime, layer } = paths;
    let KernelSignature { arguments, types, output } = KernelSignature::new(schema, runtime);
    let inputs: Vec<&Ident> = derivative.inputs.iter().map(|&i| &arguments[i]).collect();
    let saves = saved_argument_calls(schema, derivative, &arguments);
    let (names, whole) = result_idents_and_pattern(schema);
    let pattern = mutable_result_pattern(schema);
    let tensors: Vec<(&Ident, bool)> = schema
        .new_returns()
        .zip(&names)
        .filter(|((_, ty), _)| ty.is_tensor_like())
        .map(|((_, ty), name)| (name, matches!(ty.kind, TypeKind::List(..))))
        .collect();
    let is_view = |name: &Ident| schema.views().iter().any(|view| *name == format_ident!("__result{}", view.ret));
    let handle_results = tensors.iter().map(|(name, is_list)| {
        let own = if is_view(name) { quote!(replace_view_if_shared) } else { quote!(copy_result_if_shared) };
        if *is_list {
            quote!(#name.iter_mut().try_for_each(#layer::#own)?;)
        } else {
            quote!(#layer::#own(&mut #name)?;)
        }
    });
    let mark_views: Vec<TokenStream> = schema
        .views()
        .into_iter()
        .map(|view| {
            let (result, source) = (format_ident!("__result{}", view.ret), &arguments[view.argument]);
            let is_list = matches!(schema.returns[view.ret].ty.kind, TypeKind::List(..));
            let mark_view = if is_list { quote!(mark_views) } else { quote!(mark_view) };
            quote!(#layer::#mark_view(&mut #result, #layer::DifferentiableArgument::first_tensor(&#source));)
        })
        .collect();
    let finish = match &tensors[..] {
        [(list, true)] => {
            let differentiable = derivative.results[0];
            quote! {
                let mut __results: ::std::vec::Vec<(&mut #runtime::Tensor, bool)> =
                    #list.iter_mut().map(|__tensor| (__tensor, #differentiable)).collect();
                __recording.finish_results(&mut __results)?;
            }
        }
        [(result, false)] if derivative.results[0] => quote!(__recording.finish_only_result(&mut #result)?;),
        several => {
            let pairs = several
                .iter()
                .zip(&derivative.results)
                .map(|((name, _), differentiable)| quote!((&mut #name, #differentiable)));
            quote!(__recording.finish_results(&mut [#(#pairs),*])?;)
        }
    };
    let forget = may_write_undeclared(schema, derivative).then(|| quote!(__recording.clear_overwritten_arguments();));
    let without_recording = if mark_views.is_empty() {
        quote!(return <#operator>::redispatch(__on, #(#arguments),*);)
    } else {
        quote! {
            let #pattern = <#operator>::redispatch(__on, #(#arguments),*)?;
            #(#mark_views)*
            return ::core::result::Result::Ok(#whole);
        }
    };
    let record = generate_kernel_record(name, operator, runtime);
    quote! {
        fn __kernel(#(#arguments: #types,)* __keys: #runtime::KeySet, _: #runtime::TableRef) -> #runtime::Result<#output> {
            let __on = #layer::keys_below_autograd(__keys);
            if !(false #(|| #layer::DifferentiableArgument::may_require_grad(&#inputs))*) {
                #without_recording
            }
            __recorded_call(#(#arguments,)* __on)
        }

        #[cold]
        #[inline(never)]
        fn __recorded_call(#(#arguments: #types,)* __on: #runtime::KeySet) -> #runtime::Result<#output> {
            let mut __recording = #layer::CallRecording::start(&__DERIVATIVE);
            #(__recording.link_input(&#inputs)?;)*
            if !__recording.must_record() {
                #without_recording
            }
            #(#saves)*
            let #pattern = {
                let __computing = #layer::below_autograd_guard();
                <#operator>::redispatch(__on, #(#arguments),*)?
            };
            #(#handle_results)*
            #(#mark_views)*
            #forget
            #finish
            ::core::result::Result::Ok(#whole)
        }

        #record
    }
}

/// Generates the kernel of an operator without derivative. Calls inside of it are not recorded either.
fn generate_not_differentiable_kernel(
    schema: &Schema,
    operator: &Path,
    name: &Ident,
    paths: &CratePaths,
) -> TokenStream {
    let CratePaths { runtime, layer } = paths;
    let KernelSignature { arguments, types, output } = KernelSignature::new(schema, runtime);
    let tensors = schema.arguments.iter().zip(&arguments).filter(|(argument, _)| argument.ty.is_tensor_like());
    let tensors = tensors.map(|(_, name)| name);
    let record = generate_kernel_record(name, operator, runtime);
    quote! {
        fn __kernel(#(#arguments: #types,)* __keys: #runtime::KeySet, _: #runtime::TableRef) -> #runtime::Result<#output> {
            let __on = #layer::keys_below_autograd(__keys);
            if !(false #(|| #layer::DifferentiableArgument::may_require_grad(&#tensors))*) {
                return <#operator>::redispatch(__on, #(#arguments),*);
            }
            let __computing = #layer::below_autograd_guard();
            <#operator>::redispatch(__on, #(#arguments),*)
        }

        #record
    }
}

fn generate_kernel_record(name: &Ident, operator: &Path, runtime: &TokenStream) -> TokenStream {
    quote! {
        static __KEYS: [&#runtime::Key; 1] = [&#runtime::keys::Autograd];
        static __KERNEL: #runtime::KernelRecord = #runtime::KernelRecord::typed::<#operator>(
            __kernel,
            &__KEYS,
            ::core::stringify!(#name),
            #runtime::Location::new(::core::file!(), ::core::line!()),
        );
        #runtime::__submit! { #runtime::Record::Kernel(&__KERNEL) }
    }
}
