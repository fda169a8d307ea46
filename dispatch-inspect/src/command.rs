//! The command line: parses and runs one command.

use std::io::Write;
use std::path::Path;

use dispatch_runtime::{Operator, schema};
use serde::Serialize;

use crate::{
    CallExplanation, Coverage, Failure, Guards, OperatorInfo, Style, WhatIf, find, list, matching, page, pages, table,
    table_text,
};

pub(crate) const USAGE: &str = "\
What the operators of this program are made of, which kernel a call reaches, and why

usage: COMMAND [--json]

  list [PATTERN]        operators, those with PATTERN in the name; `*` stands for any text
  show OP               schema, words of the author, kernels and where they are, derivative, coverage
  table OP              the dispatch table: each key, what serves it, and by which registration
  explain OP [ARG..]    where a call goes and why; an ARG is a device, a dtype, requires_grad, view, inference
                        or keys, with commas between: cpu,f32,requires_grad. The thread can be under --inference,
                        --no-grad, --autocast, --vmap, --trace, --modes, --include=KEY,.. and --exclude=KEY,..
  what-if OP KEY..      how the table would change with a kernel for KEY, or with -KEY without
  coverage [PATTERN]    operators by keys
  trace OP [ARG..]      makes the call, and shows it and the calls inside of it; a tensor is cpu,f32[2,3],requires_grad, and
                        all else as in schemas. Only `dispatch-inspect` itself can
  plan OP [ARG..]       the results of the call without the call: dtype, sizes and strides. Tensors have no memory unless
                        they name a device. Only `dispatch-inspect` itself can
  page [FILE]           the whole grid as one HTML file that needs no network; without FILE to standard output
  docs FOLDER           Markdown pages of all operators, one for each namespace
  help                  this

An OP can be written without its namespace, and without its overload where there is only one.
Colour is for terminals, unless NO_COLOR is set. It ends with 1 where there is no such operator or no kernel runs,
and with 2 where the command line is wrong.
";

const COMMANDS: [&str; 11] =
    ["list", "show", "table", "explain", "what-if", "coverage", "trace", "plan", "page", "docs", "help"];

/// The kind of a command's answer.
///
/// ```
/// use dispatch_inspect::{Found, Style, run};
/// let found = run(["help".to_owned()], &mut Vec::new(), Style::Plain).unwrap();
/// assert_eq!(found, Found::Answer);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// The answer to the question.
    Answer,
    /// The finding that a call would fail. A program should end with exit code 1.
    Finding,
}

/// Runs one command and writes the answer to `out`. `words` are the command-line arguments after the program's name.
///
/// ```
/// use dispatch_inspect::{Style, run};
///
/// dispatch_runtime::Registrar::new("run").define("id(Tensor self) -> Tensor")?;
/// let mut out = Vec::new();
/// run(["list", "run::"].map(str::to_owned), &mut out, Style::Plain).unwrap();
/// assert_eq!(out, b"run::id(Tensor self) -> Tensor\n");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the command line is wrong, if no operator matches, or if the answer cannot be written.
pub fn run(words: impl IntoIterator<Item = String>, out: &mut dyn Write, style: Style) -> Result<Found, Failure> {
    let (options, words): (Vec<String>, Vec<String>) = words.into_iter().partition(|word| word.starts_with("--"));
    let mut answer = Answer { out, style, as_json: false };
    let mut guards = Vec::new();
    for option in options {
        match option.as_str() {
            "--json" => answer.as_json = true,
            "--help" => return answer.text(USAGE),
            _ => guards.push(option.trim_start_matches('-').to_owned()),
        }
    }
    let under = Guards::parse(&guards)?;
    if let (Some(guard), false) = (guards.first(), words.first().is_some_and(|command| command == "explain")) {
        return Err(Failure::Usage(format!(
            "`--{guard}` is a guard, under which a call can be explained, and nothing else"
        )));
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    match words[..] {
        [] | ["help" | "-h", ..] => answer.text(USAGE),
        ["list"] => answer.list(&Operator::all()),
        ["list", pattern] => answer.list(&some(pattern)?),
        ["show", name] => {
            let info = OperatorInfo::of(find(name)?);
            answer.give(&info, || info.text(style))
        }
        ["table", name] => {
            let cells = table(find(name)?);
            answer.give(&cells, || table_text(&cells, style))
        }
        ["explain", name, ref arguments @ ..] => {
            let explanation = CallExplanation::under(&under, find(name)?, &owned(arguments))?;
            answer.give(&explanation, || explanation.text(style))?;
            Ok(if explanation.runs() { Found::Answer } else { Found::Finding })
        }
        ["what-if", name, ref keys @ ..] if !keys.is_empty() => {
            let what_if = WhatIf::of(find(name)?, &owned(keys))?;
            answer.give(&what_if, || what_if.text(style))
        }
        ["coverage"] => answer.coverage(&Operator::all()),
        ["coverage", pattern] => answer.coverage(&some(pattern)?),
        ["page"] if answer.as_json => {
            Err(Failure::Usage("`page` is HTML; name a FILE for it, and `--json` says which it is".to_owned()))
        }
        ["page"] => answer.text(&page(&Operator::all())),
        ["page", file] => answer.page(Path::new(file)),
        ["docs", folder] => answer.docs(Path::new(folder)),
        ["trace" | "plan", ..] => Err(Failure::Usage("this program looks at calls, and makes none".to_owned())),
        [command, ..] => Err(Failure::Usage(wrong(command))),
    }
}

/// Returns the message for a command that cannot be run.
fn wrong(command: &str) -> String {
    if COMMANDS.contains(&command) {
        let usage = USAGE.lines().find(|line| line.trim_start().starts_with(command)).unwrap_or_default();
        return format!("`{command}` was not given what it takes:\n{usage}");
    }
    match schema::suggest(command, COMMANDS) {
        Some(meant) => format!("there is no command `{command}`; did you mean `{meant}`?"),
        None => format!("there is no command `{command}`; there are {}", COMMANDS.join(", ")),
    }
}

/// Returns the operators that match a pattern; an error if there are none.
fn some(pattern: &str) -> Result<Vec<&'static Operator>, Failure> {
    let found = matching(pattern);
    if found.is_empty() { find(pattern).map(|operator| vec![operator]) } else { Ok(found) }
}

/// Returns the error of an operation on a file, with its path.
fn at(file: &Path, error: &std::io::Error) -> Failure {
    Failure::Io(std::io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}

/// The output of an answer, and its format.
struct Answer<'a> {
    out: &'a mut dyn Write,
    style: Style,
    as_json: bool,
}

impl Answer<'_> {
    fn give(&mut self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<Found, Failure> {
        if self.as_json {
            serde_json::to_writer_pretty(&mut *self.out, value).map_err(std::io::Error::from)?;
            return self.text("\n");
        }
        self.text(&text())
    }

    fn text(&mut self, text: &str) -> Result<Found, Failure> {
        self.out.write_all(text.as_bytes())?;
        Ok(Found::Answer)
    }

    fn list(&mut self, operators: &[&'static Operator]) -> Result<Found, Failure> {
        let schemas: Vec<String> = operators.iter().map(|operator| format!("{:#}", operator.schema())).collect();
        self.give(&schemas, || list(operators))
    }

    fn coverage(&mut self, operators: &[&'static Operator]) -> Result<Found, Failure> {
        let (coverage, style) = (Coverage::of(operators), self.style);
        self.give(&coverage, || coverage.text(style))
    }

    fn page(&mut self, file: &Path) -> Result<Found, Failure> {
        let operators = Operator::all();
        std::fs::write(file, page(&operators)).map_err(|error| at(file, &error))?;
        self.give(&file, || format!("{} operators in {}\n", operators.len(), file.display()))
    }

    fn docs(&mut self, folder: &Path) -> Result<Found, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
        let pages = pages(&Operator::all());
        for (name, page) in &pages {
            let file = folder.join(name);
            std::fs::write(&file, page).map_err(|error| at(&file, &error))?;
        }
        let names: Vec<&String> = pages.keys().collect();
        self.give(&names, || format!("{} pages in {}\n", names.len(), folder.display()))
    }
}
