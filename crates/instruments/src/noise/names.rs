//! Names, each kept once and known by its place.

use std::collections::HashMap;

#[derive(Default)]
pub(crate) struct Names {
    list: Vec<String>,
    places: HashMap<String, usize>,
}

impl Names {
    /// The place of a name, which is added if it is new.
    pub(crate) fn place(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        self.list.push(name.into());
        self.places.insert(name.into(), self.list.len() - 1);
        self.list.len() - 1
    }

    /// The names in order of their places.
    pub(crate) fn into_list(self) -> Vec<String> {
        self.list
    }
}
