//! A reader of the manifests of the workspace's crates.

use std::fs;
use std::path::Path;

use toml::{Table, Value};

/// The manifest of a crate of the workspace.
pub(crate) struct Manifest {
    /// The crate's folder, relative to the root of the workspace; `.` is the root itself.
    pub(crate) folder: String,
    pub(crate) name: String,
    table: Table,
    /// The dependencies of the workspace, for entries with `workspace = true`.
    workspace_dependencies: Table,
}

/// The feature of a crate with a library and a program that has the dependencies of the program alone.
const PROGRAM_FEATURE: &str = "program";

/// A dependency of a crate.
pub(crate) struct Dependency {
    /// The name of the package, also if the dependency is renamed.
    pub(crate) package: String,
    /// Whether only the crate's program needs it: it is optional, and only the feature `program` enables it.
    pub(crate) is_of_program: bool,
    has_default_features: bool,
    features: Vec<String>,
}

/// The targets of a crate that need a dependency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DependencyKind {
    /// The crate's library, programs or build script.
    Normal,
    /// The crate's tests and examples.
    Dev,
}

/// Reads the manifests of all members of the workspace with this root folder.
pub(crate) fn read_members(root: &Path) -> Vec<Manifest> {
    let read = |folder: &str| fs::read_to_string(root.join(folder).join("Cargo.toml")).unwrap();
    let workspace: Table = read(".").parse().unwrap();
    let folders = workspace["workspace"]["members"].as_array().unwrap();
    let folders = folders.iter().map(|folder| folder.as_str().unwrap());
    std::iter::once(".").chain(folders).map(|folder| Manifest::parse(folder, &read(folder), &workspace)).collect()
}

impl Manifest {
    pub(crate) fn parse(folder: &str, text: &str, workspace: &Table) -> Self {
        let table: Table = text.parse().unwrap();
        let name = table["package"]["name"].as_str().unwrap().to_owned();
        let workspace_dependencies =
            workspace.get("workspace").and_then(|all| all.get("dependencies")?.as_table().cloned());
        Self {
            folder: folder.to_owned(),
            name,
            table,
            workspace_dependencies: workspace_dependencies.unwrap_or_default(),
        }
    }

    /// Returns the crate's dependencies, for all platforms and features.
    pub(crate) fn dependencies(&self, kind: DependencyKind) -> Vec<Dependency> {
        let lists: &[&str] = match kind {
            DependencyKind::Normal => &["dependencies", "build-dependencies"],
            DependencyKind::Dev => &["dev-dependencies"],
        };
        let platforms = self.table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
        let tables = std::iter::once(&self.table).chain(platforms.filter_map(Value::as_table));
        let found = tables.flat_map(|table| lists.iter().filter_map(|list| table.get(*list)?.as_table()));
        found.flatten().map(|(name, value)| self.dependency(name, value)).collect()
    }

    fn dependency(&self, name: &str, value: &Value) -> Dependency {
        let shared = value.get("workspace").and_then(|_| self.workspace_dependencies.get(name));
        let setting = |key: &str| value.get(key).or_else(|| shared?.get(key));
        let features =
            [Some(value), shared].into_iter().flatten().filter_map(|entry| entry.get("features")?.as_array());
        let is_optional = value.get("optional").and_then(Value::as_bool) == Some(true);
        Dependency {
            package: setting("package").and_then(Value::as_str).unwrap_or(name).to_owned(),
            is_of_program: is_optional && self.is_enabled_only_by_program(name),
            has_default_features: setting("default-features").and_then(Value::as_bool).unwrap_or(true),
            features: features.flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }

    /// The entries of each feature of the crate.
    fn features(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        let features = self.table.get("features").and_then(Value::as_table).into_iter().flatten();
        features.map(|(feature, entries)| {
            (feature.as_str(), entries.as_array().into_iter().flatten().filter_map(Value::as_str).collect())
        })
    }

    /// Whether the feature `program` enables an optional dependency, and no other feature does. `name?/feature` does not enable it.
    fn is_enabled_only_by_program(&self, name: &str) -> bool {
        let explicit = format!("dep:{name}");
        let enables = |entry: &&str| *entry == explicit || entry.split('/').next() == Some(name);
        let mut enabling = self.features().filter(|(_, entries)| entries.iter().any(enables));
        // Without an entry `dep:`, the dependency is also a feature of its own name.
        enabling.all(|(feature, _)| feature == PROGRAM_FEATURE)
            && self.features().any(|(_, entries)| entries.contains(&explicit.as_str()))
    }

    /// Whether a dependency on this crate enables its feature `program`.
    pub(crate) fn has_program_in(&self, dependency: &Dependency) -> bool {
        let mut enabled: Vec<&str> = dependency.features.iter().map(String::as_str).collect();
        if dependency.has_default_features {
            enabled.push("default");
        }
        let mut at = 0;
        while let Some(&feature) = enabled.get(at) {
            let entries = self.features().find(|(name, _)| *name == feature).map_or(Vec::new(), |(_, entries)| entries);
            enabled.extend(entries.into_iter().filter(|entry| !enabled.contains(entry)).collect::<Vec<_>>());
            at += 1;
        }
        enabled.contains(&PROGRAM_FEATURE) && self.features().any(|(feature, _)| feature == PROGRAM_FEATURE)
    }

    /// Whether the crate inherits the lints of the workspace.
    pub(crate) fn inherits_workspace_lints(&self) -> bool {
        self.table.get("lints").and_then(|lints| lints.get("workspace")?.as_bool()) == Some(true)
    }
}
