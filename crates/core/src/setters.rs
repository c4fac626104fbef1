//! Setters for structs that may get more fields, so that nobody outside can write them as literals.

/// Setters by the names of the fields.
macro_rules! setters {
    ($of:ident; $($field:ident: $type:ty),* $(,)?) => {
        impl $of {
            $(
                #[doc = concat!("Sets [`Self::", stringify!($field), "`](#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: impl Into<$type>) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
        }
    };
}

pub(crate) use setters;
