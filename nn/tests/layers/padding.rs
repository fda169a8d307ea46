//! Borders.

use dispatch_nn::{
    CircularPad1d, CircularPad2d, CircularPad3d, ConstantPad1d, ConstantPad2d, ConstantPad3d, ReflectionPad1d,
    ReflectionPad2d, ReflectionPad3d, ReplicationPad1d, ReplicationPad2d, ReplicationPad3d, ZeroPad1d, ZeroPad2d,
    ZeroPad3d,
};
use dispatch_runtime::prelude::*;

use crate::recording::Group;

macro_rules! compare_paddings {
    ($group:ident, $sides:expr, $constant:ident $($name:ident)*) => {
        $(
            $group.layer(stringify!($name), $name::new($sides))?;
            $group.layer(concat!(stringify!($name), " one number"), $name::new(1))?;
        )*
        $group.layer(stringify!($constant), $constant::new($sides, 3.5))?;
        $group.layer(concat!(stringify!($constant), " negative"), $constant::new(-1, 3.5))?;
    };
}

#[test]
fn borders_are_as_recorded() -> Result<()> {
    let mut group = Group::load("padding")?;
    compare_paddings!(group, (1, 2), ConstantPad1d ReflectionPad1d ReplicationPad1d CircularPad1d ZeroPad1d);
    compare_paddings!(group, (1, 2, 0, 1), ConstantPad2d ReflectionPad2d ReplicationPad2d CircularPad2d ZeroPad2d);
    compare_paddings!(group, (1, 2, 0, 1, 2, 1), ConstantPad3d ReflectionPad3d ReplicationPad3d CircularPad3d ZeroPad3d);
    group.finish();
    Ok(())
}
