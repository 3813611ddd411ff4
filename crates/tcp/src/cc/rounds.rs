//! Round trips, counted by what is delivered.
//!
//! Source: draft-cardwell-iccrg-bbr-congestion-control, section on round-trip counting: a round trip ends when
//! data are acknowledged that were sent after it began.

use super::AckEvent;

/// Counts the round trips of a flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rounds {
    /// Round trips that have ended.
    pub count: u64,
    /// SND.UNA beyond which the present one ends.
    end: u64,
}

impl Rounds {
    /// An ACK came in; whether it ends a round trip.
    pub fn on_ack(&mut self, ack: &AckEvent) -> bool {
        let ends = ack.una > self.end;
        if ends {
            self.count += 1;
            // All that is in flight now was sent before the next round trip.
            self.end = ack.nxt;
        }
        ends
    }

    /// A round trip begins now; `nxt` is the next byte to send (SND.NXT).
    pub fn restart(&mut self, nxt: u64) {
        self.end = nxt;
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
            let una = 1000 * segments;
            let ack = AckEvent { una, nxt: una + 4000, ..AckEvent::default() };
            if rounds.on_ack(&ack) {
                ends.push(segments);
            }
        }
        assert_eq!((ends.as_slice(), rounds.count), ([1, 6, 11].as_slice(), 3));
    }
}
