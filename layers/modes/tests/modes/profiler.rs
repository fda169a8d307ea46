//! Tests of the profiler.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_modes::{ProfileRow, Profiler, enter, with_mode};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{guard, span};
use kernels_cpu as _;
use serde_json::Value as Json;

fn parse_trace_events(profiler: &Profiler) -> Vec<Json> {
    let mut text = Vec::new();
    profiler.write_trace(&mut text).unwrap();
    let trace: Json =
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&text)));
    assert_eq!(trace["schemaVersion"], 1);
    trace["traceEvents"].as_array().unwrap().clone()
}

/// Converts a time of the trace to nanoseconds. The trace has microseconds with three decimals.
fn parse_nanoseconds(json: &Json) -> u64 {
    let nanoseconds = json.as_f64().unwrap() * 1e3;
    assert!((nanoseconds - nanoseconds.round()).abs() < 1e-2, "{nanoseconds}");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time of a test")]
    let whole = nanoseconds.round() as u64;
    whole
}

/// Returns every event with its parent. Fails if two events of a thread overlap and neither is inside of the other.
fn events_with_parents(events: &[Json]) -> Vec<(&Json, Option<&Json>)> {
    let mut threads: BTreeMap<u64, Vec<&Json>> = BTreeMap::new();
    for event in events {
        threads.entry(event["tid"].as_u64().unwrap()).or_default().push(event);
    }
    let mut found = Vec::new();
    for events in threads.values() {
        let mut open: Vec<(&Json, u64)> = Vec::new();
        let mut before = 0;
        for &event in events {
            let start = parse_nanoseconds(&event["ts"]);
            let end = start + parse_nanoseconds(&event["dur"]);
            assert!(before <= start, "in order: {event}");
            before = start;
            while open.pop_if(|(_, end)| *end <= start).is_some() {}
            if let Some((outer, outer_end)) = open.last() {
                assert!(end <= *outer_end, "{event} ends after {outer}");
            }
            found.push((event, open.last().map(|(outer, _)| *outer)));
            open.push((event, end));
        }
    }
    found
}

fn profile_row(profiler: &Profiler, name: &str) -> ProfileRow {
    profiler.table_rows().into_iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no {name}:\n{profiler}"))
}

/// Sleeps, and calls a part that sleeps as long.
#[op_def("sleep_twice(Tensor self) -> Tensor")]
fn sleep_twice(this: &Tensor) -> Result<Tensor> {
    std::thread::sleep(Duration::from_millis(20));
    sleep_once(this)
}

#[op_def("sleep_once(Tensor self) -> Tensor")]
fn sleep_once(this: &Tensor) -> Result<Tensor> {
    std::thread::sleep(Duration::from_millis(20));
    Ok(this.clone())
}

#[test]
fn a_trace_has_the_fields_of_pytorchs_profiler() {
    let profiler = enter(Profiler::new());
    let x = Tensor::ones([2, 3], DType::F32).unwrap();
    span("a \"span\"\n", || {
        aten::add(&x, &Tensor::ones(3, DType::F64).unwrap(), 2.into()).unwrap();
        aten::cat(&[x.clone(), x.clone()], 0).unwrap();
    });
    let events = parse_trace_events(&profiler);
    let find = |name: &str| events.iter().find(|event| event["name"] == name).unwrap();
    let add = find("aten::add.Tensor");
    assert_eq!((&add["ph"], &add["cat"], &add["pid"]), (&"X".into(), &"cpu_op".into(), &std::process::id().into()));
    assert_eq!(add["args"]["Input Dims"], serde_json::json!([[2, 3], [3], []]));
    assert_eq!(add["args"]["Input type"], serde_json::json!(["float", "double", "Scalar"]));
    let cat = find("aten::cat");
    assert_eq!(cat["args"]["Input Dims"], serde_json::json!([[[2, 3], [2, 3]], []]));
    assert_eq!(cat["args"]["Input type"], serde_json::json!(["TensorList", "Scalar"]));
    let span = find("a \"span\"\n");
    assert_eq!(span["cat"], "user_annotation");
    let mut numbers: Vec<u64> = events.iter().map(|event| event["args"]["External id"].as_u64().unwrap()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), events.len());
}

#[test]
fn inner_calls_are_nested_and_threads_are_separate() {
    let profiler = Arc::new(Profiler::new());
    let _on = enter(profiler.clone());
    let work = || {
        let w = Tensor::ones([4, 4], DType::F32).unwrap().requires_grad_(true).unwrap();
        for _ in 0..5 {
            let y = aten::linear(&w, &w, None).unwrap().relu().unwrap();
            y.sum().unwrap().backward().unwrap();
        }
    };
    let threads: Vec<_> = (0..3).map(|_| guard::spawn(work)).collect();
    work();
    for thread in threads {
        thread.join().unwrap();
    }
    let events = parse_trace_events(&profiler);
    let with_parents = events_with_parents(&events);
    assert_eq!(with_parents.len(), events.len());
    let inside: Vec<_> = with_parents.iter().filter(|(event, _)| event["name"] == "aten::t").collect();
    let in_linear = inside.iter().filter(|(_, outer)| outer.is_some_and(|outer| outer["name"] == "aten::linear"));
    assert_eq!(in_linear.count(), 4 * 5);
    let inside_of = |name: &str| {
        with_parents
            .iter()
            .filter(|(event, _)| event["name"] == name)
            .map(|(_, outer)| outer.unwrap()["name"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(inside_of("backward of aten::sum"), vec!["backward"; 4 * 5]);
    assert_eq!(inside_of("aten::threshold_backward"), vec!["backward of aten::relu"; 4 * 5]);
    let mut threads: Vec<_> = events.iter().map(|event| event["tid"].as_u64().unwrap()).collect();
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads.len(), 4);
}

#[test]
fn self_time_excludes_inner_calls() {
    let profiler = enter(Profiler::new());
    let x = Tensor::from(1.0);
    let start = Instant::now();
    sleep_twice(&x).unwrap();
    sleep_twice(&x).unwrap();
    let took = start.elapsed();
    let (whole, part) = (profile_row(&profiler, "modes::sleep_twice"), profile_row(&profiler, "modes::sleep_once"));
    assert_eq!((whole.calls, part.calls), (2, 2));
    let least = Duration::from_millis(40);
    assert!(part.total_time >= least && part.self_time == part.total_time, "{part:?}");
    assert!(whole.self_time >= least && whole.total_time <= took, "{whole:?}");
    assert_eq!(whole.total_time, whole.self_time + part.total_time);
    let table = profiler.to_string();
    assert!(table.lines().count() == 4 && table.starts_with("name "), "{table}");
}

#[test]
fn a_call_inside_of_one_with_the_same_name_counts_once() {
    let profiler = enter(Profiler::new());
    let pause = || std::thread::sleep(Duration::from_millis(10));
    span("again", || span("again", pause));
    let again = profile_row(&profiler, "again");
    assert_eq!((again.calls, again.total_time), (2, again.self_time));
    assert!(again.total_time >= Duration::from_millis(10));
}

#[test]
fn calls_that_fail_or_panic_are_recorded() {
    let profiler = Arc::new(Profiler::new());
    let x = Tensor::ones([2, 3], ()).unwrap();
    with_mode(profiler.clone(), || x.mm(&x).unwrap_err());
    let fails = || span("fails", || panic!("inside"));
    assert!(std::panic::catch_unwind(|| with_mode(profiler.clone(), fails)).is_err());
    assert_eq!((profile_row(&profiler, "aten::mm").calls, profile_row(&profiler, "fails").calls), (1, 1));
}

#[test]
fn an_empty_profile_is_a_valid_trace() {
    assert!(parse_trace_events(&Profiler::default()).is_empty());
}
