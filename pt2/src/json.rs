//! JSON entries, with the place of an error.

use serde::de::DeserializeOwned;

use crate::error::Pt2Problem;

/// Parses an entry. JSON that is nested more than 128 levels deep is refused by the parser.
pub(crate) fn parse<T: DeserializeOwned>(entry: &str, bytes: &[u8]) -> Result<T, Pt2Problem> {
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let refuse = |at: String, message: String| Pt2Problem::Json { entry: entry.to_owned(), at, message };
    let value = serde_path_to_error::deserialize(&mut parser)
        .map_err(|error| refuse(error.path().to_string(), error.inner().to_string()))?;
    parser.end().map_err(|error| refuse(String::new(), error.to_string()))?;
    Ok(value)
}
