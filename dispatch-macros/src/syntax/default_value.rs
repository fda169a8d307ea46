//! Conversion of a schema's default to a Rust expression.

use dispatch_schema::{DefaultValue, Type, TypeKind};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::syntax::rust_type::RustType;

/// Returns the expression of an argument's default, in the argument's Rust type. Returns `None` if Rust has no such expression.
pub(crate) fn default_expression(
    value: &DefaultValue,
    ty: &Type,
    rust: &RustType,
    runtime: &TokenStream,
) -> Option<TokenStream> {
    if let TypeKind::Optional(inner) = &ty.kind {
        let rust = rust.tokens(runtime);
        if *value == DefaultValue::None {
            return Some(quote!(<#rust>::None));
        }
        let inner = non_optional_default(value, inner, runtime)?;
        return Some(quote!(<#rust>::Some(#inner)));
    }
    non_optional_default(value, ty, runtime)
}

fn non_optional_default(value: &DefaultValue, ty: &Type, runtime: &TokenStream) -> Option<TokenStream> {
    Some(match (value, &ty.kind) {
        (DefaultValue::List(values), TypeKind::List(element, _)) => {
            let values: Option<Vec<TokenStream>> =
                values.iter().map(|value| non_optional_default(value, element, runtime)).collect();
            let values = values?;
            quote!(&[#(#values),*])
        }
        (value, TypeKind::Scalar) => scalar_default(value, runtime)?,
        (DefaultValue::Int(number), TypeKind::ScalarType) => enum_value_from_number(*number, runtime, "DType"),
        (DefaultValue::Int(number), TypeKind::Layout) => enum_value_from_number(*number, runtime, "Layout"),
        (DefaultValue::Int(number), TypeKind::MemoryFormat) => enum_value_from_number(*number, runtime, "MemoryFormat"),
        (DefaultValue::Device(name), TypeKind::Device) => match name.as_str() {
            "cpu" => quote!(#runtime::Device::CPU),
            "meta" => quote!(#runtime::Device::META),
            _ => return None,
        },
        (DefaultValue::Int(number), TypeKind::Float) => float_literal(nearest_float(*number)),
        (DefaultValue::Int(number), TypeKind::Complex) => complex_literal(nearest_float(*number), 0.0, runtime),
        (DefaultValue::Float(number), TypeKind::Complex) => complex_literal(*number, 0.0, runtime),
        (DefaultValue::Int(number), _) => quote!(#number),
        (DefaultValue::Float(number), _) => float_literal(*number),
        (DefaultValue::Bool(value), _) => quote!(#value),
        (DefaultValue::Str(text), _) => quote!(#text),
        (DefaultValue::Complex(re, im), _) => complex_literal(*re, *im, runtime),
        _ => return None,
    })
}

fn scalar_default(value: &DefaultValue, runtime: &TokenStream) -> Option<TokenStream> {
    Some(match value {
        DefaultValue::Int(number) => quote!(#runtime::Scalar::Int(#number)),
        DefaultValue::Bool(value) => quote!(#runtime::Scalar::Bool(#value)),
        DefaultValue::Float(number) => {
            let number = float_literal(*number);
            quote!(#runtime::Scalar::Float(#number))
        }
        DefaultValue::Complex(re, im) => {
            let number = complex_literal(*re, *im, runtime);
            quote!(#runtime::Scalar::Complex(#number))
        }
        _ => return None,
    })
}

/// Returns the expression of an enum value that `PyTorch`'s canonical schema writes as a number. The compiler evaluates it as a constant.
fn enum_value_from_number(number: i64, runtime: &TokenStream, ty: &str) -> TokenStream {
    let ty = proc_macro2::Ident::new(ty, proc_macro2::Span::call_site());
    quote!(const { #runtime::#ty::from_number(#number).unwrap() })
}

#[expect(clippy::cast_precision_loss, reason = "a default that is not a float's exact value is still the nearest")]
const fn nearest_float(number: i64) -> f64 {
    number as f64
}

fn float_literal(number: f64) -> TokenStream {
    if number.is_finite() {
        let literal = Literal::f64_suffixed(number.abs());
        return if number.is_sign_negative() { quote!(-#literal) } else { quote!(#literal) };
    }
    match number {
        f64::INFINITY => quote!(::core::primitive::f64::INFINITY),
        f64::NEG_INFINITY => quote!(::core::primitive::f64::NEG_INFINITY),
        _ => quote!(::core::primitive::f64::NAN),
    }
}

fn complex_literal(re: f64, im: f64, runtime: &TokenStream) -> TokenStream {
    let (re, im) = (float_literal(re), float_literal(im));
    quote!(#runtime::Complex64::new(#re, #im))
}
