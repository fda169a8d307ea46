//! The command line.

use std::path::PathBuf;

use opdispatch::Result;

/// The arguments of the program.
pub(crate) struct Arguments {
    /// The text. The default is the documentation of this repository.
    pub(crate) file: Option<String>,
    /// The number of training steps.
    pub(crate) steps: usize,
    /// The folder of the files that are written.
    pub(crate) folder: PathBuf,
    /// Whether the run continues at the last checkpoint.
    pub(crate) resume: bool,
    /// The number of characters that are sampled at the end.
    pub(crate) sample: usize,
}

impl Arguments {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut arguments =
            Self { file: None, steps: 2000, folder: PathBuf::from("target/gpt"), resume: false, sample: 500 };
        while let Some(option) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("`{option}` needs a value"));
            match option.as_str() {
                "--file" => arguments.file = Some(value()?),
                "--steps" => arguments.steps = parse_number(&option, &value()?)?,
                "--folder" => arguments.folder = value()?.into(),
                "--resume" => arguments.resume = true,
                "--sample" => arguments.sample = parse_number(&option, &value()?)?,
                other => {
                    let known = "--file TEXT, --steps N, --folder FOLDER, --resume, --sample N";
                    return Err(format!("there is no option `{other}`; the options are {known}").into());
                }
            }
        }
        Ok(arguments)
    }
}

fn parse_number<N: std::str::FromStr>(option: &str, text: &str) -> Result<N> {
    text.parse().map_err(|_| format!("`{option} {text}` is no number").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Arguments> {
        Arguments::parse(words.iter().map(|&word| word.to_owned()))
    }

    #[test]
    fn options_are_read_in_any_order() -> Result<()> {
        let arguments = parse(&["--resume", "--steps", "7", "--file", "a.txt"])?;
        assert_eq!((arguments.steps, arguments.file.as_deref(), arguments.resume), (7, Some("a.txt"), true));
        Ok(())
    }

    #[test]
    fn wrong_options_are_errors_that_name_them() {
        for (words, part) in
            [(&["--step"][..], "`--step`"), (&["--steps"], "needs a value"), (&["--steps", "x"], "`--steps x`")]
        {
            let error = parse(words).err().unwrap().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
