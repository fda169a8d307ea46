//! The text of a summary.

use std::fmt;

use super::{ModuleSummary, Summary};

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_outputs = self.modules.iter().any(|module| !module.output_sizes.is_empty());
        let mut lines = vec![["Module", "Output", "Parameters", "Trainable"].map(str::to_owned)];
        for (at, module) in self.modules.iter().enumerate() {
            let label = format!("{}{}", self.branches(at), self.label(at));
            let counts = [module.num_parameters, module.num_trainable].map(with_commas);
            let [parameters, trainable] = counts;
            lines.push([label, output_text(module), parameters, trainable]);
        }
        let width = |column: usize| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2), width(3)];
        for [label, output, parameters, trainable] in &lines {
            write!(f, "{label:0$}", widths[0])?;
            if has_outputs {
                write!(f, "  {output:0$}", widths[1])?;
            }
            writeln!(f, "  {parameters:>0$}  {trainable:>1$}", widths[2], widths[3])?;
        }
        let [all, trainable, bytes] = [self.num_parameters, self.num_trainable, self.parameter_bytes].map(with_commas);
        writeln!(f, "\n{all} parameters, {trainable} of them trainable, {bytes} bytes")
    }
}

impl Summary {
    /// Returns the name of a module below the module that contains it, and its type.
    fn label(&self, at: usize) -> String {
        let Some(module) = self.modules.get(at) else { return String::new() };
        let before = self.modules.get(..at).unwrap_or_default();
        let parent = before.iter().rev().find(|parent| parent.level < module.level);
        let prefix = parent.map_or("", |parent| &parent.path);
        let name = module.path.strip_prefix(prefix).unwrap_or(&module.path).trim_start_matches('.');
        if name.is_empty() { module.type_name.to_owned() } else { format!("{name}: {}", module.type_name) }
    }

    /// Returns the lines that connect a module with the modules that contain it.
    fn branches(&self, at: usize) -> String {
        let Some(module) = self.modules.get(at) else { return String::new() };
        let after = self.modules.get(at + 1..).unwrap_or_default();
        // Whether another module of this level follows, in the same module.
        let continues =
            |level: usize| after.iter().take_while(|next| next.level >= level).any(|next| next.level == level);
        let branch = |level: usize| match (continues(level), level == module.level) {
            (true, true) => "├─ ",
            (false, true) => "└─ ",
            (true, false) => "│  ",
            (false, false) => "   ",
        };
        (1..=module.level).map(branch).collect()
    }
}

fn output_text(module: &ModuleSummary) -> String {
    if module.output_sizes.is_empty() {
        return "-".to_owned();
    }
    let each: Vec<String> = module.output_sizes.iter().map(|sizes| format!("{sizes:?}")).collect();
    each.join(", ")
}

/// Returns a number with commas between groups of three digits.
fn with_commas(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
