//! Types of arguments and returns.

use crate::alias::Alias;

/// A type with its alias annotation.
///
/// An annotation belongs to the type before it: in `Tensor(a!)[](b)` the tensors are in set `a` and are written, and the list itself is in
/// set `b`. An optional type has no annotation; `Tensor(a!)?` annotates the tensor inside.
///
/// ```
/// use dispatch_schema::{Alias, Type, TypeKind};
///
/// let ty = Type::parse("Tensor(a!)?").unwrap();
/// let tensor = Type { kind: TypeKind::Tensor, alias: Some(Alias::written("a")) };
/// assert_eq!(ty, Type::from(TypeKind::Optional(Box::new(tensor))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// The type without its annotation.
    pub kind: TypeKind,
    /// The alias annotation: the memory that the value may share.
    pub alias: Option<Alias>,
}

/// A type without its alias annotation.
///
/// ```
/// use dispatch_schema::{Type, TypeKind};
///
/// assert_eq!(Type::parse("SymInt").unwrap().kind, TypeKind::SymInt);
/// assert_eq!(Type::parse("DeviceIndex").unwrap().kind, TypeKind::Int); // an older name
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `Tensor`.
    Tensor,
    /// `Scalar`, also written `number`: an `int`, a `float`, a `complex` or a `bool`.
    Scalar,
    /// `int`, also written `DeviceIndex` or `ConstQuantizerPtr`: 64 bits, signed.
    Int,
    /// `SymInt`: an `int` that a tracer may keep symbolic.
    SymInt,
    /// `float`: 64 bits.
    Float,
    /// `bool`.
    Bool,
    /// `SymBool`: a `bool` that a tracer may keep symbolic.
    SymBool,
    /// `complex`: two times 64 bits.
    Complex,
    /// `str`.
    Str,
    /// `Device`.
    Device,
    /// `ScalarType`: the dtype of a tensor.
    ScalarType,
    /// `Layout`.
    Layout,
    /// `MemoryFormat`.
    MemoryFormat,
    /// `Generator`: the state of a random number generator.
    Generator,
    /// `Storage`.
    Storage,
    /// `Stream`.
    Stream,
    /// `QScheme`.
    QScheme,
    /// `Quantizer`.
    Quantizer,
    /// `NoneType`, also written `None`.
    NoneType,
    /// `Any`: any value.
    Any,
    /// `AnyClassType`: any instance of a class.
    AnyClass,
    /// `AnyEnumType`: any value of an enumeration.
    AnyEnum,
    /// `Capsule`: an opaque value.
    Capsule,
    /// `__torch__.torch.classes.ns.Name`: a class by its full path.
    Class(String),
    /// A type variable, such as `t` or `tVal`: the same type everywhere in one schema.
    Variable(String),
    /// `T?`: an optional. Never directly inside another optional.
    Optional(Box<Type>),
    /// `T[]`: a list, or `T[N]`: a sized list, which cannot be inside another type. `T[1]` still accepts any length.
    List(Box<Type>, Option<u32>),
    /// `(A, B)`: a tuple.
    Tuple(Vec<Type>),
    /// `Dict(K, V)`: a dictionary.
    Dict(Box<Type>, Box<Type>),
    /// `Future(T)`.
    Future(Box<Type>),
    /// `Await(T)`.
    Await(Box<Type>),
    /// `RRef(T)`.
    RRef(Box<Type>),
    /// `Union(A, B)`: at least two different types, in PyTorch's order.
    Union(Vec<Type>),
}

/// The types that are a single word, with their words. The first word of a type is the canonical one.
pub(crate) const ATOMIC_TYPES: [(&str, TypeKind); 27] = [
    ("Tensor", TypeKind::Tensor),
    ("Scalar", TypeKind::Scalar),
    ("int", TypeKind::Int),
    ("SymInt", TypeKind::SymInt),
    ("float", TypeKind::Float),
    ("bool", TypeKind::Bool),
    ("SymBool", TypeKind::SymBool),
    ("complex", TypeKind::Complex),
    ("str", TypeKind::Str),
    ("Device", TypeKind::Device),
    ("ScalarType", TypeKind::ScalarType),
    ("Layout", TypeKind::Layout),
    ("MemoryFormat", TypeKind::MemoryFormat),
    ("Generator", TypeKind::Generator),
    ("Storage", TypeKind::Storage),
    ("Stream", TypeKind::Stream),
    ("QScheme", TypeKind::QScheme),
    ("Quantizer", TypeKind::Quantizer),
    ("NoneType", TypeKind::NoneType),
    ("Any", TypeKind::Any),
    ("AnyClassType", TypeKind::AnyClass),
    ("AnyEnumType", TypeKind::AnyEnum),
    ("Capsule", TypeKind::Capsule),
    ("None", TypeKind::NoneType),
    ("DeviceIndex", TypeKind::Int),
    ("ConstQuantizerPtr", TypeKind::Int),
    ("number", TypeKind::Scalar),
];

impl From<TypeKind> for Type {
    fn from(kind: TypeKind) -> Self {
        Self { kind, alias: None }
    }
}

impl Type {
    /// Parses a text that is a type and nothing else. It may be a sized list, as the type of an argument.
    ///
    /// ```
    /// use dispatch_schema::Type;
    ///
    /// assert_eq!(Type::parse("Tensor [ ] ?").unwrap().to_string(), "Tensor[]?");
    /// assert!(Type::parse("Tensro").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, crate::SyntaxErrors> {
        crate::parse::parse_text(text, crate::parse::parse_whole_type)
    }

    /// Returns the inner type of an optional, or the type itself.
    ///
    /// ```
    /// use dispatch_schema::Type;
    ///
    /// assert_eq!(Type::parse("int[]?").unwrap().without_optional(), &Type::parse("int[]").unwrap());
    /// ```
    #[must_use]
    pub fn without_optional(&self) -> &Self {
        if let TypeKind::Optional(inner) = &self.kind { inner } else { self }
    }

    /// Whether `None` is a value of the type.
    ///
    /// ```
    /// use dispatch_schema::Type;
    ///
    /// assert!(Type::parse("int?").unwrap().accepts_none());
    /// ```
    #[must_use]
    pub fn accepts_none(&self) -> bool {
        match &self.kind {
            TypeKind::Optional(_) | TypeKind::NoneType | TypeKind::Any => true,
            TypeKind::Union(members) => members.iter().any(Self::accepts_none),
            _ => false,
        }
    }

    /// Whether values of the type have tensors whose keys are used for dispatch: `Tensor`, and optionals and lists of it.
    ///
    /// ```
    /// use dispatch_schema::Type;
    ///
    /// for text in ["Tensor", "Tensor?", "Tensor[]", "Tensor?[]", "Tensor[]?", "Tensor?[]?"] {
    ///     assert!(Type::parse(text).unwrap().is_tensor_like(), "{text}");
    /// }
    /// for text in ["int", "Tensor[][]", "Dict(str, Tensor)", "(Tensor, Tensor)"] {
    ///     assert!(!Type::parse(text).unwrap().is_tensor_like(), "{text}");
    /// }
    /// ```
    #[must_use]
    pub fn is_tensor_like(&self) -> bool {
        match &self.without_optional().kind {
            TypeKind::Tensor => true,
            TypeKind::List(element, _) => element.without_optional().kind == TypeKind::Tensor,
            _ => false,
        }
    }

    /// Whether values of the type contribute keys to dispatch: tensors, lists of tensors, and generators.
    ///
    /// ```
    /// use dispatch_schema::Type;
    ///
    /// assert!(Type::parse("Generator?").unwrap().carries_keys());
    /// assert!(!Type::parse("Tensor[][]").unwrap().carries_keys());
    /// ```
    #[must_use]
    pub fn carries_keys(&self) -> bool {
        self.is_tensor_like() || self.without_optional().kind == TypeKind::Generator
    }

    /// Whether the type contains a type variable. Such an operator can be declared, but not called with typed values.
    ///
    /// ```
    /// use dispatch_schema::Type;
    ///
    /// assert!(Type::parse("Dict(str, tVal)").unwrap().has_type_variable());
    /// ```
    #[must_use]
    pub fn has_type_variable(&self) -> bool {
        matches!(self.kind, TypeKind::Variable(_)) || self.components().any(Self::has_type_variable)
    }

    /// Returns the direct component types: none for `Tensor`, the key and the value for `Dict(K, V)`.
    ///
    /// ```
    /// use dispatch_schema::Type;
    ///
    /// assert_eq!(Type::parse("Dict(str, int[])").unwrap().components().count(), 2);
    /// ```
    pub fn components(&self) -> impl Iterator<Item = &Self> {
        let (pair, several): ([Option<&Self>; 2], &[Self]) = match &self.kind {
            TypeKind::Optional(inner)
            | TypeKind::List(inner, _)
            | TypeKind::Future(inner)
            | TypeKind::Await(inner)
            | TypeKind::RRef(inner) => ([Some(inner), None], &[]),
            TypeKind::Dict(key, value) => ([Some(key), Some(value)], &[]),
            TypeKind::Tuple(types) | TypeKind::Union(types) => ([None, None], types),
            _ => ([None, None], &[]),
        };
        pair.into_iter().flatten().chain(several)
    }

    /// Returns all alias annotations in the type, the outermost first.
    ///
    /// ```
    /// use dispatch_schema::Type;
    ///
    /// let ty = Type::parse("Tensor(a!)[](b)").unwrap();
    /// assert_eq!(ty.aliases().iter().map(ToString::to_string).collect::<Vec<_>>(), ["(b)", "(a!)"]);
    /// ```
    #[must_use]
    pub fn aliases(&self) -> Vec<&Alias> {
        self.alias.iter().chain(self.components().flat_map(Self::aliases)).collect()
    }

    /// Whether the operator writes the value, or a value inside it.
    ///
    /// ```
    /// use dispatch_schema::Type;
    ///
    /// assert!(Type::parse("Tensor(a!)[]").unwrap().is_written());
    /// ```
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.has_alias_where(&|alias| alias.write)
    }

    /// Returns the type without any alias annotation.
    ///
    /// ```
    /// use dispatch_schema::Type;
    ///
    /// assert_eq!(Type::parse("Tensor(a!)[](b)").unwrap().without_aliases(), Type::parse("Tensor[]").unwrap());
    /// ```
    #[must_use]
    pub fn without_aliases(&self) -> Self {
        let mut plain = self.clone();
        plain.for_each_type_mut(&mut |ty| ty.alias = None);
        plain
    }

    /// Whether any alias annotation in the type satisfies the predicate. Layers call this during operator calls, so it does not allocate.
    pub(crate) fn has_alias_where(&self, predicate: &dyn Fn(&Alias) -> bool) -> bool {
        self.alias.as_ref().is_some_and(predicate) || self.components().any(|part| part.has_alias_where(predicate))
    }

    pub(crate) fn for_each_type_mut(&mut self, visit: &mut impl FnMut(&mut Self)) {
        visit(self);
        match &mut self.kind {
            TypeKind::Optional(inner)
            | TypeKind::List(inner, _)
            | TypeKind::Future(inner)
            | TypeKind::Await(inner)
            | TypeKind::RRef(inner) => inner.for_each_type_mut(visit),
            TypeKind::Dict(key, value) => {
                key.for_each_type_mut(visit);
                value.for_each_type_mut(visit);
            }
            TypeKind::Tuple(types) | TypeKind::Union(types) => {
                for ty in types {
                    ty.for_each_type_mut(visit);
                }
            }
            _ => {}
        }
    }
}
