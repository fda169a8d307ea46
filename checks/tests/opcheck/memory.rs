//! Mistakes of memory: strides, aliases, writes, and the forms that write.

use dispatch_checks::Failure;
use dispatch_runtime::PointwisePlan;
use dispatch_runtime::prelude::*;

use crate::{assert_finds, failing_report, map, matrix, vector};

#[op_def("opcheck::contiguous_neg(Tensor self) -> Tensor", shape = pointwise)]
pub fn contiguous_neg(this: &Tensor) -> Result<Tensor>;

#[op_impl(contiguous_neg, CPU, dtypes(floating))]
fn contiguous_neg_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    map::<T>(this, |x| -x)
}

#[test]
fn a_result_of_wrong_strides_is_found() {
    assert_finds(
        contiguous_neg::operator(),
        &matrix(),
        "layouts: with arguments in column-major order: on Meta: result 0 has strides [1, 2] for sizes [2, 3], expected [3, 1]\n  to do: give the result the strides of the plan",
    );
}

#[op_def("opcheck::neg_ignoring_strides(Tensor self) -> Tensor")]
pub fn neg_ignoring_strides(this: &Tensor) -> Result<Tensor>;

#[op_impl(neg_ignoring_strides, CPU)]
fn neg_ignoring_strides_cpu(this: &Tensor) -> Result<Tensor> {
    let flat = Tensor::new(
        this.storage().clone(),
        this.dtype(),
        dispatch_runtime::Geometry::contiguous(&[
            i64::try_from(this.storage().size() / this.dtype().size()).unwrap_or(0)
        ]),
    )?;
    let count = usize::try_from(this.geometry().count()).unwrap_or(0);
    Ok(Tensor::from_vec(flat.to_vec::<f64>()?.into_iter().take(count).map(|x| -x).collect(), this.sizes())?)
}

#[test]
fn a_kernel_that_ignores_strides_and_offsets_is_found() {
    let text = failing_report(neg_ignoring_strides::operator(), &matrix()).to_string();
    for layout in
        ["in column-major order", "with gaps between the elements of arguments", "with an offset of one element"]
    {
        assert!(text.contains(layout), "{layout}: {text}");
    }
    assert!(text.contains("to do: read arguments by their strides and offsets"), "{text}");
}

#[op_def("opcheck::returns_its_argument(Tensor self) -> Tensor")]
pub fn returns_its_argument(this: &Tensor) -> Result<Tensor>;

#[op_impl(returns_its_argument, CPU)]
fn returns_its_argument_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[test]
fn an_undeclared_alias_is_found() {
    let report = failing_report(returns_its_argument::operator(), &vector());
    assert!(report.failed().any(
        |(_, failure)| matches!(failure, Failure::UnexpectedSharing { index: 0, argument } if argument == "self")
    ));
}

#[op_def("opcheck::copy_declared_as_view(Tensor(a) self) -> Tensor(a)")]
pub fn copy_declared_as_view(this: &Tensor) -> Result<Tensor>;

#[op_impl(copy_declared_as_view, CPU)]
fn copy_declared_as_view_cpu(this: &Tensor) -> Result<Tensor> {
    map::<f64>(this, |x| x)
}

#[test]
fn a_copy_in_place_of_a_view_is_found() {
    assert_finds(copy_declared_as_view::operator(), &vector(), "values: result 0 does not share the memory of `self`");
}

#[op_def("opcheck::neg_clearing_its_argument(Tensor self) -> Tensor")]
pub fn neg_clearing_its_argument(this: &Tensor) -> Result<Tensor>;

#[op_impl(neg_clearing_its_argument, CPU)]
fn neg_clearing_its_argument_cpu(this: &Tensor) -> Result<Tensor> {
    let result = map::<f64>(this, |x| -x)?;
    this.clone().elements_mut::<f64>()?.for_each(|x| *x = 0.0);
    Ok(result)
}

#[test]
fn an_undeclared_write_is_found() {
    assert_finds(
        neg_clearing_its_argument::operator(),
        &vector(),
        "values: wrote to `self`, which its schema declares as read-only\n  to do: declare the write in the schema",
    );
}

/// Defines the functional form of a doubling operator, whose other form has a mistake.
macro_rules! define_double {
    ($schema:literal $name:ident $kernel:ident) => {
        #[op_def($schema, shape = pointwise)]
        pub fn $name(this: &Tensor) -> Result<Tensor>;

        #[op_impl($name, CPU, dtypes(floating))]
        fn $kernel<T: Floating>(_plan: &PointwisePlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
            let mut elements = this.to_vec::<T>()?.into_iter();
            out.elements_mut::<T>()?.for_each(|to| *to = elements.next().map_or(T::ZERO, |x| x + x));
            Ok(())
        }
    };
}

define_double!("opcheck::double_ignoring_out(Tensor self) -> Tensor" double_ignoring_out double_ignoring_out_cpu);

#[op_def("opcheck::double_ignoring_out.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn double_ignoring_out_out(this: &Tensor, out: &mut Tensor) -> Result<()>;

#[op_impl(double_ignoring_out_out, CPU)]
fn double_ignoring_out_out_cpu(this: &Tensor, out: &mut Tensor) -> Result<()> {
    *out = double_ignoring_out(this)?;
    Ok(())
}

#[test]
fn an_out_form_that_ignores_out_is_found() {
    let text = failing_report(double_ignoring_out::operator(), &vector()).to_string();
    assert!(text.contains("out: into `out`: result 0 does not share the memory of `out`"), "{text}");
    assert!(text.contains("out: accepted an `out` of another shape"), "{text}");
}

/// Says `converts`, and writes only its own dtype.
#[op_def("opcheck::double_without_conversion(Tensor self) -> Tensor", shape = pointwise, out = "out")]
pub fn double_without_conversion(this: &Tensor) -> Result<Tensor>;

#[op_impl(double_without_conversion, CPU, dtypes(floating), converts)]
fn double_without_conversion_cpu<T: Floating>(_plan: &PointwisePlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let mut elements = this.to_vec::<T>()?.into_iter();
    out.elements_mut::<T>()?.for_each(|to| *to = elements.next().map_or(T::ZERO, |x| x + x));
    Ok(())
}

#[test]
fn an_output_that_is_not_converted_is_found() {
    let text = failing_report(double_without_conversion::operator(), &vector()).to_string();
    assert!(text.contains("out: into an `out` of float32: "), "{text}");
    assert!(text.contains("a kernel with the option `converts` writes any dtype (`cpu::map_into` does)"), "{text}");
}

/// Says `in_place`, and reads elements that it has written.
#[op_def("opcheck::difference_in_place(Tensor self) -> Tensor", shape = pointwise, inplace)]
pub fn difference_in_place(this: &Tensor) -> Result<Tensor>;

#[op_impl(difference_in_place, CPU, dtypes(floating), in_place)]
fn difference_in_place_cpu<T: Floating>(_plan: &PointwisePlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    out.elements_mut::<T>()?.for_each(|to| *to = T::ZERO);
    let mut elements = this.to_vec::<T>()?.into_iter();
    out.elements_mut::<T>()?.for_each(|to| *to = elements.next().map_or(T::ZERO, |x| x + x));
    Ok(())
}

#[test]
fn a_kernel_that_cannot_write_its_input_is_found() {
    assert_finds(difference_in_place::operator(), &vector(), "or drop the option `in_place` of the kernel");
}

define_double!("opcheck::double_with_wrong_in_place(Tensor self) -> Tensor" double_with_wrong_in_place double_with_wrong_in_place_cpu);

#[op_def("opcheck::double_with_wrong_in_place_(Tensor(a!) self) -> Tensor(a!)")]
pub fn double_with_wrong_in_place_(this: &mut Tensor) -> Result<()>;

#[op_impl(double_with_wrong_in_place_, CPU)]
fn double_with_wrong_in_place_in_place_cpu(this: &mut Tensor) -> Result<()> {
    this.elements_mut::<f64>()?.for_each(|x| *x *= 3.0);
    Ok(())
}

#[test]
fn an_in_place_form_that_differs_is_found() {
    assert_finds(
        double_with_wrong_in_place::operator(),
        &vector(),
        "in-place: in place: result 0 has 4.5 at 0, expected 3.0 (3 of 3 elements differ)\n  to do: write the result of the functional form to the first argument",
    );
}
