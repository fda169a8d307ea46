//! The error of `autocast!` for an unknown policy. It underlines the unknown word. A `macro_rules!` could only underline the whole call.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, LitStr, Token};

/// The input `word: "policy: operator", ..`: the unknown word, and the form of each policy.
struct UnknownPolicy {
    word: Ident,
    forms: Vec<String>,
}

impl Parse for UnknownPolicy {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let word = input.parse()?;
        input.parse::<Token![:]>()?;
        let forms = Punctuated::<LitStr, Token![,]>::parse_terminated(input)?;
        Ok(Self { word, forms: forms.iter().map(LitStr::value).collect() })
    }
}

pub(crate) fn unknown_policy_error(input: TokenStream) -> TokenStream {
    let error = syn::parse2(input).map_or_else(std::convert::identity, |UnknownPolicy { word, forms }| {
        let policies: Vec<&str> = forms.iter().filter_map(|form| form.split(':').next()).collect();
        let written = word.to_string();
        let message = match policies.iter().position(|&policy| policy == written) {
            Some(at) => format!("write policy `{written}` as `autocast!({}, ..)`", forms[at]),
            None => {
                let near = dispatch_schema::suggest(&written, policies.iter().copied());
                let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
                let all: Vec<String> = policies.iter().map(|policy| format!("`{policy}`")).collect();
                format!("autocast has no policy `{written}`; {hint}the policies are {}", all.join(", "))
            }
        };
        syn::Error::new(word.span(), message)
    });
    error.to_compile_error()
}
