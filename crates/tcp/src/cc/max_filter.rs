//! The greatest of recent values, in constant room.
//!
//! Source: K. Nichols' estimator of a windowed maximum (Linux, `lib/win_minmax.c`). It keeps the best value and two later ones,
//! of the last three quarters and of the last half of the window where the values fall; so it is at times above a plain sliding
//! maximum of the same window, and at times below one.

/// A value and when it was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    at: u64,
    value: u64,
}

/// The greatest value of a window. Time has the unit of the window, whatever it is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MaxFilter {
    best: [Seen; 3],
}

impl MaxFilter {
    /// The greatest value.
    pub(super) fn get(&self) -> u64 {
        self.best[0].value
    }

    /// A value was seen now.
    pub(super) fn add(&mut self, window: u64, at: u64, value: u64) {
        let new = Seen { at, value };
        let [first, second, third] = &mut self.best;
        if value >= first.value || at - third.at > window {
            self.best = [new; 3];
            return;
        }
        if value >= second.value {
            *second = new;
            *third = new;
        } else if value >= third.value {
            *third = new;
        }
        let age = at - first.at;
        if age > window {
            // The second may be too old, too; the third is not.
            let second_is_old = at - second.at > window;
            self.best = match second_is_old {
                false => [*second, *third, new],
                true => [*third, new, new],
            };
        } else if second.at == first.at && age > window / 4 {
            *second = new;
            *third = new;
        } else if third.at == second.at && age > window / 2 {
            *third = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_misses_a_greater_value_and_forgets_old_ones() {
        let mut filter = MaxFilter::default();
        for at in 0..100_u64 {
            filter.add(10, at, 1000 - at);
            // Values that fall: what is shown is no older than the window, and no younger than half of it once it is full.
            let shown = 1000 - filter.get();
            assert!(at - shown <= 10, "at {at}: that of {shown}");
        }
        filter.add(10, 100, 2000);
        assert_eq!(filter.get(), 2000);
        filter.add(10, 110, 5);
        assert_eq!(filter.get(), 2000);
        filter.add(10, 111, 4);
        assert_eq!(filter.get(), 5);
        // Nothing for longer than the window: all is forgotten.
        filter.add(10, 200, 1);
        assert_eq!(filter.get(), 1);
    }

    /// Worked by hand from the rules: later maxima are kept from a quarter and from half of the window on.
    #[test]
    fn later_maxima_take_over_in_turn() {
        let mut filter = MaxFilter::default();
        for (at, value) in [(0, 100), (3, 80), (6, 60), (9, 90), (10, 50)] {
            filter.add(10, at, value);
            assert_eq!(filter.get(), 100);
        }
        filter.add(10, 11, 40);
        assert_eq!(filter.get(), 90);
    }
}
