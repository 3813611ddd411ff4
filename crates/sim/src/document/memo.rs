//! Results for values that come again and again, as those of short forms do.

use super::walk::{Resolved, Walker};
use serde_json::{Map, Value};

/// So many different values are remembered: a large scenario has few kinds of links and flows.
const MOST: usize = 8;

/// What the keys of an object that matter resolved to.
#[derive(Debug)]
pub(super) struct Memo {
    /// Whether a key matters.
    matters: fn(&str) -> bool,
    known: Vec<(Map<String, Value>, Resolved)>,
    /// The entry that is replaced next.
    next: usize,
}

impl Memo {
    /// Nothing is known.
    pub fn new(matters: fn(&str) -> bool) -> Self {
        Self { matters, known: Vec::new(), next: 0 }
    }

    /// The known result for `map`, or that of `resolve`, which is remembered if it told no fault.
    pub fn get(
        &mut self,
        walker: &mut Walker,
        map: &Map<String, Value>,
        resolve: impl FnOnce(&mut Walker) -> Option<Resolved>,
    ) -> Option<Resolved> {
        let own = || map.iter().filter(|(key, _)| (self.matters)(key));
        if let Some((_, result)) = self.known.iter().find(|(known, _)| known.iter().eq(own())) {
            return Some(result.clone());
        }
        let faults = walker.problems.count();
        let result = resolve(walker)?;
        if walker.problems.count() == faults {
            let own = own().map(|(key, value)| (key.clone(), value.clone())).collect();
            let entry = (own, result.clone());
            match self.known.get_mut(self.next) {
                Some(place) => *place = entry,
                None => self.known.push(entry),
            }
            self.next = (self.next + 1) % MOST;
        }
        Some(result)
    }
}
