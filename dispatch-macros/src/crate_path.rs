//! Absolute paths to the items that generated code uses, under the crates' names in the user's manifest.
//!
//! Each crate has these items in its module `__private`. Generated code uses no other path, so the public modules of the crates can change.

use dispatch_schema::OperatorName;
use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

/// The crates whose module `__private` has all items of the runtime, the preferred one first.
const RUNTIME_CRATE_NAMES: [&str; 2] = ["dispatch-runtime", "opdispatch"];

/// Returns an absolute path to the private module of the runtime, or of the facade over it. If the manifest has neither, the path is that of
/// the runtime, and the compiler reports it as missing.
pub(crate) fn runtime_path() -> TokenStream {
    let found = RUNTIME_CRATE_NAMES.iter().find_map(|name| match crate_name(name).ok()? {
        FoundCrate::Itself => Some(name.replace('-', "_")),
        FoundCrate::Name(name) => Some(name),
    });
    let name = Ident::new(&found.unwrap_or_else(|| "dispatch_runtime".to_owned()), Span::call_site());
    quote!(::#name::__private)
}

/// Returns an absolute path to the private module of a layer's crate. Through the facade, it is a module of the facade's private module.
pub(crate) fn layer_path(package: &str, module: &str) -> TokenStream {
    let name = |found, package: &str| match found {
        FoundCrate::Itself => Ident::new(&package.replace('-', "_"), Span::call_site()),
        FoundCrate::Name(name) => Ident::new(&name, Span::call_site()),
    };
    if let Ok(found) = crate_name(package) {
        let name = name(found, package);
        return quote!(::#name::__private);
    }
    let module = Ident::new(module, Span::call_site());
    match crate_name("opdispatch") {
        Ok(found) => {
            let name = name(found, "opdispatch");
            quote!(::#name::__private::#module)
        }
        Err(_) => {
            let name = Ident::new(&package.replace('-', "_"), Span::call_site());
            quote!(::#name::__private)
        }
    }
}

/// Returns the name of the crate that is being compiled, for messages. Returns `None` if a schema cannot contain the name, such as `with`.
pub(crate) fn current_crate_name() -> Option<String> {
    let name = std::env::var("CARGO_CRATE_NAME").or_else(|_| std::env::var("CARGO_PKG_NAME")).ok()?.replace('-', "_");
    OperatorName::parse(&format!("{name}::operator")).is_ok().then_some(name)
}
