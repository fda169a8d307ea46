//! Keys that an attribute names: their checks and their expansion.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident};

use crate::syntax::user_tokens::at_user_span;

/// Returns the last word of a key's path, for checks that need no types.
pub(crate) fn key_name(key: &impl ToTokens) -> Option<String> {
    let words = key
        .to_token_stream()
        .into_iter()
        .filter_map(|tree| if let TokenTree::Ident(word) = tree { Some(word) } else { None });
    words.last().map(|word| word.to_string())
}

/// Generates a static `__KEYS` with the keys of a kernel. Names are resolved in the author's scope, with the built-in keys.
pub(crate) fn generate_static_keys(keys: &[Expr], runtime: &TokenStream) -> TokenStream {
    let count = keys.len().max(1);
    let references = match keys {
        [] => quote!(&#runtime::keys::CompositeImplicitAutograd),
        keys => {
            let references = keys.iter().map(|key| generate_key_reference(key, runtime));
            quote!(#(#references),*)
        }
    };
    quote! {
        #[allow(unused_imports)]
        use #runtime::keys::*;
        static __KEYS: [&#runtime::Key; #count] = [#references];
    }
}

/// Generates a reference to a key. The compiler reports a value that is not a key at its location.
pub(crate) fn generate_key_reference(key: &Expr, runtime: &TokenStream) -> TokenStream {
    let span = at_user_span(key.span());
    if let Expr::Path(path) = key
        && path.path.get_ident().is_some_and(is_unknown_backend_name)
    {
        let find = quote!(#runtime::unknown_backend_import_its_key_or_declare_it_with_dispatch_key);
        return quote_spanned!(span=> &#find!(#key));
    }
    quote_spanned!(span=> &#key)
}

/// Returns whether a name is that of a backend that is not built in. For a misspelled built-in key, the compiler suggests the right one.
fn is_unknown_backend_name(key: &Ident) -> bool {
    let name = key.to_string();
    let is_misspelled = |near: &str| near.len() != name.len();
    name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        && !BUILT_IN_BACKENDS.contains(&name.as_str())
        && !dispatch_schema::suggest(&name, BUILT_IN_BACKENDS).is_some_and(is_misspelled)
}

/// Generates the name of a key at the user's span. If there is no such key, the compiler's error names the macro from which it comes, and that macro's name is
/// the advice.
pub(crate) fn respan_key(key: TokenStream) -> TokenStream {
    let respanned = key.into_iter().map(|mut word| {
        word.set_span(at_user_span(word.span()));
        word
    });
    respanned.collect()
}

/// The keys of built-in backends whose names are in capital letters.
const BUILT_IN_BACKENDS: [&str; 12] =
    ["CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "MTIA", "MAIA", "FPGA"];

/// Alias keys, each of which stands for several runtime keys.
pub(crate) const ALIAS_KEYS: [&str; 7] = [
    "Autograd",
    "Autocast",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutogradNestedTensor",
    "FuncTorchBatchedDecomposition",
];
