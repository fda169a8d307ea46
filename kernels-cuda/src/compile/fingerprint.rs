//! Fingerprints: hashes of texts, as file names that stay valid after the program ends.
//!
//! The hash is FNV-1a of 128 bits. Its definition is fixed, unlike that of the standard library's hasher, so a file written by one build of
//! this crate is found by the next one, on every platform. The inputs are this program's own texts, so no resistance to chosen inputs is
//! needed.

use std::fmt;

/// A fingerprint of the bytes that were added so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fingerprint(u128);

const FNV_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

impl Fingerprint {
    pub(crate) const fn new() -> Self {
        Self(FNV_BASIS)
    }

    /// Adds bytes to the fingerprint. Two calls have the same result as one call with both byte strings joined: use
    /// [`add_text`](Self::add_text) if the boundary matters.
    pub(crate) fn add_bytes(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(FNV_PRIME)))
    }

    /// Adds a text and its length to the fingerprint, so that the boundary to the next text matters.
    pub(crate) fn add_text(self, text: &str) -> Self {
        self.add_bytes(&(text.len() as u64).to_le_bytes()).add_bytes(text.as_bytes())
    }

    /// Adds a list of texts and the list's length to the fingerprint.
    pub(crate) fn add_texts<S: AsRef<str>>(self, texts: &[S]) -> Self {
        let counted = self.add_bytes(&(texts.len() as u64).to_le_bytes());
        texts.iter().fold(counted, |hash, text| hash.add_text(text.as_ref()))
    }

    pub(crate) const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of FNV-1a's definition, and one of this crate's `add_texts`: a build with other values would not find the files of an
    /// earlier one.
    #[test]
    fn fingerprints_have_fixed_values() {
        let of = |text: &str| Fingerprint::new().add_bytes(text.as_bytes()).to_string();
        assert_eq!(of(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(of("a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(of("foobar"), "343e1662793c64bf6f0d3597ba446f18");
        assert_eq!(
            Fingerprint::new().add_texts(&["add<float>", "mul"]).to_string(),
            "d28c8b02231eb1b2e3f44a93289ffa5f"
        );
    }

    #[test]
    fn the_boundary_between_texts_changes_the_fingerprint() {
        let of = |texts: &[&str]| Fingerprint::new().add_texts(texts);
        let all = [of(&["ab", "c"]), of(&["a", "bc"]), of(&["abc"]), of(&["abc", ""]), of(&[])];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(one), "{at}");
        }
    }
}
