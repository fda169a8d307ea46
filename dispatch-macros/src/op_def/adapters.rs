//! Between the stack and an operator's types, both ways.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Definition;
use super::expand::carriers;
use crate::rust_type::{RustType, returned};

/// `__boxed`, which takes the operator's types and calls a boxed kernel, `__marked`, which first looks whether it may be passed over, and
/// `__unbox`, which is the other way round.
pub(super) fn expand(definition: &Definition, parameters: &[TokenStream], output: &TokenStream) -> TokenStream {
    let Definition { function, names, schema, runtime, .. } = definition;
    let name = &function.signature.ident;
    let count = names.len();
    let values: Vec<Ident> = (0..count).map(|i| format_ident!("__value{i}")).collect();
    let positions = 0..count;

    let results: Vec<Ident> = returned(schema).map(|(i, _)| format_ident!("__result{i}")).collect();
    let popped = (0..schema.returns.len()).rev().map(|i| match schema.written_return(i) {
        Some(argument) => {
            let argument = &names[argument];
            quote!(#runtime::__private::Written::write_back::<#name>(#argument, &mut __stack)?;)
        }
        None => {
            let (result, ty) =
                (format_ident!("__result{i}"), RustType::of_return(&schema.returns[i].ty).tokens(runtime));
            quote!(let #result = #runtime::__private::result::<#name, #ty>(&mut __stack)?;)
        }
    });
    let result = match &results[..] {
        [one] => quote!(#one),
        several => quote!((#(#several),*)),
    };
    let written: Vec<(usize, usize)> =
        (0..schema.returns.len()).filter_map(|i| schema.written_return(i).map(|argument| (i, argument))).collect();
    let taken = written.iter().map(|(i, argument)| {
        let value = format_ident!("__written{i}");
        quote!(let #value = #runtime::__private::take_written(__stack, #count, #argument);)
    });
    let pushed = (0..schema.returns.len()).map(|i| match schema.written_return(i) {
        Some(_) => {
            let value = format_ident!("__written{i}");
            quote!(#value)
        }
        None => {
            let result = format_ident!("__result{i}");
            quote!(#runtime::Output::into_value(#result))
        }
    });
    // What is written and not returned has no way back but the tensor itself.
    let unreturned: Vec<usize> = (0..count)
        .filter(|&i| definition.types[i].is_written() && !written.iter().any(|&(_, argument)| argument == i))
        .collect();
    let before: Vec<Ident> = unreturned.iter().map(|i| format_ident!("__before{i}")).collect();
    let returned = schema.returns.len();
    let carriers = carriers(definition);
    let device =
        schema.device_argument().map(|device| quote!(| #runtime::__private::device_keys(&__arguments[#device])));
    quote! {
        fn __boxed(#(#names: #parameters,)* __keys: #runtime::KeySet) -> #runtime::Result<#output> {
            let mut __stack = #runtime::Stack::new();
            #(__stack.push(#runtime::Argument::to_value(&#names));)*
            #runtime::__private::run_boxed::<#name>(__keys, &mut __stack)?;
            #(#popped)*
            #runtime::__private::finished::<#name>(&__stack)?;
            ::core::result::Result::Ok(#result)
        }

        fn __marked(#(#names: #parameters,)* __keys: #runtime::KeySet) -> #runtime::Result<#output> {
            match #runtime::__private::passed::<#name>(__keys, |__marks| false #(|| #runtime::__private::has_any(&#names, __marks))*) {
                ::core::option::Option::Some((__kernel, __keys)) => __kernel(#(#names,)* __keys),
                ::core::option::Option::None => __boxed(#(#names,)* __keys),
            }
        }

        unsafe fn __unbox(
            __kernel: ::core::option::Option<#runtime::__private::Code>,
            __keys: #runtime::KeySet,
            __stack: &mut #runtime::Stack,
        ) -> #runtime::Result<()> {
            let __arguments = #runtime::__private::arguments::<#name, #count>(__stack)?;
            let (__kernel, __keys) = match __kernel {
                ::core::option::Option::Some(__kernel) => (__kernel, __keys),
                ::core::option::Option::None => {
                    let __keys = #runtime::__private::keys(#runtime::__private::carried_by::<#count, #carriers>(__arguments) #device);
                    match #runtime::__private::typed_kernel::<#name>(__keys) {
                        ::core::option::Option::Some(__kernel) => (__kernel, __keys),
                        ::core::option::Option::None => return #runtime::__private::run_otherwise::<#name>(__keys, __stack),
                    }
                }
            };
            let __kernel = unsafe { #runtime::__private::typed::<#name>(__kernel) };
            #(let #before = __arguments[#unreturned].clone();)*
            let [#(#values),*] = __arguments;
            let #result = __kernel(#(#runtime::__private::argument::<#name, #parameters>(#values, #positions)?,)* __keys)?;
            #(#runtime::__private::kept::<#name>(__stack, #count, #unreturned, &#before)?;)*
            #(#taken)*
            #runtime::__private::replace::<#count, #returned>(__stack, || [#(#pushed),*]);
            ::core::result::Result::Ok(())
        }
    }
}
