//! A row of the table.

/// The cost of a workload in this framework and in a peer.
pub(crate) struct Row {
    pub(crate) workload: String,
    /// The text of the column `measure`: the quantity, such as `instructions`, or the number of threads of a timed run.
    pub(crate) measure: String,
    pub(crate) peer: String,
    pub(crate) ours: f64,
    pub(crate) theirs: f64,
    pub(crate) unit: Unit,
    /// The minimum ratio of the costs; a smaller one misses the target.
    pub(crate) target: f64,
}

/// The unit of a cost.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Instructions,
    Seconds,
    Bytes,
    /// The speed-up from more threads; more is better.
    Speedup,
    /// The bandwidth of memory; more is better.
    BytesPerSecond,
}

impl Row {
    pub(crate) const HEADER: [&str; 8] = ["workload", "measure", "peer", "ours", "theirs", "ratio", "target", ""];

    pub(crate) fn new(
        workload: &str,
        measure: &str,
        peer: &str,
        [ours, theirs]: [f64; 2],
        unit: Unit,
        target: f64,
    ) -> Self {
        Self {
            workload: workload.to_owned(),
            measure: measure.to_owned(),
            peer: peer.to_owned(),
            ours,
            theirs,
            unit,
            target,
        }
    }

    /// Returns the text of the column `measure` for a number of threads.
    pub(crate) fn thread_count_text(threads: usize) -> String {
        format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
    }

    /// Prints the row to standard error at once and returns it. The table is printed at the end.
    pub(crate) fn print_to_stderr(self) -> Self {
        eprintln!("{}", self.cells().join("  "));
        self
    }

    /// Returns how many times better this framework is than the peer.
    fn times_better(&self) -> f64 {
        match self.unit {
            Unit::Speedup | Unit::BytesPerSecond => self.ours / self.theirs,
            Unit::Instructions | Unit::Seconds | Unit::Bytes => self.theirs / self.ours,
        }
    }

    pub(crate) fn misses_target(&self) -> bool {
        self.times_better() < self.target
    }

    pub(crate) fn cells(&self) -> [String; 8] {
        [
            self.workload.clone(),
            self.measure.clone(),
            self.peer.clone(),
            self.unit.format_cost(self.ours),
            self.unit.format_cost(self.theirs),
            format!("{:.2}", self.times_better()),
            format!("{:.2}", self.target),
            if self.misses_target() { "missed" } else { "pass" }.to_owned(),
        ]
    }
}

impl Unit {
    fn format_cost(self, value: f64) -> String {
        match self {
            Self::Instructions => format!("{value:.0}"),
            Self::Speedup => format!("{value:.2} x"),
            Self::BytesPerSecond => format!("{:.1} GB/s", value * 1e-9),
            Self::Bytes => format!("{:.1} MB", value * 1e-6),
            Self::Seconds if value < 1e-6 => format!("{:.1} ns", value * 1e9),
            Self::Seconds if value < 1e-3 => format!("{:.1} us", value * 1e6),
            Self::Seconds => format!("{:.2} ms", value * 1e3),
        }
    }
}
