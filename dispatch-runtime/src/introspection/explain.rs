//! Why a call goes where it goes.
//!
//! [`Operator::explain`] replays the arithmetic of one call and says what every argument and every guard contributed, what was passed
//! over, which kernel won and why the others lost. The error for a call without kernel is the same account, cut short.

use std::fmt::{self, Formatter, Write};

use crate::error::{Error, ErrorKind, Result, listed};
use crate::guard;
use crate::key::{Device, Key, KeySet, SLOTS, Slot, Target, layer_bit};
use crate::location::Location;
use crate::memory::backend;
use crate::name::Name;
use crate::operator::{Entry, Operator, Table};
use crate::registration::{Registry, registry};
use crate::table::{Active, Provenance, Registered, Row, resolve, row};
use crate::tensor::Marks;
use crate::value::Value;

/// The account of one call. It prints as text made to be read.
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
    /// The operator.
    pub operator: Name<'static>,
    /// Its schema after the name.
    pub signature: String,
    /// Where it is defined.
    pub location: Location,
    /// The arguments that can add keys, and the keys that they do add.
    pub arguments: Vec<(String, KeySet)>,
    /// What the thread adds to every call.
    pub included: KeySet,
    /// What the thread's guards took from this call.
    pub removed: KeySet,
    /// Where the innermost guard was entered.
    pub entered: Option<Location>,
    /// The keys of the call.
    pub keys: KeySet,
    /// Whether a layer chose the keys when it handed the call on.
    pub redispatched: bool,
    /// The keys that were passed over because this operator has nothing to do there. A fallback has nothing to do if no tensor is marked
    /// as it asks for; a boxed call goes through it all the same, to the kernel that a typed call goes to at once.
    pub masked: KeySet,
    /// The key that is left on top; none for a call without keys.
    pub key: Option<Key>,
    /// Why the kernel of that key fills its cell.
    pub provenance: Provenance,
    /// The kernel that runs, if one does.
    pub winner: Option<Site>,
    /// Where several kernels carry conditions: all of them in the order in which they are asked, and when each is fit. The first that
    /// is runs; what the conditions say of these arguments is only known in a call.
    pub candidates: Vec<(Site, Option<&'static str>)>,
    /// Every other kernel of the operator, and why it does not run.
    pub losers: Vec<(Site, String)>,
    /// Whether any crate registered anything for the key's backend.
    pub backend_is_linked: bool,
    /// The devices that the program can put tensors on.
    pub linked: Vec<Device>,
}

/// A kernel and where it was registered.
#[derive(Clone, Debug)]
pub struct Site {
    /// The key that it was registered for.
    pub key: Key,
    /// The name of its function.
    pub kernel: &'static str,
    /// Where it is.
    pub location: Location,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}` ({})", self.key, self.kernel, self.location)
    }
}

impl Operator {
    /// Says where a call with these arguments would go on this thread, and why. Nothing is called.
    #[must_use]
    pub fn explain(&self, arguments: &[Value]) -> Explanation {
        let carried = self.each_carried(arguments);
        let keys = guard::call_keys(carried.iter().fold(KeySet::EMPTY, |all, &keys| all | keys));
        self.explain_redispatch(keys, arguments)
    }

    /// The same for a call that a layer hands on with these keys.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    ///
    /// #[op_def("halve(Tensor self) -> Tensor")]
    /// pub fn halve(this: &Tensor) -> Result<Tensor> { Ok(this.clone()) }
    ///
    /// let x = Tensor::from_slice(&[1.0_f32]);
    /// let account = halve::operator().explain_redispatch(KeySet::from(keys::CPU), &[(&x).into()]);
    /// assert_eq!(account.winner.unwrap().key, keys::CompositeImplicitAutograd);
    /// ```
    #[must_use]
    pub fn explain_redispatch(&self, keys: KeySet, arguments: &[Value]) -> Explanation {
        let carried = self.each_carried(arguments);
        let has_any = |marks| arguments.iter().any(|argument| argument.has_any(marks));
        explain(&registry::lock(), self, keys, &carried, Marks::unseen(), has_any)
    }

    /// The same of a call that nobody makes, so no device need be there for it: what each argument that can add keys does add, in
    /// their order, and what tensors among them are marked with. Arguments at the end that are left out add nothing.
    ///
    /// # Errors
    ///
    /// Where there are more than the operator has arguments that can add keys.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    ///
    /// #[op_def("third(Tensor self, int times) -> Tensor")]
    /// pub fn third(this: &Tensor, times: i64) -> Result<Tensor>;
    ///
    /// #[op_impl(third, CUDA)]
    /// fn third_cuda(this: &Tensor, _: i64) -> Tensor { this.clone() }
    ///
    /// let account = third::operator().explain_keys(&[keys::CUDA | keys::AutogradCUDA], None)?;
    /// assert_eq!(account.winner.unwrap().kernel, "third_cuda");
    /// assert!(third::operator().explain_keys(&[KeySet::EMPTY; 2], None).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn explain_keys(&self, carried: &[KeySet], marks: Option<Marks>) -> Result<Explanation> {
        let able: Vec<usize> = (0..self.argument_count()).filter(|&i| self.has_a_say(i)).collect();
        if carried.len() > able.len() {
            let (operator, expected, found) = (self.name(), able.len(), carried.len());
            return Err(ErrorKind::TooManyArguments { operator, expected, found }.into());
        }
        let mut of_each = vec![KeySet::EMPTY; self.argument_count()];
        for (i, &keys) in able.into_iter().zip(carried) {
            of_each[i] = keys;
        }
        let keys = guard::call_keys(carried.iter().fold(KeySet::EMPTY, |all, &keys| all | keys));
        let marks = marks.unwrap_or(Marks::NONE);
        let has_any = |asked| marks.meet(asked);
        Ok(explain(&registry::lock(), self, keys, &of_each, Marks::NONE, has_any))
    }
}

/// The error of a call that no kernel serves.
#[cold]
pub(crate) fn refusal(operator: &Operator, keys: KeySet, carried: &[KeySet]) -> Error {
    let registry = registry::lock();
    let explanation = explain(&registry, operator, keys, carried, Marks::unseen(), |_| false);
    let Ok(row) = registry.row_of(operator) else {
        return ErrorKind::NoKernel(Box::new(explanation)).into();
    };
    let slot = explanation.key.and_then(|key| key.target().ok());
    let slot = if let Some(Target::Slot(slot)) = slot { slot } else { Slot::UNDEFINED };
    match active(&registry, row, slot) {
        (_, Active::Conflict(kernels), Some(target)) => row::duplicate_kernels(row.name, target, &kernels),
        (_, Active::Conflict(fallbacks), None) => {
            ErrorKind::DuplicateFallback { key: Key::of_slot(slot), fallbacks: row::sites(&fallbacks) }.into()
        }
        (Provenance::AmbiguousAutogradOther, ..) => ErrorKind::Ambiguous(Box::new(explanation)).into(),
        _ => ErrorKind::NoKernel(Box::new(explanation)).into(),
    }
}

/// The error of a call for which none of several kernels is fit.
#[cold]
pub(crate) fn none_fits(operator: &Operator, slot: Slot) -> Error {
    let registry = registry::lock();
    let kernels = match registry.row_of(operator).map(|row| active(&registry, row, slot)) {
        Ok((_, Active::Choice(kernels), _)) => kernels,
        // Others were registered in the meantime.
        _ => Vec::new(),
    };
    let conditions = kernels.iter().filter_map(|kernel| Some((kernel.condition?.text, kernel.location))).collect();
    ErrorKind::NoneFits { operator: operator.name(), key: Key::of_slot(slot), conditions }.into()
}

/// What fills a cell, and the key that it was registered for unless it is the fallback.
pub(crate) fn active<'a>(registry: &'a Registry, row: &'a Row, slot: Slot) -> (Provenance, Active<'a>, Option<Target>) {
    let fallback = &registry.fallbacks[slot.position()];
    let (provenance, target) = resolve(&row.direct(), fallback.serves(row.is_aliasing()), slot);
    let active = match (provenance, target) {
        (Provenance::AmbiguousAutogradOther | Provenance::Missing, _) => Active::None,
        (Provenance::BackendFallback, _) => fallback.active(),
        (_, Some(target)) => row.active(target),
        (_, None) => Active::None,
    };
    (provenance, active, target)
}

fn explain(
    registry: &Registry,
    operator: &Operator,
    keys: KeySet,
    carried: &[KeySet],
    absent: Marks,
    has_any: impl Fn(Marks) -> bool,
) -> Explanation {
    let union = carried.iter().fold(KeySet::EMPTY, |all, &keys| all | keys);
    let schema = operator.schema();
    let short = format!("{schema:#}");
    let names = schema.arguments.iter().map(|argument| argument.name.clone());
    let arguments =
        names.zip(carried.iter().copied()).enumerate().filter(|(i, _)| operator.has_a_say(*i)).map(|(_, pair)| pair);
    let mut explanation = Explanation {
        operator: operator.name(),
        signature: short[short.find('(').unwrap_or(0)..].to_owned(),
        location: operator.location(),
        arguments: arguments.collect(),
        included: guard::included(),
        removed: (union | guard::included()).without(guard::call_keys(union)),
        entered: guard::entered_at(),
        keys,
        redispatched: keys != guard::call_keys(union),
        masked: KeySet::EMPTY,
        key: None,
        provenance: Provenance::Missing,
        winner: None,
        candidates: Vec::new(),
        losers: Vec::new(),
        backend_is_linked: true,
        linked: backend::linked(),
    };
    let Ok(row) = registry.row_of(operator) else {
        return explanation;
    };
    let table = registry::table_of(registry, row, absent);
    let is_passed = |slot| operator.adapters().is_some() && table.marks_for(slot).is_some_and(|marks| !has_any(marks));
    let (slot, masked) = landing(&table, keys, is_passed);
    explanation.masked = masked;
    explanation.key = slot.key().map(|_| Key::of_slot(slot));
    let (provenance, active, target) = active(registry, row, slot);
    explanation.provenance = provenance;
    let key = target.map_or_else(|| Key::of_slot(slot), Key::of_target);
    let site = |kernel: &Registered| Site { key, kernel: kernel.name, location: kernel.location };
    match &active {
        Active::One(kernel) => explanation.winner = Some(site(kernel)),
        Active::Choice(kernels) => {
            let candidate = |kernel: &&Registered| {
                let site = Site { key: row.key_of(kernel).unwrap_or(key), ..site(kernel) };
                (site, kernel.condition.map(|condition| condition.text))
            };
            explanation.candidates = kernels.iter().map(candidate).collect();
        }
        Active::None | Active::Conflict(_) => {}
    }
    explanation.losers = losers(row, keys, slot, &active, target);
    explanation.backend_is_linked = slot.key().is_none() || registry.serves(slot);
    explanation
}

/// The slot where a call ends, and all that it passed over.
fn landing(table: &Table, keys: KeySet, is_passed: impl Fn(Slot) -> bool) -> (Slot, KeySet) {
    let mut left = keys;
    loop {
        let (slot, _, entry) = table.slot(left);
        if entry == Entry::Skip || is_passed(slot) {
            left = Table::below(left, slot);
        } else {
            let reached = slot.layer().map_or(KeySet::EMPTY, |layer| {
                KeySet::from_bits(keys.bits() & (layer_bit(layer) << 1).wrapping_sub(1))
            });
            return (slot, keys.without(reached));
        }
    }
}

fn losers(row: &Row, keys: KeySet, slot: Slot, active: &Active<'_>, winner: Option<Target>) -> Vec<(Site, String)> {
    let mut losers = Vec::new();
    for (target, cell) in &row.cells {
        let key = Key::of_target(*target);
        for kernel in cell.newest_first() {
            let runs = match active {
                Active::One(one) => std::ptr::eq(*one, kernel),
                Active::Choice(candidates) => candidates.iter().any(|&candidate| std::ptr::eq(candidate, kernel)),
                Active::None | Active::Conflict(_) => false,
            };
            if runs {
                continue;
            }
            let site = Site { key, kernel: kernel.name, location: kernel.location };
            losers.push((site, reason(keys, slot, *target, winner, active)));
        }
    }
    losers
}

fn reason(keys: KeySet, slot: Slot, target: Target, winner: Option<Target>, active: &Active<'_>) -> String {
    let here = Key::of_slot(slot);
    if winner == Some(target) {
        return match active {
            Active::Conflict(_) => "clashes with another kernel for the same key".to_owned(),
            _ => "displaced by another kernel for the same key".to_owned(),
        };
    }
    match target {
        Target::Slot(own) if !keys.has(Key::of_slot(own)) => "the call does not have this key".to_owned(),
        Target::Slot(own) if own < slot => format!("comes after {here}"),
        Target::Slot(_) => format!("passed over on the way to {here}"),
        Target::Alias(alias) if alias.covers(slot) || slot == Slot::UNDEFINED => {
            "something more specific is registered".to_owned()
        }
        Target::Alias(_) => format!("does not stand for {here}"),
    }
}

impl Registry {
    /// Whether any operator or fallback of the program has a kernel for exactly this key.
    fn serves(&self, slot: Slot) -> bool {
        let direct = self.rows.iter().any(|row| row.cell(Target::Slot(slot)).is_some());
        direct || !self.fallbacks[slot.position()].kernels.is_empty()
    }
}

impl Explanation {
    fn head(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let width = self.arguments.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("guards".len());
        writeln!(f, "  {}{}    {}", self.operator, self.signature, self.location)?;
        for (name, keys) in &self.arguments {
            writeln!(f, "  {name:width$} -> {keys}")?;
        }
        let mut guards = format!("plus {}", self.included);
        if self.removed != KeySet::EMPTY {
            write!(guards, ", minus {}", self.removed)?;
        }
        let entered = self.entered.map_or_else(String::new, |location| format!("    entered at {location}"));
        writeln!(f, "  {:width$} -> {guards}{entered}", "guards")?;
        if self.redispatched {
            writeln!(f, "  {:width$} -> {}    handed on by a layer", "keys", self.keys)?;
        }
        if self.masked != KeySet::EMPTY {
            writeln!(f, "  {:width$} -> {}    nothing to do there", "passed", self.masked)?;
        }
        match self.key {
            Some(key) => write!(f, "  {:width$} -> {key}", "left"),
            None => write!(f, "  {:width$} -> no keys", "left"),
        }
    }

    /// The account as the text of an error.
    pub(crate) fn fmt_refusal(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.operator;
        match (self.provenance, self.key) {
            (Provenance::AmbiguousAutogradOther, _) => writeln!(f, "`{name}` is ambiguous for AutogradOther\n")?,
            (_, Some(key)) => writeln!(f, "no kernel of `{name}` for {key}\n")?,
            (_, None) => writeln!(f, "no kernel of `{name}` for a call without tensors\n")?,
        }
        self.head(f)?;
        let sites = self.candidates.iter().map(|(site, _)| site).chain(self.losers.iter().map(|(site, _)| site));
        let kernels: Vec<String> = sites.map(|site| format!("{} ({})", site.key, site.location)).collect();
        let kernels = if kernels.is_empty() { "none".to_owned() } else { kernels.join(", ") };
        write!(f, "\n\n  kernels: {kernels}\n  {}", self.advice())
    }

    fn advice(&self) -> String {
        match (self.provenance, self.key) {
            (Provenance::AmbiguousAutogradOther, _) => {
                "It has a composite kernel and a kernel of a storage whose autograd is AutogradOther, and a call could need either. \
                 Register a kernel for AutogradOther."
                    .to_owned()
            }
            (_, None) => {
                "A call without tensors needs a kernel for BackendSelect, or a composite one: give the operator a body, or register for \
                 CompositeExplicitAutograd."
                    .to_owned()
            }
            (_, Some(key)) if !self.backend_is_linked => {
                let (listed, link) = match key.backend() {
                    Some(_) => (
                        format!("; {}", listed(&self.linked)),
                        format!("provides that backend, link it: `use my_{} as _;`", key.to_string().to_lowercase()),
                    ),
                    None => (String::new(), "does, link it: `use that_crate as _;`".to_owned()),
                };
                format!("Nothing in this program registers kernels for {key}{listed}. If a crate {link}")
            }
            (_, Some(key)) => format!("Write one with `#[op_impl({name}, {key})]`.", name = self.operator),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.head(f)?;
        match &self.winner {
            Some(site) => write!(f, "\n  runs {site}: {}", self.provenance.name())?,
            None if self.candidates.is_empty() => write!(f, "\n  runs nothing: {}", self.provenance.name())?,
            None => write!(f, "\n  runs the first that fits of: {}", self.provenance.name())?,
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

const _: () = assert!(SLOTS < 256, "tables number their boxed kernels by bytes");
