//! Why a kernel fills its cell.

/// Why a kernel fills a cell. The names are those of PyTorch's dumps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Provenance {
    /// It was registered for exactly this key.
    Kernel,
    /// It is an explicit composite.
    DefaultBackendKernel,
    /// It is a composite for nested tensors.
    NestedKernel,
    /// It is an implicit composite.
    MathKernel,
    /// None does: an implicit composite and a storage's own kernel both could.
    AmbiguousAutogradOther,
    /// It was registered for `Autograd`.
    AutogradKernel,
    /// It is a decomposition for batching.
    BatchedKernel,
    /// It was registered for `Autocast`.
    AutocastKernel,
    /// It is the key's fallback for all operators.
    BackendFallback,
    /// None does.
    Missing,
}

impl Provenance {
    /// What a dump prints.
    ///
    /// ```
    /// assert_eq!(dispatch_runtime::Provenance::MathKernel.name(), "math kernel");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::DefaultBackendKernel => "default backend kernel",
            Self::NestedKernel => "nested kernel",
            Self::MathKernel => "math kernel",
            Self::AmbiguousAutogradOther => "ambiguous autogradother",
            Self::AutogradKernel => "autograd kernel",
            Self::BatchedKernel => "batched kernel",
            Self::AutocastKernel => "autocast kernel",
            Self::BackendFallback => "backend fallback",
            Self::Missing => "missing",
        }
    }
}
