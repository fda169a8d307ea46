//! The texts of all problems.

use std::fmt;

use super::{NodeProblem, PayloadProblem, Pt2Problem, UnknownOperator, unsupported_dtype_name};

impl fmt::Display for Pt2Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Container(reason) => write!(f, "this is no complete `.pt2` archive: {reason}"),
            Self::DuplicateEntry => f.write_str("two entries of the archive have one name; save the program again"),
            Self::Entry { entry, reason } => write!(f, "entry {entry:?} {reason}"),
            Self::MissingEntry { entry, needed_by: None } => {
                write!(f, "the archive has no entry `{entry}`; save the program again")
            }
            Self::MissingEntry { entry, needed_by: Some(tensor) } => {
                write!(f, "the archive has no entry `{entry}` with the data of `{tensor}`; save the program again")
            }
            Self::ArchiveVersion { found } => write!(
                f,
                "archive version {found} is unknown; version 0 is read. Export the program again with PyTorch 2.9 to 2.15"
            ),
            Self::NoProgram { requested, found, instead } => {
                match requested {
                    Some(name) => write!(f, "the archive has no program `{name}`")?,
                    None => f.write_str("the archive has no program")?,
                }
                if let Some(instead) = instead {
                    write!(f, "; it has {instead}")?;
                }
                if found.is_empty() {
                    f.write_str(". Save one with `torch.export.save(torch.export.export(model, args), path)`")
                } else {
                    write!(f, "; its programs are `{}`", found.join("`, `"))
                }
            }
            Self::Json { entry, at, message } => {
                write!(f, "entry `{entry}`")?;
                if !at.is_empty() && at != "." {
                    write!(f, ", at `{at}`")?;
                }
                write!(f, ": {message}. The file is damaged: save the program again")
            }
            Self::SchemaVersion { major, minor } => write!(
                f,
                "version {major}.{minor} of the program's records is unknown; version 8 is read. Export the program again with PyTorch 2.9 to \
                 2.15"
            ),
            Self::Payload { tensor, reason } => write!(f, "the data of `{tensor}`: {reason}"),
            Self::UnknownOperators(operators) => {
                write!(f, "{} unknown operator{}:", operators.len(), if operators.len() == 1 { "" } else { "s" })?;
                operators.iter().try_for_each(|operator| write!(f, "\n  {operator}"))
            }
            Self::Node { node, target, module, reason } => {
                write!(f, "node `{node}` ({target}){}: {reason}", InModule(module))
            }
            Self::Value { value, reason } => write!(f, "value `{value}`: {reason}"),
            Self::Input { input, reason } => write!(f, "argument `{input}`: {reason}"),
            Self::Signature { reason } | Self::Arguments { reason } => f.write_str(reason),
            Self::NotOneTensor => f.write_str(
                "`forward` needs a program that returns one tensor; `run` returns all results of this program",
            ),
            Self::Run { node, module, source, other_dtypes } => {
                write!(f, "node `{node}`{}: {source}", InModule(module))?;
                other_dtypes.iter().try_for_each(|sentence| write!(f, "; {sentence}"))
            }
            Self::StateInUse { tensor } => write!(
                f,
                "another run of this program writes `{tensor}` at the moment. Run one after another, or give each thread a `deep_clone` of the \
                 program"
            ),
            Self::SampleInputs(error) => write!(f, "the sample inputs: {error}"),
            Self::Tensor(error) => error.fmt(f),
        }
    }
}

/// The module of a node, in the middle of a sentence.
struct InModule<'a>(&'a str);

impl fmt::Display for InModule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " of module `{}`", self.0) }
    }
}

impl fmt::Display for PayloadProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { similar } => {
                f.write_str("the signature needs them, and the archive does not have them")?;
                similar.as_ref().map_or(Ok(()), |similar| write!(f, "; it has data of `{similar}`"))
            }
            Self::Pickled => f.write_str(
                "they are a pickle, and pickles are not read, because they can run code. Tensor subclasses and custom objects are saved as pickles; \
                 convert them to plain tensors before the export",
            ),
            Self::NotAParameter => f.write_str("the signature has a parameter of this name, but the data are no parameter"),
            Self::OutsideFolder { path_name, folder } => {
                write!(f, "{path_name:?} is not the name of an entry in `{folder}`")
            }
            Self::DType { id } => match unsupported_dtype_name(*id) {
                Some(name) => write!(f, "there is no dtype for {name}; convert the tensor before the export"),
                None => write!(f, "dtype number {id} is unknown"),
            },
            Self::Layout { id } => {
                let name = ["unknown", "SparseCoo", "SparseCsr", "SparseCsc", "SparseBsr", "SparseBsc", "Mkldnn"];
                let name = usize::try_from(*id).ok().and_then(|id| name.get(id)).unwrap_or(&"unknown");
                write!(f, "layout {id} ({name}) is not supported; convert the tensor with `to_dense()` before the export")
            }
            Self::RankMismatch { sizes, strides } => {
                write!(f, "the tensor has {sizes} sizes and {strides} strides")
            }
            Self::NotANumber => f.write_str("a size, a stride or the storage offset is an expression, and not a number"),
            Self::Negative { quantity, value } => write!(f, "a {quantity} is negative: {value}"),
            Self::OddSize { bytes, element } => {
                write!(f, "{bytes} bytes are not a whole number of elements of {element} bytes")
            }
            Self::TooShort { needed, found } => {
                write!(f, "the tensor needs {needed} elements, and the data have {found}")
            }
        }
    }
}

impl fmt::Display for UnknownOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, node, module, overloads, suggestion, feature } = self;
        write!(f, "{target}, first used by node `{node}`{}", InModule(module))?;
        if let Some(feature) = feature {
            return write!(f, "; enable the feature `{feature}`");
        }
        if !overloads.is_empty() {
            return write!(f, "; the operator has no such overload; its overloads are {}", overloads.join(", "));
        }
        if let Some(suggestion) = suggestion {
            write!(f, "; did you mean {suggestion}?")?;
        }
        let namespace = target.strip_prefix("torch.ops.").and_then(|name| name.split('.').next());
        match namespace {
            Some("aten") | None => Ok(()),
            Some(namespace) => {
                let operator =
                    target.trim_start_matches("torch.ops.").trim_end_matches(".default").replacen('.', "::", 1);
                write!(f, "; link the crate that defines the operators of `{namespace}`: `use that_crate as _;`")?;
                write!(f, "; or define it in Rust: `#[op_def(\"{operator}(..) -> ..\")]`")
            }
        }
    }
}

impl fmt::Display for NodeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined { value, later: false } => write!(f, "it uses `{value}`, which nothing defines"),
            Self::Undefined { value, later: true } => write!(
                f,
                "it uses `{value}`, which a later node defines: the values depend on each other in a circle, or the nodes are not in order"
            ),
            Self::DefinedTwice { value } => write!(f, "it defines `{value}`, which is defined before"),
            Self::NoMeta { value } => write!(f, "its value `{value}` has no entry in the values of the graph"),
            Self::MissingArgument { argument } => write!(f, "argument `{argument}` is missing"),
            Self::RepeatedArgument { argument } => write!(f, "argument `{argument}` is given twice"),
            Self::UnknownArgument { argument } => write!(f, "the operator has no argument `{argument}`"),
            Self::WrongArgument { argument, expected, found } => {
                write!(f, "argument `{argument}` is a {expected}, and the file has {found}")
            }
            Self::UnsupportedArgument { argument, kind } => {
                write!(f, "argument `{argument}` has the kind {kind}, which is not supported for this operator")
            }
            Self::WrongOutputs { expected, found } => {
                write!(f, "the operator has {expected} results, and the node {found}")
            }
            Self::UnsupportedHigherOrder => f.write_str("this higher-order operator is not supported"),
            Self::TooDeep => f.write_str("graphs are nested too deeply"),
            Self::Other(reason) => f.write_str(reason),
        }
    }
}
