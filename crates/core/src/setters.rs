//! Setters for `#[non_exhaustive]` structs, which other crates cannot write as literals.

/// Generates setters with the names of the fields.
macro_rules! setters {
    ($struct:ident; $($field:ident: $type:ty),* $(,)?) => {
        impl $struct {
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
