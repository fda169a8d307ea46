//! `expr!`: an arithmetic expression of tensors, with `?` after each operation.
//!
//! Only Rust's arithmetic operators are rewritten. All other code in the expression, such as a call, is an operand, and stays as it is.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprUnary, UnOp};

use crate::crate_path;
use crate::syntax::user_tokens::at_user_span;

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    if input.is_empty() {
        let message = "`expr!` needs an expression, such as `expr!(a * b + c)`";
        return syn::Error::new(Span::call_site(), message).to_compile_error();
    }
    let expanded = syn::parse2(input).and_then(|expression| {
        let runtime = crate_path::runtime_path();
        let expansion = Expansion { private: quote!(#runtime::__private) };
        let value = expansion.operation(&expression)?;
        let private = &expansion.private;
        Ok(quote!(#private::evaluate(|| { #value })))
    });
    expanded.unwrap_or_else(|error| error.to_compile_error())
}

struct Expansion {
    private: TokenStream,
}

impl Expansion {
    /// Returns the code of the outermost operation, whose value is the `Result` of the macro.
    fn operation(&self, expression: &Expr) -> syn::Result<TokenStream> {
        match expression {
            Expr::Paren(inner) => self.operation(&inner.expr),
            Expr::Group(inner) => self.operation(&inner.expr),
            Expr::Binary(ExprBinary { left, op, right, .. }) => {
                check_operator(op)?;
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                Ok(quote!(#left #op #right))
            }
            Expr::Unary(ExprUnary { op: op @ (UnOp::Neg(_) | UnOp::Not(_)), expr, .. }) => {
                let operand = self.operand(expr)?;
                Ok(quote!(#op #operand))
            }
            Expr::Assign(assign) => Err(assignment_error(assign.eq_token.span())),
            other => {
                let message =
                    "`expr!` is for arithmetic, and this has no operator to rewrite; write it without `expr!`";
                Err(syn::Error::new_spanned(other, message))
            }
        }
    }

    /// Returns the code of an operand, whose value is a tensor, a reference to one, or a number.
    fn operand(&self, expression: &Expr) -> syn::Result<TokenStream> {
        let at = at_user_span(expression.span());
        let private = respan(self.private.clone(), at);
        Ok(match expression {
            // Numbers without a type stay as they are, so that their types are inferred.
            Expr::Lit(_) => quote!(#expression),
            literals if is_of_literals(literals) => quote_spanned!(at=> (#literals)),
            Expr::Paren(inner) => self.operand(&inner.expr)?,
            Expr::Group(inner) => self.operand(&inner.expr)?,
            Expr::Path(_) | Expr::Field(_) | Expr::Index(_) | Expr::Unary(ExprUnary { op: UnOp::Deref(_), .. }) => {
                quote_spanned!(at=> #private::borrow_operand(&#expression))
            }
            Expr::Binary(_) | Expr::Unary(_) | Expr::Assign(_) => {
                let operation = self.operation(expression)?;
                quote_spanned!(at=> #private::unwrap_operand(#operation)?)
            }
            _ => quote_spanned!(at=> #private::unwrap_operand(#expression)?),
        })
    }
}

/// Whether an expression is a literal, or an operation of literals.
fn is_of_literals(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(_) => true,
        Expr::Paren(inner) => is_of_literals(&inner.expr),
        Expr::Group(inner) => is_of_literals(&inner.expr),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_) | UnOp::Not(_), expr, .. }) => is_of_literals(expr),
        Expr::Binary(ExprBinary { left, op, right, .. }) => {
            check_operator(op).is_ok() && is_of_literals(left) && is_of_literals(right)
        }
        _ => false,
    }
}

fn respan(tokens: TokenStream, at: Span) -> TokenStream {
    let respan_token = |mut token: TokenTree| {
        token.set_span(at);
        token
    };
    tokens.into_iter().map(respan_token).collect()
}

fn check_operator(operator: &BinOp) -> syn::Result<()> {
    match operator {
        BinOp::Add(_)
        | BinOp::Sub(_)
        | BinOp::Mul(_)
        | BinOp::Div(_)
        | BinOp::Rem(_)
        | BinOp::BitAnd(_)
        | BinOp::BitOr(_)
        | BinOp::BitXor(_)
        | BinOp::Shl(_)
        | BinOp::Shr(_) => Ok(()),
        BinOp::And(_) | BinOp::Or(_) => {
            let message = "`&&` and `||` are for one `bool`; for the elements of tensors write `&` and `|`";
            Err(syn::Error::new_spanned(operator, message))
        }
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
            let message =
                "a comparison in Rust gives one `bool`; for the elements of tensors call a method, such as `a.lt(&b)`";
            Err(syn::Error::new_spanned(operator, message))
        }
        _ => Err(assignment_error(operator.span())),
    }
}

fn assignment_error(at: Span) -> syn::Error {
    let message = "`expr!` computes a new tensor; to write to one, call its in-place method, such as `x.add_(&y)`";
    syn::Error::new(at, message)
}
