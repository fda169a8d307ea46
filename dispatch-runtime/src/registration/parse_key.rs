//! Parsing of key names, including the keys of all linked crates.

use std::str::FromStr;

use super::registry;
use crate::key::{Key, UnknownKey, parse};

impl FromStr for Key {
    type Err = UnknownKey;

    fn from_str(name: &str) -> Result<Self, UnknownKey> {
        registry::load_records();
        parse::find_key(name)
    }
}
