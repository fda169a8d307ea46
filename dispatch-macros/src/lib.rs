//! The attribute macros of opdispatch.
//!
//! Every macro has three steps: parse, check, expand. The check reports all mistakes at once. A definition with mistakes still expands to a
//! stub, so that its uses are not reported as errors, too. Kernel bodies are never parsed, so an editor can complete half-typed code.
//!
//! Depend on `dispatch-runtime` or `opdispatch`, which re-export these macros; their documentation has examples.
#![forbid(unsafe_code)]
#![expect(clippy::single_match_else, reason = "two cases of equal weight")]

mod crate_path;
mod definition_number;
mod dispatch_key;
mod duplicate_definition;
mod errors;
mod expr;
mod link;
mod module;
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
mod tensor_tree;
mod unknown_autocast_policy;

use proc_macro::TokenStream;

/// Declares an operator: `#[op_def("name(Tensor self) -> Tensor")]` over a function without body, or over a function with a body for a
/// composite of other operators. The schema can also be written without quotes, or left out to be inferred from the signature. Instead of
/// the parameters, `fn name(_: ...) -> Result<Tensor>` takes those of the schema, under the schema's names.
///
/// | option | effect |
/// |---|---|
/// | `plan` | the operator has a plan: a function under `#[op_plan]` |
/// | `shape = pointwise`, `reduce(dim)`, `"mk,kn->mn"` | the operator has the plan of this shape word |
/// | `dtype = float`, `check = f(this)` | for a shape word: result dtype, a condition |
/// | `dtypes(floating)` | for `shape = pointwise`: dtypes of the computation, groups only: `floating`, `integral`, `complex`, `all` |
/// | `check = f(this)` over a body | a check that runs if the body fails: its error replaces that of the inner operator |
/// | `float8` | the operator accepts float8 dtypes, which plans otherwise refuse |
/// | `data_dependent` | the sizes of results depend on elements |
/// | `inplace`, `out = "out"` | defines the in-place and the `out=` form |
/// | `calls = other(this)` | the operator is this call, and its forms call the other's forms; `calls = other` passes the same arguments |
/// | `each = other(this)` | the operator is this call for each element of its lists, and its forms call the other's forms |
/// | `body = CompositeExplicitAutograd` | the key for which the body is registered, instead of `CompositeImplicitAutograd` |
/// | `operator = Add` | `&a + &b` calls the operator |
#[proc_macro_attribute]
pub fn op_def(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_def::expand(attribute.into(), &item.into()).into()
}

/// Registers a kernel of an operator: `#[op_impl(path::to::operator, KEY)]`. Several keys may be named. Without a key, the kernel is
/// registered for `CompositeImplicitAutograd`: it serves every backend without a kernel of its own, and autograd differentiates the
/// operators that it calls, so a `#[op_grad]` of the operator does not run there. A kernel with `dtypes(..)` or a `plan` must name a key.
/// After the keys: `override`, `when(condition)` and `priority = N`, `dtypes(words)` and
/// `by = argument` for a kernel that is generic over the element type (the dtype of `argument` selects it; without `by`, that of the first
/// tensor, or the one that all operands of an elementwise operator promote to), `boxed` for a kernel that takes its arguments from the stack. A
/// kernel whose first parameter is `plan` takes the operator's plan, its outputs and the arguments that it names, and serves every form of
/// the operator. For such a kernel, `in_place`, `strided` and `converts` say which outputs of the caller it writes directly. `_: ...`
/// stands for all arguments of the operator.
#[proc_macro_attribute]
pub fn op_impl(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_impl::expand(&attribute.into(), &item.into()).into()
}

/// Registers the Meta kernel of an operator without a shape word: `#[op_meta(path::to::operator)]` over a function that takes the
/// arguments, on Meta, and returns results with the right dtypes and sizes. It is short for `#[op_impl(path::to::operator, Meta)]`.
#[proc_macro_attribute]
pub fn op_meta(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let operator = proc_macro2::TokenStream::from(attribute);
    op_impl::expand(&quote::quote!(#operator, Meta), &item.into()).into()
}

/// Registers a fallback: a boxed kernel that serves a key for every operator without a kernel for it, `#[op_fallback(KEY)]`. After the key,
/// `aliasing` limits the fallback to operators whose schema has alias annotations on arguments; all others fall through.
/// `marked(REQUIRES_GRAD, VIEW)` limits it to calls with a tensor that has one of these marks.
///
/// `marked` is a promise of the author: if no tensor among the arguments has one of the marks, the fallback only redispatches below its
/// key. Typed calls then skip it without building a stack; boxed calls always run it. If the fallback is `aliasing` too, operators that
/// return views always run it, also if no tensor has a mark.
#[proc_macro_attribute]
pub fn op_fallback(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_fallback::expand(&attribute.into(), &item.into()).into()
}

/// Registers a fallthrough: calls skip a key. `fallthrough!(KEY)` is for every operator without a kernel for the key, and
/// `fallthrough!(operator, KEY)` for one operator.
#[proc_macro]
pub fn fallthrough(input: TokenStream) -> TokenStream {
    op_fallback::expand_fallthrough(&input.into()).into()
}

/// Declares a key: `#[dispatch_key(backend)] pub static NPU: Key;` or `#[dispatch_key(layer, above = Autograd)] pub static Audit: Key;`.
/// A layer is placed above `Backends`, `Autograd`, `Autocast`, `Everything`, or another layer's key.
#[proc_macro_attribute]
pub fn dispatch_key(attribute: TokenStream, item: TokenStream) -> TokenStream {
    dispatch_key::expand(&attribute.into(), item.into()).into()
}

/// Links crates only for their registrations: `link!(myops_cpu, myops_cuda);`.
#[proc_macro]
pub fn link(input: TokenStream) -> TokenStream {
    link::expand(input.into()).into()
}

/// Registers the gradient formula of an operator: `#[op_grad(path::to::operator)]` over a function that returns the gradients of the
/// operator's tensor arguments. Its parameters name what it needs: gradients of results (`grad`), and saved arguments and results
/// (`result`). Of a tensor taken as `&TensorOutline`, or a list taken as `&[TensorOutline]`, no elements are saved. If the function ends in
/// a tuple of closures, one for each input, a tensor that only one closure mentions is saved only if that input requires a gradient.
/// `_: ...` stands for the arguments that the body mentions.
#[proc_macro_attribute]
pub fn op_grad(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_grad::expand(&attribute.into(), &item.into()).into()
}

/// Declares that operators have no derivative: `not_differentiable!(path::to::operator, ..)`.
#[proc_macro]
pub fn not_differentiable(input: TokenStream) -> TokenStream {
    op_grad::expand_not_differentiable(&input.into()).into()
}

/// Registers the batch rule of an operator: `#[op_vmap(path::to::operator)]` over a function that calls the operator for a whole batch at
/// once. It takes the batch and, in order, the operator's arguments (`_: ...` stands for them), with a `Mapped` for each tensor, and
/// returns the results as `Mapped`.
#[proc_macro_attribute]
pub fn op_vmap(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_vmap::expand(&attribute.into(), &item.into()).into()
}

/// Computes an arithmetic expression of tensors, and returns the first error: `expr!(a * b + c * 2.0)?`. Operands are tensors, references
/// to tensors, numbers, and `Result`s of these. They are borrowed.
#[proc_macro]
pub fn expr(input: TokenStream) -> TokenStream {
    expr::expand(input.into()).into()
}

/// Makes a struct a tree of tensors, if all its fields are trees: tensors, numbers, tuples, lists, options and maps of trees.
#[proc_macro_derive(TensorTree)]
pub fn tensor_tree(input: TokenStream) -> TokenStream {
    tensor_tree::expand(input.into()).into()
}

/// Makes a struct a module of a neural network, if all its fields are parts of modules: parameters, buffers, modules, numbers, and
/// containers of these. `#[module(skip)]` leaves a field out, and `#[module(name = "..")]` gives it another name.
#[proc_macro_derive(Module, attributes(module))]
pub fn module(input: TokenStream) -> TokenStream {
    module::expand(input.into()).into()
}

/// Calls an operator's own macro. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn unknown_operator_import_it_or_define_it_with_op_def(input: TokenStream) -> TokenStream {
    schema_callback::generate_operator_lookup(input.into()).into()
}

/// Expands a batch rule, with the operator's schema, which the operator's own macro passes. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn __vmap(input: TokenStream) -> TokenStream {
    op_vmap::expand_with_schema(input.into()).into()
}

/// Expands a gradient formula, with the operator's schema, which the operator's own macro passes. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn __grad(input: TokenStream) -> TokenStream {
    op_grad::expand_with_schema(input.into()).into()
}

/// Expands `not_differentiable!`, with the operator's schema, which the operator's own macro passes. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn __not_differentiable(input: TokenStream) -> TokenStream {
    op_grad::expand_not_differentiable_with_schema(input.into()).into()
}

/// Defines the plan of an operator, which checks the arguments and describes the results: `#[op_plan(operator)]` over a function that takes
/// the arguments that it names, or `_: ...` for all, and returns a `Plan`, or a `PlanList` for an operator that returns a list. It must be
/// in the crate of the operator.
#[proc_macro_attribute]
pub fn op_plan(attribute: TokenStream, item: TokenStream) -> TokenStream {
    op_plan::expand(&attribute.into(), &item.into()).into()
}

/// Expands a plan, with the operator's schema, which the operator's own macro passes. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn __plan(input: TokenStream) -> TokenStream {
    op_plan::expand_with_schema(input.into()).into()
}

/// Expands a kernel, with the operator's schema, which the operator's own macro passes. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn __kernel(input: TokenStream) -> TokenStream {
    op_impl::expand_with_schema(input.into()).into()
}

/// Expands the named form of a call. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn __call(input: TokenStream) -> TokenStream {
    named_call::expand(input.into()).into()
}

/// Passes the definition of an elementwise operator (its operands and dtypes) to a macro of a backend.
#[proc_macro]
pub fn op_row(input: TokenStream) -> TokenStream {
    op_row::expand(input.into()).into()
}

#[doc(hidden)]
#[proc_macro]
pub fn __row(input: TokenStream) -> TokenStream {
    op_row::expand_with_schema(input.into()).into()
}

/// Finds the key of a backend that is not built in, by its name. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn unknown_backend_import_its_key_or_declare_it_with_dispatch_key(input: TokenStream) -> TokenStream {
    syntax::keys::respan_key(input.into()).into()
}

/// Reports the error of `autocast!` for an unknown policy. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn __unknown_policy(input: TokenStream) -> TokenStream {
    unknown_autocast_policy::unknown_policy_error(input.into()).into()
}
