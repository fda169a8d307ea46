//! Mutates a plausible call in up to three steps. A check must refuse the new call, or a kernel must compute it correctly.

use dispatch_runtime::{Device, Value};

use super::boundaries;
use super::random::Random;
use super::trial::{Call, Layers, MAX_ELEMENTS, TensorSample, TrialArgument};

pub(super) fn mutate(call: &mut Call, random: &mut Random) {
    match random.below(20) {
        0..=8 => {}
        9..=17 => move_to_meta(call),
        _ => call.samples_mut().for_each(|sample| sample.is_meta = random.percent(50)),
    }
    let steps = random.pick(&[0, 1, 1, 1, 1, 2, 2, 2, 3, 3]);
    for _ in 0..steps {
        mutate_once(call, random);
    }
    // Tensors that are too large for the CPU's memory or time are only tried on Meta.
    let is_too_large = |sample: &TensorSample| {
        !sample.is_meta && sample.required_elements().is_none_or(|count| count.max(sample.count()) > MAX_ELEMENTS)
    };
    if call.samples().any(is_too_large) {
        if random.percent(90) {
            move_to_meta(call);
        } else {
            call.samples_mut().filter(|sample| is_too_large(sample)).for_each(|sample| sample.is_meta = true);
        }
    }
    call.layers = match random.below(20) {
        0..=1 => Layers::Gradients,
        2 => Layers::Mapped(random.next_word()),
        _ => Layers::Plain,
    };
}

fn move_to_meta(call: &mut Call) {
    call.samples_mut().for_each(|sample| sample.is_meta = true);
    for given in &mut call.arguments {
        if let TrialArgument::Plain(Value::Device(device)) = given {
            *device = Device::META;
        }
    }
}

fn mutate_once(call: &mut Call, random: &mut Random) {
    if call.arguments.is_empty() {
        return;
    }
    match random.below(20) {
        0..=2 => enlarge_size(call, random),
        3 => share_storage(call, random),
        4 => {
            let from = random.pick(&call.arguments);
            let to = random.below(call.arguments.len());
            call.arguments[to] = from;
        }
        _ => {
            let at = random.below(call.arguments.len());
            change_argument(&mut call.arguments[at], random);
        }
    }
}

/// Replaces every occurrence of one size by a size too large for memory, so that the sizes still fit each other.
fn enlarge_size(call: &mut Call, random: &mut Random) {
    let sizes: Vec<i64> = call.samples().flat_map(|sample| sample.sizes.iter().copied()).collect();
    if sizes.is_empty() {
        return;
    }
    let (size, huge) = (random.pick(&sizes), random.pick(&boundaries::HUGE_SIZES));
    // With another size of zero, the tensors need no memory and can stay on the CPU.
    let empty = sizes.iter().copied().find(|&other| other != size).filter(|_| random.percent(40));
    if empty.is_none() {
        move_to_meta(call);
    }
    for given in &mut call.arguments {
        if let TrialArgument::Plain(Value::Ints(integers)) = given {
            integers.iter_mut().filter(|integer| **integer == size).for_each(|integer| *integer = huge);
        }
        for sample in given.samples_mut() {
            let new = |&old: &i64| if old == size { huge } else { old * i64::from(Some(old) != empty) };
            sample.resize(sample.sizes.iter().map(new).collect());
        }
    }
}

/// Makes two tensors share one storage.
fn share_storage(call: &mut Call, random: &mut Random) {
    let count = call.samples().count();
    let (one, other) = (random.below(count), random.below(count));
    let offset = random.pick(&[0, 0, 0, 1, 2]);
    for (at, sample) in call.samples_mut().enumerate() {
        if at == one || at == other {
            sample.memory = Some(0);
        }
        if at == other {
            sample.offset = sample.offset.saturating_add(offset);
        }
    }
}

fn change_argument(given: &mut TrialArgument, random: &mut Random) {
    if random.percent(4) {
        *given = TrialArgument::Plain(boundaries::any_value(random));
        return;
    }
    match given {
        TrialArgument::Tensor(sample) => change_sample(sample, random),
        TrialArgument::Tensors(samples) => change_list(samples, random, change_sample),
        TrialArgument::OptionalTensors(samples) => change_list(samples, random, |sample, random| match sample {
            Some(sample) if random.percent(80) => change_sample(sample, random),
            other => *other = None,
        }),
        TrialArgument::Plain(value) => change_value(value, random),
    }
}

/// Makes a list shorter or longer, or changes one of its items.
fn change_list<T: Clone>(list: &mut Vec<T>, random: &mut Random, change: impl FnOnce(&mut T, &mut Random)) {
    if !change_length(list, random) && !list.is_empty() {
        let at = random.below(list.len());
        change(&mut list[at], random);
    }
}

/// Makes a list shorter or longer at random. Returns whether it did so.
fn change_length<T: Clone>(list: &mut Vec<T>, random: &mut Random) -> bool {
    match random.below(8) {
        0 => list.clear(),
        1 => _ = list.pop(),
        2 if !list.is_empty() => list.push(random.pick(list)),
        3 if !list.is_empty() => {
            let one = random.pick(list);
            list.resize(random.pick(&[4, 9, 65, 300]), one);
        }
        _ => return false,
    }
    true
}

fn change_value(value: &mut Value, random: &mut Random) {
    if random.percent(8) {
        *value = Value::None;
        return;
    }
    match value {
        Value::Bool(value) => *value = !*value,
        Value::Int(value) => *value = integer_near(*value, random),
        Value::Float(value) => *value = boundaries::float(random),
        Value::Complex(_) => *value = Value::from(boundaries::scalar(random)),
        Value::Str(value) => **value = boundaries::string(random),
        Value::Ints(values) => change_list(values, random, |value, random| *value = integer_near(*value, random)),
        Value::Floats(values) => change_list(values, random, |value, random| *value = boundaries::float(random)),
        Value::Bools(values) => _ = change_length(values, random),
        Value::Scalars(values) => change_list(values, random, |value, random| *value = boundaries::scalar(random)),
        Value::Strs(values) => _ = change_length(values, random),
        Value::DType(dtype) => *dtype = boundaries::dtype(random),
        Value::Device(device) => *device = boundaries::device(random),
        Value::Layout(_) => *value = boundaries::layout(random),
        Value::MemoryFormat(_) => *value = boundaries::memory_format(random),
        _ => *value = boundaries::any_value(random),
    }
}

fn integer_near(value: i64, random: &mut Random) -> i64 {
    match random.below(6) {
        0 => value.saturating_add(1),
        1 => value.saturating_sub(1),
        2 => value.saturating_neg(),
        _ => boundaries::integer(random),
    }
}

fn change_sample(sample: &mut TensorSample, random: &mut Random) {
    let rank = sample.sizes.len();
    match random.below(13) {
        0 => sample.dtype = boundaries::dtype(random),
        1 | 2 => sample.elements = boundaries::elements(random, sample.dtype),
        3 => {
            sample.is_number = true;
            sample.elements = vec![boundaries::scalar(random)];
        }
        4 => change_sizes(sample, |sizes| sizes.insert(random.below(rank + 1), random.pick(&[0, 1, 1, 2, 3]))),
        5 => change_sizes(sample, |sizes| sizes.extend(vec![1; random.pick(&[1, 3, 9, 64, 70])])),
        _ if rank == 0 => sample.resize(vec![random.pick(&[0, 1, 2])]),
        6 => change_sizes(sample, |sizes| _ = sizes.remove(random.below(rank))),
        7 | 8 => change_sizes(sample, |sizes| {
            let at = random.below(rank);
            sizes[at] = random.pick(&[
                0,
                0,
                1,
                1,
                2,
                3,
                sizes[at].saturating_add(1),
                sizes[at].saturating_sub(1),
                1 << 31,
                1 << 62,
                i64::MAX,
            ]);
        }),
        9 => {
            // A size of 1: its stride reaches no element.
            let at = random.below(rank);
            change_sizes(sample, |sizes| sizes[at] = 1);
            sample.strides[at] = random.pick(&[0, 2, 77, 1 << 31, 1 << 60, 1 << 62, i64::MAX, -1, i64::MIN]);
        }
        10 => {
            // Expands a dimension: its stride becomes 0.
            let at = random.below(rank);
            sample.strides[at] = 0;
            sample.sizes[at] = random.pick(&[sample.sizes[at], 2, 5, 1000, 1 << 31, 1 << 62]);
        }
        11 => {
            // Transposes two dimensions.
            let (one, other) = (random.below(rank), random.below(rank));
            sample.sizes.swap(one, other);
            sample.strides.swap(one, other);
            if random.percent(50) {
                sample.sizes.swap(one, other);
            }
        }
        _ => {
            let at = random.below(rank);
            sample.strides[at] = random.pick(&[1, 1, 2, 3, sample.strides[at].saturating_mul(2), -1]);
            sample.offset = random.pick(&[0, 1, 5, 1 << 62]);
        }
    }
}

fn change_sizes(sample: &mut TensorSample, change: impl FnOnce(&mut Vec<i64>)) {
    let mut sizes = sample.sizes.clone();
    change(&mut sizes);
    sample.resize(sizes);
}

/// Returns a changed number for a graph's text.
pub(super) fn mutate_number(old: &str, random: &mut Random) -> String {
    let old: i64 = old.parse().unwrap_or(0);
    let new = if random.percent(30) { random.pick(&boundaries::HUGE_SIZES) } else { integer_near(old, random) };
    new.to_string()
}
