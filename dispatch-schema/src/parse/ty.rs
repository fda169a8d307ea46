//! Grammar rules of types.

use super::union;
use super::{ErrorReported, ParseResult, Parser};
use crate::error::{AliasProblem, SyntaxErrorKind, TypeProblem};
use crate::name::is_identifier;
use crate::token::TokenKind;
use crate::ty::{ATOMIC_TYPES, Type, TypeKind};

/// The largest depth of nested types. All functions on types recurse, so the depth needs a limit.
const MAX_TYPE_DEPTH: usize = 32;

/// The largest size of a list. A single default value for a list becomes that many values.
const MAX_LIST_SIZE: u32 = 1 << 16;

/// Words that are followed by types in parentheses.
pub(super) const GENERIC_TYPES: [&str; 5] = ["Dict", "Future", "Await", "RRef", "Union"];

impl Parser<'_> {
    /// Parses the type of an argument or return. Only such a type may be a sized list `T[N]`.
    pub(super) fn parse_outer_type(&mut self) -> ParseResult<Type> {
        let (ty, sized) = self.parse_type_with_suffixes()?;
        if sized && (self.is_at('?') || self.is_at('[')) {
            return Err(self.report_bad_type(TypeProblem::SizedListInside));
        }
        Ok(ty)
    }

    /// Parses a type inside another type.
    pub(super) fn parse_inner_type(&mut self) -> ParseResult<Type> {
        let start = self.next_token_span().start;
        let (ty, sized) = self.parse_type_with_suffixes()?;
        if sized {
            let kind = SyntaxErrorKind::BadType { problem: TypeProblem::SizedListInside };
            return Err(self.report_at(self.span_since(start), kind));
        }
        Ok(ty)
    }

    /// Parses a base type with its suffixes. After a size, only one `?` may follow.
    fn parse_type_with_suffixes(&mut self) -> ParseResult<(Type, bool)> {
        self.depth += 1;
        if self.depth > MAX_TYPE_DEPTH {
            return Err(self.report_bad_type(TypeProblem::TooDeep));
        }
        let base = self.parse_base_type()?;
        let mut ty = self.parse_alias_after(base)?;
        let mut sized = false;
        for suffixes in 0.. {
            if suffixes > MAX_TYPE_DEPTH {
                return Err(self.report_bad_type(TypeProblem::TooDeep));
            }
            if self.is_at('[') && !sized {
                (ty, sized) = self.parse_list_suffix(ty)?;
            } else if self.is_at('?') {
                ty = self.parse_optional_suffix(ty)?;
                if sized {
                    break;
                }
            } else {
                break;
            }
        }
        self.depth -= 1;
        Ok((ty, sized))
    }

    /// Adds the alias annotation after a base type. If a union is an optional, the annotation belongs to the inner type.
    fn parse_alias_after(&mut self, base: Type) -> ParseResult<Type> {
        let start = self.next_token_span().start;
        Ok(match (base.kind, self.parse_alias()?) {
            (TypeKind::Optional(inner), Some(_)) if inner.alias.is_some() => {
                let kind = SyntaxErrorKind::BadAlias { problem: AliasProblem::AfterOptional };
                return Err(self.report_at(self.span_since(start), kind));
            }
            (TypeKind::Optional(inner), alias) if alias.is_some() => {
                TypeKind::Optional(Box::new(Type { alias, ..*inner })).into()
            }
            (kind, alias) => Type { kind, alias },
        })
    }

    fn parse_list_suffix(&mut self, element: Type) -> ParseResult<(Type, bool)> {
        self.position += 1;
        let size = if self.is_at(']') { None } else { Some(self.parse_list_size()?) };
        self.expect(']', "`]`")?;
        let alias = self.parse_alias()?;
        Ok((Type { kind: TypeKind::List(Box::new(element), size), alias }, size.is_some()))
    }

    fn parse_list_size(&mut self) -> ParseResult<u32> {
        let size = match self.peek() {
            Some(TokenKind::Number(text)) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
            _ => None,
        };
        match size.filter(|&size| size <= MAX_LIST_SIZE) {
            Some(size) => {
                self.position += 1;
                Ok(size)
            }
            None => Err(self.report_bad_type(TypeProblem::BadListSize)),
        }
    }

    fn parse_optional_suffix(&mut self, ty: Type) -> ParseResult<Type> {
        if ty.kind == TypeKind::NoneType {
            return Err(self.report_bad_type(TypeProblem::OptionalOfNone));
        }
        self.position += 1;
        if self.is_at('(') || self.is_at('!') {
            return Err(self.report_bad_alias(AliasProblem::AfterOptional));
        }
        Ok(match ty.kind {
            TypeKind::Optional(_) => ty,
            _ => TypeKind::Optional(Box::new(ty)).into(),
        })
    }

    fn parse_base_type(&mut self) -> ParseResult<Type> {
        if self.is_at('(') {
            return Ok(TypeKind::Tuple(self.parse_types_in_parentheses()?).into());
        }
        let Some(TokenKind::Ident(word)) = self.peek() else {
            let found = self.next_token_text();
            return Err(self.report(SyntaxErrorKind::ExpectedType { found }));
        };
        if word == "__torch__" {
            return self.parse_class();
        }
        if GENERIC_TYPES.contains(&word.as_str()) {
            return self.parse_generic_type(word);
        }
        let kind = match ATOMIC_TYPES.iter().find(|(atom, _)| atom == word) {
            Some((_, kind)) => kind.clone(),
            None => self.parse_type_variable(word)?,
        };
        self.position += 1;
        Ok(kind.into())
    }

    /// Parses `( T, .. )`.
    fn parse_types_in_parentheses(&mut self) -> ParseResult<Vec<Type>> {
        let mut types = Vec::new();
        self.expect('(', "`(` and the types inside")?;
        if self.eat(')') {
            return Ok(types);
        }
        loop {
            types.push(self.parse_inner_type()?);
            if self.eat(')') {
                return Ok(types);
            }
            self.expect(',', "`,` or `)` after the type")?;
        }
    }

    fn parse_generic_type(&mut self, word: &str) -> ParseResult<Type> {
        let start = self.next_token_span().start;
        self.position += 1;
        let what = match word {
            "Dict" => "`(K, V)` after `Dict`, as in `Dict(str, Tensor)`",
            "Union" => "`(A, B)` after `Union`, as in `Union(int, str)`",
            _ => "`(T)` with the type inside, as in `Future(Tensor)`",
        };
        if !self.is_at('(') {
            return Err(self.report_expected(what));
        }
        let (open, types) = (self.position, self.parse_types_in_parentheses()?);
        let kind = match (word, <[Type; 1]>::try_from(types)) {
            ("Union", types) => {
                let types = types.map_or_else(|several| several, Vec::from);
                union::normalise_union(types).ok_or(TypeProblem::TooFewUnionMembers)
            }
            ("Future", Ok([inner])) => Ok(TypeKind::Future(Box::new(inner))),
            ("Await", Ok([inner])) => Ok(TypeKind::Await(Box::new(inner))),
            ("RRef", Ok([inner])) => Ok(TypeKind::RRef(Box::new(inner))),
            ("Dict", Err(types)) if types.len() == 2 => make_dict_type(types),
            _ => {
                self.position = open;
                return Err(self.report_expected(what));
            }
        };
        kind.map(Type::from).map_err(|problem| {
            let span = self.span_since(start);
            self.report_at(span, SyntaxErrorKind::BadType { problem })
        })
    }

    /// Parses a class: `__torch__.torch.classes.ns.Name`.
    fn parse_class(&mut self) -> ParseResult<Type> {
        let start = self.next_token_span().start;
        let mut path = vec!["__torch__"];
        self.position += 1;
        while self.is_at('.') {
            let Some(TokenKind::Ident(part)) = self.peek_at(1).filter(|kind| is_path_component(kind)) else {
                break;
            };
            path.push(part);
            self.position += 2;
        }
        if path.len() == 5 && path[..3] == ["__torch__", "torch", "classes"] && !self.is_at('.') {
            return Ok(TypeKind::Class(path.join(".")).into());
        }
        let kind = SyntaxErrorKind::BadType { problem: TypeProblem::BadClassPath };
        Err(self.report_at(self.span_since(start), kind))
    }

    fn report_bad_type(&mut self, problem: TypeProblem) -> ErrorReported {
        self.report(SyntaxErrorKind::BadType { problem })
    }

    pub(super) fn report_bad_alias(&mut self, problem: AliasProblem) -> ErrorReported {
        self.report(SyntaxErrorKind::BadAlias { problem })
    }
}

/// Whether a token can be a component of a path.
fn is_path_component(kind: &TokenKind) -> bool {
    matches!(kind, TokenKind::Ident(word) if is_identifier(word))
}

fn make_dict_type(types: Vec<Type>) -> Result<TypeKind, TypeProblem> {
    let Ok([key, value]) = <[Type; 2]>::try_from(types) else {
        return Err(TypeProblem::BadDictKey);
    };
    let hashable = matches!(
        key.kind,
        TypeKind::Int
            | TypeKind::Bool
            | TypeKind::Float
            | TypeKind::Complex
            | TypeKind::Str
            | TypeKind::Device
            | TypeKind::Tensor
    );
    if hashable { Ok(TypeKind::Dict(Box::new(key), Box::new(value))) } else { Err(TypeProblem::BadDictKey) }
}
