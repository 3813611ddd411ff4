//! Round trips, counted by what is delivered.
//!
//! Source: draft-cardwell-iccrg-bbr-congestion-control, section on round-trip counting: a round trip ends when
//! data are acknowledged that were sent after it began.

use super::AckEvent;

/// Counts round trips of a flow whose window is kept in `bytes_per_unit`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rounds {
    /// Round trips that have ended.
    pub count: u64,
    /// Delivered bytes at which the present one ends.
    end: u64,
}

impl Rounds {
    /// An ACK came in; whether it ends a round trip. `unit` is the bytes in the window's unit.
    pub fn on_ack(&mut self, ack: &AckEvent, unit: f64) -> bool {
        let ends = ack.delivered > self.end;
        if ends {
            self.count += 1;
            // All that is in flight now was sent before the next round trip.
            self.end = ack.delivered + (ack.flight * unit) as u64;
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_ends_with_the_first_ack_of_what_was_sent_after_it_began() {
        let mut rounds = Rounds::default();
        let mut ends = Vec::new();
        // Four segments of 1000 bytes in flight all the time.
        for segments in 1..=12 {
            let ack = AckEvent { delivered: 1000 * segments, flight: 4.0, ..AckEvent::default() };
            if rounds.on_ack(&ack, 1000.0) {
                ends.push(segments);
            }
        }
        assert_eq!((ends.as_slice(), rounds.count), ([1, 6, 11].as_slice(), 3));
    }
}
