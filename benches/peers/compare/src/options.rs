//! The command line's options.

use measure::Result;

/// The selected lines and numbers of threads. Without a selection, all lines are printed.
pub(crate) struct Options {
    only: Vec<String>,
    /// The numbers of threads for large tensors.
    pub(crate) threads: Vec<usize>,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self { only: Vec::new(), threads: Vec::new() };
        while let Some(argument) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("`{argument}` needs a value"))?;
            match argument.as_str() {
                "--only" => options.only.push(value),
                "--threads" => options.threads.push(value.parse()?),
                _ => {
                    return Err(format!("`{argument}` is not an option; the options are --only and --threads").into());
                }
            }
        }
        if options.threads.is_empty() {
            options.threads = vec![1, 2];
        }
        Ok(options)
    }

    /// Whether a line of the table with these words is selected.
    pub(crate) fn selects_line(&self, words: &[&str]) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| words.iter().any(|word| word.starts_with(only.as_str())))
    }
}
