//! Parsers of the code that the macros read: functions, types, schemas, defaults, keys.

pub(crate) mod default_value;
pub(crate) mod function;
pub(crate) mod infer_schema;
pub(crate) mod keys;
pub(crate) mod rust_type;
pub(crate) mod schema_source;
pub(crate) mod signature;
pub(crate) mod user_tokens;
