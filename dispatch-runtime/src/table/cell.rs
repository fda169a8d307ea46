//! Cells of a row: the kernels that were registered for a key.

use crate::error::{Error, ErrorKind};
use crate::key::{Key, SlotOrAlias};
use crate::location::Location;
use crate::name::Name;
use crate::operator::{BoxedKernel, CodePointer, Condition, FallbackRecord, KernelRecord, Operator, StaticKernel};
use crate::tensor::Marks;

/// The kernels that were registered for one key.
#[derive(Clone, Default)]
pub(crate) struct Cell {
    pub(crate) kernels: Vec<KernelRegistration>,
}

/// A registered kernel.
#[derive(Clone)]
pub(crate) struct KernelRegistration {
    pub(crate) kernel: Kernel,
    /// The operator for whose types the kernel was compiled.
    pub(crate) compiled_for: Option<&'static Operator>,
    pub(crate) name: &'static str,
    pub(crate) location: Location,
    pub(crate) source: RegistrationSource,
    pub(crate) overrides: bool,
    derived: bool,
    pub(crate) condition: Option<Condition>,
    priority: i32,
    /// For a fallback: whether it serves only operators whose schema has alias annotations.
    pub(crate) aliasing: bool,
    /// For a fallback: the marks without which a typed call skips it.
    pub(crate) marks: Option<Marks>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kernel {
    Typed(CodePointer),
    Boxed(BoxedKernel),
    Fallthrough,
}

/// The source of a registration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RegistrationSource {
    /// An attribute in the program.
    Attribute,
    /// A registrar, at run time.
    Registrar(u64),
}

/// The kernels of a cell that run.
pub(crate) enum ActiveKernels<'a> {
    None,
    One(&'a KernelRegistration),
    /// The first kernel whose condition holds.
    Conditional(Vec<&'a KernelRegistration>),
    Conflict(Vec<&'a KernelRegistration>),
}

impl Cell {
    /// Whether one of these fallbacks serves an operator, given whether the operator is aliasing.
    pub(crate) fn has_fallback_for(&self, is_aliasing: bool) -> bool {
        self.kernels.iter().any(|fallback| is_aliasing || !fallback.aliasing)
    }

    /// Returns the kernel that runs: the newest overriding kernel of a registrar, or else the only kernel. If all kernels are the program's
    /// own, it is the one that overrides the others, or one of several with conditions. Anything else is a conflict. The order of
    /// registration does not matter.
    pub(crate) fn active_kernels(&self) -> ActiveKernels<'_> {
        let own = self.kernels_without_derived();
        if let [one] = own[..]
            && one.condition.is_none()
        {
            return ActiveKernels::One(one);
        }
        let (program, running): (Vec<&KernelRegistration>, Vec<&KernelRegistration>) =
            own.iter().partition(|kernel| kernel.source == RegistrationSource::Attribute);
        if let Some(newest) = running.iter().rev().find(|kernel| kernel.overrides) {
            return ActiveKernels::One(newest);
        }
        if !running.is_empty() {
            return ActiveKernels::Conflict(own);
        }
        let overriding: Vec<&KernelRegistration> = program.iter().copied().filter(|kernel| kernel.overrides).collect();
        let mut candidates = if overriding.is_empty() { program } else { overriding };
        match candidates[..] {
            [] => ActiveKernels::None,
            [one] if one.condition.is_none() => ActiveKernels::One(one),
            _ => {
                candidates.sort_by_key(|kernel| (std::cmp::Reverse(kernel.priority), kernel.location));
                let tie = candidates.windows(2).any(|pair| pair[0].priority == pair[1].priority);
                let unreachable = candidates.iter().rev().skip(1).any(|kernel| kernel.condition.is_none());
                if tie || unreachable {
                    ActiveKernels::Conflict(candidates)
                } else {
                    ActiveKernels::Conditional(candidates)
                }
            }
        }
    }

    /// Returns the kernels without those derived from the functional operator's kernel, if there are others.
    fn kernels_without_derived(&self) -> Vec<&KernelRegistration> {
        let has_own_kernel = self.has_own_kernel();
        self.kernels.iter().filter(|kernel| !(has_own_kernel && kernel.derived)).collect()
    }

    /// Whether there is a kernel that is not derived from the functional operator's kernel.
    pub(crate) fn has_own_kernel(&self) -> bool {
        self.kernels.iter().any(|kernel| !kernel.derived)
    }

    /// Returns all kernels in the order in which one replaces the next.
    pub(crate) fn kernels_by_precedence(&self) -> Vec<&KernelRegistration> {
        let rank = |kernel: &KernelRegistration| match kernel.source {
            RegistrationSource::Registrar(order) if kernel.overrides => (0, u64::MAX - order),
            RegistrationSource::Registrar(_) => (1, 0),
            RegistrationSource::Attribute => (if kernel.overrides { 2 } else { 3 }, 0),
        };
        let mut kernels: Vec<&KernelRegistration> = self.kernels.iter().collect();
        kernels.sort_by_key(|kernel| (rank(kernel), std::cmp::Reverse(kernel.priority), kernel.location));
        kernels
    }

    pub(crate) fn remove_by_source(&mut self, source: RegistrationSource) -> Option<BoxedKernel> {
        let at = self.kernels.iter().position(|kernel| kernel.source == source)?;
        match self.kernels.remove(at).kernel {
            Kernel::Boxed(kernel) => Some(kernel),
            Kernel::Typed(_) | Kernel::Fallthrough => None,
        }
    }
}

impl KernelRegistration {
    pub(crate) fn from_record(record: &'static KernelRecord) -> Self {
        Self {
            kernel: record.kernel.into(),
            compiled_for: Some((record.operator)()),
            name: record.name,
            location: record.location,
            source: RegistrationSource::Attribute,
            overrides: record.overrides,
            derived: record.derived,
            condition: record.condition,
            priority: record.priority,
            aliasing: false,
            marks: None,
        }
    }

    pub(crate) fn from_fallback(record: &'static FallbackRecord) -> Self {
        let FallbackRecord { kernel, name, location, aliasing, marks, .. } = *record;
        let fallback = Self::new_without_options(kernel.into(), name, location, RegistrationSource::Attribute);
        Self { aliasing, marks: marks.iter().copied().reduce(|all, mark| all | mark), ..fallback }
    }

    /// Makes a registration without the options of a record, for kernels of a registrar and for fallbacks.
    pub(crate) const fn new_without_options(
        kernel: Kernel,
        name: &'static str,
        location: Location,
        source: RegistrationSource,
    ) -> Self {
        Self {
            kernel,
            compiled_for: None,
            name,
            location,
            source,
            overrides: false,
            derived: false,
            condition: None,
            priority: 0,
            aliasing: false,
            marks: None,
        }
    }
}

/// Returns the names and locations of kernels, sorted, for errors.
pub(crate) fn kernel_sites(kernels: &[&KernelRegistration]) -> Vec<(&'static str, Location)> {
    let mut sites: Vec<_> = kernels.iter().map(|kernel| (kernel.name, kernel.location)).collect();
    sites.sort_by_key(|&(name, location)| (location, name));
    sites
}

/// Makes the error of a cell with several kernels and no rule to choose one.
pub(crate) fn duplicate_kernels_error(
    operator: Name<'static>,
    target: SlotOrAlias,
    kernels: &[&KernelRegistration],
) -> Error {
    ErrorKind::DuplicateKernel { operator, key: Key::from_slot_or_alias(target), kernels: kernel_sites(kernels) }.into()
}

/// Makes a fallthrough if there is no closure.
impl From<Option<BoxedKernel>> for Kernel {
    fn from(kernel: Option<BoxedKernel>) -> Self {
        kernel.map_or(Self::Fallthrough, Self::Boxed)
    }
}

impl From<StaticKernel> for Kernel {
    fn from(kernel: StaticKernel) -> Self {
        match kernel {
            StaticKernel::Typed(code) => Self::Typed(code),
            StaticKernel::Boxed(function) => Self::Boxed(BoxedKernel::Function(function)),
            StaticKernel::Fallthrough => Self::Fallthrough,
        }
    }
}
