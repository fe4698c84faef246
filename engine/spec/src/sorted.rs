//! A map as a sorted list.
//!
//! The maps of readers and reports hold a few entries, some thousands at most. A list is as fast for them as the standard
//! library's tree, and spares the engine's module the tree's code, which is compiled for each pair of types.

use std::borrow::Borrow;

/// A map as a list in the order of its keys. Looking up is O(log entries), inserting O(entries).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(own, _)| own.borrow().cmp(key))
    }

    /// The value of `key`.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|place| &self.0[place].1)
    }

    /// The value of `key`, to change it.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|place| &mut self.0[place].1)
    }

    /// Sets the value of `key`. Returns whether the key is new.
    pub fn insert(&mut self, key: K, value: V) -> bool {
        match self.place(&key) {
            Ok(place) => {
                self.0[place].1 = value;
                false
            }
            Err(place) => {
                self.0.insert(place, (key, value));
                true
            }
        }
    }

    /// Removes `key`. Returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|place| self.0.remove(place).1)
    }

    /// The value of `key`, which is added with the type's default when it is new.
    pub fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let place = self.place(&key).unwrap_or_else(|place| {
            self.0.insert(place, (key, V::default()));
            place
        });
        &mut self.0[place].1
    }

    /// The entries in the order of their keys.
    #[must_use]
    pub fn entries(&self) -> &[(K, V)] {
        &self.0
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(entries: T) -> Self {
        let mut map = Self::default();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_holds_what_a_tree_holds(changes in prop::collection::vec((0_u8..20, 0_u8..4, any::<u32>()), 0..200)) {
            let (mut map, mut tree) = (SortedMap::default(), BTreeMap::new());
            for (key, change, value) in changes {
                match change {
                    0 => prop_assert_eq!(map.insert(key, value), tree.insert(key, value).is_none()),
                    1 => prop_assert_eq!(map.remove(&key), tree.remove(&key)),
                    2 => {
                        let (own, other) = (map.entry(key), tree.entry(key).or_default());
                        (*own, *other) = (own.wrapping_add(1), other.wrapping_add(1));
                    }
                    _ => prop_assert_eq!(map.get_mut(&key).copied(), tree.get_mut(&key).copied()),
                }
                prop_assert_eq!(map.get(&key), tree.get(&key));
            }
            prop_assert_eq!(map.entries().to_vec(), tree.into_iter().collect::<Vec<_>>());
        }
    }
}
