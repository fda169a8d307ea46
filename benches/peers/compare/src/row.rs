//! A line of the table.

/// What a work costs us and a peer.
pub(crate) struct Row {
    pub(crate) work: String,
    /// What is counted, and on how many threads where that matters.
    pub(crate) measure: String,
    pub(crate) peer: String,
    pub(crate) ours: f64,
    pub(crate) theirs: f64,
    pub(crate) unit: Unit,
    /// The least ratio that will do.
    pub(crate) target: f64,
}

/// What costs are counted in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Instructions,
    Seconds,
    Bytes,
    /// How many times as fast it gets: here more is better.
    Speedup,
}

impl Row {
    pub(crate) const HEADER: [&str; 8] = ["work", "measure", "peer", "ours", "theirs", "ratio", "target", ""];

    pub(crate) fn new(
        work: &str,
        measure: &str,
        peer: &str,
        [ours, theirs]: [f64; 2],
        unit: Unit,
        target: f64,
    ) -> Self {
        Self { work: work.to_owned(), measure: measure.to_owned(), peer: peer.to_owned(), ours, theirs, unit, target }
    }

    /// What the column of measures says of so many threads.
    pub(crate) fn on(threads: usize) -> String {
        format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
    }

    /// Says what was found as soon as it is: the table comes when all is done.
    pub(crate) fn announced(self) -> Self {
        eprintln!("{}", self.cells().join("  "));
        self
    }

    fn ratio(&self) -> f64 {
        if self.unit == Unit::Speedup { self.ours / self.theirs } else { self.theirs / self.ours }
    }

    pub(crate) fn is_short(&self) -> bool {
        self.ratio() < self.target
    }

    pub(crate) fn cells(&self) -> [String; 8] {
        [
            self.work.clone(),
            self.measure.clone(),
            self.peer.clone(),
            self.unit.show(self.ours),
            self.unit.show(self.theirs),
            format!("{:.2}", self.ratio()),
            format!("{:.2}", self.target),
            if self.is_short() { "short" } else { "pass" }.to_owned(),
        ]
    }
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Self::Instructions => format!("{value:.0}"),
            Self::Speedup => format!("{value:.2} x"),
            Self::Bytes => format!("{:.1} MB", value * 1e-6),
            Self::Seconds if value < 1e-6 => format!("{:.1} ns", value * 1e9),
            Self::Seconds if value < 1e-3 => format!("{:.1} us", value * 1e6),
            Self::Seconds => format!("{:.2} ms", value * 1e3),
        }
    }
}
