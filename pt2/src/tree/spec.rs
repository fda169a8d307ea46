//! The structure of arguments and results, as the program records it.

use dispatch_runtime::Value;
use serde::Deserialize;

use super::Tree;
use crate::inputs::LeafPath;

/// The structure of a tree whose leaves are in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TreeSpec {
    Leaf,
    None,
    Tuple(Vec<Self>),
    List(Vec<Self>),
    Dict(Vec<(String, Self)>),
    Record { class: String, fields: Vec<(String, Self)> },
}

#[derive(Deserialize)]
struct SpecRecord {
    #[serde(rename = "type")]
    class: Option<String>,
    #[serde(default)]
    context: Option<String>,
    #[serde(default)]
    children_spec: Vec<Self>,
}

impl TreeSpec {
    /// Parses a record `[1, {..}]`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (version, record): (i64, SpecRecord) = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if version != 1 {
            return Err(format!("version {version} of the structure is unknown; version 1 is read"));
        }
        Self::from_record(record)
    }

    fn from_record(record: SpecRecord) -> Result<Self, String> {
        let Some(class) = record.class else { return Ok(Self::Leaf) };
        let children = record.children_spec.into_iter().map(Self::from_record).collect::<Result<Vec<_>, _>>()?;
        let context = record.context.as_deref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
        let names = || context.as_ref().and_then(|context| names_in_context(context, children.len()));
        Ok(match class.as_str() {
            "builtins.NoneType" => Self::None,
            "builtins.tuple" | "torch.Size" => Self::Tuple(children),
            "builtins.list" | "collections.deque" => Self::List(children),
            "builtins.dict" | "collections.OrderedDict" | "collections.defaultdict" => {
                let names = names()
                    .ok_or_else(|| format!("a {class} has {} values and no list of as many keys", children.len()))?;
                Self::Dict(names.into_iter().zip(children).collect())
            }
            _ => match names() {
                Some(names) => Self::Record { class, fields: names.into_iter().zip(children).collect() },
                None => Self::Tuple(children),
            },
        })
    }

    pub(crate) fn leaf_count(&self) -> usize {
        match self {
            Self::Leaf => 1,
            Self::None => 0,
            Self::Tuple(items) | Self::List(items) => items.iter().map(Self::leaf_count).sum(),
            Self::Dict(entries) | Self::Record { fields: entries, .. } => {
                entries.iter().map(|(_, item)| item.leaf_count()).sum()
            }
        }
    }

    /// Appends the place of each leaf. `at` is the place of the tree.
    pub(crate) fn append_leaf_paths(&self, at: &LeafPath, paths: &mut Vec<LeafPath>) {
        match self {
            Self::Leaf => paths.push(at.clone()),
            Self::None => {}
            Self::Tuple(items) | Self::List(items) => {
                items.iter().enumerate().for_each(|(index, item)| item.append_leaf_paths(&at.index(index), paths));
            }
            Self::Dict(entries) | Self::Record { fields: entries, .. } => {
                for (key, item) in entries {
                    item.append_leaf_paths(&at.key(key), paths);
                }
            }
        }
    }

    /// Builds the tree of these leaves. Missing leaves are `None`.
    pub(crate) fn build(&self, leaves: &mut dyn Iterator<Item = Value>) -> Tree {
        match self {
            Self::Leaf => Tree::Leaf(leaves.next().unwrap_or(Value::None)),
            Self::None => Tree::Leaf(Value::None),
            Self::Tuple(items) => Tree::Tuple(items.iter().map(|item| item.build(leaves)).collect()),
            Self::List(items) => Tree::List(items.iter().map(|item| item.build(leaves)).collect()),
            Self::Dict(entries) => Tree::Dict(Self::build_entries(entries, leaves)),
            Self::Record { class, fields } => {
                Tree::Record { class: class.clone(), fields: Self::build_entries(fields, leaves) }
            }
        }
    }

    fn build_entries(entries: &[(String, Self)], leaves: &mut dyn Iterator<Item = Value>) -> Vec<(String, Tree)> {
        entries.iter().map(|(name, item)| (name.clone(), item.build(leaves))).collect()
    }

    /// Appends the leaves of a tree of this structure. `at` is the place of the tree in the arguments, for errors.
    pub(crate) fn flatten(&self, tree: &Tree, at: &str, leaves: &mut Vec<Value>) -> Result<(), String> {
        let wrong = |expected: &str| Err(format!("`{at}` must be {expected}, and is {}", kind(tree)));
        match (self, tree) {
            (Self::Leaf, Tree::Leaf(value)) => leaves.push(value.clone()),
            (Self::Leaf, _) => return wrong("a tensor, a number, a text or None"),
            (Self::None, Tree::Leaf(Value::None)) => {}
            (Self::None, _) => return wrong("None"),
            (Self::Tuple(specs) | Self::List(specs), Tree::Tuple(items) | Tree::List(items)) => {
                if specs.len() != items.len() {
                    return Err(format!("`{at}` must have {} elements, and has {}", specs.len(), items.len()));
                }
                for (index, (spec, item)) in specs.iter().zip(items).enumerate() {
                    spec.flatten(item, &format!("{at}[{index}]"), leaves)?;
                }
            }
            (Self::Tuple(_), _) => return wrong("a tuple"),
            (Self::List(_), _) => return wrong("a list"),
            (
                Self::Dict(specs) | Self::Record { fields: specs, .. },
                Tree::Dict(items) | Tree::Record { fields: items, .. },
            ) => {
                if let Some((name, _)) = items.iter().find(|(name, _)| specs.iter().all(|(known, _)| known != name)) {
                    return Err(format!("`{at}` has a key `{name}`, which the program does not know"));
                }
                for (name, spec) in specs {
                    let found = items.iter().find(|(known, _)| known == name);
                    let (_, item) = found.ok_or_else(|| format!("`{at}` has no key `{name}`"))?;
                    spec.flatten(item, &format!("{at}.{name}"), leaves)?;
                }
            }
            (Self::Dict(_), _) => return wrong("a dict"),
            (Self::Record { class, .. }, _) => return wrong(&format!("an object with the fields of `{class}`")),
        }
        Ok(())
    }
}

/// Returns the names of `count` children: a list of keys, or a pair of a list of field names and a class.
fn names_in_context(context: &serde_json::Value, count: usize) -> Option<Vec<String>> {
    let list = |value: &serde_json::Value| {
        let items = value.as_array().filter(|items| items.len() == count)?;
        Some(items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect())
    };
    list(context).or_else(|| context.as_array()?.iter().find_map(list))
}

/// Returns the name of a tree's kind, with its article.
fn kind(tree: &Tree) -> &'static str {
    match tree {
        Tree::Leaf(Value::Tensor(_)) => "a tensor",
        Tree::Leaf(Value::None) => "None",
        Tree::Leaf(Value::Str(_)) => "a text",
        Tree::Leaf(_) => "a number",
        Tree::Tuple(_) => "a tuple",
        Tree::List(_) => "a list",
        Tree::Dict(_) => "a dict",
        Tree::Record { .. } => "an object",
    }
}
