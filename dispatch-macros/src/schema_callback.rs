//! Passes the schema of an operator to an attribute that names the operator.
//!
//! An attribute sees only a function. The schema is elsewhere, perhaps in another crate. So there are two steps: the first passes its
//! tokens to the operator's own macro, and that macro calls the second step with the schema in front of them.

use dispatch_schema::Schema;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{FnArg, LitInt, LitStr, Path, Signature, Token, bracketed};

use crate::crate_path;
use crate::syntax::function::Function;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature;
use crate::syntax::user_tokens::at_user_span;

/// Generates a call of an operator's macro. That macro calls the macro `to` with the operator's schema and the tokens `what`.
pub(crate) fn call_with_schema(operator: &Path, to: &TokenStream, what: &TokenStream) -> TokenStream {
    let runtime = crate_path::runtime_path();
    let find = quote!(#runtime::unknown_operator_import_it_or_define_it_with_op_def);
    let call_back = quote!({ @kernel #to, #what });
    match operator.get_ident() {
        Some(name) => quote!(#find! { #name #call_back }),
        None => {
            let alias = operator_macro_alias(operator);
            quote!(const _: () = { #find! { #operator } #alias! #call_back };)
        }
    }
}

/// Returns the alias under which an operator's macro is imported. It differs for each operator, as one attribute may expand inside of the
/// block of another.
fn operator_macro_alias(operator: &Path) -> Ident {
    let end = operator.segments.last().map_or_else(Span::call_site, |segment| segment.ident.span());
    let words: Vec<String> = operator.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
    Ident::new(&format!("__operator_{}", words.join("_")), at_user_span(end))
}

/// Generates the call of an operator's macro. For a path, it generates an import of the macro under its alias.
///
/// If there is no such operator, the compiler's error names the macro from which the name comes, and that macro's name is the advice.
pub(crate) fn generate_operator_lookup(input: TokenStream) -> TokenStream {
    fn parse_operator_and_tokens(input: ParseStream<'_>) -> syn::Result<(Path, TokenStream)> {
        Ok((input.call(Path::parse_mod_style)?, input.parse()?))
    }
    let (operator, call_back) = match parse_operator_and_tokens.parse2(input) {
        Ok(parts) => parts,
        Err(error) => return error.to_compile_error(),
    };
    if let Some(name) = operator.get_ident() {
        let mut name = name.clone();
        name.set_span(at_user_span(name.span()));
        return quote!(#name! #call_back);
    }
    // The compiler suggests similar names for an import, but not for a macro.
    let alias = operator_macro_alias(&operator);
    // Some of PyTorch's operators have the word `unsafe` in their names.
    quote! {
        #[allow(clippy::unsafe_removed_from_name)]
        use #operator as #alias;
    }
}

/// Generates the call of an operator's macro for an attribute over a function. If `_: ...` stands for parameters, the second step generates
/// the function.
pub(crate) fn call_with_schema_for_function(
    operator: &Path,
    to: &TokenStream,
    attribute: &TokenStream,
    (function, signature): (&Function, &Signature),
    dots: Option<Token![...]>,
) -> TokenStream {
    match dots {
        None => {
            let call_back = call_with_schema(operator, to, &quote!([#attribute] [#signature]));
            quote!(#function #call_back)
        }
        Some(dots) => call_with_schema(operator, to, &quote!([#attribute] [#signature] [#dots #function])),
    }
}

/// The input of the second step for an attribute over a function: `[options] [signature]`, after the schema.
pub(crate) struct FunctionWithSchema<Attribute> {
    pub(crate) schema: Schema,
    pub(crate) properties: OperatorProperties,
    pub(crate) attribute: Attribute,
    pub(crate) signature: Signature,
    /// The tokens `...`, and the function whose parameters they stand for.
    elided: Option<(Token![...], Function)>,
}

impl<Attribute> FunctionWithSchema<Attribute> {
    /// Replaces `_: ...` in the signature by the arguments of the schema, of types that `of_type` returns. Returns the completed function,
    /// or `None` if there is no `_: ...`.
    pub(crate) fn expand_elided_parameters(
        &mut self,
        of_type: impl Fn(&Function, &Ident, RustType) -> Option<TokenStream>,
    ) -> syn::Result<Option<Function>> {
        let Some((dots, mut function)) = self.elided.take() else { return Ok(None) };
        let inputs: Vec<FnArg> =
            signature::parameters_for_schema(&self.schema, dots, |name, ty| of_type(&function, name, ty)).collect();
        let mut written = signature::parameters(&function.signature).into_iter().filter_map(|parameter| parameter.name);
        let is_twice = |name: &Ident| inputs.iter().any(|input| signature::parameter_name(input) == Some(name));
        if let Some(name) = written.find(is_twice) {
            let message = format!("`_: ...` stands for all arguments of the schema; leave `{name}` out");
            return Err(syn::Error::new(name.span(), message));
        }
        function.signature.inputs.extend(inputs);
        self.signature = function.signature.clone();
        Ok(Some(function))
    }
}

impl<Attribute: Parse> Parse for FunctionWithSchema<Attribute> {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let schema = parse_schema_literal(input)?;
        let properties = input.parse()?;
        let (attribute, signature);
        bracketed!(attribute in input);
        bracketed!(signature in input);
        let elided = if input.is_empty() {
            None
        } else {
            let function;
            bracketed!(function in input);
            Some((function.parse()?, function.parse()?))
        };
        Ok(Self { schema, properties, attribute: attribute.parse()?, signature: signature.parse()?, elided })
    }
}

/// The properties of an operator beside its schema, in the form in which its macro passes them:
/// `{ plan data_dependent float8 pointwise [0 1] [f32 f64] in_place "schema" out "schema" }`.
#[derive(Default)]
pub(crate) struct OperatorProperties {
    pub(crate) has_plan: bool,
    pub(crate) pointwise: Option<PointwiseProperty>,
    pub(crate) data_dependent: bool,
    pub(crate) float8: bool,
    pub(crate) in_place: Option<Schema>,
    pub(crate) out: Option<Schema>,
}

/// The contents of a shape word `pointwise`: the positions of the operands, and the Rust names of the dtypes in which it computes.
pub(crate) struct PointwiseProperty {
    pub(crate) operands: Vec<usize>,
    pub(crate) dtypes: Vec<Ident>,
}

impl Parse for PointwiseProperty {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (operands, dtypes);
        bracketed!(operands in input);
        bracketed!(dtypes in input);
        let mut pointwise = Self { operands: Vec::new(), dtypes: Vec::new() };
        while !operands.is_empty() {
            pointwise.operands.push(operands.parse::<LitInt>()?.base10_parse()?);
        }
        while !dtypes.is_empty() {
            pointwise.dtypes.push(dtypes.parse()?);
        }
        Ok(pointwise)
    }
}

impl Parse for OperatorProperties {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut properties = Self::default();
        if !input.peek(syn::token::Brace) {
            return Ok(properties);
        }
        let inside;
        syn::braced!(inside in input);
        while !inside.is_empty() {
            let word: Ident = inside.parse()?;
            match word.to_string().as_str() {
                "plan" => properties.has_plan = true,
                "data_dependent" => properties.data_dependent = true,
                "float8" => properties.float8 = true,
                "pointwise" => properties.pointwise = Some(inside.parse()?),
                "in_place" => properties.in_place = Some(parse_schema_literal(&inside)?),
                _ => properties.out = Some(parse_schema_literal(&inside)?),
            }
        }
        Ok(properties)
    }
}

/// Parses the schema at the start of the input, and skips the operator's properties after it.
pub(crate) fn parse_schema_skipping_properties(input: ParseStream<'_>) -> syn::Result<Schema> {
    let schema = parse_schema_literal(input)?;
    input.parse::<OperatorProperties>()?;
    Ok(schema)
}

/// Parses a schema from a string literal. The definition printed it, so it is valid.
pub(crate) fn parse_schema_literal(input: ParseStream<'_>) -> syn::Result<Schema> {
    let text: LitStr = input.parse()?;
    Schema::parse(&text.value()).map_err(|mistakes| {
        syn::Error::new(text.span(), format!("this is not an operator's schema: {}", mistakes.render(&text.value())))
    })
}
