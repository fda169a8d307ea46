//! The path of a tensor in a tree.

use std::fmt;

/// The position of a tensor in a tree, which is printed as Rust would write it.
///
/// ```
/// use dispatch_runtime::TreePath;
///
/// let (layers, layer) = (TreePath::ROOT.field("layers"), 2);
/// assert_eq!(layers.index(layer).field("weight").to_string(), ".layers[2].weight");
/// assert_eq!(TreePath::ROOT.key(&"w").to_string(), r#"["w"]"#);
/// ```
#[derive(Clone, Copy)]
pub struct TreePath<'a> {
    parent: Option<&'a Self>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Field(&'static str),
    Index(usize),
    Key(&'a dyn fmt::Debug),
}

impl TreePath<'_> {
    /// The path of the whole tree. Its text is empty.
    pub const ROOT: TreePath<'static> = TreePath { parent: None, step: Step::Root };

    /// Returns the path of a field of a struct, or of a member of a tuple.
    #[must_use]
    pub const fn field(&self, name: &'static str) -> TreePath<'_> {
        TreePath { parent: Some(self), step: Step::Field(name) }
    }

    /// Returns the path of an element of a list.
    #[must_use]
    pub const fn index(&self, index: usize) -> TreePath<'_> {
        TreePath { parent: Some(self), step: Step::Index(index) }
    }
}

impl<'a> TreePath<'a> {
    /// Returns the path of a value in a map.
    #[must_use]
    pub const fn key(&'a self, key: &'a dyn fmt::Debug) -> Self {
        TreePath { parent: Some(self), step: Step::Key(key) }
    }
}

impl fmt::Display for TreePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parent.map_or(Ok(()), |parent| parent.fmt(f))?;
        match self.step {
            Step::Root => Ok(()),
            Step::Field(name) => write!(f, ".{name}"),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => write!(f, "[{key:?}]"),
        }
    }
}

impl fmt::Debug for TreePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TreePath({self})")
    }
}
