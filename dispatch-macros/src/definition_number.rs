//! A unique number for each operator definition, by which macros refer to the definition from any crate.
//!
//! A macro can be used in another crate under another name, so it cannot know the path of its operator there. It knows the number.

use proc_macro2::Span;

/// Returns a number that is unique to a definition: a hash of the crate, the operator and the source location.
pub(crate) fn hash_definition(operator: &str) -> u64 {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let krate = [variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION"), variable("CARGO_CRATE_NAME")].join(" ");
    let location = Span::call_site().unwrap();
    fnv1a(&format!("{krate} {operator} {}:{}:{}", location.file(), location.line(), location.column()))
}

/// Hashes a text with FNV-1a, which is the same for every compiler, unlike the standard library's hash.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_operators_get_different_numbers() {
        assert_ne!(fnv1a("a 1 a::add 1:1"), fnv1a("a 1 a::sub 1:1"));
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
    }
}
