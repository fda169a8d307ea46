//! Mutates a plausible call in up to three steps. A check must refuse the new call, or a kernel must compute it correctly.

use dispatch_runtime::{Device, Value};

use super::boundaries;
use super::random::Random;
use super::trial::{Call, Layers, MAX_ELEMENT_COUNT, TensorDescription, TrialArgument};

pub(super) fn mutate_call(call: &mut Call, random: &mut Random) {
    match random.draw_below(20) {
        0..=8 => {}
        9..=17 => move_to_meta(call),
        _ => call.descriptions_mut().for_each(|description| description.is_meta = random.true_with_percent(50)),
    }
    let steps = random.pick(&[0, 1, 1, 1, 1, 2, 2, 2, 3, 3]);
    for _ in 0..steps {
        apply_one_mutation(call, random);
    }
    // Tensors that are too large for the CPU's memory or time are only tried on Meta.
    let is_too_large = |description: &TensorDescription| {
        !description.is_meta
            && description
                .required_element_count()
                .is_none_or(|count| count.max(description.element_count()) > MAX_ELEMENT_COUNT)
    };
    if call.descriptions().any(is_too_large) {
        if random.true_with_percent(90) {
            move_to_meta(call);
        } else {
            call.descriptions_mut()
                .filter(|description| is_too_large(description))
                .for_each(|description| description.is_meta = true);
        }
    }
    call.layers = match random.draw_below(20) {
        0..=1 => Layers::Autograd,
        2 => Layers::Vmap(random.next_u64()),
        _ => Layers::BackendOnly,
    };
}

fn move_to_meta(call: &mut Call) {
    call.descriptions_mut().for_each(|description| description.is_meta = true);
    for given in &mut call.arguments {
        if let TrialArgument::NonTensor(Value::Device(device)) = given {
            *device = Device::META;
        }
    }
}

fn apply_one_mutation(call: &mut Call, random: &mut Random) {
    if call.arguments.is_empty() {
        return;
    }
    match random.draw_below(20) {
        0..=2 => enlarge_size(call, random),
        3 => share_storage(call, random),
        4 => {
            let from = random.pick(&call.arguments);
            let to = random.draw_below(call.arguments.len());
            call.arguments[to] = from;
        }
        _ => {
            let at = random.draw_below(call.arguments.len());
            change_argument(&mut call.arguments[at], random);
        }
    }
}

/// Replaces every occurrence of one size by a size too large for memory, so that the sizes still fit each other.
fn enlarge_size(call: &mut Call, random: &mut Random) {
    let sizes: Vec<i64> = call.descriptions().flat_map(|description| description.sizes.iter().copied()).collect();
    if sizes.is_empty() {
        return;
    }
    let (size, huge) = (random.pick(&sizes), random.pick(&boundaries::HUGE_SIZES));
    // With another size of zero, the tensors need no memory and can stay on the CPU.
    let empty = sizes.iter().copied().find(|&other| other != size).filter(|_| random.true_with_percent(40));
    if empty.is_none() {
        move_to_meta(call);
    }
    for given in &mut call.arguments {
        if let TrialArgument::NonTensor(Value::Ints(integers)) = given {
            integers.iter_mut().filter(|integer| **integer == size).for_each(|integer| *integer = huge);
        }
        for description in given.descriptions_mut() {
            let new = |&old: &i64| if old == size { huge } else { old * i64::from(Some(old) != empty) };
            description.resize(description.sizes.iter().map(new).collect());
        }
    }
}

/// Makes two tensors share one storage.
fn share_storage(call: &mut Call, random: &mut Random) {
    let count = call.descriptions().count();
    let (one, other) = (random.draw_below(count), random.draw_below(count));
    let offset = random.pick(&[0, 0, 0, 1, 2]);
    for (at, description) in call.descriptions_mut().enumerate() {
        if at == one || at == other {
            description.memory = Some(0);
        }
        if at == other {
            description.offset = description.offset.saturating_add(offset);
        }
    }
}

fn change_argument(given: &mut TrialArgument, random: &mut Random) {
    if random.true_with_percent(4) {
        *given = TrialArgument::NonTensor(boundaries::draw_value(random));
        return;
    }
    match given {
        TrialArgument::Tensor(description) => change_tensor(description, random),
        TrialArgument::Tensors(descriptions) => change_list(descriptions, random, change_tensor),
        TrialArgument::OptionalTensors(descriptions) => {
            change_list(descriptions, random, |description, random| match description {
                Some(description) if random.true_with_percent(80) => change_tensor(description, random),
                other => *other = None,
            });
        }
        TrialArgument::NonTensor(value) => change_value(value, random),
    }
}

/// Makes a list shorter or longer, or changes one of its items.
fn change_list<T: Clone>(list: &mut Vec<T>, random: &mut Random, change: impl FnOnce(&mut T, &mut Random)) {
    if !change_length(list, random) && !list.is_empty() {
        let at = random.draw_below(list.len());
        change(&mut list[at], random);
    }
}

/// Makes a list shorter or longer at random. Returns whether it did so.
fn change_length<T: Clone>(list: &mut Vec<T>, random: &mut Random) -> bool {
    match random.draw_below(8) {
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
    if random.true_with_percent(8) {
        *value = Value::None;
        return;
    }
    match value {
        Value::Bool(value) => *value = !*value,
        Value::Int(value) => *value = change_integer(*value, random),
        Value::Float(value) => *value = boundaries::draw_float(random),
        Value::Complex(_) => *value = Value::from(boundaries::draw_scalar(random)),
        Value::Str(value) => **value = boundaries::draw_string(random),
        Value::Ints(values) => change_list(values, random, |value, random| *value = change_integer(*value, random)),
        Value::Floats(values) => change_list(values, random, |value, random| *value = boundaries::draw_float(random)),
        Value::Bools(values) => _ = change_length(values, random),
        Value::Scalars(values) => change_list(values, random, |value, random| *value = boundaries::draw_scalar(random)),
        Value::Strs(values) => _ = change_length(values, random),
        Value::DType(dtype) => *dtype = boundaries::draw_dtype(random),
        Value::Device(device) => *device = boundaries::draw_device(random),
        Value::Layout(_) => *value = boundaries::draw_layout(random),
        Value::MemoryFormat(_) => *value = boundaries::draw_memory_format(random),
        _ => *value = boundaries::draw_value(random),
    }
}

fn change_integer(value: i64, random: &mut Random) -> i64 {
    match random.draw_below(6) {
        0 => value.saturating_add(1),
        1 => value.saturating_sub(1),
        2 => value.saturating_neg(),
        _ => boundaries::draw_integer(random),
    }
}

fn change_tensor(description: &mut TensorDescription, random: &mut Random) {
    let rank = description.sizes.len();
    match random.draw_below(13) {
        0 => description.dtype = boundaries::draw_dtype(random),
        1 | 2 => description.elements = boundaries::draw_elements(random, description.dtype),
        3 => {
            description.is_number = true;
            description.elements = vec![boundaries::draw_scalar(random)];
        }
        4 => {
            change_sizes(description, |sizes| sizes.insert(random.draw_below(rank + 1), random.pick(&[0, 1, 1, 2, 3])));
        }
        5 => change_sizes(description, |sizes| sizes.extend(vec![1; random.pick(&[1, 3, 9, 64, 70])])),
        _ if rank == 0 => description.resize(vec![random.pick(&[0, 1, 2])]),
        6 => change_sizes(description, |sizes| _ = sizes.remove(random.draw_below(rank))),
        7 | 8 => change_sizes(description, |sizes| {
            let at = random.draw_below(rank);
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
            let at = random.draw_below(rank);
            change_sizes(description, |sizes| sizes[at] = 1);
            description.strides[at] = random.pick(&[0, 2, 77, 1 << 31, 1 << 60, 1 << 62, i64::MAX, -1, i64::MIN]);
        }
        10 => {
            // Expands a dimension: its stride becomes 0.
            let at = random.draw_below(rank);
            description.strides[at] = 0;
            description.sizes[at] = random.pick(&[description.sizes[at], 2, 5, 1000, 1 << 31, 1 << 62]);
        }
        11 => {
            // Transposes two dimensions.
            let (one, other) = (random.draw_below(rank), random.draw_below(rank));
            description.sizes.swap(one, other);
            description.strides.swap(one, other);
            if random.true_with_percent(50) {
                description.sizes.swap(one, other);
            }
        }
        _ => {
            let at = random.draw_below(rank);
            description.strides[at] = random.pick(&[1, 1, 2, 3, description.strides[at].saturating_mul(2), -1]);
            description.offset = random.pick(&[0, 1, 5, 1 << 62]);
        }
    }
}

fn change_sizes(description: &mut TensorDescription, change: impl FnOnce(&mut Vec<i64>)) {
    let mut sizes = description.sizes.clone();
    change(&mut sizes);
    description.resize(sizes);
}

/// Returns a changed number for a graph's text.
pub(super) fn change_number_text(old: &str, random: &mut Random) -> String {
    let old: i64 = old.parse().unwrap_or(0);
    let new =
        if random.true_with_percent(30) { random.pick(&boundaries::HUGE_SIZES) } else { change_integer(old, random) };
    new.to_string()
}
