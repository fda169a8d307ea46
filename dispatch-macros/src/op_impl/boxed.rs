//! Boxed kernels, which take their arguments from the stack.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{ReturnType, Signature};

use crate::errors::Errors;
use crate::op_impl::attribute::Attribute;
use crate::syntax::keys::generate_static_keys;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature;

/// Returns whether a function has the parameters of a boxed kernel.
pub(super) fn has_boxed_signature(signature: &Signature) -> bool {
    let found: Vec<String> = signature::parameters(signature)
        .iter()
        .map(|parameter| RustType::from_user_type(&parameter.ty).text().to_owned())
        .collect();
    found == ["&Operator", "KeySet", "&mut Stack"]
}

/// Reports a boxed kernel with the wrong signature.
pub(crate) fn check_boxed_signature(signature: &Signature, at: &impl ToTokens, errors: &mut Errors) {
    let name = &signature.ident;
    if !has_boxed_signature(signature) {
        let expected = format!("fn {name}(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()>");
        let at = if signature.inputs.is_empty() { at.to_token_stream() } else { signature.inputs.to_token_stream() };
        errors.add_at(at, format!("a boxed kernel takes the operator, the keys and the stack\n\nexpected: {expected}"));
    } else if !matches!(&signature.output, ReturnType::Type(_, ty) if RustType::from_user_type(ty).text().starts_with("Result<()"))
    {
        let at =
            if let ReturnType::Type(_, ty) = &signature.output { ty.to_token_stream() } else { name.to_token_stream() };
        errors
            .add_at(at, format!("boxed kernel `{name}` must return `Result<()>`: it leaves its results on the stack"));
    }
}

/// Generates the record that a boxed kernel submits.
pub(super) fn generate_kernel_record(
    signature: &Signature,
    attribute: &Attribute,
    runtime: &TokenStream,
) -> TokenStream {
    let (operator, name) = (&attribute.operator, &signature.ident);
    let keys = generate_static_keys(&attribute.keys, runtime);
    let overriding = attribute.overrides.is_some().then(|| quote!(.overriding()));
    quote! {
        const _: () = {
            #keys
            static __KERNEL: #runtime::KernelRecord = #runtime::KernelRecord::boxed::<#operator>(
                #name,
                &__KEYS,
                ::core::stringify!(#name),
                #runtime::Location::new(::core::file!(), ::core::line!()),
            ) #overriding;
            #runtime::__submit! { #runtime::Record::Kernel(&__KERNEL) }
        };
    }
}
