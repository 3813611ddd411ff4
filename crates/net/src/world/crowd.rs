//! How many packets are in the network, where links and receivers that are walked count them as gone ahead of time.

use ackclock_units::Time;

/// Looked at now and then, it bounds the number of packets from above.
#[derive(Debug, Clone, Copy, Default)]
pub struct Crowd {
    /// Packets that are gone for certain.
    gone: u64,
    /// Packets that were counted as gone when this was looked at last, and when all of them are.
    soon: Option<(Time, u64)>,
}

/// A look is due whenever another such part of the packets that there may be was made.
const LOOKS: u64 = 4;

impl Crowd {
    /// Packets made between two looks.
    pub fn step(most: u64) -> u64 {
        most / LOOKS
    }

    /// Whether this can watch over so many packets. Between two looks packets are counted as hosts send them; the ACKs that
    /// timers of receivers send, one for each flow at a time, come on top.
    pub fn can_watch(most: u64, flows: usize) -> bool {
        Self::step(most) > flows as u64
    }

    /// How many packets may be made until the next look; none if there may be more than `most` in the network by then.
    pub fn enough_until(&self, created: u64, most: u64) -> Option<u64> {
        let step = Self::step(most);
        (self.most_since(created).saturating_add(2 * step) <= most).then_some(created + step)
    }

    /// Packets in the network at no moment more since the last look, of so many that were made by now.
    pub fn most_since(&self, created: u64) -> u64 {
        created - self.gone
    }

    /// A look at this moment: so many are counted as gone, and none of them leaves later than `ahead`.
    pub fn look(&mut self, now: Time, ahead: Time, gone: u64) {
        if let Some((then, counted)) = self.soon
            && then < now
        {
            (self.gone, self.soon) = (counted, None);
        }
        if ahead < now {
            (self.gone, self.soon) = (gone, None);
        } else {
            self.soon.get_or_insert((ahead, gone));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_gone_when_the_moment_to_which_they_were_walked_has_passed() {
        let at = Time::from_ns;
        let mut crowd = Crowd::default();
        crowd.look(at(10), at(50), 7);
        assert_eq!(crowd.most_since(20), 20, "the seven may still be on their way");
        crowd.look(at(50), at(90), 30);
        assert_eq!(crowd.most_since(40), 40, "as late as at that very moment");
        crowd.look(at(51), at(120), 35);
        assert_eq!(crowd.most_since(40), 33);
        crowd.look(at(100), at(130), 60);
        assert_eq!(crowd.most_since(70), 63, "those of the third look are not: it said 120");
        crowd.look(at(121), at(121), 64);
        assert_eq!(crowd.most_since(70), 35);
        crowd.look(at(130), at(129), 66);
        assert_eq!(crowd.most_since(70), 4);
    }
}
