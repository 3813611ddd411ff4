//! What makes two scenarios the same experiment.

use serde_json::Value;

/// Keys of a scenario that change no figure of a run: texts, and what is recorded.
const IGNORED_KEYS: &[&str] = &["name", "title", "question", "expectation", "source", "record"];

/// Text that is equal for two resolved documents exactly if their runs are equal for equal seeds.
///
/// It holds everything that was resolved, apart from the seed, texts and records. Keys are sorted, so
/// the order in which a document gives them does not count.
pub fn identity(canonical: &Value) -> String {
    let mut kept = canonical.clone();
    if let Value::Object(map) = &mut kept {
        map.retain(|key, _| key != "seed" && !IGNORED_KEYS.contains(&key.as_str()));
    }
    kept.sort_all_objects();
    kept.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn order_seed_and_texts_do_not_count() {
        let one = json!({"name": "a", "seed": 1, "links": [{"rate": "1 Mbps", "delay": "1 ms"}]});
        let other =
            json!({"links": [{"delay": "1 ms", "rate": "1 Mbps"}], "title": "b", "seed": 2});
        assert_eq!(identity(&one), identity(&other));
    }

    #[test]
    fn values_and_the_order_of_lists_count() {
        let one = identity(&json!({"hosts": ["A", "B"]}));
        assert_ne!(one, identity(&json!({"hosts": ["B", "A"]})));
        assert_ne!(one, identity(&json!({"hosts": ["A", "C"]})));
    }
}
