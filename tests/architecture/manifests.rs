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
    shared: Table,
}

/// The targets of a crate that need a dependency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    /// The crate's library, programs or build script.
    Own,
    /// The crate's tests and examples.
    Tests,
}

/// Reads the manifests of all members of the workspace with this root folder.
pub(crate) fn members(root: &Path) -> Vec<Manifest> {
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
        let shared = workspace.get("workspace").and_then(|all| all.get("dependencies")?.as_table().cloned());
        Self { folder: folder.to_owned(), name, table, shared: shared.unwrap_or_default() }
    }

    /// Returns the names of the packages that the crate depends on, also if renamed, for all platforms and features.
    pub(crate) fn dependencies(&self, need: Need) -> Vec<String> {
        let lists: &[&str] = match need {
            Need::Own => &["dependencies", "build-dependencies"],
            Need::Tests => &["dev-dependencies"],
        };
        let platforms = self.table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
        let tables = std::iter::once(&self.table).chain(platforms.filter_map(Value::as_table));
        let found = tables.flat_map(|table| lists.iter().filter_map(|list| table.get(*list)?.as_table()));
        found.flatten().map(|(name, value)| self.package(name, value)).collect()
    }

    fn package(&self, name: &str, value: &Value) -> String {
        let is_shared = value.get("workspace").is_some();
        let said = if is_shared { self.shared.get(name).unwrap_or(value) } else { value };
        said.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()
    }

    /// Whether the crate inherits the lints of the workspace.
    pub(crate) fn has_the_lints_of_the_workspace(&self) -> bool {
        self.table.get("lints").and_then(|lints| lints.get("workspace")?.as_bool()) == Some(true)
    }
}
