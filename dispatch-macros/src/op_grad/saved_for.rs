//! Detection of the gradients for which an argument is saved.
//!
//! If a formula ends in a tuple of closures, one for each input, an argument that only the closure for `self` mentions need not be saved if
//! `self` requires no gradient. The first step sees the function's body, and notes this as an attribute of the parameter for the second
//! step.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Block, Expr, FnArg, LitInt, Signature, Stmt, parse_quote};

use crate::syntax::function::Function;
use crate::syntax::signature;

/// The bit set of an argument that is saved for every input.
pub(super) const ALL_GRADIENT_BITS: u64 = u64::MAX;
const SAVED_FOR_ATTRIBUTE: &str = "saved_for";

/// Returns the signature with `#[saved_for(bits)]` at each parameter that only some gradients use.
pub(super) fn with_saved_for_attributes(function: &Function) -> Signature {
    let mut signature = function.signature.clone();
    let Some((before, gradients)) = function.body.as_ref().and_then(split_statements_and_gradients) else {
        return signature;
    };
    for input in &mut signature.inputs {
        if let Some(gradients) =
            signature::parameter_name(input).and_then(|name| bits_of_gradients_that_use(name, &before, &gradients))
            && let FnArg::Typed(typed) = input
        {
            typed.attrs.push(parse_quote!(#[saved_for(#gradients)]));
        }
    }
    signature
}

/// Returns whether the body mentions an argument that is missing in the list of parameters.
pub(super) fn body_needs_argument(name: &Ident, function: &Function) -> bool {
    let is_written = function.signature.inputs.iter().any(|input| signature::parameter_name(input) == Some(name));
    !is_written && function.body.as_ref().is_some_and(|body| mentions_name(body, name))
}

/// Returns the bits in the attribute `#[saved_for(bits)]` of a parameter, or all bits if it has no such attribute.
pub(super) fn read_saved_for(name: &Ident, signature: &Signature) -> u64 {
    let note = |attribute: &Attribute| {
        attribute
            .path()
            .is_ident(SAVED_FOR_ATTRIBUTE)
            .then(|| attribute.parse_args::<LitInt>().ok()?.base10_parse().ok())?
    };
    let notes = |input: &FnArg| match input {
        FnArg::Typed(typed) if signature::parameter_name(input) == Some(name) => typed.attrs.iter().find_map(note),
        _ => None,
    };
    signature.inputs.iter().find_map(notes).unwrap_or(ALL_GRADIENT_BITS)
}

/// Splits a body into its statements and the tuple of gradients at its end.
fn split_statements_and_gradients(body: &TokenTree) -> Option<(Vec<Stmt>, Vec<Expr>)> {
    let mut statements = syn::parse2::<Block>(body.to_token_stream()).ok()?.stmts;
    let Some(Stmt::Expr(Expr::Tuple(gradients), None)) = statements.pop() else { return None };
    let gradients: Vec<Expr> = gradients.elems.into_iter().collect();
    (gradients.len() < 64).then_some((statements, gradients))
}

/// Returns the bit set of the gradients that use an argument. Returns `None` if all may use it: a gradient that is not a closure is always
/// computed.
fn bits_of_gradients_that_use(name: &Ident, before: &[Stmt], gradients: &[Expr]) -> Option<u64> {
    if before.iter().any(|statement| mentions_name(statement, name)) {
        return None;
    }
    gradients.iter().enumerate().try_fold(0, |bits, (i, gradient)| match gradient {
        gradient if !mentions_name(gradient, name) => Some(bits),
        Expr::Closure(_) => Some(bits | 1 << i),
        _ => None,
    })
}

fn mentions_name(code: &impl ToTokens, name: &Ident) -> bool {
    fn contains_ident(tokens: TokenStream, name: &Ident) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == *name,
            TokenTree::Group(group) => contains_ident(group.stream(), name),
            // A format string may mention the argument, as a value or as a width.
            TokenTree::Literal(literal) => {
                [format!("{{{name}"), format!("{name}$")].iter().any(|capture| literal.to_string().contains(capture))
            }
            TokenTree::Punct(_) => false,
        })
    }
    contains_ident(code.to_token_stream(), name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::{format_ident, quote};

    fn saved_for_bits(name: &str, function: TokenStream) -> u64 {
        read_saved_for(
            &format_ident!("{name}"),
            &with_saved_for_attributes(&syn::parse2(function).expect("a function")),
        )
    }

    #[test]
    fn an_argument_of_one_closure_is_saved_for_that_gradient() {
        let mul = quote!(
            fn mul(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
                (move || grad * conj(other), move || sum(&[grad, this]))
            }
        );
        assert_eq!(saved_for_bits("this", mul.clone()), 0b10);
        assert_eq!(saved_for_bits("other", mul.clone()), 0b01);
        assert_eq!(saved_for_bits("grad", mul), 0b11);
    }

    #[test]
    fn a_body_needs_the_arguments_that_it_mentions_and_that_are_not_parameters() {
        let scaled: Function = syn::parse2(quote!(
            fn scaled(grad: &Tensor, other: &TensorOutline) -> Result<Tensor> {
                (grad * by)?.sum_to(other.sizes(), format!("{dim:width$}"), "this is no mention")
            }
        ))
        .expect("a function");
        let needed = |name: &str| body_needs_argument(&format_ident!("{name}"), &scaled);
        assert!(needed("by") && needed("dim") && needed("width"));
        assert!(!needed("this") && !needed("other") && !needed("grad"));
    }

    #[test]
    fn arguments_used_outside_of_closures_are_saved_for_all_gradients() {
        let used_in_statement = quote!(
            fn used_in_statement(grad: &Tensor, this: &Tensor) -> (impl Gradient, impl Gradient) {
                let twice = this + this;
                (move || grad * twice, None::<Tensor>)
            }
        );
        let computed_without_closure = quote!(
            fn computed_without_closure(grad: &Tensor, this: &Tensor) -> (impl Gradient, impl Gradient) {
                (scale(grad, this), move || grad)
            }
        );
        let passed_to_function = quote!(
            fn passed_to_function(grad: &Tensor, this: &Tensor) -> (impl Gradient, impl Gradient) {
                pair(grad, this)
            }
        );
        for function in [used_in_statement, computed_without_closure, passed_to_function] {
            assert_eq!(saved_for_bits("this", function), ALL_GRADIENT_BITS);
        }
    }
}
