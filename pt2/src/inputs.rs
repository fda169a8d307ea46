//! The arguments of a call: from positions and names to one leaf for each input of the program.

use dispatch_runtime::{Tensor, Value};

use crate::tree::{Tree, TreeSpec};

/// The arguments of a call, by position and by name.
///
/// ```
/// use dispatch_pt2::Inputs;
/// use dispatch_runtime::Tensor;
///
/// let inputs = Inputs::new().with(&Tensor::from([[1.0, 2.0]])).named("scale", 2.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    pub(crate) positional: Vec<Tree>,
    pub(crate) named: Vec<(String, Tree)>,
}

impl Inputs {
    /// Makes an empty list of arguments.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next positional argument.
    #[must_use]
    pub fn with(mut self, value: impl Into<Tree>) -> Self {
        self.positional.push(value.into());
        self
    }

    /// Adds an argument by its name in the forward function.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>, value: impl Into<Tree>) -> Self {
        self.named.push((name.into(), value.into()));
        self
    }
}

impl From<&Tensor> for Inputs {
    fn from(tensor: &Tensor) -> Self {
        Self::new().with(tensor)
    }
}

impl From<Tensor> for Inputs {
    fn from(tensor: Tensor) -> Self {
        Self::new().with(tensor)
    }
}

impl<T: Into<Tree>> From<Vec<T>> for Inputs {
    fn from(values: Vec<T>) -> Self {
        Self { positional: values.into_iter().map(Into::into).collect(), named: Vec::new() }
    }
}

impl<T: Into<Tree>, const N: usize> From<[T; N]> for Inputs {
    fn from(values: [T; N]) -> Self {
        Self { positional: values.into_iter().map(Into::into).collect(), named: Vec::new() }
    }
}

/// The place of a leaf in the arguments of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeafPath {
    /// The place in the notation of Python, such as `xs[0].mask`.
    pub(crate) name: String,
    /// The names that guards have for the place, such as `L['xs'][0]['mask']`.
    pub(crate) sources: Vec<String>,
}

impl LeafPath {
    fn new(argument: String) -> Self {
        let mut sources = vec![format!("L['{argument}']")];
        // The arguments of `*args` are `args_0`, `args_1` and so on.
        if let Some((base, index)) = argument.rsplit_once('_').filter(|(_, index)| index.parse::<u32>().is_ok()) {
            sources.push(format!("L['{base}'][{index}]"));
        }
        Self { name: argument, sources }
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        self.extended(&format!("[{index}]"), &format!("[{index}]"))
    }

    pub(crate) fn key(&self, key: &str) -> Self {
        self.extended(&format!(".{key}"), &format!("['{key}']"))
    }

    fn extended(&self, name: &str, source: &str) -> Self {
        let sources = self.sources.iter().map(|start| format!("{start}{source}")).collect();
        Self { name: format!("{}{name}", self.name), sources }
    }
}

/// The structure of the arguments of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputSpec {
    positional: Vec<TreeSpec>,
    keywords: Vec<(String, TreeSpec)>,
    /// The names of the positional arguments.
    names: Vec<String>,
}

impl InputSpec {
    /// Makes the structure from the record of the root module. Without a record, each input is a positional argument with its own name.
    pub(crate) fn new(in_spec: &str, names: Option<&[String]>, inputs: &[String]) -> Result<Self, String> {
        if in_spec.is_empty() {
            let positional = vec![TreeSpec::Leaf; inputs.len()];
            return Ok(Self { positional, keywords: Vec::new(), names: inputs.to_vec() });
        }
        let spec = TreeSpec::parse(in_spec)?;
        let TreeSpec::Tuple(parts) = spec else {
            return Err("the arguments are no pair of a tuple and a dict".to_owned());
        };
        let Ok([TreeSpec::Tuple(positional), TreeSpec::Dict(keywords)]) = <[TreeSpec; 2]>::try_from(parts) else {
            return Err("the arguments are no pair of a tuple and a dict".to_owned());
        };
        let names = names.unwrap_or_default().iter().take(positional.len()).cloned().collect();
        let spec = Self { positional, keywords, names };
        let (expected, found) = (spec.leaf_count(), inputs.len());
        if expected != found {
            return Err(format!(
                "the structure of the arguments has {expected} leaves, and the program {found} inputs"
            ));
        }
        Ok(spec)
    }

    /// Returns the place of each leaf in the arguments.
    pub(crate) fn leaf_paths(&self) -> Vec<LeafPath> {
        let mut paths = Vec::new();
        let specs = self.positional.iter().chain(self.keywords.iter().map(|(_, spec)| spec));
        specs.enumerate().for_each(|(at, spec)| spec.append_leaf_paths(&LeafPath::new(self.name(at)), &mut paths));
        paths
    }

    fn leaf_count(&self) -> usize {
        self.positional.iter().chain(self.keywords.iter().map(|(_, spec)| spec)).map(TreeSpec::leaf_count).sum()
    }

    /// Returns a leaf for each input of the program.
    pub(crate) fn flatten(&self, inputs: &Inputs) -> Result<Vec<Value>, String> {
        let count = self.positional.len();
        let mut positional: Vec<Option<&Tree>> = vec![None; count];
        let mut keywords: Vec<Option<&Tree>> = vec![None; self.keywords.len()];
        // Arguments beyond the positional ones are keyword arguments, in their order.
        let places = positional.iter_mut().chain(&mut keywords);
        let given = inputs.positional.len();
        if given > count + self.keywords.len() {
            return Err(format!(
                "the program takes {} arguments ({}), and got {given}",
                count + self.keywords.len(),
                self.all_names()
            ));
        }
        places.zip(&inputs.positional).for_each(|(place, tree)| *place = Some(tree));
        for (name, tree) in &inputs.named {
            let keyword = self.keywords.iter().position(|(known, _)| known == name);
            let place = match keyword {
                Some(at) => keywords.get_mut(at),
                None => self.names.iter().position(|known| known == name).and_then(|at| positional.get_mut(at)),
            };
            let place = place.ok_or_else(|| {
                format!("the program has no argument `{name}`; its arguments are {}", self.all_names())
            })?;
            if place.replace(tree).is_some() {
                return Err(format!("argument `{name}` is given twice"));
            }
        }
        let trees: Vec<Option<&Tree>> = positional.into_iter().chain(keywords).collect();
        let missing = trees.iter().enumerate().filter(|(_, tree)| tree.is_none());
        let missing: Vec<String> = missing.map(|(at, _)| format!("`{}`", self.name(at))).collect();
        match missing.as_slice() {
            [] => {}
            [name] => return Err(format!("argument {name} is missing; the arguments are {}", self.all_names())),
            names => {
                return Err(format!(
                    "arguments {} are missing; the arguments are {}",
                    names.join(", "),
                    self.all_names()
                ));
            }
        }
        let mut leaves = Vec::new();
        let specs = self.positional.iter().chain(self.keywords.iter().map(|(_, spec)| spec));
        for (at, (spec, tree)) in specs.zip(trees.into_iter().flatten()).enumerate() {
            spec.flatten(tree, &self.name(at), &mut leaves)?;
        }
        Ok(leaves)
    }

    fn name(&self, at: usize) -> String {
        let keyword = at.checked_sub(self.positional.len()).and_then(|at| self.keywords.get(at));
        let name = keyword.map_or_else(|| self.names.get(at).cloned(), |(name, _)| Some(name.clone()));
        name.unwrap_or_else(|| format!("argument {at}"))
    }

    fn all_names(&self) -> String {
        let names: Vec<String> =
            (0..self.positional.len() + self.keywords.len()).map(|at| format!("`{}`", self.name(at))).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}
