//! The bandwidth of calls whose time is that of memory, compared with the bandwidth of a copy.

use crate::row::{Row, Unit};
use crate::workloads::{BYTES_PER_CALL, COPY_WORKLOAD};

/// The minimum ratio of a call's bandwidth to that of the faster copy, ours or PyTorch's.
const BANDWIDTH_TARGET: f64 = 0.9;

/// Computes the bandwidths from the rows with times. There is no row if the copy was not timed.
pub(crate) fn compare_bandwidths(times: &[Row]) -> Vec<Row> {
    let bytes_of =
        |row: &Row| BYTES_PER_CALL.iter().find(|(workload, _)| *workload == row.workload).map(|(_, bytes)| bytes);
    let compare = |row: &Row| {
        let copy = times.iter().find(|copy| copy.workload == COPY_WORKLOAD && copy.measure == row.measure)?;
        let pair = [bytes_of(row)? / row.ours, bytes_of(copy)? / copy.ours.min(copy.theirs)];
        let measure = format!("bandwidth, {}", row.measure);
        Some(Row::new(&row.workload, &measure, "copy", pair, Unit::BytesPerSecond, BANDWIDTH_TARGET))
    };
    times.iter().filter(|row| row.workload != COPY_WORKLOAD).filter_map(compare).collect()
}
