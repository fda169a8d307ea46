//! Backward and forward compatibility of a changed schema with the old one.
//!
//! *Backward compatible*: programs written for the old schema run with the new one. *Forward compatible*: programs written for the new
//! schema run with the old one, if they leave new arguments at their defaults. The rules are PyTorch's; unlike PyTorch, every reason is
//! reported.

mod describe;
mod subtype;

use crate::default::DefaultValue;
use crate::schema::{Argument, Return, Schema};
use crate::ty::Type;
use subtype::is_subtype;

/// A reason why a new schema is not compatible with an old one.
///
/// ```
/// use dispatch_schema::{Incompatibility, Schema};
///
/// let old = Schema::parse("f(Tensor self) -> Tensor").unwrap();
/// let new = Schema::parse("f(Tensor self, int n) -> Tensor").unwrap();
/// let reasons = new.check_backward_compatible(&old).unwrap_err();
/// assert_eq!(reasons, [Incompatibility::NewArgumentWithoutDefault { name: "n".into() }]);
/// assert_eq!(reasons[0].to_string(), "the new argument `n` has no default");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Incompatibility {
    /// The name of the operator changed.
    Name {
        /// The old name.
        old: String,
        /// The new name.
        new: String,
    },
    /// Only one of the schemas has `...` in its arguments.
    Varargs,
    /// Only one of the schemas has `...` in its returns.
    VarReturns,
    /// The number of returns changed.
    ReturnCount {
        /// The old number of returns.
        old: usize,
        /// The new number of returns.
        new: usize,
    },
    /// A return changed.
    Return {
        /// The index of the return.
        index: usize,
        /// The change.
        change: Change,
    },
    /// An argument was removed.
    ArgumentRemoved {
        /// The name of the argument.
        name: String,
    },
    /// Another argument has the position of an old one.
    ArgumentReplaced {
        /// The name of the old argument.
        old: String,
        /// The name of the new argument.
        new: String,
    },
    /// An argument changed.
    Argument {
        /// The name of the argument.
        name: String,
        /// The change.
        change: Change,
    },
    /// A new argument has no default, so that old calls do not provide it.
    NewArgumentWithoutDefault {
        /// The name of the argument.
        name: String,
    },
    /// A new argument has a list as its default. Calls to the old schema cannot omit such an argument.
    NewContainerDefault {
        /// The name of the argument.
        name: String,
    },
    /// The number of out arguments changed.
    OutCount {
        /// The old number of out arguments.
        old: usize,
        /// The new number of out arguments.
        new: usize,
    },
}

/// An incompatible change of an argument or return.
///
/// ```
/// use dispatch_schema::{Change, Incompatibility, Schema, TypeKind};
///
/// let old = Schema::parse("f(int? n) -> ()").unwrap();
/// let new = Schema::parse("f(int n) -> ()").unwrap();
/// let change = Change::Type { old: old.arguments[0].ty.clone(), new: TypeKind::Int.into() };
/// let reason = Incompatibility::Argument { name: "n".into(), change };
/// assert_eq!(new.check_backward_compatible(&old), Err(vec![reason]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// The name changed.
    Name {
        /// The old name.
        old: Option<String>,
        /// The new name.
        new: Option<String>,
    },
    /// The type changed to an incompatible one.
    Type {
        /// The old type.
        old: Type,
        /// The new type.
        new: Type,
    },
    /// The alias annotation changed.
    Alias {
        /// The old type.
        old: Type,
        /// The new type.
        new: Type,
    },
    /// The argument became keyword-only.
    KeywordOnly,
    /// The default was removed.
    DefaultRemoved,
    /// The argument got a default, which the old schema does not have.
    DefaultAdded,
    /// The default changed to another value.
    Default {
        /// The old default.
        old: DefaultValue,
        /// The new default.
        new: DefaultValue,
    },
}

/// The direction of compatibility.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Backward,
    Forward,
}

impl Schema {
    /// Checks that calls written for `old` work with this schema. Returns every reason if they do not.
    ///
    /// The name, `...` and the number of returns must not change. Old arguments keep name and position; their types may become wider, and
    /// they may get defaults. New arguments must have defaults and follow the old ones, before the out arguments. The types of returns may
    /// become narrower.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// let old = Schema::parse("f(Tensor self, *, int a) -> Tensor?").unwrap();
    /// let new = Schema::parse("f(Tensor self, int? a=0, *, int b=1) -> Tensor").unwrap();
    /// assert!(new.check_backward_compatible(&old).is_ok());
    /// assert_eq!(old.check_backward_compatible(&new).unwrap_err().len(), 5);
    /// ```
    pub fn check_backward_compatible(&self, old: &Self) -> Result<(), Vec<Incompatibility>> {
        let mut reasons = self.compare_names_and_returns(old, Direction::Backward);
        let (args, outs) = split_out_arguments(&self.arguments);
        let (old_args, old_outs) = split_out_arguments(&old.arguments);
        compare_arguments(args, old_args, Direction::Backward, &mut reasons);
        report_missing_defaults(args.get(old_args.len()..).unwrap_or(&[]), &mut reasons);
        // Old calls do not use new out arguments after the old ones.
        compare_arguments(outs, old_outs, Direction::Backward, &mut reasons);
        ok_if_empty(reasons)
    }

    /// Checks that calls written for this schema work with `old` if they omit new arguments. Returns every reason if they do not.
    ///
    /// In addition to backward compatibility: types of arguments do not become wider, types of returns do not change, no old argument gets
    /// a default, new arguments have no list as default, and the number of out arguments does not change. Arguments with defaults may be
    /// removed.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// let old = Schema::parse("f(Tensor self, int a, int b=1) -> Tensor").unwrap();
    /// let new = Schema::parse("f(Tensor self, int a, int b=1, int c=1) -> Tensor").unwrap();
    /// assert!(new.check_forward_compatible(&old).is_ok());
    /// let lists = Schema::parse("f(Tensor self, int a, int b=1, int[2] c=1) -> Tensor").unwrap();
    /// assert!(lists.check_forward_compatible(&old).is_err());
    /// ```
    pub fn check_forward_compatible(&self, old: &Self) -> Result<(), Vec<Incompatibility>> {
        let mut reasons = self.compare_names_and_returns(old, Direction::Forward);
        let (args, outs) = split_out_arguments(&self.arguments);
        let (old_args, old_outs) = split_out_arguments(&old.arguments);
        if outs.len() != old_outs.len() {
            reasons.push(Incompatibility::OutCount { old: old_outs.len(), new: outs.len() });
        }
        compare_arguments(args, old_args, Direction::Forward, &mut reasons);
        let added = args.get(old_args.len()..).unwrap_or(&[]);
        report_missing_defaults(added, &mut reasons);
        for argument in added.iter().filter(|argument| matches!(argument.default, Some(DefaultValue::List(_)))) {
            reasons.push(Incompatibility::NewContainerDefault { name: argument.name.clone() });
        }
        if outs.len() == old_outs.len() {
            compare_arguments(outs, old_outs, Direction::Forward, &mut reasons);
        }
        ok_if_empty(reasons)
    }

    /// Compares names, returns and `...` of two schemas: all except the arguments.
    fn compare_names_and_returns(&self, old: &Self, direction: Direction) -> Vec<Incompatibility> {
        let mut reasons = Vec::new();
        if self.name != old.name {
            reasons.push(Incompatibility::Name { old: old.name.to_string(), new: self.name.to_string() });
        }
        if self.varargs != old.varargs {
            reasons.push(Incompatibility::Varargs);
        }
        if self.varreturns != old.varreturns {
            reasons.push(Incompatibility::VarReturns);
        }
        if self.returns.len() != old.returns.len() {
            reasons.push(Incompatibility::ReturnCount { old: old.returns.len(), new: self.returns.len() });
            return reasons;
        }
        for (index, (new, old)) in self.returns.iter().zip(&old.returns).enumerate() {
            reasons.extend(
                return_changes(new, old, direction).into_iter().map(|change| Incompatibility::Return { index, change }),
            );
        }
        reasons
    }
}

fn ok_if_empty(reasons: Vec<Incompatibility>) -> Result<(), Vec<Incompatibility>> {
    if reasons.is_empty() { Ok(()) } else { Err(reasons) }
}

/// Splits arguments at the first out argument.
fn split_out_arguments(arguments: &[Argument]) -> (&[Argument], &[Argument]) {
    let outs = arguments.iter().position(Argument::is_out).unwrap_or(arguments.len());
    arguments.split_at(outs)
}

fn report_missing_defaults(added: &[Argument], reasons: &mut Vec<Incompatibility>) {
    for argument in added.iter().filter(|argument| argument.default.is_none()) {
        reasons.push(Incompatibility::NewArgumentWithoutDefault { name: argument.name.clone() });
    }
}

/// Compares arguments at the same position. Keyword arguments must keep their position too, as in PyTorch: serialised calls rely on it.
fn compare_arguments(new: &[Argument], old: &[Argument], direction: Direction, reasons: &mut Vec<Incompatibility>) {
    for (new, old) in new.iter().zip(old) {
        if new.name == old.name {
            let changes = argument_changes(new, old, direction);
            reasons
                .extend(changes.into_iter().map(|change| Incompatibility::Argument { name: new.name.clone(), change }));
        } else {
            reasons.push(Incompatibility::ArgumentReplaced { old: old.name.clone(), new: new.name.clone() });
        }
    }
    for removed in old.get(new.len()..).unwrap_or(&[]) {
        if direction == Direction::Backward || removed.default.is_none() {
            reasons.push(Incompatibility::ArgumentRemoved { name: removed.name.clone() });
        }
    }
}

fn argument_changes(new: &Argument, old: &Argument, direction: Direction) -> Vec<Change> {
    let mut changes = Vec::new();
    let fits = match direction {
        Direction::Backward => is_subtype(&old.ty, &new.ty),
        Direction::Forward => is_subtype(&new.ty, &old.ty),
    };
    changes.extend(type_change(&new.ty, &old.ty, fits));
    if new.keyword_only && !old.keyword_only {
        changes.push(Change::KeywordOnly);
    }
    match (&new.default, &old.default) {
        (None, Some(_)) => changes.push(Change::DefaultRemoved),
        (Some(_), None) if direction == Direction::Forward => changes.push(Change::DefaultAdded),
        (Some(new), Some(old)) if new != old => changes.push(Change::Default { old: old.clone(), new: new.clone() }),
        _ => {}
    }
    changes
}

fn return_changes(new: &Return, old: &Return, direction: Direction) -> Vec<Change> {
    let fits = match direction {
        Direction::Backward => is_subtype(&new.ty, &old.ty),
        // A wider type is refused, as in PyTorch. The old operator does not guarantee a narrower type.
        Direction::Forward => is_subtype(&old.ty, &new.ty) && is_subtype(&new.ty, &old.ty),
    };
    let mut changes: Vec<_> = type_change(&new.ty, &old.ty, fits).into_iter().collect();
    if new.name != old.name {
        changes.push(Change::Name { old: old.name.clone(), new: new.name.clone() });
    }
    changes
}

fn type_change(new: &Type, old: &Type, fits: bool) -> Option<Change> {
    if !fits {
        Some(Change::Type { old: old.clone(), new: new.clone() })
    } else if new.aliases() != old.aliases() {
        Some(Change::Alias { old: old.clone(), new: new.clone() })
    } else {
        None
    }
}
