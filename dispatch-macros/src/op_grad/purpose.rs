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
pub(super) const EVERY: u64 = u64::MAX;
const WORD: &str = "saved_for";

/// Returns the signature with these notes at its parameters.
pub(super) fn noted(function: &Function) -> Signature {
    let mut signature = function.signature.clone();
    let Some((before, gradients)) = function.body.as_ref().and_then(parts) else { return signature };
    for input in &mut signature.inputs {
        if let Some(purpose) = signature::name(input).and_then(|name| purpose(name, &before, &gradients))
            && let FnArg::Typed(typed) = input
        {
            typed.attrs.push(parse_quote!(#[saved_for(#purpose)]));
        }
    }
    signature
}

/// Returns whether the body mentions an argument that is not a written parameter.
pub(super) fn is_needed(name: &Ident, function: &Function) -> bool {
    let is_written = function.signature.inputs.iter().any(|input| signature::name(input) == Some(name));
    !is_written && function.body.as_ref().is_some_and(|body| mentions(body, name))
}

/// Returns the note at the parameter with this name.
pub(super) fn read(name: &Ident, signature: &Signature) -> u64 {
    let note = |attribute: &Attribute| {
        attribute.path().is_ident(WORD).then(|| attribute.parse_args::<LitInt>().ok()?.base10_parse().ok())?
    };
    let notes = |input: &FnArg| match input {
        FnArg::Typed(typed) if signature::name(input) == Some(name) => typed.attrs.iter().find_map(note),
        _ => None,
    };
    signature.inputs.iter().find_map(notes).unwrap_or(EVERY)
}

/// Splits a body into its statements and the tuple of gradients at its end.
fn parts(body: &TokenTree) -> Option<(Vec<Stmt>, Vec<Expr>)> {
    let mut statements = syn::parse2::<Block>(body.to_token_stream()).ok()?.stmts;
    let Some(Stmt::Expr(Expr::Tuple(gradients), None)) = statements.pop() else { return None };
    let gradients: Vec<Expr> = gradients.elems.into_iter().collect();
    (gradients.len() < 64).then_some((statements, gradients))
}

/// Returns the bit set of the gradients that use an argument. Returns `None` if all may use it: a gradient that is not a closure is always
/// computed.
fn purpose(name: &Ident, before: &[Stmt], gradients: &[Expr]) -> Option<u64> {
    if before.iter().any(|statement| mentions(statement, name)) {
        return None;
    }
    gradients.iter().enumerate().try_fold(0, |purpose, (i, gradient)| match gradient {
        gradient if !mentions(gradient, name) => Some(purpose),
        Expr::Closure(_) => Some(purpose | 1 << i),
        _ => None,
    })
}

fn mentions(code: &impl ToTokens, name: &Ident) -> bool {
    fn within(tokens: TokenStream, name: &Ident) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == *name,
            TokenTree::Group(group) => within(group.stream(), name),
            // A format string may mention the argument, as a value or as a width.
            TokenTree::Literal(literal) => {
                [format!("{{{name}"), format!("{name}$")].iter().any(|capture| literal.to_string().contains(capture))
            }
            TokenTree::Punct(_) => false,
        })
    }
    within(code.to_token_stream(), name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::{format_ident, quote};

    fn purpose_of(name: &str, function: TokenStream) -> u64 {
        read(&format_ident!("{name}"), &noted(&syn::parse2(function).expect("it is a function")))
    }

    #[test]
    fn what_one_closure_mentions_is_saved_for_its_gradient() {
        let mul = quote!(
            fn mul(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
                (move || grad * conj(other), move || sum(&[grad, this]))
            }
        );
        assert_eq!(purpose_of("this", mul.clone()), 0b10);
        assert_eq!(purpose_of("other", mul.clone()), 0b01);
        assert_eq!(purpose_of("grad", mul), 0b11);
    }

    #[test]
    fn a_derivative_needs_the_arguments_that_its_body_mentions_and_does_not_take_yet() {
        let scaled: Function = syn::parse2(quote!(
            fn scaled(grad: &Tensor, other: &Outline) -> Result<Tensor> {
                (grad * by)?.sum_to(other.sizes(), format!("{dim:width$}"), "this is no mention")
            }
        ))
        .expect("it is a function");
        let needed = |name: &str| is_needed(&format_ident!("{name}"), &scaled);
        assert!(needed("by") && needed("dim") && needed("width"));
        assert!(!needed("this") && !needed("other") && !needed("grad"));
    }

    #[test]
    fn what_is_computed_in_any_case_needs_what_it_mentions() {
        let before = quote!(
            fn before(grad: &Tensor, this: &Tensor) -> (impl Gradient, impl Gradient) {
                let twice = this + this;
                (move || grad * twice, None::<Tensor>)
            }
        );
        let at_once = quote!(
            fn at_once(grad: &Tensor, this: &Tensor) -> (impl Gradient, impl Gradient) {
                (scale(grad, this), move || grad)
            }
        );
        let elsewhere = quote!(
            fn elsewhere(grad: &Tensor, this: &Tensor) -> (impl Gradient, impl Gradient) {
                pair(grad, this)
            }
        );
        for function in [before, at_once, elsewhere] {
            assert_eq!(purpose_of("this", function), EVERY);
        }
    }
}
