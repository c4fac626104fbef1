//! Binary encoding for files of a change set: little-endian numbers, and lengths before fields of
//! variable size. A file is read only by the version of the program that wrote it.

/// A value that can be encoded and decoded.
pub(crate) trait Wire: Sized {
    fn put(&self, to: &mut Vec<u8>);
    /// Decodes a value; `None` if the bytes end too early or are invalid.
    fn get(from: &mut &[u8]) -> Option<Self>;

    fn put_all(values: &[Self], to: &mut Vec<u8>) {
        for value in values {
            value.put(to);
        }
    }

    fn get_all(from: &mut &[u8], number: u64) -> Option<Vec<Self>> {
        (0..number).map(|_| Self::get(from)).collect()
    }
}

fn take<'a>(from: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(head)
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Wire for $number {
            fn put(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn get(from: &mut &[u8]) -> Option<Self> {
                let bytes = take(from, size_of::<Self>())?;
                bytes.try_into().ok().map(Self::from_le_bytes)
            }
        }
    )*};
}

numbers!(u32, u64, i64);

impl Wire for u8 {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(*self);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        take(from, 1).map(|byte| byte[0])
    }

    fn put_all(values: &[Self], to: &mut Vec<u8>) {
        to.extend_from_slice(values);
    }

    fn get_all(from: &mut &[u8], number: u64) -> Option<Vec<Self>> {
        take(from, usize::try_from(number).ok()?).map(<[u8]>::to_vec)
    }
}

/// The number of values, then the values.
impl<T: Wire> Wire for Vec<T> {
    fn put(&self, to: &mut Vec<u8>) {
        (self.len() as u64).put(to);
        T::put_all(self, to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let number = u64::get(from)?;
        T::get_all(from, number)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        match self {
            None => to.push(0),
            Some(value) => {
                to.push(1);
                value.put(to);
            }
        }
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        match u8::get(from)? {
            0 => Some(None),
            1 => T::get(from).map(Some),
            _ => None,
        }
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
        self.1.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some((A::get(from)?, B::get(from)?))
    }
}

/// Implements [`Wire`] for a struct, field by field, or for an enum, with a byte before the fields
/// of each variant.
macro_rules! wire {
    (enum $name:ident { $($byte:literal => $variant:ident $(($($field:ident),+))?),* $(,)? }) => {
        impl $crate::files::codec::Wire for $name {
            fn put(&self, to: &mut Vec<u8>) {
                match self {$(
                    Self::$variant $(($($field),+))? => {
                        to.push($byte);
                        $($($crate::files::codec::Wire::put($field, to);)+)?
                    }
                )*}
            }

            fn get(from: &mut &[u8]) -> Option<Self> {
                match <u8 as $crate::files::codec::Wire>::get(from)? {
                    $($byte => {
                        $($(let $field = $crate::files::codec::Wire::get(from)?;)+)?
                        Some(Self::$variant $(($($field),+))?)
                    })*
                    _ => None,
                }
            }
        }
    };
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::files::codec::Wire for $name {
            fn put(&self, to: &mut Vec<u8>) {
                $($crate::files::codec::Wire::put(&self.$field, to);)*
            }

            fn get(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::files::codec::Wire::get(from)?),* })
            }
        }
    };
}

pub(crate) use wire;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_returns_the_encoded_value_and_rejects_prefixes() {
        type Value = (Option<(u64, Vec<u8>)>, (i64, Option<Vec<u8>>));
        let value = (
            Some((7_u64, b"a\n\0\xff".to_vec())),
            (-3_i64, None::<Vec<u8>>),
        );
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        assert_eq!(Value::get(&mut &bytes[..]), Some(value));
        for end in 0..bytes.len() {
            assert_eq!(Value::get(&mut &bytes[..end]), None, "{end}");
        }
        // A length beyond the input is refused before any allocation.
        assert_eq!(Vec::<u8>::get(&mut &[0xff; 9][..]), None);
    }
}
