//! A table of the modules of a model, with numbers of parameters and sizes of outputs.

mod observer;
mod table;

use std::collections::{HashMap, HashSet};

use dispatch_runtime::TensorTree;

pub(crate) use observer::{Observation, observe, observe_call};

use crate::param::Param;
use crate::visit::{ModulePath, ModuleRef, Part, Visit};

/// A table of the modules of a model. Its text has a line for each module.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module, ReLU, Sequential};
/// let net = Sequential::new().add(Linear::new(4, 8)?).add(ReLU);
/// assert_eq!(net.summary().to_string(), "\
/// Module        Parameters  Trainable
/// Sequential            40         40
/// ├─ 0: Linear          40         40
/// └─ 1: ReLU             0          0
///
/// 40 parameters, 40 of them trainable, 160 bytes
/// ");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The modules, each before the modules in it.
    pub modules: Vec<ModuleSummary>,
    /// The number of elements of all parameters. A parameter that two modules share counts once.
    pub num_parameters: i64,
    /// The number of elements of parameters that require gradients.
    pub num_trainable: i64,
    /// The number of bytes of all parameters.
    pub parameter_bytes: i64,
}

/// A line of a [`Summary`].
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module, Sequential};
/// let summary = Sequential::new().add(Linear::new(4, 8)?).summary();
/// assert_eq!((&*summary.modules[1].path, summary.modules[1].level), ("0", 1));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ModuleSummary {
    /// The path of the module, such as `layers.0.attention`. That of the outermost module is empty.
    pub path: String,
    /// The name of the module's type.
    pub type_name: &'static str,
    /// The number of modules that contain the module.
    pub level: usize,
    /// The sizes of the tensors of the output, if the module reported one.
    pub output_sizes: Vec<Vec<i64>>,
    /// The number of elements of the parameters of the module and of the modules in it.
    pub num_parameters: i64,
    /// The number of elements of parameters that require gradients.
    pub num_trainable: i64,
}

impl Summary {
    pub(crate) fn new<M: Visit + ?Sized>(module: &M, observations: Vec<Observation>) -> Self {
        let mut builder = Builder::default();
        module.visit(&ModulePath::ROOT, &mut |path, part| match part {
            Part::Module(module) => builder.add_module(path, module),
            Part::Param(param) => builder.add_param(path, param),
            _ => {}
        });
        builder.add_outputs(observations);
        builder.summary
    }

    /// Sets the output of the outermost module, which may be of another crate.
    pub(crate) fn set_output(&mut self, output: &impl TensorTree) {
        if let Some(root) = self.modules.first_mut().filter(|module| module.path.is_empty()) {
            root.output_sizes = observer::sizes_of(output);
        }
    }
}

/// A summary under construction.
struct Builder {
    summary: Summary,
    refs: Vec<ModuleRef>,
    /// The modules that contain the next part, the outermost first.
    open: Vec<OpenModule>,
    /// The parameters that were counted, so that a shared one counts once.
    seen: HashSet<usize>,
}

struct OpenModule {
    path: String,
    /// The number in the list of modules.
    at: usize,
    /// The parameters that were counted for this module.
    seen: HashSet<usize>,
}

impl Default for Builder {
    fn default() -> Self {
        let summary = Summary { modules: Vec::new(), num_parameters: 0, num_trainable: 0, parameter_bytes: 0 };
        Self { summary, refs: Vec::new(), open: Vec::new(), seen: HashSet::new() }
    }
}

impl Builder {
    fn add_module(&mut self, path: &ModulePath<'_>, module: ModuleRef) {
        let path = path.to_string();
        self.leave_modules(&path);
        self.summary.modules.push(ModuleSummary {
            path: path.clone(),
            type_name: module.type_name(),
            level: self.open.len(),
            output_sizes: Vec::new(),
            num_parameters: 0,
            num_trainable: 0,
        });
        self.open.push(OpenModule { path, at: self.refs.len(), seen: HashSet::new() });
        self.refs.push(module);
    }

    fn add_param(&mut self, path: &ModulePath<'_>, param: &Param) {
        self.leave_modules(&path.to_string());
        let count = param.geometry().count();
        let trainable = if param.requires_grad() { count } else { 0 };
        for open in &mut self.open {
            if open.seen.insert(param.identity())
                && let Some(module) = self.summary.modules.get_mut(open.at)
            {
                module.num_parameters += count;
                module.num_trainable += trainable;
            }
        }
        if self.seen.insert(param.identity()) {
            self.summary.num_parameters += count;
            self.summary.num_trainable += trainable;
            let element = i64::try_from(param.dtype().size()).unwrap_or(i64::MAX);
            self.summary.parameter_bytes += count.saturating_mul(element);
        }
    }

    /// Closes the modules that do not contain a part of this path. Parts come in the order of the tree.
    fn leave_modules(&mut self, path: &str) {
        let contains =
            |module: &str| module.is_empty() || path.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'));
        while self.open.last().is_some_and(|open| !contains(&open.path)) {
            self.open.pop();
        }
    }

    /// Gives each module the output of its first call. Modules without fields may have one address. Then the calls belong to them in order.
    fn add_outputs(&mut self, observations: Vec<Observation>) {
        let mut outputs: HashMap<_, Vec<_>> = HashMap::new();
        for Observation { module, sizes } in observations {
            outputs.entry(module).or_default().push(sizes);
        }
        let mut calls: HashMap<_, _> = outputs.into_iter().map(|(module, sizes)| (module, sizes.into_iter())).collect();
        for (module, summary) in self.refs.iter().zip(&mut self.summary.modules) {
            let next = calls.get_mut(&module.identity()).and_then(Iterator::next);
            summary.output_sizes = next.unwrap_or_default();
        }
    }
}
