//! Where a call goes, and why.

use dispatch_runtime::{Explanation, Operator};
use serde::Serialize;

use crate::{Cell, Failure, Guards, Kernel, KernelKind, call_arguments, table};

/// Why a call reaches its kernel: the keys of the call, and the way down from the key at which it arrives.
///
/// ```
/// use dispatch_runtime::{Registrar, keys::*};
///
/// let lab = Registrar::new("explained");
/// let operator = lab.define("id(Tensor self) -> Tensor")?.operator().unwrap();
/// lab.kernel("id", CUDA, |_, _, _| Ok(()))?;
/// let explanation = dispatch_inspect::CallExplanation::of(operator, &["cuda,f16".to_owned()]).unwrap();
/// assert_eq!(explanation.key.as_deref(), Some("CUDA"));
///
/// let error = dispatch_inspect::CallExplanation::of(operator, &["cuda,require_grad".to_owned()]).unwrap_err();
/// assert_eq!(error.to_string(), "`require_grad` says nothing about an argument; did you mean `requires_grad`?");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Debug, Serialize)]
pub struct CallExplanation {
    /// The operator.
    pub operator: String,
    /// What each argument adds.
    pub arguments: Vec<(String, Vec<String>)>,
    /// What the thread adds.
    pub included: Vec<String>,
    /// What the thread's guards take away.
    pub removed: Vec<String>,
    /// The keys of the call.
    pub keys: Vec<String>,
    /// Those that are passed over, because the operator has nothing to do there.
    pub masked: Vec<String>,
    /// Where the call arrives; none for a call without keys.
    pub key: Option<String>,
    /// The rule by which a kernel is there.
    pub provenance: &'static str,
    /// The kernel that runs.
    pub winner: Option<Kernel>,
    /// Those that are asked in turn, where several carry conditions.
    pub candidates: Vec<Kernel>,
    /// All others, and why they do not run.
    pub losers: Vec<(Kernel, String)>,
    /// Where the call goes on, if each kernel hands it on below its own key. Nothing may be at the end, which is an error.
    pub below: Vec<Cell>,
    /// What the guards change that keys do not say.
    pub notes: Vec<&'static str>,
    /// The same as text.
    #[serde(skip)]
    pub plain_text: String,
}

impl CallExplanation {
    /// The explanation of a call with arguments in words: a device, a dtype, `requires_grad`, `view`, `inference`, or dispatch keys, joined
    /// by commas, and `none` for an argument that is absent. One word for each argument that can add keys; those that are left out
    /// are as the last one, and the first one is on the CPU.
    ///
    /// # Errors
    ///
    /// Where a word means nothing, or there are more than such arguments.
    ///
    /// ```
    /// # let lab = dispatch_runtime::Registrar::new("account_of");
    /// let operator = lab.define("id(Tensor self) -> Tensor").unwrap().operator().unwrap();
    /// let explanation = dispatch_inspect::CallExplanation::of(operator, &["SparseCPU".to_owned()]).unwrap();
    /// assert!(explanation.winner.is_none());
    /// ```
    pub fn of(operator: &'static Operator, arguments: &[String]) -> Result<Self, Failure> {
        Self::under(&Guards::default(), operator, arguments)
    }

    /// The same of a call under these guards.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    ///
    /// ```
    /// use dispatch_inspect::{CallExplanation, Guards};
    /// # let lab = dispatch_runtime::Registrar::new("account_under");
    /// # let operator = lab.define("id(Tensor self) -> Tensor").unwrap().operator().unwrap();
    /// let explanation = CallExplanation::under(&Guards::parse(&["inference".to_owned()])?, operator, &[])?;
    /// assert_eq!(explanation.removed, ["AutogradCPU", "AutocastCPU"]);
    /// # Ok::<(), dispatch_inspect::Failure>(())
    /// ```
    pub fn under(guards: &Guards, operator: &'static Operator, arguments: &[String]) -> Result<Self, Failure> {
        let (carried, marks) = call_arguments::arguments(operator, arguments)?;
        let entered = guards.enter();
        let mut explanation = operator.explain_keys(&carried, marks)?;
        drop(entered);
        // Nobody entered them but this.
        explanation.entered = None;
        let plain_text = explanation.to_string();
        let below = way_down(operator, &explanation);
        let names = |keys: dispatch_runtime::KeySet| keys.iter().map(|key| key.to_string()).collect();
        let candidate = |(site, condition)| Kernel { condition, ..Kernel::at(&site, true) };
        Ok(Self {
            operator: operator.to_string(),
            arguments: explanation.arguments.into_iter().map(|(name, keys)| (name, names(keys))).collect(),
            included: names(explanation.included),
            removed: names(explanation.removed),
            keys: names(explanation.keys),
            masked: names(explanation.masked),
            key: explanation.key.map(|key| key.to_string()),
            provenance: explanation.provenance.name(),
            winner: explanation.winner.map(|site| Kernel::at(&site, true)),
            candidates: explanation.candidates.into_iter().map(candidate).collect(),
            losers: explanation.losers.into_iter().map(|(site, why)| (Kernel::at(&site, false), why)).collect(),
            below,
            notes: guards.notes.clone(),
            plain_text,
        })
    }

    /// Whether any kernel runs.
    ///
    /// ```
    /// # let lab = dispatch_runtime::Registrar::new("runs");
    /// let operator = lab.define("id(Tensor self) -> Tensor").unwrap().operator().unwrap();
    /// assert!(!dispatch_inspect::CallExplanation::of(operator, &[]).unwrap().runs());
    /// ```
    #[must_use]
    pub fn runs(&self) -> bool {
        self.winner.is_some() || !self.candidates.is_empty()
    }
}

fn way_down(operator: &'static Operator, explanation: &Explanation) -> Vec<Cell> {
    let runs = explanation.winner.is_some() || !explanation.candidates.is_empty();
    let Some(key) = explanation.key.filter(|_| runs) else { return Vec::new() };
    let cells = table(operator);
    let mut left = explanation.keys.below(key);
    let mut has_arrived = key.is_storage();
    let mut stops = Vec::new();
    while let Some(key) = left.highest() {
        let name = key.to_string();
        // Nothing at a layer is passed over; at the storage it is where the call ends.
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
