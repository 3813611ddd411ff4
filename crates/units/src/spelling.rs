//! Nearest valid name, for messages about misspelled ones.

/// Number of single-letter insertions, deletions, replacements and swaps of neighbours that turn one
/// text into the other (restricted Damerau-Levenshtein distance).
pub fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &letter) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &other) in b.iter().enumerate() {
            let mut best =
                (last[j] + usize::from(letter != other)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && letter == b[j - 1] && a[i - 1] == other {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// The candidate that `name` was most likely meant to be, if one is near enough.
///
/// Case and the difference of hyphen and underscore do not count. Of equally near candidates one with
/// the same initial wins, then the first.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Nobody misspells a name of this length; and the distance takes quadratic time.
    if name.len() > 64 {
        return None;
    }
    let wanted = plain(name);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let known = plain(candidate);
            let length = wanted.chars().count().max(known.chars().count());
            let far = distance(&wanted, &known);
            let contained = wanted.len() >= 3
                && known.len() >= 3
                && (known.starts_with(&wanted) || wanted.starts_with(&known));
            (far == 0 || contained || (length > 1 && far <= length.div_ceil(3).min(3))).then_some((
                far,
                wanted.chars().next() != known.chars().next(),
                candidate,
            ))
        })
        .min_by_key(|(far, other_initial, _)| (*far, *other_initial))
        .map(|(_, _, candidate)| candidate)
}

/// The candidate that differs from `name` at most in case, and in hyphens and underscores.
pub fn same<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let wanted = plain(name);
    candidates.into_iter().find(|candidate| plain(candidate) == wanted)
}

/// `KEY: VALUE` for `KEY:VALUE`, which is not a mapping in YAML; none for other text.
pub fn spaced(text: &str) -> Option<String> {
    let (key, value) = text.split_once(':')?;
    let is_key = key.starts_with(|c: char| c.is_ascii_lowercase())
        && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let is_value = value.starts_with(|c: char| !c.is_whitespace() && c != ':');
    (is_key && is_value && !value.starts_with("//")).then(|| format!("{key}: {value}"))
}

fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("reno", "reno"), 0);
        assert_eq!(distance("rneo", "reno"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn the_nearest_name_is_found_and_far_ones_are_not() {
        assert_eq!(nearest("delya", ["delay", "rate"]), Some("delay"));
        assert_eq!(nearest("per_window", ["per-packet", "per-window"]), Some("per-window"));
        assert_eq!(nearest("newreno", ["reno", "fast"]), Some("reno"));
        assert_eq!(nearest("bandwidth", ["rate", "delay"]), None);
        assert_eq!(nearest("R3", ["H3", "R1"]), Some("R1"));
        assert_eq!(nearest("x", ["id"]), None);
        assert_eq!(nearest("", ["id"]), None);
    }

    #[test]
    fn case_is_no_difference_and_a_missing_space_is_put_in() {
        assert_eq!(same("Per_Window", ["per-packet", "per-window"]), Some("per-window"));
        assert_eq!(same("renos", ["reno"]), None);
        assert_eq!(spaced("rate:10 Mbps").as_deref(), Some("rate: 10 Mbps"));
        for text in ["rate: 10 Mbps", "rate:", ":x", "http://x", "a::B", "10:30", "a b:c"] {
            assert_eq!(spaced(text), None, "{text}");
        }
    }
}
