//! Explanations of calls: the kernel that a call reaches, and the reasons.

use dispatch_runtime::{Explanation, Operator};
use serde::Serialize;

use crate::{Cell, Failure, Guards, Kernel, KernelKind, call_arguments, table_cells};

/// The reason why a call reaches its kernel: the keys of the call, the cell of its highest key, and the cells below it.
///
/// ```
/// use dispatch_runtime::{Registrar, keys::*};
///
/// let lab = Registrar::new("explained");
/// let operator = lab.define("id(Tensor self) -> Tensor")?.operator().unwrap();
/// lab.kernel("id", CUDA, |_, _, _| Ok(()))?;
/// let explanation = dispatch_inspect::CallExplanation::for_call(operator, &["cuda,f16".to_owned()]).unwrap();
/// assert_eq!(explanation.key.as_deref(), Some("CUDA"));
///
/// let error = dispatch_inspect::CallExplanation::for_call(operator, &["cuda,require_grad".to_owned()]).unwrap_err();
/// assert_eq!(error.to_string(), "`require_grad` does not describe an argument; did you mean `requires_grad`?");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Debug, Serialize)]
pub struct CallExplanation {
    /// The name of the operator.
    pub operator: String,
    /// The keys that each argument adds.
    pub arguments: Vec<(String, Vec<String>)>,
    /// The keys that the thread's guards add.
    pub included: Vec<String>,
    /// The keys that the thread's guards remove.
    pub removed: Vec<String>,
    /// The keys of the call.
    pub keys: Vec<String>,
    /// The keys that the call skips, because the operator has nothing to do there.
    pub masked: Vec<String>,
    /// The key whose cell the call enters; `None` for a call without keys.
    pub key: Option<String>,
    /// The rule by which the kernel is in the cell.
    pub provenance: &'static str,
    /// The kernel that runs.
    pub winner: Option<Kernel>,
    /// The kernels of the cell if several have conditions. The conditions are evaluated in this order.
    pub candidates: Vec<Kernel>,
    /// The kernels that do not run, and the reasons.
    pub losers: Vec<(Kernel, String)>,
    /// The cells that the call enters if each kernel redispatches below its own key. The last one may have no kernel, which is an error.
    pub below: Vec<Cell>,
    /// Changes by the guards that the keys do not show.
    pub notes: Vec<&'static str>,
    /// The explanation as text.
    #[serde(skip)]
    pub plain_text: String,
}

impl CallExplanation {
    /// Explains a call. Each word of `arguments` describes an argument that can add keys: a device, a dtype, `requires_grad`, `view`,
    /// `inference`, or dispatch keys, joined by commas; or `none` for an absent argument. Arguments without a word are like the last one,
    /// and the first one is on the CPU by default.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Usage`] if a word is unknown, or if there are more words than such arguments.
    ///
    /// ```
    /// # let lab = dispatch_runtime::Registrar::new("account_of");
    /// let operator = lab.define("id(Tensor self) -> Tensor").unwrap().operator().unwrap();
    /// let explanation = dispatch_inspect::CallExplanation::for_call(operator, &["SparseCPU".to_owned()]).unwrap();
    /// assert!(explanation.winner.is_none());
    /// ```
    pub fn for_call(operator: &'static Operator, arguments: &[String]) -> Result<Self, Failure> {
        Self::for_call_with_guards(&Guards::default(), operator, arguments)
    }

    /// Explains a call under these guards. `arguments` are words as in [`for_call`](Self::for_call).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`for_call`](Self::for_call).
    ///
    /// ```
    /// use dispatch_inspect::{CallExplanation, Guards};
    /// # let lab = dispatch_runtime::Registrar::new("account_under");
    /// # let operator = lab.define("id(Tensor self) -> Tensor").unwrap().operator().unwrap();
    /// let explanation = CallExplanation::for_call_with_guards(&Guards::parse(&["inference".to_owned()])?, operator, &[])?;
    /// assert_eq!(explanation.removed, ["AutogradCPU", "AutocastCPU"]);
    /// # Ok::<(), dispatch_inspect::Failure>(())
    /// ```
    pub fn for_call_with_guards(
        guards: &Guards,
        operator: &'static Operator,
        arguments: &[String],
    ) -> Result<Self, Failure> {
        let (carried, marks) = call_arguments::parse_arguments(operator, arguments)?;
        let entered = guards.enter();
        let mut explanation = operator.explain_call_with_keys(&carried, marks)?;
        drop(entered);
        // These guards were not entered in the caller's code, so their location says nothing.
        explanation.innermost_guard = None;
        let plain_text = explanation.to_string();
        let below = cells_below(operator, &explanation);
        let names = |keys: dispatch_runtime::KeySet| keys.iter().map(|key| key.to_string()).collect();
        let candidate = |(site, condition)| Kernel { condition, ..Kernel::from_site(&site, true) };
        Ok(Self {
            operator: operator.to_string(),
            arguments: explanation.arguments.into_iter().map(|(name, keys)| (name, names(keys))).collect(),
            included: names(explanation.included),
            removed: names(explanation.removed),
            keys: names(explanation.keys),
            masked: names(explanation.skipped),
            key: explanation.key.map(|key| key.to_string()),
            provenance: explanation.provenance.name(),
            winner: explanation.winner.map(|site| Kernel::from_site(&site, true)),
            candidates: explanation.candidates.into_iter().map(candidate).collect(),
            losers: explanation.losers.into_iter().map(|(site, why)| (Kernel::from_site(&site, false), why)).collect(),
            below,
            notes: guards.notes.clone(),
            plain_text,
        })
    }

    /// Returns whether a kernel runs.
    ///
    /// ```
    /// # let lab = dispatch_runtime::Registrar::new("runs");
    /// let operator = lab.define("id(Tensor self) -> Tensor").unwrap().operator().unwrap();
    /// assert!(!dispatch_inspect::CallExplanation::for_call(operator, &[]).unwrap().runs_kernel());
    /// ```
    #[must_use]
    pub fn runs_kernel(&self) -> bool {
        self.winner.is_some() || !self.candidates.is_empty()
    }
}

fn cells_below(operator: &'static Operator, explanation: &Explanation) -> Vec<Cell> {
    let runs = explanation.winner.is_some() || !explanation.candidates.is_empty();
    let Some(key) = explanation.key.filter(|_| runs) else { return Vec::new() };
    let cells = table_cells(operator);
    let mut left = explanation.keys.below(key);
    let mut has_arrived = key.is_storage();
    let mut stops = Vec::new();
    while let Some(key) = left.highest() {
        let name = key.to_string();
        // A layer without a kernel is skipped. A backend without a kernel ends the call.
        let is_stop = |cell: &&Cell| match cell.served {
            KernelKind::Fallthrough => false,
            KernelKind::Missing => key.is_storage() && !has_arrived,
            _ => true,
        };
        stops.extend(cells.iter().find(|cell| cell.key == name).filter(is_stop).cloned());
        has_arrived |= key.is_storage();
        left = left.below(key);
    }
    stops
}
