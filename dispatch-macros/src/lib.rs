//! The attribute macros of opdispatch.
//!
//! Every macro is parse, check, expand. Checking reports all mistakes at once, and a definition with mistakes still expands to a stub,
//! so that its users do not get errors of their own. Kernel bodies are never parsed: half-typed code completes in an editor.
//!
//! Depend on `dispatch-runtime` or `opdispatch`, which re-export all of these; their examples are there.
#![forbid(unsafe_code)]
#![expect(clippy::single_match_else, reason = "two cases of equal weight")]

mod autocast_policy;
mod crate_path;
mod definition_number;
mod dispatch_key;
mod duplicate_definition;
mod errors;
mod link;
mod named_call;
mod op_def;
mod op_fallback;
mod op_grad;
mod op_impl;
mod op_plan;
mod op_row;
mod op_vmap;
mod schema_callback;
mod syntax;

use proc_macro::TokenStream;

/// Declares an operator: `#[op_def("name(Tensor self) -> Tensor")]` over a function without body, or, for a composite of other
/// operators, with one. The schema can also be written without quotes, or left out to be inferred from the signature. The parameters
/// can be left out instead: `fn name(_: ...) -> Result<Tensor>` takes those of the schema, and a body calls them by the schema's names.
///
/// | option | effect |
/// |---|---|
/// | `plan` | the contract is under `#[op_plan]` |
/// | `shape = pointwise`, `reduce(dim)`, `"mk,kn->mn"` | the contract is this shape word |
/// | `dtype = float`, `dtypes(floating)`, `check = f(this)` | what a shape word does not say: the dtype of the result, the dtypes that are computed, a condition |
/// | `check = f(this)` over a body | asked if the body fails: its error, in the operator's own words, replaces that of a part |
/// | `data_dependent` | the sizes of results depend on elements |
/// | `inplace`, `out = "out"` | defines the forms that write |
/// | `calls = other(this)` | the operator is this call, and its forms are calls of the other operator's forms; `calls = other` has the same arguments |
/// | `body = CompositeExplicitAutograd` | the key that the body serves, in place of `CompositeImplicitAutograd` |
/// | `operator = Add` | `&a + &b` calls it |
#[proc_macro_attribute]
pub fn op_def(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_def::expand(attribute.into(), &item.into()).into()
}

/// Gives an operator a kernel: `#[op_impl(path::to::operator, KEY)]`. Several keys may be named; none means every key that nothing
/// else serves. After the keys: `override`, `when(condition)` and `priority = N`, `dtypes(words)` and `by = argument` over a
/// kernel that is generic over the element type, `boxed` for a kernel that takes its arguments from the stack. A kernel whose first
/// parameter is `plan` takes the operator's plan, its outputs and the arguments that it names, and serves every form; `in_place`,
/// `strided` and `converts` say which outputs of a caller's it writes directly. `_: ...` stands for all arguments of the operator.
#[proc_macro_attribute]
pub fn op_impl(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_impl::expand(&attribute.into(), &item.into()).into()
}

/// Says what an operator's results look like, where no shape word does: `#[op_meta(path::to::operator)]` over a function that takes the
/// arguments, on Meta, and gives results of the right sizes and dtype. The same as `#[op_impl(path::to::operator, Meta)]`.
#[proc_macro_attribute]
pub fn op_meta(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let operator = proc_macro2::TokenStream::from(attribute);
    op_impl::expand(&quote::quote!(#operator, Meta), &item.into()).into()
}

/// Says what a key does for every operator that has no kernel for it: `#[op_fallback(KEY)]` over a boxed kernel. After the key:
/// `aliasing`, for operators alone whose schema has alias annotations on arguments - for all others the key falls through - and
/// `marked(REQUIRES_GRAD, VIEW)`, where it has something to do only for tensors with one of these marks.
///
/// `marked` is a promise of the author's: where no tensor among the arguments carries one of the marks, all that the fallback would do is
/// to hand the call on below its key. A typed call then goes there at once, and no stack is made; a boxed call always runs the fallback.
/// One that is `aliasing` too is concerned by every operator that gives views, whatever the marks.
#[proc_macro_attribute]
pub fn op_fallback(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_fallback::expand(&attribute.into(), &item.into()).into()
}

/// Says that a key does nothing: `fallthrough!(KEY)` for every operator that has no kernel for it, `fallthrough!(operator, KEY)` for
/// one.
#[proc_macro]
pub fn fallthrough(input: TokenStream) -> TokenStream {
    op_fallback::fallthrough(&input.into()).into()
}

/// Declares a key: `#[dispatch_key(backend)] pub static NPU: Key;` or `#[dispatch_key(layer, above = Autograd)] pub static Audit: Key;`.
/// A layer lands above `Backends`, `Autograd`, `Autocast` or `Everything`.
#[proc_macro_attribute]
pub fn dispatch_key(attribute: TokenStream, item: TokenStream) -> TokenStream {
    dispatch_key::expand(&attribute.into(), item.into()).into()
}

/// Links crates for their registrations alone: `link!(myops_cpu, myops_cuda);`.
#[proc_macro]
pub fn link(input: TokenStream) -> TokenStream {
    link::expand(input.into()).into()
}

/// Gives an operator its derivative: `#[op_grad(path::to::operator)]` over a function that takes, by name, gradients of results (`grad`)
/// and whatever arguments and results (`result`) it needs saved, and gives the gradients of the operator's tensors. Of a tensor taken as
/// `&Outline`, and of a list taken as `&[Outline]`, it saves no elements. A tensor that only the closure for one input mentions is saved
/// only where that input's gradient goes somewhere. `_: ...` stands for the arguments that the body mentions.
#[proc_macro_attribute]
pub fn op_grad(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_grad::expand(&attribute.into(), &item.into()).into()
}

/// Says that operators have no derivative, on purpose: `not_differentiable!(path::to::operator, ..)`.
#[proc_macro]
pub fn not_differentiable(input: TokenStream) -> TokenStream {
    op_grad::not_differentiable(&input.into()).into()
}

/// Says how an operator is called for a whole batch at once: `#[op_vmap(path::to::operator)]` over a function that takes the batch and,
/// in order, the operator's arguments (`_: ...` stands for them), each tensor as a `Mapped` one, and gives the results as `Mapped` ones.
#[proc_macro_attribute]
pub fn op_vmap(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_vmap::expand(&attribute.into(), &item.into()).into()
}

/// Not public API: finds an operator's own macro.
#[doc(hidden)]
#[proc_macro]
pub fn unknown_operator_import_it_or_define_it_with_op_def(input: TokenStream) -> TokenStream {
    schema_callback::find_operator(input.into()).into()
}

/// Not public API: what an operator's own macro hands a batch rule to, together with the operator's schema.
#[doc(hidden)]
#[proc_macro]
pub fn __vmap(input: TokenStream) -> TokenStream {
    op_vmap::expand_checked(input.into()).into()
}

/// Not public API: what an operator's own macro hands a derivative to, together with the operator's schema.
#[doc(hidden)]
#[proc_macro]
pub fn __grad(input: TokenStream) -> TokenStream {
    op_grad::expand_checked(input.into()).into()
}

/// Not public API: the same for an operator without derivative.
#[doc(hidden)]
#[proc_macro]
pub fn __not_differentiable(input: TokenStream) -> TokenStream {
    op_grad::expand_statement(input.into()).into()
}

/// Says what an operator accepts and returns: `#[op_plan(operator)]` over a function that takes the arguments it names, or `_: ...` for all
/// of them, and returns a `Plan`, or a `PlanList` for an operator that returns a list. It stands in the crate of the operator.
#[proc_macro_attribute]
pub fn op_plan(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_plan::expand(&attribute.into(), &item.into()).into()
}

/// Not public API: what an operator's own macro hands a plan to, together with the operator's schema.
#[doc(hidden)]
#[proc_macro]
pub fn __plan(input: TokenStream) -> TokenStream {
    op_plan::expand_checked(input.into()).into()
}

/// Not public API: what an operator's own macro hands a kernel to, together with the operator's schema.
#[doc(hidden)]
#[proc_macro]
pub fn __kernel(input: TokenStream) -> TokenStream {
    op_impl::expand_checked(input.into()).into()
}

/// Not public API: what the named form of a call expands to.
#[doc(hidden)]
#[proc_macro]
pub fn __call(input: TokenStream) -> TokenStream {
    named_call::expand(input.into()).into()
}

/// What the definition of an elementwise operator says, for a macro of a backend's.
#[proc_macro]
pub fn op_row(input: TokenStream) -> TokenStream {
    op_row::expand(input.into()).into()
}

#[doc(hidden)]
#[proc_macro]
pub fn __row(input: TokenStream) -> TokenStream {
    op_row::expand_checked(input.into()).into()
}

/// Not public API: a backend's key that is not built in, by its name.
#[doc(hidden)]
#[proc_macro]
pub fn unknown_backend_import_its_key_or_declare_it_with_dispatch_key(input: TokenStream) -> TokenStream {
    syntax::keys::find_key(input.into()).into()
}

/// Not public API: what `autocast!` expands to if it does not have the policy.
#[doc(hidden)]
#[proc_macro]
pub fn __no_policy(input: TokenStream) -> TokenStream {
    autocast_policy::no_policy(input.into()).into()
}
