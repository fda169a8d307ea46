//! Fields of modules that are containers, numbers or texts.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

use super::{ModulePath, Part, PartMut, Visit};
use crate::param::{Buffer, Param, Training};

macro_rules! impl_for_parts {
    ($($part:ident)*) => {$(
        impl Visit for $part {
            fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
                f(at, Part::$part(self));
            }

            fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
                f(at, PartMut::$part(self));
            }
        }
    )*};
}

impl_for_parts! { Param Buffer Training }

macro_rules! impl_for_numbers {
    ($($number:ty)*) => {$(
        impl Visit for $number {
            fn visit(&self, _: &ModulePath<'_>, _: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {}

            fn visit_mut(&mut self, _: &ModulePath<'_>, _: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {}
        }
    )*};
}

impl_for_numbers! { () bool u8 i32 u32 i64 u64 usize f32 f64 String &'static str }

impl<T: Visit + ?Sized> Visit for Box<T> {
    fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
        (**self).visit(at, f);
    }

    fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
        (**self).visit_mut(at, f);
    }
}

impl<T: Visit> Visit for Option<T> {
    fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
        if let Some(part) = self {
            part.visit(at, f);
        }
    }

    fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
        if let Some(part) = self {
            part.visit_mut(at, f);
        }
    }
}

impl<T: Visit> Visit for [T] {
    fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
        for (index, part) in self.iter().enumerate() {
            part.visit(&at.index(index), f);
        }
    }

    fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
        for (index, part) in self.iter_mut().enumerate() {
            part.visit_mut(&at.index(index), f);
        }
    }
}

impl<T: Visit, const N: usize> Visit for [T; N] {
    fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
        self.as_slice().visit(at, f);
    }

    fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
        self.as_mut_slice().visit_mut(at, f);
    }
}

impl<T: Visit> Visit for Vec<T> {
    fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
        self.as_slice().visit(at, f);
    }

    fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
        self.as_mut_slice().visit_mut(at, f);
    }
}

impl<T: Visit> Visit for BTreeMap<String, T> {
    fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
        for (key, part) in self {
            part.visit(&at.field(key), f);
        }
    }

    fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
        for (key, part) in self {
            part.visit_mut(&at.field(key), f);
        }
    }
}

/// The order is that of the keys, because a hash map has none.
impl<T: Visit, S: BuildHasher> Visit for HashMap<String, T, S> {
    fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
        let mut parts: Vec<_> = self.iter().collect();
        parts.sort_unstable_by_key(|(key, _)| *key);
        for (key, part) in parts {
            part.visit(&at.field(key), f);
        }
    }

    fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
        let mut parts: Vec<_> = self.iter_mut().collect();
        parts.sort_unstable_by_key(|(key, _)| *key);
        for (key, part) in parts {
            part.visit_mut(&at.field(key), f);
        }
    }
}

macro_rules! impl_for_tuples {
    ($($($name:ident $index:tt)*;)*) => {$(
        impl<$($name: Visit),*> Visit for ($($name,)*) {
            fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
                $(self.$index.visit(&at.index($index), f);)*
            }

            fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
                $(self.$index.visit_mut(&at.index($index), f);)*
            }
        }
    )*};
}

impl_for_tuples! {
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
}
