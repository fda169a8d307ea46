//! The reason why a kernel fills a cell of a dispatch table.

/// The reason why a kernel fills a cell. The names are those of PyTorch's dumps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Provenance {
    /// The kernel was registered for exactly this key.
    Kernel,
    /// The kernel is an explicit composite (`CompositeExplicitAutograd`).
    DefaultBackendKernel,
    /// The kernel is a composite for nested tensors.
    NestedKernel,
    /// The kernel is an implicit composite (`CompositeImplicitAutograd`).
    MathKernel,
    /// No kernel fills the cell: an implicit composite and a storage's own kernel both could.
    AmbiguousAutogradOther,
    /// The kernel was registered for `Autograd`.
    AutogradKernel,
    /// The kernel is a decomposition for batching.
    BatchedKernel,
    /// The kernel was registered for `Autocast`.
    AutocastKernel,
    /// The kernel is the key's fallback for all operators.
    BackendFallback,
    /// No kernel fills the cell.
    Missing,
}

impl Provenance {
    /// Returns the text that dumps print.
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
