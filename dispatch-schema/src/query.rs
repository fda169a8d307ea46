//! Queries of a schema: which arguments are written, and which returns are views.
//!
//! The answers follow from the alias annotations. An annotation inside a type counts for the whole value: a list with written tensors is
//! written.

use crate::alias::Alias;
use crate::schema::{Argument, Schema};
use crate::ty::{Type, TypeKind};

/// The kind of an operator: functional, in-place or out.
///
/// ```
/// use dispatch_schema::{Schema, SchemaKind};
///
/// let kind = |text: &str| Schema::parse(text).unwrap().kind();
/// assert_eq!(kind("relu(Tensor self) -> Tensor"), SchemaKind::Functional);
/// assert_eq!(kind("relu_(Tensor(a!) self) -> Tensor(a!)"), SchemaKind::InPlace);
/// assert_eq!(kind("relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"), SchemaKind::Out);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemaKind {
    /// The operator writes no argument.
    Functional,
    /// The operator writes an argument that it also reads.
    InPlace,
    /// The operator writes its results into keyword arguments.
    Out,
}

/// A return that is a view of an argument.
///
/// ```
/// use dispatch_schema::{Schema, View};
///
/// let schema = Schema::parse("t(int x, Tensor(a) self) -> Tensor(a)").unwrap();
/// assert_eq!(schema.views(), [View { ret: 0, argument: 1 }]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The index of the return.
    pub ret: usize,
    /// The index of the argument whose storage the return shares.
    pub argument: usize,
}

/// The position of a value in a call: the index of an argument or of a return.
///
/// ```
/// use dispatch_schema::{ValuePosition, Schema};
///
/// let schema = Schema::parse("view(Tensor(a) self, int[] size) -> Tensor(a)").unwrap();
/// assert!(schema.may_alias(ValuePosition::Argument(0), ValuePosition::Return(0)));
/// assert!(!schema.may_alias(ValuePosition::Argument(1), ValuePosition::Return(0)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValuePosition {
    /// The argument with this index.
    Argument(usize),
    /// The return with this index.
    Return(usize),
}

impl Argument {
    /// Whether the operator writes the argument.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// let schema = Schema::parse("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)").unwrap();
    /// assert!(schema.arguments[0].is_written() && !schema.arguments[1].is_written());
    /// ```
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.ty.is_written()
    }

    /// Whether the argument is an out argument: keyword-only and written.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// let schema = Schema::parse("neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)").unwrap();
    /// assert!(schema.arguments[1].is_out());
    /// ```
    #[must_use]
    pub fn is_out(&self) -> bool {
        self.keyword_only && self.is_written()
    }
}

impl Schema {
    /// Returns the index of the `Device` argument that decides the backend of a call, or `None` if the operator has tensor arguments.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// let factory = Schema::parse("ones(int[] size, *, Device? device=None) -> Tensor").unwrap();
    /// assert_eq!(factory.device_argument(), Some(1));
    /// let like = Schema::parse("ones_like(Tensor self, *, Device? device=None) -> Tensor").unwrap();
    /// assert_eq!(like.device_argument(), None);
    /// ```
    #[must_use]
    pub fn device_argument(&self) -> Option<usize> {
        let takes_tensors = self.arguments.iter().any(|argument| argument.ty.is_tensor_like());
        let device =
            || self.arguments.iter().position(|argument| argument.ty.without_optional().kind == TypeKind::Device);
        if takes_tensors { None } else { device() }
    }

    /// Returns the kind of the operator: functional, in-place or out.
    ///
    /// ```
    /// use dispatch_schema::{Schema, SchemaKind};
    ///
    /// assert_eq!(Schema::parse("neg(Tensor self) -> Tensor").unwrap().kind(), SchemaKind::Functional);
    /// ```
    #[must_use]
    pub fn kind(&self) -> SchemaKind {
        if self.arguments.iter().any(Argument::is_out) {
            SchemaKind::Out
        } else if self.is_mutable() {
            SchemaKind::InPlace
        } else {
            SchemaKind::Functional
        }
    }

    /// Whether the operator writes any argument.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// assert!(Schema::parse("zero_(Tensor(a!) self) -> Tensor(a!)").unwrap().is_mutable());
    /// ```
    #[must_use]
    pub fn is_mutable(&self) -> bool {
        self.arguments.iter().any(Argument::is_written)
    }

    /// Whether any argument has an alias annotation. Calls then write an argument, or return values that may share its memory.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// let is_aliasing = |schema: &str| Schema::parse(schema).unwrap().is_aliasing();
    /// assert!(is_aliasing("t(Tensor(a) self) -> Tensor(a)") && is_aliasing("zero_(Tensor(a!) self) -> Tensor(a!)"));
    /// assert!(!is_aliasing("add(Tensor self, Tensor other) -> Tensor"));
    /// ```
    #[must_use]
    pub fn is_aliasing(&self) -> bool {
        self.arguments.iter().any(|argument| argument.ty.has_alias_where(&|_| true))
    }

    /// Returns the returns that are views, with their arguments: they share a set with an argument that is not written.
    ///
    /// ```
    /// use dispatch_schema::{Schema, View};
    ///
    /// let unbind = Schema::parse("unbind(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]").unwrap();
    /// assert_eq!(unbind.views(), [View { ret: 0, argument: 0 }]);
    /// let add = Schema::parse("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)").unwrap();
    /// assert_eq!(add.views(), []);
    /// ```
    #[must_use]
    pub fn views(&self) -> Vec<View> {
        let mut views = Vec::new();
        for (ret, returned) in self.returns.iter().enumerate() {
            for (argument, given) in self.arguments.iter().enumerate() {
                if !given.is_written() && have_common_set(&given.ty, &returned.ty) {
                    views.push(View { ret, argument });
                }
            }
        }
        views
    }

    /// Returns the index of the written argument that is returned as return `i`, if there is one.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// let text = "qr.out(Tensor A, *, Tensor(a!) Q, Tensor(b!) R) -> (Tensor(a!) Q, Tensor(b!) R)";
    /// let schema = Schema::parse(text).unwrap();
    /// assert_eq!([0, 1, 2].map(|i| schema.written_argument_of_return(i)), [Some(1), Some(2), None]);
    /// ```
    #[must_use]
    pub fn written_argument_of_return(&self, i: usize) -> Option<usize> {
        let returned = &self.returns.get(i)?.ty;
        self.arguments.iter().position(|argument| argument.is_written() && have_common_set(&argument.ty, returned))
    }

    /// Returns the index and type of each return that is not a written argument.
    ///
    /// ```
    /// let schema = dispatch_schema::Schema::parse("f(Tensor(a!) x) -> (Tensor(a!), int)").unwrap();
    /// assert_eq!(schema.new_returns().map(|(i, _)| i).collect::<Vec<_>>(), [1]);
    /// ```
    pub fn new_returns(&self) -> impl Iterator<Item = (usize, &Type)> {
        let values = self.returns.iter().enumerate().filter(|(i, _)| self.written_argument_of_return(*i).is_none());
        values.map(|(i, ret)| (i, &ret.ty))
    }

    /// Returns the number of returns if all are tensors, and `None` otherwise.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// assert_eq!(Schema::parse("f() -> (Tensor, Tensor)").unwrap().tensor_return_count(), Some(2));
    /// assert_eq!(Schema::parse("f() -> Tensor?").unwrap().tensor_return_count(), None);
    /// ```
    #[must_use]
    pub fn tensor_return_count(&self) -> Option<usize> {
        self.returns.iter().all(|ret| ret.ty.kind == TypeKind::Tensor).then_some(self.returns.len())
    }

    /// Whether the values at two positions may share memory: their annotations name a common set or a wildcard, and one value can have both
    /// types. For lists this concerns the lists themselves; see [`may_contain_alias`](Self::may_contain_alias). A position that does not
    /// exist shares nothing.
    ///
    /// ```
    /// use dispatch_schema::{ValuePosition, Schema};
    ///
    /// let schema = Schema::parse("pick(Tensor(a)[] list, Tensor(*) any) -> Tensor(a)").unwrap();
    /// assert!(!schema.may_alias(ValuePosition::Argument(0), ValuePosition::Return(0)));
    /// assert!(schema.may_alias(ValuePosition::Argument(1), ValuePosition::Return(0)));
    /// ```
    #[must_use]
    pub fn may_alias(&self, a: ValuePosition, b: ValuePosition) -> bool {
        let (Some(a), Some(b)) = (self.type_at_position(a), self.type_at_position(b)) else {
            return false;
        };
        may_alias_directly(a.without_optional(), b.without_optional())
    }

    /// Whether the values at two positions, or values inside them, may share memory.
    ///
    /// ```
    /// use dispatch_schema::{ValuePosition, Schema};
    ///
    /// let schema = Schema::parse("pick(Tensor(a)[] list) -> Tensor(a)").unwrap();
    /// assert!(schema.may_contain_alias(ValuePosition::Argument(0), ValuePosition::Return(0)));
    /// ```
    #[must_use]
    pub fn may_contain_alias(&self, a: ValuePosition, b: ValuePosition) -> bool {
        let (Some(a), Some(b)) = (self.type_at_position(a), self.type_at_position(b)) else {
            return false;
        };
        type_and_nested_types(a).iter().any(|a| type_and_nested_types(b).iter().any(|b| may_alias_directly(a, b)))
    }

    fn type_at_position(&self, position: ValuePosition) -> Option<&Type> {
        match position {
            ValuePosition::Argument(i) => self.arguments.get(i).map(|argument| &argument.ty),
            ValuePosition::Return(i) => self.returns.get(i).map(|ret| &ret.ty),
        }
    }
}

fn have_common_set(a: &Type, b: &Type) -> bool {
    a.has_alias_where(&|ours| b.has_alias_where(&|theirs| ours.shares_set(theirs)))
}

/// Returns the type and all types inside it.
fn type_and_nested_types(ty: &Type) -> Vec<&Type> {
    std::iter::once(ty).chain(ty.components().flat_map(type_and_nested_types)).collect()
}

fn may_alias_directly(a: &Type, b: &Type) -> bool {
    let related = |a: &Alias, b: &Alias| a.shares_set(b) || a.is_wildcard() || b.is_wildcard();
    let (Some(ours), Some(theirs)) = (&a.alias, &b.alias) else {
        return false;
    };
    related(ours, theirs) && may_describe_same_value(&a.kind, &b.kind)
}

/// Whether one value can have both types. Types without memory, such as `int`, overlap with nothing.
fn may_describe_same_value(a: &TypeKind, b: &TypeKind) -> bool {
    use TypeKind::{Any, AnyClass, Await, Class, Dict, Future, List, Optional, RRef, Tuple, Union, Variable};
    match (a, b) {
        (Any | Variable(_), other) | (other, Any | Variable(_)) => is_stored_in_memory(other),
        (Optional(inner), other) | (other, Optional(inner)) => may_describe_same_value(&inner.kind, other),
        (Union(members), other) | (other, Union(members)) => {
            members.iter().any(|member| may_describe_same_value(&member.kind, other))
        }
        (List(a, _), List(b, _)) | (Future(a), Future(b)) | (Await(a), Await(b)) | (RRef(a), RRef(b)) => {
            may_be_same_type(a, b)
        }
        (Dict(key, value), Dict(other_key, other_value)) => {
            may_be_same_type(key, other_key) && may_be_same_type(value, other_value)
        }
        (Tuple(a), Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| may_be_same_type(a, b)),
        (AnyClass, Class(_)) | (Class(_), AnyClass) => true,
        _ => a == b && is_stored_in_memory(a),
    }
}

/// Whether two element types can be the same type.
fn may_be_same_type(a: &Type, b: &Type) -> bool {
    a.has_type_variable()
        || b.has_type_variable()
        || a.without_aliases() == b.without_aliases()
        || may_describe_same_value(&a.kind, &b.kind)
}

fn is_stored_in_memory(kind: &TypeKind) -> bool {
    use TypeKind::{AnyEnum, Bool, Complex, Device, Float, Int, Layout, MemoryFormat, NoneType, QScheme};
    use TypeKind::{Scalar, ScalarType, Str, SymBool, SymInt};
    !matches!(
        kind,
        AnyEnum
            | Bool
            | Complex
            | Device
            | Float
            | Int
            | Layout
            | MemoryFormat
            | NoneType
            | QScheme
            | Scalar
            | ScalarType
            | Str
            | SymBool
            | SymInt
    )
}
