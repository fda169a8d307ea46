//! Sources of kernels: the CUDA C++ text, its headers and its template instances.

use std::fmt::Write;
use std::sync::LazyLock;

use dispatch_runtime::DType;

use crate::compile::fingerprint::Fingerprint;

/// The headers that kernels can include, with their contents.
pub(crate) const HEADERS: &[(&str, &str)] = &[
    ("attention.cuh", include_str!("../../kernels/attention/attention.cuh")),
    ("bessel.cuh", include_str!("../../kernels/include/special/bessel.cuh")),
    ("block.cuh", include_str!("../../kernels/include/block.cuh")),
    ("cubic.cuh", include_str!("../../kernels/resize/cubic.cuh")),
    ("elementwise.cuh", include_str!("../../kernels/include/elementwise.cuh")),
    ("folds.cuh", include_str!("../../kernels/include/folds.cuh")),
    ("functions.cuh", include_str!("../../kernels/include/functions.cuh")),
    ("gamma.cuh", include_str!("../../kernels/include/special/gamma.cuh")),
    ("images.cuh", include_str!("../../kernels/include/images.cuh")),
    ("implicit_gradient.cuh", include_str!("../../kernels/include/special/implicit_gradient.cuh")),
    ("lines.cuh", include_str!("../../kernels/norm/lines.cuh")),
    ("opdispatch.cuh", include_str!("../../kernels/include/opdispatch.cuh")),
    ("philox.cuh", include_str!("../../kernels/random/philox.cuh")),
    ("polynomials.cuh", include_str!("../../kernels/include/special/polynomials.cuh")),
    ("prefix_sum.cuh", include_str!("../../kernels/include/prefix_sum.cuh")),
    ("reduce.cuh", include_str!("../../kernels/include/reduce.cuh")),
    ("rounded.cuh", include_str!("../../kernels/resize/rounded.cuh")),
    ("scan.cuh", include_str!("../../kernels/reduction/scan.cuh")),
    ("sort_key.cuh", include_str!("../../kernels/include/sort_key.cuh")),
    ("tensor_cores.cuh", include_str!("../../kernels/include/tensor_cores.cuh")),
    ("tiles.cuh", include_str!("../../kernels/include/tiles.cuh")),
];

/// The fingerprint of all headers.
pub(crate) static HEADERS_FINGERPRINT: LazyLock<Fingerprint> = LazyLock::new(|| {
    HEADERS.iter().fold(Fingerprint::new(), |hash, (name, content)| hash.add_text(name).add_text(content))
});

/// A kernel's text, and the instances of its templates. A source can be compiled but not launched: see [`Kernel`](crate::Kernel).
#[derive(Clone, Copy)]
pub struct Source {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) instances: fn(&mut Instances),
}

impl Source {
    /// Returns the kernel's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the instances that the kernel can have, as C++ expressions.
    #[must_use]
    pub fn instance_expressions(&self) -> Vec<String> {
        let mut instances = Instances::default();
        (self.instances)(&mut instances);
        instances.instance_expressions()
    }

    /// Returns a cache key of the compiled code. It differs if the text, a header, the compiler or an option differs.
    pub(crate) fn cache_key<S: AsRef<str>>(&self, compiler: &str, options: &[S]) -> String {
        format!("{}-{}", self.name, HEADERS_FINGERPRINT.add_text(self.text).add_text(compiler).add_texts(options))
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Source({})", self.name)
    }
}

/// A list of the instances that a kernel can have.
#[derive(Default, Debug)]
pub struct Instances {
    all: Vec<(&'static str, Vec<DType>)>,
}

impl Instances {
    /// Adds one instance of a template, for these dtypes.
    ///
    /// ```
    /// # use dispatch_runtime::DType;
    /// let mut instances = kernels_cuda::Instances::default();
    /// instances.add("cast", &[DType::F32, DType::I64]);
    /// assert_eq!(instances.instance_expressions(), ["cast<float, i64>"]);
    /// ```
    pub fn add(&mut self, template: &'static str, dtypes: &[DType]) {
        self.all.push((template, dtypes.to_vec()));
    }

    /// Adds an instance of a template for each of these dtypes.
    ///
    /// ```
    /// # use dispatch_runtime::DType;
    /// let mut instances = kernels_cuda::Instances::default();
    /// instances.add_for_each_dtype("twice", &[DType::F32, DType::F16]);
    /// assert_eq!(instances.instance_expressions(), ["twice<float>", "twice<f16>"]);
    /// ```
    pub fn add_for_each_dtype(&mut self, template: &'static str, dtypes: &[DType]) {
        for dtype in dtypes {
            self.add(template, &[*dtype]);
        }
    }

    /// Adds an instance of each of these templates for each of these dtypes.
    pub(crate) fn add_templates_for_each_dtype(&mut self, templates: &[&'static str], dtypes: &[DType]) {
        for template in templates {
            self.add_for_each_dtype(template, dtypes);
        }
    }

    /// Returns the instances as C++ expressions. Omits an instance if its template's name is not a C++ identifier, or if kernels have no
    /// element type for one of its dtypes.
    #[must_use]
    pub fn instance_expressions(&self) -> Vec<String> {
        self.all.iter().filter_map(|(template, dtypes)| instance_expression(template, dtypes)).collect()
    }
}

/// Returns the C++ type of a dtype's elements in kernels, or `None` if kernels do not support the dtype.
///
/// ```
/// assert_eq!(kernels_cuda::cpp_type_name(dispatch_runtime::DType::F32), Some("float"));
/// assert_eq!(kernels_cuda::cpp_type_name(dispatch_runtime::DType::C64), None);
/// ```
#[must_use]
pub const fn cpp_type_name(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::U8 => "u8",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::Bool => "boolean",
        DType::C128 => "c128",
        DType::C64 | DType::F8E5M2 | DType::F8E4M3FN | DType::F8E5M2FNUZ | DType::F8E4M3FNUZ | DType::F8E8M0FNU => {
            return None;
        }
    })
}

/// Returns the C++ expression of an instance, such as `template<float, i64>`. Returns `None` if kernels have no element type for a dtype,
/// or if the template's name is not an identifier: the expression becomes part of the compiled program, so it must not bring other code
/// into it.
pub(crate) fn instance_expression(template: &str, dtypes: &[DType]) -> Option<String> {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !template.starts_with(is_letter) || !template.chars().all(|c| is_letter(c) || c.is_ascii_digit()) {
        return None;
    }
    let mut text = template.to_owned();
    for (i, dtype) in dtypes.iter().enumerate() {
        text.push_str(if i == 0 { "<" } else { ", " });
        write!(text, "{}", cpp_type_name(*dtype)?).ok()?;
    }
    if !dtypes.is_empty() {
        text.push('>');
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_that_is_no_identifier_has_no_instance() {
        assert_eq!(instance_expression("lines_2", &[DType::F32, DType::I64]).as_deref(), Some("lines_2<float, i64>"));
        assert_eq!(instance_expression("negate", &[]).as_deref(), Some("negate"));
        for template in ["", "2lines", "a b", "a<int>", "a>>(\"\", *launched); } int b; //", "a\n", "é"] {
            assert_eq!(instance_expression(template, &[DType::F32]), None, "{template:?}");
        }
    }

    #[test]
    fn different_texts_compilers_and_options_have_different_keys() {
        let source = Source { name: "add", text: "one", instances: |_| {} };
        let keys = [
            source.cache_key("13.0", &["-O1", "-w"]),
            source.cache_key("13.1", &["-O1", "-w"]),
            source.cache_key("13.0", &["-O2", "-w"]),
            source.cache_key("13.0", &["-O1 -w"]),
            Source { text: "two", ..source }.cache_key("13.0", &["-O1", "-w"]),
            Source { name: "mul", ..source }.cache_key("13.0", &["-O1", "-w"]),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[at + 1..].contains(key), "{key}");
        }
        assert_eq!(keys[0], source.cache_key("13.0", &["-O1", "-w"]));
    }
}
