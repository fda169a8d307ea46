//! The explanation of a dispatched call, as data and as text.

use std::fmt::{self, Formatter, Write};

use crate::key::{Device, Key, KeySet, Provenance, linked_devices_text};
use crate::location::Location;
use crate::name::Name;

/// The explanation of a call: its keys, the kernel that runs, and the reason. It prints as readable text.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("halve(Tensor self) -> Tensor")]
/// pub fn halve(this: &Tensor) -> Result<Tensor>;
///
/// #[op_impl(halve, CPU)]
/// fn halve_cpu(this: &Tensor) -> Tensor { this.clone() }
///
/// let account = halve::operator().explain(&[Tensor::from_slice(&[1.0_f32]).into()]);
/// assert_eq!(account.winner.unwrap().kernel, "halve_cpu");
/// ```
#[derive(Debug)]
pub struct Explanation {
    /// The name of the called operator.
    pub operator: Name<'static>,
    /// The schema without the operator's name.
    pub signature: String,
    /// The location of the operator's definition.
    pub location: Location,
    /// The arguments that can add keys, with the keys that each adds.
    pub arguments: Vec<(String, KeySet)>,
    /// The keys that the thread adds to every call.
    pub included: KeySet,
    /// The keys that the thread's guards removed from this call.
    pub removed: KeySet,
    /// The location where the innermost guard was entered.
    pub innermost_guard: Option<Location>,
    /// The keys of the call.
    pub keys: KeySet,
    /// Whether a layer chose the keys when it redispatched the call.
    pub redispatched: bool,
    /// The keys that the call skips, because this operator has nothing to do there. A marked fallback has nothing to do if no tensor
    /// argument has its marks. A boxed call still runs that fallback, and then reaches the same kernel as a typed call.
    pub skipped: KeySet,
    /// The highest key that is left, which selects the kernel. `None` for a call without keys.
    pub key: Option<Key>,
    /// The reason why this kernel fills the cell of the key.
    pub provenance: Provenance,
    /// The kernel that runs, if there is one.
    pub winner: Option<KernelSite>,
    /// The kernels of the key in the order in which they are tried, each with its condition. Empty if none of them has a condition. The
    /// first kernel whose condition holds runs; only a call can evaluate conditions.
    pub candidates: Vec<(KernelSite, Option<&'static str>)>,
    /// Every other kernel of the operator, with the reason why it does not run.
    pub losers: Vec<(KernelSite, String)>,
    /// Whether any linked crate has registrations for the key's backend.
    pub backend_is_linked: bool,
    /// The devices on which the program can create tensors.
    pub linked_devices: Vec<Device>,
}

/// A registered kernel: its key, its name and its location.
#[derive(Clone, Debug)]
pub struct KernelSite {
    /// The key that the kernel was registered for.
    pub key: Key,
    /// The name of the kernel's function.
    pub kernel: &'static str,
    /// The location of the kernel.
    pub location: Location,
}

impl fmt::Display for KernelSite {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}` ({})", self.key, self.kernel, self.location)
    }
}

impl Explanation {
    fn write_header(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let width = self.arguments.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("guards".len());
        writeln!(f, "  {}{}    {}", self.operator, self.signature, self.location)?;
        for (name, keys) in &self.arguments {
            writeln!(f, "  {name:width$} -> {keys}")?;
        }
        let mut guards = format!("plus {}", self.included);
        if self.removed != KeySet::EMPTY {
            write!(guards, ", minus {}", self.removed)?;
        }
        let entered = self.innermost_guard.map_or_else(String::new, |location| format!("    entered at {location}"));
        writeln!(f, "  {:width$} -> {guards}{entered}", "guards")?;
        if self.redispatched {
            writeln!(f, "  {:width$} -> {}    redispatched by a layer", "keys", self.keys)?;
        }
        if self.skipped != KeySet::EMPTY {
            writeln!(f, "  {:width$} -> {}    nothing to do there", "skips", self.skipped)?;
        }
        match self.key {
            Some(key) => write!(f, "  {:width$} -> {key}", "key"),
            None => write!(f, "  {:width$} -> none", "key"),
        }
    }

    /// Writes the explanation as the message of an error: no kernel can run.
    pub(crate) fn fmt_no_kernel_error(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.operator;
        match (self.provenance, self.key) {
            (Provenance::AmbiguousAutogradOther, _) => writeln!(f, "`{name}` is ambiguous for AutogradOther\n")?,
            (_, Some(key)) => writeln!(f, "no kernel of `{name}` for {key}\n")?,
            (_, None) => writeln!(f, "no kernel of `{name}` for a call without tensors\n")?,
        }
        self.write_header(f)?;
        let sites = self.candidates.iter().map(|(site, _)| site).chain(self.losers.iter().map(|(site, _)| site));
        let kernels: Vec<String> = sites.map(|site| format!("{} ({})", site.key, site.location)).collect();
        let kernels = if kernels.is_empty() { "none".to_owned() } else { kernels.join(", ") };
        write!(f, "\n\n  kernels: {kernels}\n  {}", self.advice())
    }

    fn advice(&self) -> String {
        match (self.provenance, self.key) {
            (Provenance::AmbiguousAutogradOther, _) => {
                "Both its composite kernel and its kernel for a storage could serve AutogradOther. Register a kernel for AutogradOther."
                    .to_owned()
            }
            (_, None) => {
                "A call without tensors needs a kernel for BackendSelect, or a composite kernel: give the operator a body, \
                 or register a kernel for CompositeExplicitAutograd."
                    .to_owned()
            }
            (_, Some(key)) if !self.backend_is_linked => {
                let (linked, link) = match key.backend_index() {
                    Some(_) => (
                        format!("; {}", linked_devices_text(&self.linked_devices)),
                        format!("provides that backend, link it: `use my_{} as _;`", key.to_string().to_lowercase()),
                    ),
                    None => (String::new(), "does, link it: `use that_crate as _;`".to_owned()),
                };
                format!("Nothing in this program registers kernels for {key}{linked}. If a crate {link}")
            }
            (_, Some(key)) => format!("Write one with `#[op_impl({name}, {key})]`.", name = self.operator),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write_header(f)?;
        match &self.winner {
            Some(site) => write!(f, "\n  runs {site}: {}", self.provenance.name())?,
            None if self.candidates.is_empty() => write!(f, "\n  runs nothing: {}", self.provenance.name())?,
            None => write!(f, "\n  runs the first whose condition holds: {}", self.provenance.name())?,
        }
        for (site, condition) in &self.candidates {
            match condition {
                Some(condition) => write!(f, "\n    {site} when {condition}")?,
                None => write!(f, "\n    {site} otherwise")?,
            }
        }
        self.losers.iter().try_for_each(|(site, reason)| write!(f, "\n  not  {site}: {reason}"))
    }
}
