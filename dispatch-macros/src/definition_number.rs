//! A number for each definition, by which its macro finds it from anywhere.
//!
//! A macro can be used in another crate, under another name, where the path of what it stands for cannot be known. Its number can.

use proc_macro2::Span;

/// A number that no other definition of the program has: made of the crate, the operator and the place in the source.
pub(crate) fn of_definition(operator: &str) -> u64 {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let krate = [variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION"), variable("CARGO_CRATE_NAME")].join(" ");
    let place = Span::call_site().unwrap();
    hash(&format!("{krate} {operator} {}:{}:{}", place.file(), place.line(), place.column()))
}

/// FNV-1a: the same for every compiler, unlike the standard library's.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_with_other_names_have_other_numbers() {
        assert_ne!(hash("a 1 a::add 1:1"), hash("a 1 a::sub 1:1"));
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
    }
}
