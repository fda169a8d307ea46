//! `#[derive(Module)]`: a struct whose fields are the parts of a neural network.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Fields, LitStr, Member, parse_quote};

use crate::crate_path;
use crate::syntax::user_tokens::at_user_span;

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let expanded = syn::parse2(input).and_then(|input: DeriveInput| match &input.data {
        Data::Struct(data) => generate_impls(&input, &data.fields),
        Data::Enum(data) => Err(not_a_struct_error(data.enum_token.span(), "an enum")),
        Data::Union(data) => Err(not_a_struct_error(data.union_token.span(), "a union")),
    });
    expanded.unwrap_or_else(|error| error.to_compile_error())
}

fn not_a_struct_error(at: proc_macro2::Span, item: &str) -> syn::Error {
    let message = format!(
        "`Module` is for structs, and this is {item}, whose parameters would depend on the variant; use a struct, with an `Option` for each \
         part that may be missing, or a `Box<dyn Layer>`"
    );
    syn::Error::new(at, message)
}

fn generate_impls(input: &DeriveInput, fields: &Fields) -> syn::Result<TokenStream> {
    let (private, name) = (crate_path::layer_path("dispatch-nn", "nn"), &input.ident);
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#private::Visit));
    }
    let (parameters, arguments, bounds) = generics.split_for_impl();
    let (mut visits, mut replacements) = (Vec::new(), Vec::new());
    let mut paths: Vec<String> = Vec::new();
    for (member, field) in fields.members().zip(fields) {
        let options = FieldOptions::parse(field)?;
        if options.skip {
            continue;
        }
        let (ty, path) = (&field.ty, options.name.map_or_else(|| field_name(&member), |name| name.value()));
        if paths.contains(&path) {
            let message =
                format!("two fields have the name `{path}`, so one would overwrite the other in a state dict");
            return Err(syn::Error::new(field.span(), message));
        }
        paths.push(path.clone());
        // A field that cannot be a part of a module is an error at its type.
        let at = at_user_span(ty.span());
        let walk = quote_spanned!(at=> <#ty as #private::Visit>::visit);
        let replace = quote_spanned!(at=> <#ty as #private::Visit>::visit_mut);
        visits.push(quote!(#walk(&self.#member, &__at.field(#path), __f);));
        replacements.push(quote!(#replace(&mut self.#member, &__at.field(#path), __f);));
    }
    let type_name = name.to_string();
    Ok(quote! {
        #[automatically_derived]
        impl #parameters #private::Visit for #name #arguments #bounds {
            fn visit(
                &self,
                __at: &#private::ModulePath<'_>,
                __f: &mut dyn ::core::ops::FnMut(&#private::ModulePath<'_>, #private::Part<'_>),
            ) {
                __f(__at, #private::Part::Module(#private::ModuleRef::new(self, #type_name)));
                #(#visits)*
            }

            #[allow(unused_variables, reason = "a struct may have no parts")]
            fn visit_mut(
                &mut self,
                __at: &#private::ModulePath<'_>,
                __f: &mut dyn ::core::ops::FnMut(&#private::ModulePath<'_>, #private::PartMut<'_>),
            ) {
                #(#replacements)*
            }
        }

        #[automatically_derived]
        impl #parameters #private::Module for #name #arguments #bounds {}
    })
}

fn field_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string().trim_start_matches("r#").to_owned(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// The options of a field: `#[module(skip)]` or `#[module(name = "..")]`.
#[derive(Default)]
struct FieldOptions {
    skip: bool,
    name: Option<LitStr>,
}

impl FieldOptions {
    fn parse(field: &Field) -> syn::Result<Self> {
        let mut options = Self::default();
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("module")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("skip") {
                    options.skip = true;
                } else if meta.path.is_ident("name") {
                    let name: LitStr = meta.value()?.parse()?;
                    if name.value().is_empty() || name.value().contains('.') {
                        let message = "a name has one or more characters and no points, because points separate the names of a path";
                        return Err(syn::Error::new(name.span(), message));
                    }
                    options.name = Some(name);
                } else {
                    return Err(meta.error("a field has `#[module(skip)]` or `#[module(name = \"..\")]`"));
                }
                Ok(())
            })?;
        }
        if let Some(name) = options.name.as_ref().filter(|_| options.skip) {
            return Err(syn::Error::new(name.span(), "a field that is skipped has no name; remove `skip` or `name`"));
        }
        Ok(options)
    }
}
