//! Results for values that come again and again, as those of short forms do.

use super::walk::Resolver;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// So many different values are remembered: a large scenario has few kinds of links and flows.
const MOST: usize = 4096;

/// What the keys of an object that matter resolved to; the same result for the same values.
#[derive(Debug)]
pub(super) struct Memo<T> {
    /// Whether a key matters.
    matters: fn(&str) -> bool,
    known: HashMap<u64, (Map<String, Value>, Arc<T>)>,
}

impl<T> Memo<T> {
    /// Nothing is known.
    pub fn new(matters: fn(&str) -> bool) -> Self {
        Self { matters, known: HashMap::new() }
    }

    /// The known result for `map`, or that of `resolve`, which is remembered if it reported no fault.
    pub fn get(
        &mut self,
        resolver: &mut Resolver,
        map: &Map<String, Value>,
        resolve: impl FnOnce(&mut Resolver) -> Option<T>,
    ) -> Option<Arc<T>> {
        let own = || map.iter().filter(|(key, _)| (self.matters)(key));
        let mut hasher = DefaultHasher::new();
        own().for_each(|entry| entry.hash(&mut hasher));
        let hash = hasher.finish();
        if let Some((known, result)) = self.known.get(&hash)
            && known.iter().eq(own())
        {
            return Some(Arc::clone(result));
        }
        let faults = resolver.problems.count();
        let result = Arc::new(resolve(resolver)?);
        if resolver.problems.count() == faults && self.known.len() < MOST {
            let own = own().map(|(key, value)| (key.clone(), value.clone())).collect();
            self.known.insert(hash, (own, Arc::clone(&result)));
        }
        Some(result)
    }
}
