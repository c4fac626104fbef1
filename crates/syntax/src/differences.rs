//! Finds where two maps differ in a single pass: the walk's maps are long, shared, and mostly equal.

use std::collections::BTreeMap;
use std::iter::Peekable;

/// A key, and the values on either side.
pub(super) type Difference<'m, K, V> = (&'m K, Option<&'m V>, Option<&'m V>);

/// Iterates over the keys at which two maps differ.
pub(super) struct Differences<'m, K, V, S> {
    one: Peekable<std::collections::btree_map::Iter<'m, K, V>>,
    other: Peekable<std::collections::btree_map::Iter<'m, K, V>>,
    is_same: S,
}

/// Compares two maps; `is_same` compares the values at equal keys.
pub(super) fn differences<'m, K: Ord, V, S: Fn(&V, &V) -> bool>(
    one: &'m BTreeMap<K, V>,
    other: &'m BTreeMap<K, V>,
    is_same: S,
) -> Differences<'m, K, V, S> {
    Differences {
        one: one.iter().peekable(),
        other: other.iter().peekable(),
        is_same,
    }
}

impl<'m, K: Ord, V, S: Fn(&V, &V) -> bool> Iterator for Differences<'m, K, V, S> {
    type Item = Difference<'m, K, V>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let order = match (self.one.peek(), self.other.peek()) {
                (None, None) => return None,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((mine, _)), Some((others, _))) => mine.cmp(others),
            };
            let one = order.is_le().then(|| self.one.next()).flatten();
            let other = order.is_ge().then(|| self.other.next()).flatten();
            if let (Some((_, mine)), Some((_, others))) = (one, other)
                && (self.is_same)(mine, others)
            {
                continue;
            }
            let (key, _) = one.or(other)?;
            return Some((
                key,
                one.map(|(_, value)| value),
                other.map(|(_, value)| value),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_one_side_or_different_is_found() {
        let one = BTreeMap::from([("a", 1), ("b", 2), ("d", 4)]);
        let other = BTreeMap::from([("b", 3), ("c", 3), ("d", 4), ("e", 5)]);
        let found: Vec<_> = differences(&one, &other, |mine, others| mine == others).collect();
        assert_eq!(
            found,
            [
                (&"a", Some(&1), None),
                (&"b", Some(&2), Some(&3)),
                (&"c", None, Some(&3)),
                (&"e", None, Some(&5)),
            ]
        );
        assert_eq!(
            differences(&one, &one, |mine, others| mine == others).count(),
            0
        );
    }
}
