//! The commands of the inspector.

use std::path::{Path, PathBuf};

use dispatch_runtime::Operator;

use crate::{
    CallExplanation, CommandOutcome, Coverage, Failure, Guards, OperatorInfo, Output, RunCommand, WhatIf,
    documentation_pages, find_operator, html_page, matching_operators, schema_list, table_cells, table_text,
};

/// A command of the inspector, as the command line describes it.
///
/// ```
/// use dispatch_inspect::{Style, run};
/// let error = run(["tabel".to_owned()], &mut Vec::new(), Style::Plain).unwrap_err();
/// assert!(error.to_string().contains("a similar subcommand exists: 'table'"));
/// ```
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Command {
    /// Lists the schemas of operators.
    #[command(after_help = "Example:\n  {program} list 'aten::*norm'")]
    List {
        /// A part of a name, or a whole name in which `*` stands for any text. All operators by default.
        pattern: Option<String>,
    },
    /// Shows an operator: its schema, documentation, kernels with their locations, derivative and coverage.
    #[command(after_help = "Example:\n  {program} show relu")]
    Show {
        /// The name of the operator.
        operator: String,
    },
    /// Shows the dispatch table of an operator: for each key the kernel, and the registration that it comes from.
    #[command(after_help = "Example:\n  {program} table relu --json")]
    Table {
        /// The name of the operator.
        operator: String,
    },
    /// Explains which kernel a call runs, and why.
    #[command(after_help = "Example:\n  {program} explain add.Tensor cpu,f32,requires_grad --autocast")]
    Explain {
        /// The name of the operator.
        operator: String,
        /// A description of each argument: a device, a dtype, `requires_grad`, `view`, `inference` or dispatch keys, joined by commas; or
        /// `none`.
        arguments: Vec<String>,
        /// The guards of the thread.
        #[command(flatten)]
        guards: Guards,
    },
    /// Shows how the dispatch table would change with other registrations.
    #[command(after_help = "`-KEY` is short for `--without KEY`.\n\nExample:\n  {program} what-if relu Meta -CPU")]
    WhatIf {
        /// The name of the operator.
        operator: String,
        /// The keys for which a kernel would be added.
        #[arg(required_unless_present = "without")]
        keys: Vec<String>,
        /// A key whose kernel would be removed.
        #[arg(long, value_name = "KEY")]
        without: Vec<String>,
    },
    /// Shows the kind of kernel of each operator for each key.
    #[command(after_help = "Example:\n  {program} coverage 'aten::*norm'")]
    Coverage {
        /// A part of a name, or a whole name in which `*` stands for any text. All operators by default.
        pattern: Option<String>,
    },
    /// Writes the tables of all operators as one HTML page that needs no network.
    #[command(after_help = "Example:\n  {program} page operators.html")]
    Page {
        /// The file of the page. Standard output by default.
        file: Option<PathBuf>,
    },
    /// Writes Markdown pages of all operators, one for each namespace.
    #[command(after_help = "Example:\n  {program} docs operators")]
    Docs {
        /// The folder of the pages, which is created if it does not exist.
        folder: PathBuf,
    },
}

impl RunCommand for Command {
    fn run(self, output: &mut Output<'_>) -> Result<CommandOutcome, Failure> {
        match self {
            Self::List { pattern } => write_list(&selected_operators(pattern.as_deref())?, output),
            Self::Show { operator } => {
                let info = OperatorInfo::for_operator(find_operator(&operator)?);
                output.write_answer(&info, |style| info.text(style))
            }
            Self::Table { operator } => {
                let cells = table_cells(find_operator(&operator)?);
                output.write_answer(&cells, |style| table_text(&cells, style))
            }
            Self::Explain { operator, arguments, guards } => {
                let explanation =
                    CallExplanation::for_call_with_guards(&guards, find_operator(&operator)?, &arguments)?;
                output.write_answer(&explanation, |style| explanation.text(style))?;
                Ok(if explanation.runs_kernel() { CommandOutcome::Answered } else { CommandOutcome::CallFails })
            }
            Self::WhatIf { operator, mut keys, without } => {
                keys.extend(without.iter().map(|key| format!("-{key}")));
                let what_if = WhatIf::for_changes(find_operator(&operator)?, &keys)?;
                output.write_answer(&what_if, |style| what_if.text(style))
            }
            Self::Coverage { pattern } => {
                let coverage = Coverage::for_operators(&selected_operators(pattern.as_deref())?);
                output.write_answer(&coverage, |style| coverage.text(style))
            }
            Self::Page { file: None } if output.is_json() => {
                Err(Failure::Usage("`page` is HTML; name a FILE for it, and `--json` says which it is".to_owned()))
            }
            Self::Page { file: None } => output.write_text(&html_page(&Operator::all())),
            Self::Page { file: Some(file) } => write_page(&file, output),
            Self::Docs { folder } => write_docs(&folder, output),
        }
    }
}

/// Returns the operators that match a pattern, or all operators; an error if none match.
fn selected_operators(pattern: Option<&str>) -> Result<Vec<&'static Operator>, Failure> {
    let Some(pattern) = pattern else { return Ok(Operator::all()) };
    let found = matching_operators(pattern);
    if found.is_empty() { find_operator(pattern).map(|operator| vec![operator]) } else { Ok(found) }
}

fn write_list(operators: &[&'static Operator], output: &mut Output<'_>) -> Result<CommandOutcome, Failure> {
    let schemas: Vec<String> = operators.iter().map(|operator| format!("{:#}", operator.schema())).collect();
    output.write_answer(&schemas, |_| schema_list(operators))
}

fn write_page(file: &Path, output: &mut Output<'_>) -> Result<CommandOutcome, Failure> {
    let operators = Operator::all();
    std::fs::write(file, html_page(&operators)).map_err(|error| io_error_with_path(file, &error))?;
    output.write_answer(&file, |_| format!("{} operators in {}\n", operators.len(), file.display()))
}

fn write_docs(folder: &Path, output: &mut Output<'_>) -> Result<CommandOutcome, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| io_error_with_path(folder, &error))?;
    let pages = documentation_pages(&Operator::all());
    for (name, page) in &pages {
        let file = folder.join(name);
        std::fs::write(&file, page).map_err(|error| io_error_with_path(&file, &error))?;
    }
    let names: Vec<&String> = pages.keys().collect();
    output.write_answer(&names, |_| format!("{} pages in {}\n", names.len(), folder.display()))
}

/// Returns the error of an operation on a file, with its path.
fn io_error_with_path(file: &Path, error: &std::io::Error) -> Failure {
    Failure::Io(std::io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}
