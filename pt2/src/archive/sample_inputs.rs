//! The arguments that a program was exported with.

use dispatch_files::{PtValue, read_pt_value};
use dispatch_runtime::{Str, Value};

use super::Archive;
use crate::error::{Pt2Error, Pt2Problem};
use crate::inputs::Inputs;
use crate::tree::Tree;

impl Archive {
    /// Returns the arguments of the example that a program was exported with, if the archive has them.
    ///
    /// They are a pickle. It is read as data: no code of it is run, and an object of any class that is neither a tensor nor plain data is an
    /// error.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_pt2::Archive;
    ///
    /// # fn main() -> dispatch_runtime::Result<()> {
    /// let archive = Archive::open("tests/programs/mlp.pt2")?;
    /// let inputs = archive.sample_inputs("model")?.expect("the export has an example");
    /// let output = archive.program("model")?.run(inputs)?;
    /// assert_eq!(output.as_tensor().unwrap().sizes(), [3, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such program, or if its arguments are damaged, or are more than tensors and plain data.
    pub fn sample_inputs(&self, name: &str) -> Result<Option<Inputs>, Pt2Error> {
        self.read_sample_inputs(name).map_err(|problem| self.error(problem))
    }

    fn read_sample_inputs(&self, name: &str) -> Result<Option<Inputs>, Pt2Problem> {
        if !self.program_names().any(|known| known == name) {
            return Err(self.no_program(Some(name)));
        }
        let entry = format!("data/sample_inputs/{name}.pt");
        let Some(bytes) = self.entry(&entry).filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
        let refuse = |reason| Pt2Problem::Entry { entry: entry.clone(), reason };
        let no_call = || refuse("has no pair of a tuple of arguments and a dict of named arguments");
        let value = read_pt_value(bytes).map_err(Pt2Problem::SampleInputs)?;
        let PtValue::Tuple(parts) = value else { return Err(no_call()) };
        let Ok([PtValue::Tuple(positional), PtValue::Dict(named)]) = <[PtValue; 2]>::try_from(parts) else {
            return Err(no_call());
        };
        let tree = |value| tree_of(value).map_err(refuse);
        let mut inputs = Inputs::new();
        for value in positional {
            inputs = inputs.with(tree(value)?);
        }
        for (name, value) in named {
            let PtValue::Text(name) = name else { return Err(no_call()) };
            inputs = inputs.named(name, tree(value)?);
        }
        Ok(Some(inputs))
    }
}

/// Converts a value of the pickle. Its depth is bounded by the reader of pickles.
fn tree_of(value: PtValue) -> Result<Tree, &'static str> {
    let all = |items: Vec<PtValue>| items.into_iter().map(tree_of).collect::<Result<Vec<_>, _>>();
    Ok(match value {
        PtValue::None => Tree::Leaf(Value::None),
        PtValue::Bool(value) => value.into(),
        PtValue::Int(value) => value.into(),
        PtValue::Float(value) => value.into(),
        PtValue::Text(text) => Tree::Leaf(Str::from(text.as_str()).into()),
        PtValue::Tensor(tensor) => tensor.into(),
        PtValue::List(items) => Tree::List(all(items)?),
        PtValue::Tuple(items) => Tree::Tuple(all(items)?),
        PtValue::Size(sizes) => Tree::Tuple(sizes.into_iter().map(Tree::from).collect()),
        PtValue::DType(dtype) => Tree::Leaf(dtype.into()),
        PtValue::Dict(entries) => {
            let entry = |(key, value)| match key {
                PtValue::Text(key) => Ok((key, tree_of(value)?)),
                PtValue::Int(key) => Ok((key.to_string(), tree_of(value)?)),
                _ => Err("has a dict with a key that is neither a text nor an integer"),
            };
            Tree::Dict(entries.into_iter().map(entry).collect::<Result<_, _>>()?)
        }
        _ => return Err("has a value that is no argument of a program"),
    })
}
