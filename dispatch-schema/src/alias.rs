//! Alias annotations: the memory that a value may share, and whether the operator writes it.

use std::fmt;

/// An alias annotation: `(a)`, `(a!)`, `(a -> *)`, `(a! -> b|c)`.
///
/// The names are alias sets, local to one schema: two values that name a common set may share storage. `*` is the wildcard, which may be
/// any memory. `before` holds when the operator is called, and `after` when it returns. The text omits `after` if the two are equal. `!`
/// means that the operator writes the memory.
///
/// ```
/// use dispatch_schema::Schema;
///
/// let schema = Schema::parse("unbind(Tensor(a -> *) self) -> Tensor(a)[]").unwrap();
/// let alias = schema.arguments[0].ty.alias.as_ref().unwrap();
/// assert_eq!((alias.before.as_slice(), alias.after.as_slice()), (&["a".to_owned()][..], &["*".to_owned()][..]));
/// assert!(!alias.write);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alias {
    /// The alias sets when the operator is called, sorted, without duplicates.
    pub before: Vec<String>,
    /// Whether the operator writes the memory (`!`).
    pub write: bool,
    /// The alias sets when the operator returns, sorted, without duplicates.
    pub after: Vec<String>,
}

impl Alias {
    /// Creates the annotation `(name)`.
    ///
    /// ```
    /// use dispatch_schema::Alias;
    ///
    /// assert_eq!(Alias::read_only("a").to_string(), "(a)");
    /// ```
    #[must_use]
    pub fn read_only(name: &str) -> Self {
        Self { before: vec![name.to_owned()], write: false, after: vec![name.to_owned()] }
    }

    /// Creates the annotation `(name!)`.
    ///
    /// ```
    /// use dispatch_schema::Alias;
    ///
    /// assert_eq!(Alias::written("a").to_string(), "(a!)");
    /// ```
    #[must_use]
    pub fn written(name: &str) -> Self {
        Self { write: true, ..Self::read_only(name) }
    }

    /// Whether one of the sets is the wildcard `*`.
    ///
    /// ```
    /// use dispatch_schema::Alias;
    ///
    /// assert!(Alias::read_only("*").is_wildcard());
    /// ```
    #[must_use]
    pub fn is_wildcard(&self) -> bool {
        self.set_names().any(|set| set == "*")
    }

    /// Whether two annotations name a common set, before or after the call. The wildcard does not count.
    ///
    /// ```
    /// use dispatch_schema::Alias;
    ///
    /// assert!(Alias::read_only("a").shares_set(&Alias::written("a")));
    /// assert!(!Alias::read_only("*").shares_set(&Alias::read_only("*")));
    /// ```
    #[must_use]
    pub fn shares_set(&self, other: &Self) -> bool {
        self.set_names().any(|set| set != "*" && other.set_names().any(|theirs| theirs == set))
    }

    fn set_names(&self) -> impl Iterator<Item = &str> {
        self.before.iter().chain(&self.after).map(String::as_str)
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = if self.write { "!" } else { "" };
        write!(f, "({}{write}", self.before.join("|"))?;
        if self.after != self.before {
            write!(f, " -> {}", self.after.join("|"))?;
        }
        f.write_str(")")
    }
}
