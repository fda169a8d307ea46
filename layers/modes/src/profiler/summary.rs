//! Summary of a profile: one row for each name.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::event::Event;
use crate::text_table;

/// The number and the time of the calls of one operator, or of the spans of one name.
///
/// ```
/// use dispatch_modes::{Profiler, enter};
/// use dispatch_runtime::span;
///
/// let profiler = enter(Profiler::new());
/// span("outside", || span("inside", || ()));
/// let rows = profiler.table_rows();
/// let named = |name| rows.iter().find(|row| row.name == name).unwrap();
/// assert_eq!(named("outside").total_time, named("outside").self_time + named("inside").total_time);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileRow {
    /// The name of the operator or the span.
    pub name: String,
    /// The number of calls.
    pub calls: u64,
    /// The time including all inner calls and spans. A call inside of one with the same name is not added again.
    pub total_time: Duration,
    /// The time without inner calls and spans.
    pub self_time: Duration,
}

/// Sums events by name. `events` are ordered by thread, and an event stands before the events inside of it.
pub(super) fn summarise_events(events: &[Event]) -> Vec<ProfileRow> {
    let mut rows: BTreeMap<String, ProfileRow> = BTreeMap::new();
    // The events that have not ended, the innermost last, each with the time of the events inside of it so far.
    let mut open: Vec<(&Event, u64)> = Vec::new();
    let mut close = |(event, inside): (&Event, u64), outside: &mut [(&Event, u64)]| {
        let (name, duration) = (event.name(), event.duration());
        if let Some((_, inside)) = outside.last_mut() {
            *inside += duration;
        }
        let counted = outside.iter().any(|(outer, _)| outer.name() == name);
        let row = rows.entry(name.clone()).or_insert(ProfileRow {
            name,
            calls: 0,
            total_time: Duration::ZERO,
            self_time: Duration::ZERO,
        });
        row.calls += 1;
        row.total_time += Duration::from_nanos(if counted { 0 } else { duration });
        row.self_time += Duration::from_nanos(duration.saturating_sub(inside));
    };
    for event in events {
        while let Some(last) = open.pop_if(|(outer, _)| outer.thread != event.thread || outer.end <= Some(event.start))
        {
            close(last, &mut open);
        }
        open.push((event, 0));
    }
    while let Some(last) = open.pop() {
        close(last, &mut open);
    }
    let mut rows: Vec<ProfileRow> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.self_time));
    rows
}

pub(super) fn write_summary(f: &mut fmt::Formatter<'_>, rows: &[ProfileRow]) -> fmt::Result {
    let self_time = rows.iter().map(|row| row.self_time).sum::<Duration>();
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let line = |row: &ProfileRow| {
        let mean = row.total_time / u32::try_from(row.calls).unwrap_or(u32::MAX).max(1);
        let share = text_table::format_percent(nanoseconds(row.self_time), nanoseconds(self_time));
        vec![
            row.name.clone(),
            row.calls.to_string(),
            format_time(row.self_time),
            share,
            format_time(row.total_time),
            format_time(mean),
        ]
    };
    let lines: Vec<_> = rows.iter().map(line).collect();
    text_table::write_table(f, &["name", "calls", "self", "self %", "total", "mean"], &lines)?;
    write!(f, "\n{} in total", format_time(self_time))
}

fn format_time(time: Duration) -> String {
    match time.as_nanos() {
        0..1_000_000 => format!("{:.3} us", 1e6 * time.as_secs_f64()),
        1_000_000..1_000_000_000 => format!("{:.3} ms", 1e3 * time.as_secs_f64()),
        _ => format!("{:.3} s", time.as_secs_f64()),
    }
}
