//! Items by their keys, and each of them once.

use std::collections::HashMap;
use std::hash::Hash;

/// Values in the order in which they first appear, each once.
pub fn distinct<T: PartialEq + Clone>(values: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let mut seen = Vec::new();
    values.into_iter().filter(move |value| {
        let is_new = !seen.contains(value);
        if is_new {
            seen.push(value.clone());
        }
        is_new
    })
}

/// Items by key, in the order in which the keys first appear.
pub fn by_key<K: Hash + Eq + Clone, V>(items: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut places = HashMap::new();
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, item) in items {
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(item);
    }
    groups
}
