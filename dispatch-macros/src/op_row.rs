//! `op_row!`: passes the definition of an elementwise operator to a macro, as a row of its table.
//!
//! It takes two steps, as a kernel does: the operator's own macro calls the second one with the schema.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Path, Token, bracketed};

use crate::crate_path;
use crate::schema_callback::{self, OperatorProperties, call_with_schema};
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::rust_argument_name;

/// The input `operator => callback, tokens`.
struct RowInput {
    operator: Path,
    callback: Path,
    rest: TokenStream,
}

impl Parse for RowInput {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let operator = input.call(Path::parse_mod_style)?;
        input.parse::<Token![=>]>()?;
        let callback = input.call(Path::parse_mod_style)?;
        input.parse::<Token![,]>()?;
        Ok(Self { operator, callback, rest: input.parse()? })
    }
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let RowInput { operator, callback, rest } = match syn::parse2(input) {
        Ok(row) => row,
        Err(error) => {
            let usage = "`op_row!` takes an operator and a macro; write `op_row! { aten::add => line, more }`";
            return syn::Error::new(error.span(), usage).to_compile_error();
        }
    };
    let runtime = crate_path::runtime_path();
    call_with_schema(&operator, &quote!(#runtime::__row), &quote!([#operator] [#callback] [#rest]))
}

struct RowWithSchema {
    schema: dispatch_schema::Schema,
    properties: OperatorProperties,
    operator: Path,
    callback: Path,
    rest: TokenStream,
}

impl Parse for RowWithSchema {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (schema, properties) = (schema_callback::parse_schema_literal(input)?, input.parse()?);
        let (operator, callback, rest);
        bracketed!(operator in input);
        bracketed!(callback in input);
        bracketed!(rest in input);
        let (operator, callback) = (operator.call(Path::parse_mod_style)?, callback.call(Path::parse_mod_style)?);
        Ok(Self { schema, properties, operator, callback, rest: rest.parse()? })
    }
}

pub(crate) fn expand_with_schema(input: TokenStream) -> TokenStream {
    let RowWithSchema { schema, properties, operator, callback, rest } = match syn::parse2(input) {
        Ok(checked) => checked,
        Err(error) => return error.to_compile_error(),
    };
    let runtime = crate_path::runtime_path();
    let pointwise = properties.pointwise.filter(|pointwise| !pointwise.dtypes.is_empty());
    let (Some(pointwise), Some(name)) = (pointwise, operator.segments.last().map(|last| &last.ident)) else {
        let message = format!(
            "operator `{}` cannot be a row of a table; write `shape = pointwise` and `dtypes(..)` in its `#[op_def(..)]`",
            schema.name
        );
        return syn::Error::new_spanned(operator.to_token_stream(), message).to_compile_error();
    };
    // The callback's tokens use the names of the arguments, so the generated names get the hygiene of the operator's name in these tokens.
    let argument = |at: usize| {
        let mut argument = rust_argument_name(&schema.arguments[at].name);
        argument.set_span(name.span());
        argument
    };
    let tensors: Vec<Ident> = pointwise.operands.iter().map(|&at| argument(at)).collect();
    let is_number = |at: &usize| {
        let ty = RustType::from_argument(&schema.arguments[*at]);
        !pointwise.operands.contains(at) && ty.is_some_and(|ty| !ty.text().contains("Tensor"))
    };
    let numbers = (0..schema.arguments.len()).filter(is_number).map(argument);
    let all = (0..schema.arguments.len()).filter_map(|at| {
        let (argument, ty) = (argument(at), RustType::from_argument(&schema.arguments[at])?.tokens(&runtime));
        Some(quote!(#argument: #ty))
    });
    let dtypes = pointwise.dtypes.iter().map(|dtype| match dtype.to_string().as_str() {
        "c64" => quote!(#runtime::Complex32),
        "c128" => quote!(#runtime::Complex64),
        _ => quote!(#dtype),
    });
    quote!(#callback! { #name { #(#all),* } (#(#tensors),*; #(#numbers),*) [#(#dtypes),*] #rest })
}
