//! Grammar rule of unknown type names: type variables, misspellings, and type names of other languages.

use super::ty::GENERIC_TYPES;
use super::{ParseResult, Parser};
use crate::error::SyntaxErrorKind;
use crate::name::{is_identifier, is_reserved};
use crate::suggest::suggest;
use crate::token::TokenKind;
use crate::ty::{ATOMIC_TYPES, TypeKind};

/// Type names of other languages, and of PyTorch's C++ and Python, with the schema type to suggest.
const FOREIGN_TYPES: [(&str, &str); 39] = [
    ("at", "Tensor"),
    ("boolean", "bool"),
    ("byte", "int"),
    ("c10", "Tensor"),
    ("char", "str"),
    ("complex64", "complex"),
    ("complex128", "complex"),
    ("dict", "Dict(str, Tensor)"),
    ("double", "float"),
    ("dtype", "ScalarType"),
    ("f32", "float"),
    ("f64", "float"),
    ("float32", "float"),
    ("float64", "float"),
    ("i32", "int"),
    ("i64", "int"),
    ("int32", "int"),
    ("int32_t", "int"),
    ("int64", "int"),
    ("int64_t", "int"),
    ("integer", "int"),
    ("isize", "int"),
    ("list", "Tensor[]"),
    ("long", "int"),
    ("optional", "Tensor?"),
    ("short", "int"),
    ("size_t", "int"),
    ("string", "str"),
    ("string_view", "str"),
    ("torch", "Tensor"),
    ("tuple", "(Tensor, Tensor)"),
    ("u64", "int"),
    ("uint64_t", "int"),
    ("unsigned", "int"),
    ("usize", "int"),
    ("vec", "Tensor[]"),
    ("vector", "Tensor[]"),
    ("void", "()"),
    ("String", "str"),
];

/// Generic types of other languages. The parser stops at them, because it would misread the bracket that follows.
const FOREIGN_GENERIC_TYPES: [(&str, &str); 9] = [
    ("List", "a list as `T[]`"),
    ("Vec", "a list as `T[]`"),
    ("ArrayRef", "a list as `T[]`"),
    ("Optional", "an optional as `T?`"),
    ("Option", "an optional as `T?`"),
    ("Tuple", "a tuple as `(A, B)`"),
    ("TensorList", "a list of tensors as `Tensor[]`"),
    ("IntArrayRef", "a list of integers as `int[]`"),
    ("OptionalTensorList", "a list of optional tensors as `Tensor?[]`"),
];

impl Parser<'_> {
    /// Parses an unknown type name: a type variable if it is not likely a mistake, and an error otherwise.
    pub(super) fn parse_type_variable(&mut self, word: &str) -> ParseResult<TypeKind> {
        let found = word.to_owned();
        if is_reserved(word) {
            return Err(self.report(SyntaxErrorKind::ReservedWord { word: found }));
        }
        if let Some((_, instead)) = FOREIGN_GENERIC_TYPES.iter().find(|(foreign, _)| *foreign == word) {
            return Err(self.report(SyntaxErrorKind::ForeignType { found, instead }));
        }
        if is_type_variable_name(word) {
            return Ok(TypeKind::Variable(found));
        }
        let foreign = FOREIGN_TYPES.iter().find(|(foreign, _)| *foreign == word).map(|(_, ours)| *ours);
        let known = ATOMIC_TYPES.iter().map(|(atom, _)| *atom).chain(GENERIC_TYPES);
        let suggestion = foreign.or_else(|| suggest(word, known)).map(str::to_owned);
        if suggestion.is_none() && is_identifier(word) && word.starts_with(|c: char| c.is_ascii_lowercase()) {
            return Ok(TypeKind::Variable(found));
        }
        let follows = self.peek_at(1);
        let reported = self.report(SyntaxErrorKind::UnknownType { found, suggestion });
        // The text after `std::` or `Matrix<` would be misread. After a plain word, the rest of the argument can be parsed.
        let can_continue =
            matches!(follows, Some(TokenKind::Ident(_) | TokenKind::Punct('?' | '[' | '(' | '!' | ',' | ')')));
        if can_continue || follows.is_none() { Ok(TypeKind::Any) } else { Err(reported) }
    }
}

/// Whether a name is a type variable even if it is similar to a type: `t`, `t1`, `tVal`.
fn is_type_variable_name(word: &str) -> bool {
    is_identifier(word)
        && word.strip_prefix('t').is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '_'))
}
