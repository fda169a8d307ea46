//! What layers remember about a tensor.
//!
//! A layer keeps one value of a type of its own on each tensor it cares about; the tensor knows only how to drop it. All clones of
//! a tensor see the same value. A tensor that no layer cares about pays one unset word.

use std::any::Any;

use once_cell::race::OnceBox;

/// The values of all layers: a list that only grows.
#[derive(Default)]
pub(super) struct Extensions(OnceBox<Node>);

struct Node {
    value: Box<dyn Any + Send + Sync>,
    next: Extensions,
}

impl Extensions {
    pub(super) fn get<T: Any>(&self) -> Option<&T> {
        let node = self.0.get()?;
        node.value.downcast_ref().or_else(|| node.next.get())
    }

    /// The value of type `T`, made by `init` if there is none. Where two threads make one, the first stays.
    pub(super) fn get_or_init<T: Any + Send + Sync>(&self, init: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let mut fresh = Some(Box::new(Node { value: Box::new(init()), next: Self::default() }));
        let mut at = self;
        loop {
            if let Some(node) = fresh.take() {
                fresh = at.0.set(node).err();
            }
            if let Some(node) = at.0.get() {
                match node.value.downcast_ref() {
                    Some(value) => return value,
                    None => at = &node.next,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_do_not_see_each_others_values() {
        let slots = Extensions::default();
        assert_eq!(slots.get::<u32>(), None);
        assert_eq!(*slots.get_or_init(|| 1_u32), 1);
        assert_eq!(*slots.get_or_init(|| "two"), "two");
        assert_eq!(*slots.get_or_init(|| 3_u32), 1);
        assert_eq!(slots.get::<&str>(), Some(&"two"));
    }

    #[test]
    fn racing_threads_agree_on_one_value() {
        let slots = Extensions::default();
        let seen: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4_usize)
                .map(|i| {
                    scope.spawn({
                        let slots = &slots;
                        move || *slots.get_or_init(|| i)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(seen.iter().all(|&value| value == seen[0]));
    }
}
