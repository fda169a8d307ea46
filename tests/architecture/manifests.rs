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

    /// Returns the names of the packages that the crate depends on, also if renamed, for all platforms and features.
    pub(crate) fn dependency_names(&self, kind: DependencyKind) -> Vec<String> {
        let lists: &[&str] = match kind {
            DependencyKind::Normal => &["dependencies", "build-dependencies"],
            DependencyKind::Dev => &["dev-dependencies"],
        };
        let platforms = self.table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
        let tables = std::iter::once(&self.table).chain(platforms.filter_map(Value::as_table));
        let found = tables.flat_map(|table| lists.iter().filter_map(|list| table.get(*list)?.as_table()));
        found.flatten().map(|(name, value)| self.package_name_of_dependency(name, value)).collect()
    }

    fn package_name_of_dependency(&self, name: &str, value: &Value) -> String {
        let is_shared = value.get("workspace").is_some();
        let declared = if is_shared { self.workspace_dependencies.get(name).unwrap_or(value) } else { value };
        declared.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()
    }

    /// Whether the crate inherits the lints of the workspace.
    pub(crate) fn inherits_workspace_lints(&self) -> bool {
        self.table.get("lints").and_then(|lints| lints.get("workspace")?.as_bool()) == Some(true)
    }
}
