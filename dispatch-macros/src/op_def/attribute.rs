//! The arguments of `#[op_def(..)]`.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, Ident, LitStr, Token, parenthesized};

use crate::errors::Errors;
use crate::syntax::schema_source::SchemaSource;

#[derive(Default)]
pub(super) struct Attribute {
    /// `None` if the schema is to be inferred.
    pub(super) schema: Option<SchemaSource>,
    pub(super) rust_operator: Option<Ident>,
    pub(super) shape: Option<ShapeWord>,
    pub(super) dtype: Option<Ident>,
    /// The dtypes in which the operator computes.
    pub(super) dtypes: Option<ComputeDtypesOption>,
    /// A condition that adds to the shape word, or the check of a composite.
    pub(super) check: Option<CheckOption>,
    pub(super) data_dependent: Option<Ident>,
    /// The word that the operator accepts float8 dtypes.
    pub(super) float8: Option<Ident>,
    /// The key of the body, if it is not `CompositeImplicitAutograd`.
    pub(super) body: Option<BodyOption>,
    pub(super) plan: Option<Ident>,
    pub(super) inplace: Option<Ident>,
    pub(super) out: Option<OutOption>,
    /// The call of another operator that defines this one, or the other operator alone for a call with the same arguments.
    pub(super) calls: Option<Expr>,
    /// The call of another operator for each element of the lists.
    pub(super) each: Option<ExprCall>,
}

/// The option `out = "dim_max"(max, max_values)`: the overload of the `out=` form, and the names of its outputs if they differ from those
/// of the results.
pub(super) struct OutOption {
    pub(super) overload: LitStr,
    pub(super) names: Vec<Ident>,
}

/// The option `dtypes(floating, integral)`.
pub(super) struct ComputeDtypesOption {
    pub(super) option: Ident,
    pub(super) words: Vec<Ident>,
}

/// The option `check = call(arguments)`.
pub(super) struct CheckOption {
    pub(super) option: Ident,
    pub(super) condition: Expr,
}

/// The option `body = CompositeExplicitAutograd`.
pub(super) struct BodyOption {
    pub(super) option: Ident,
    pub(super) key: Expr,
}

impl Parse for OutOption {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let overload = input.parse()?;
        let mut names = Vec::new();
        if !input.is_empty() {
            let inside;
            parenthesized!(inside in input);
            names = Punctuated::<Ident, Token![,]>::parse_terminated(&inside)?.into_iter().collect();
        }
        Ok(Self { overload, names })
    }
}

/// A shape word, which describes the results.
pub(super) enum ShapeWord {
    /// `pointwise`, or `pointwise(a, b)` if only some tensors are operands.
    Pointwise { operands: Vec<Ident> },
    /// `reduce`, or `reduce(dim)`.
    Reduce { dims: Option<Ident> },
    /// A product by the letters of its dimensions, such as `"mk,kn->mn"`.
    Product(LitStr),
}

impl Parse for ShapeWord {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            return Ok(Self::Product(input.parse()?));
        }
        let word: Ident = input.parse()?;
        let mut arguments = Vec::new();
        if !input.is_empty() {
            let inside;
            parenthesized!(inside in input);
            arguments = Punctuated::<Ident, Token![,]>::parse_terminated(&inside)?.into_iter().collect();
        }
        match (word.to_string().as_str(), arguments.len()) {
            ("pointwise", _) => Ok(Self::Pointwise { operands: arguments }),
            ("reduce", 0 | 1) => Ok(Self::Reduce { dims: arguments.pop() }),
            ("reduce", _) => Err(syn::Error::new(
                word.span(),
                "`reduce` takes one argument, the list of dimensions; leave the others out",
            )),
            (unknown, _) => {
                let hint = match dispatch_schema::suggest(unknown, ["pointwise", "reduce"]) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the shape words are {SHAPE_WORDS}"),
                };
                Err(syn::Error::new(word.span(), format!("`{unknown}` is not a shape word; {hint}")))
            }
        }
    }
}

const SHAPE_WORDS: &str = "`pointwise`, `reduce(dim)`, and letters such as \"mk,kn->mn\"";
const OPTION_NAMES: [&str; 13] = [
    "plan",
    "operator",
    "shape",
    "dtype",
    "dtypes",
    "float8",
    "check",
    "out",
    "inplace",
    "data_dependent",
    "calls",
    "each",
    "body",
];

impl Attribute {
    pub(super) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut attribute = Self::default();
        for (i, part) in split_at_commas(tokens).into_iter().enumerate() {
            match split_name_and_value(&part) {
                Some((name, value)) => attribute.set_option(&name, value, errors),
                None if i == 0 => attribute.schema = Some(parse_schema_source(part)),
                None => errors.add_at(part, "after its schema, `#[op_def]` takes options, such as `shape = pointwise`"),
            }
        }
        attribute
    }

    fn set_option(&mut self, name: &Ident, value: TokenStream, errors: &mut Errors) {
        let twice = match name.to_string().as_str() {
            "operator" => match Ident::parse.parse2(value) {
                Ok(rust_operator) => self.rust_operator.replace(rust_operator).is_some(),
                Err(_) => return errors.add_at(name, "`operator` takes a Rust operator; write `operator = Add`"),
            },
            "shape" => match ShapeWord::parse.parse2(value.clone()) {
                Ok(shape) => self.shape.replace(shape).is_some(),
                Err(_) if value.is_empty() => {
                    return errors
                        .add_at(name, format!("`shape` takes a shape word; the shape words are {SHAPE_WORDS}"));
                }
                Err(error) => return errors.add(error),
            },
            "dtype" => match Ident::parse.parse2(value) {
                Ok(dtype) => self.dtype.replace(dtype).is_some(),
                Err(_) => return errors.add_at(name, "`dtype` takes the dtype of the result; write `dtype = float`"),
            },
            "dtypes" => match Punctuated::<Ident, Token![,]>::parse_terminated.parse2(value) {
                Ok(words) if !words.is_empty() => {
                    let words = words.into_iter().collect();
                    self.dtypes.replace(ComputeDtypesOption { option: name.clone(), words }).is_some()
                }
                _ => {
                    return errors.add_at(
                        name,
                        "`dtypes` takes the dtypes of the computation; write `dtypes(floating, integral)`",
                    );
                }
            },
            "check" => match Expr::parse.parse2(value) {
                Ok(condition) => self.check.replace(CheckOption { option: name.clone(), condition }).is_some(),
                Err(_) => {
                    return errors.add_at(
                        name,
                        "`check` takes a call that checks arguments; write `check = check_alpha(this, alpha)`",
                    );
                }
            },
            "out" => match OutOption::parse.parse2(value) {
                Ok(form) => self.out.replace(form).is_some(),
                Err(_) => {
                    return errors
                        .add_at(name, "`out` takes the overload name of the `out=` form; write `out = \"out\"`");
                }
            },
            "calls" => match Expr::parse.parse2(value) {
                Ok(Expr::Call(call)) if matches!(&*call.func, Expr::Path(_)) => {
                    self.calls.replace(Expr::Call(call)).is_some()
                }
                Ok(other @ Expr::Path(_)) => self.calls.replace(other).is_some(),
                _ => {
                    return errors
                        .add_at(name, "`calls` takes the call of another operator; write `calls = other(this)`");
                }
            },
            "each" => match ExprCall::parse.parse2(value) {
                Ok(call) if matches!(&*call.func, Expr::Path(_)) => self.each.replace(call).is_some(),
                _ => {
                    return errors.add_at(
                        name,
                        "`each` takes the call of another operator for one element of the lists; write `each = other(this)`",
                    );
                }
            },
            "body" => match Expr::parse.parse2(value) {
                Ok(key @ Expr::Path(_)) => self.body.replace(BodyOption { option: name.clone(), key }).is_some(),
                _ => {
                    return errors
                        .add_at(name, "`body` takes the key of the body; write `body = CompositeExplicitAutograd`");
                }
            },
            "plan" if value.is_empty() => self.plan.replace(name.clone()).is_some(),
            "inplace" if value.is_empty() => self.inplace.replace(name.clone()).is_some(),
            "data_dependent" if value.is_empty() => self.data_dependent.replace(name.clone()).is_some(),
            "float8" if value.is_empty() => self.float8.replace(name.clone()).is_some(),
            flag @ ("inplace" | "data_dependent" | "plan" | "float8") => {
                return errors.add_at(name, format!("`{flag}` takes no value; write it alone"));
            }
            unknown => {
                let hint = match dispatch_schema::suggest(unknown, OPTION_NAMES) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the options are {}", OPTION_NAMES.map(|option| format!("`{option}`")).join(", ")),
                };
                return errors.add_at(name, format!("`#[op_def]` has no option `{unknown}`; {hint}"));
            }
        };
        if twice {
            errors.add_at(name, format!("`{name}` is given twice; leave one out"));
        }
    }
}

fn parse_schema_source(part: TokenStream) -> SchemaSource {
    match syn::parse2::<LitStr>(part.clone()) {
        Ok(text) => SchemaSource::Text(text),
        Err(_) => SchemaSource::Tokens(part),
    }
}

/// Splits an option: `name = value`, `dtypes(value)`, or a single name.
fn split_name_and_value(part: &TokenStream) -> Option<(Ident, TokenStream)> {
    let mut trees = part.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Ident(name)), Some(TokenTree::Group(words))) if name == "dtypes" => {
            Some((name, words.stream()))
        }
        (Some(TokenTree::Ident(name)), Some(TokenTree::Punct(equals))) if equals.as_char() == '=' => {
            Some((name, trees.collect()))
        }
        (Some(TokenTree::Ident(name)), None) => Some((name, TokenStream::new())),
        _ => None,
    }
}

fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
    let parts = trees.split(is_comma).filter(|part| !part.is_empty());
    parts.map(|part| part.iter().cloned().collect()).collect()
}
