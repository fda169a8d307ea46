//! Grammar rule of alias annotations.

use std::collections::HashSet;

use super::{ParseResult, Parser};
use crate::alias::Alias;
use crate::error::AliasProblem;
use crate::ty::Type;

impl Parser<'_> {
    /// Parses an alias annotation, if there is one.
    pub(super) fn parse_alias(&mut self) -> ParseResult<Option<Alias>> {
        let alias = if self.eat('!') {
            self.anonymous_sets += 1;
            // A placeholder that no set can have. The set gets its name when all names of the schema are known.
            Alias::written(&format!("!{}", self.anonymous_sets))
        } else if self.eat('(') {
            self.parse_alias_in_parentheses()?
        } else {
            return Ok(None);
        };
        if self.is_at('(') || self.is_at('!') {
            return Err(self.report_bad_alias(AliasProblem::Repeated));
        }
        Ok(Some(alias))
    }

    fn parse_alias_in_parentheses(&mut self) -> ParseResult<Alias> {
        let before = self.parse_alias_sets(AliasProblem::Empty)?;
        let write = self.eat('!');
        let after = if self.eat_punctuation("->") {
            self.parse_alias_sets(AliasProblem::EmptyAfterArrow)?
        } else {
            before.clone()
        };
        if self.is_at('!') {
            return Err(self.report_bad_alias(AliasProblem::WriteAfterArrow));
        }
        self.expect(')', "`)` after the alias annotation")?;
        Ok(Alias { before, write, after })
    }

    fn parse_alias_sets(&mut self, if_empty: AliasProblem) -> ParseResult<Vec<String>> {
        if self.is_at(')') || self.is_at('!') {
            return Err(self.report_bad_alias(if_empty));
        }
        let mut sets = Vec::new();
        loop {
            if self.eat('*') {
                sets.push("*".to_owned());
            } else {
                sets.push(self.parse_identifier("the name of an alias set, such as `a`, or `*`")?);
            }
            if !self.eat('|') {
                sets.sort();
                sets.dedup();
                return Ok(sets);
            }
        }
    }
}

/// Names every anonymous set (of a `!` alone) by the first name that the schema does not use.
pub(super) fn name_anonymous_sets<'a>(types: impl IntoIterator<Item = &'a mut Type>) {
    let mut types: Vec<_> = types.into_iter().collect();
    let taken: HashSet<String> = types
        .iter()
        .flat_map(|ty| ty.aliases())
        .flat_map(|alias| alias.before.iter().chain(&alias.after))
        .cloned()
        .collect();
    let mut free = (0_usize..).map(nth_set_name).filter(|name| !taken.contains(name));
    for ty in &mut types {
        ty.for_each_type_mut(&mut |part| {
            if let Some(alias) = part.alias.as_mut().filter(|alias| alias.before[0].starts_with('!')) {
                let name = free.next().expect("there are more names than sets");
                *alias = Alias::written(&name);
            }
        });
    }
}

/// Returns the `i`-th set name: `a` to `z`, then `a1` to `z1`, and so on.
fn nth_set_name(i: usize) -> String {
    let letter = char::from(b"abcdefghijklmnopqrstuvwxyz"[i % 26]);
    if i < 26 { letter.to_string() } else { format!("{letter}{}", i / 26) }
}
