//! The error of this crate: the file, the place in it, and the problem.

mod render;

use std::path::PathBuf;
use std::{error, fmt, io};

use dispatch_files::FileError;
use dispatch_runtime::Error;

/// The error for a file that cannot be read, checked or run.
///
/// ```
/// use dispatch_pt2::{Archive, Pt2Problem};
///
/// let error = Archive::open("no/such/file.pt2").unwrap_err();
/// assert!(error.to_string().starts_with("`no/such/file.pt2`: "));
/// assert!(matches!(*error.problem, Pt2Problem::Io(_)));
/// ```
#[derive(Debug)]
pub struct Pt2Error {
    /// The file, as the caller named it. It is empty if the bytes were in memory.
    pub path: PathBuf,
    /// The problem.
    pub problem: Box<Pt2Problem>,
}

/// The problem with a file or with a call of its program.
///
/// ```
/// use dispatch_pt2::Pt2Problem;
/// let problem = Pt2Problem::ArchiveVersion { found: "7".to_owned() };
/// assert_eq!(problem.to_string(), "archive version 7 is unknown; version 0 is read. Export the program again with PyTorch 2.9 to 2.15");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Pt2Problem {
    /// The system cannot read the file.
    Io(io::Error),
    /// The file is no zip archive, or its directory is damaged.
    Container(String),
    /// Two entries have one name.
    DuplicateEntry,
    /// An entry cannot be used.
    Entry {
        /// The name of the entry.
        entry: String,
        /// The reason, as a sentence without its subject.
        reason: &'static str,
    },
    /// An entry that a program needs is missing.
    MissingEntry {
        /// The name of the entry, below the archive's folder.
        entry: String,
        /// The name of the tensor that needs it, if it is a tensor's.
        needed_by: Option<String>,
    },
    /// The archive has a version that this crate does not read.
    ArchiveVersion {
        /// The version in the archive.
        found: String,
    },
    /// The archive has no program, or none of this name.
    NoProgram {
        /// The requested name, if there is one.
        requested: Option<String>,
        /// The names of the programs in the archive.
        found: Vec<String>,
        /// What the archive has in place of a program, if that is known.
        instead: Option<&'static str>,
    },
    /// A JSON entry is damaged.
    Json {
        /// The name of the entry.
        entry: String,
        /// The place in the JSON, such as `graph_module.graph.nodes[3].inputs`.
        at: String,
        /// The text of the parser.
        message: String,
    },
    /// The program has a version that this crate does not read.
    SchemaVersion {
        /// The major version.
        major: i64,
        /// The minor version.
        minor: i64,
    },
    /// The data of a tensor are unusable.
    Payload {
        /// The name of the tensor.
        tensor: String,
        /// The reason.
        reason: PayloadProblem,
    },
    /// Operators are unknown.
    UnknownOperators(Vec<UnknownOperator>),
    /// A node of the graph is invalid.
    Node {
        /// The name of the node.
        node: String,
        /// The target of the node, such as `torch.ops.aten.add.Tensor`.
        target: String,
        /// The path of the node's module. It is empty for the outermost one.
        module: String,
        /// The reason.
        reason: Box<NodeProblem>,
    },
    /// The inputs, the outputs and the signature of a graph do not fit.
    Signature {
        /// The reason, as a sentence.
        reason: String,
    },
    /// The description of a value is invalid.
    Value {
        /// The name of the value.
        value: String,
        /// The reason, as a sentence.
        reason: String,
    },
    /// An argument of a call does not fit the program.
    Input {
        /// The name of the argument.
        input: String,
        /// The reason, as a sentence.
        reason: String,
    },
    /// The number or the structure of a call's arguments does not fit the program.
    Arguments {
        /// The reason, as a sentence.
        reason: String,
    },
    /// `forward` was called, and the program does not return one tensor.
    NotOneTensor,
    /// An operator failed while the program ran.
    Run {
        /// The name of the node.
        node: String,
        /// The path of the node's module.
        module: String,
        /// The error of the operator.
        source: Error,
        /// A sentence for each argument of the call whose dtype is another one than in the example.
        other_dtypes: Vec<String>,
    },
    /// Another run of the program writes its state at the moment.
    StateInUse {
        /// The name of a tensor that both runs write.
        tensor: String,
    },
    /// The sample inputs cannot be read.
    SampleInputs(FileError),
    /// A tensor cannot be made.
    Tensor(Error),
}

/// The reason why the data of a tensor are unusable.
///
/// ```
/// use dispatch_pt2::PayloadProblem;
/// let problem = PayloadProblem::OddSize { bytes: 509, element: 4 };
/// assert_eq!(problem.to_string(), "509 bytes are not a whole number of elements of 4 bytes");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PayloadProblem {
    /// The tensor has no data in the archive.
    Missing {
        /// The most similar name that has data.
        similar: Option<String>,
    },
    /// The data are a pickle, which this crate does not read.
    Pickled,
    /// The signature names a parameter, but the data are not one.
    NotAParameter,
    /// The name of the entry is not that of an entry in the folder of the data.
    OutsideFolder {
        /// The name in the file.
        path_name: String,
        /// The folder.
        folder: &'static str,
    },
    /// The number of the dtype is unknown, or the runtime has no such dtype.
    DType {
        /// The number.
        id: i64,
    },
    /// The layout is not strided.
    Layout {
        /// The number.
        id: i64,
    },
    /// The numbers of sizes and strides differ.
    RankMismatch {
        /// The number of sizes.
        sizes: usize,
        /// The number of strides.
        strides: usize,
    },
    /// A size, a stride or the offset is no number.
    NotANumber,
    /// A size, a stride or the offset is negative.
    Negative {
        /// `size`, `stride` or `storage offset`.
        quantity: &'static str,
        /// The value.
        value: i64,
    },
    /// The size of the data is not a multiple of the size of an element.
    OddSize {
        /// The size of the data.
        bytes: usize,
        /// The size of an element.
        element: usize,
    },
    /// The tensor has elements beyond the end of its data.
    TooShort {
        /// The number of elements that the data need.
        needed: String,
        /// The number of elements that the data have.
        found: usize,
    },
}

/// An operator that no linked crate defines.
///
/// ```
/// use dispatch_pt2::{Archive, Pt2Problem};
/// # use kernels_cpu as _;
///
/// let archive = Archive::open("tests/programs/unknown_operator.pt2")?;
/// let error = archive.program("model").unwrap_err();
/// let Pt2Problem::UnknownOperators(unknown) = &*error.problem else { panic!("{error}") };
/// assert_eq!(unknown[0].target, "torch.ops.aten.relux.default");
/// assert!(unknown[0].suggestion.as_ref().is_some_and(|name| name.starts_with("aten::relu")));
/// # Ok::<(), dispatch_pt2::Pt2Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownOperator {
    /// The target of the nodes.
    pub target: String,
    /// The name of the first node that uses it.
    pub node: String,
    /// The path of that node's module.
    pub module: String,
    /// The names of the operator's overloads, if the operator has others.
    pub overloads: Vec<String>,
    /// A known operator of a similar name.
    pub suggestion: Option<String>,
    /// The feature of `aten` that has the operator.
    pub feature: Option<&'static str>,
}

/// The reason why a node is invalid.
///
/// ```
/// use dispatch_pt2::NodeProblem;
/// let problem = NodeProblem::MissingArgument { argument: "weight".to_owned() };
/// assert_eq!(problem.to_string(), "argument `weight` is missing");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeProblem {
    /// A value is used that no earlier node defines.
    Undefined {
        /// The name of the value.
        value: String,
        /// Whether a later node defines it.
        later: bool,
    },
    /// Two nodes define one value.
    DefinedTwice {
        /// The name of the value.
        value: String,
    },
    /// The value has no description.
    NoMeta {
        /// The name of the value.
        value: String,
    },
    /// A required argument is missing.
    MissingArgument {
        /// The name of the argument.
        argument: String,
    },
    /// An argument is given twice.
    RepeatedArgument {
        /// The name of the argument.
        argument: String,
    },
    /// The operator has no such argument.
    UnknownArgument {
        /// The name of the argument.
        argument: String,
    },
    /// The kind of an argument does not fit the operator's schema.
    WrongArgument {
        /// The name or the position of the argument.
        argument: String,
        /// The type that is expected.
        expected: String,
        /// The kind in the file.
        found: &'static str,
    },
    /// This kind of argument is not supported here.
    UnsupportedArgument {
        /// The name or the position of the argument.
        argument: String,
        /// The kind in the file.
        kind: &'static str,
    },
    /// The number of results does not fit the operator's schema.
    WrongOutputs {
        /// The number that is expected.
        expected: usize,
        /// The number in the file.
        found: usize,
    },
    /// The higher-order operator is not supported.
    UnsupportedHigherOrder,
    /// Graphs are nested too deeply.
    TooDeep,
    /// The node is invalid for another reason, as a sentence.
    Other(String),
}

impl Pt2Error {
    #[cold]
    pub(crate) fn new(path: impl Into<PathBuf>, problem: impl Into<Pt2Problem>) -> Self {
        Self { path: path.into(), problem: Box::new(problem.into()) }
    }
}

impl From<io::Error> for Pt2Problem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Pt2Error> for Error {
    #[cold]
    fn from(error: Pt2Error) -> Self {
        Self::kernel(error)
    }
}

impl fmt::Display for Pt2Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.as_os_str().is_empty() {
            write!(f, "`{}`: ", self.path.display())?;
        }
        self.problem.fmt(f)
    }
}

impl error::Error for Pt2Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &*self.problem {
            Pt2Problem::Io(source) => Some(source),
            Pt2Problem::SampleInputs(source) => Some(source),
            Pt2Problem::Tensor(source) | Pt2Problem::Run { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Returns PyTorch's name of a dtype that the runtime does not have, by its number in the format.
pub(crate) const fn unsupported_dtype_name(id: i64) -> Option<&'static str> {
    Some(match id {
        9 => "complex32",
        28 => "uint16",
        34 => "uint32",
        35 => "uint64",
        _ => return None,
    })
}
