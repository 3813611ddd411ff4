//! The end of a run, or of its warm-up: counters are brought to the last moment.

use super::peaks::Peaks;
use super::served::SinceMark;
use super::{Channel, Service};
use crate::counts::ChannelCounts;
use crate::slots::{Entry, Slots};
use ackclock_trace::Recorder;
use ackclock_units::Time;

impl Channel {
    /// Ends the run. What was counted at the `mark`, if there was one, is completed.
    pub(crate) fn close<R: Recorder>(
        &mut self,
        now: Time,
        slots: &mut Slots,
        recorder: &mut R,
        mark: Option<&mut ChannelCounts>,
    ) {
        match self.service {
            Service::Events => {
                let longest = self.longest_until(now, slots);
                self.waits.get_or_insert_default().peaks = Peaks::over(longest);
                self.foresee_waits(slots);
            }
            _ => self.settle(now, slots, recorder),
        }
        if let Some(mark) = mark {
            self.count_earlier(now, slots, mark);
        }
        self.count(now, slots, Some(recorder));
    }

    /// Packets that had entered before the mark belong to it, with all that they have waited: figures since then are of
    /// packets that have entered since.
    fn count_earlier(&self, now: Time, slots: &Slots, mark: &mut ChannelCounts) {
        if let Some(since) = self.served.as_ref().and_then(|served| served.since_mark) {
            let earlier = self.entered_and_wait(slots).filter(|entered| *entered <= since.at);
            let waits = earlier.map(|entered| u128::from(now.since(entered).as_ns()));
            let (count, sum) = waits.fold((0, 0), |(count, sum), wait| (count + 1, sum + wait));
            mark.entered += since.earlier + count;
            mark.wait_ns += since.earlier_wait_ns + sum;
            return;
        }
        // Their waits were counted as they entered, up to the start of transmission.
        let waiting = self.waiting(slots);
        let begun = self.stats.packets - waiting.len() as u64;
        let earlier = mark.entered.saturating_sub(begun);
        let mut start = self.next_start;
        for entry in waiting.iter().take(earlier as usize) {
            mark.wait_ns -= u128::from((start - now).as_ns());
            start = entry.time - self.delay;
        }
    }

    /// The longest wait that the digest knows is that of all packets that entered, as in a fused channel.
    fn foresee_waits(&mut self, slots: &Slots) {
        let (mut start, mut carry) = (self.next_start, self.carry);
        for Entry { time, packet } in self.waiting(slots) {
            self.stats.wait_max = self.stats.wait_max.max(start - time);
            (start, carry) =
                self.varying_end(start, carry, time, packet.size()).unwrap_or_else(|| {
                    let (span, rest) = self.serial.time(packet.size(), carry);
                    (start + Time::from_ns(span), rest)
                });
        }
    }

    /// Counts only what has happened until now.
    fn count<R: Recorder>(&mut self, now: Time, slots: &Slots, recorder: Option<&mut R>) {
        let mut recorder = recorder.filter(|_| R::PACKETS);
        if self.next_start > now {
            // The transmission going on.
            let size = u64::from(self.serving);
            let rest = (self.next_start - now).as_ns();
            let before = self.served.as_mut().and_then(|served| {
                // At a rate that changes by a rule, it is counted there with all its time as it begins.
                let wire = served.wire.take();
                let counted = match &wire {
                    Some(wire) => wire.exact_ns(size),
                    None if served.rates.is_some() => rest as f64,
                    None => return None,
                };
                served.earlier.0 -= size;
                served.earlier.1 -= counted;
                wire
            });
            let wire = before.as_ref().unwrap_or(&self.serial);
            let (span, _) = wire.time(self.serving, 0);
            self.stats.packets -= 1;
            self.stats.bytes -= size;
            self.stats.unfinished += 1;
            self.stats.unfinished_ns = if self.varies() { 0 } else { span.saturating_sub(rest) };
        }
        // Waits that are not over.
        let mut start = self.next_start;
        for Entry { time, packet } in self.waiting(slots) {
            if let Some(recorder) = &mut recorder {
                let known = recorder.ids().start(self.lane(), false);
                self.record_waiting(packet, known, *recorder);
            }
            let size = u128::from(packet.size());
            self.stats.unfinished += 1;
            if self.service == Service::Events {
                let waited = u128::from((now - time).as_ns());
                self.stats.wait_ns += waited;
                self.stats.wait_byte_ns += waited * size;
            } else {
                let rest = u128::from((start - now).as_ns());
                self.stats.wait_ns -= rest;
                self.stats.wait_byte_ns -= rest * size;
                self.stats.packets -= 1;
                self.stats.bytes -= u64::from(packet.size());
                start = time - self.delay;
            }
        }
        for held in self.kept_packets() {
            if let Some(recorder) = &mut recorder {
                self.record_waiting(held.packet, (held.id, held.entered), *recorder);
            }
            self.stats.unfinished += 1;
            let waited = u128::from(held.sojourn(now).as_ns());
            self.stats.wait_ns += waited;
            self.stats.wait_byte_ns += waited * u128::from(held.size());
        }
    }

    /// What was counted until now, as if the run ended here, and the most packets and the longest wait until now. Extremes
    /// begin anew: the longest wait is that of the packets that enter from now on.
    pub(crate) fn mark<R: Recorder>(
        &mut self,
        now: Time,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> (ChannelCounts, (u32, Time)) {
        if self.service != Service::Events {
            self.settle(now, slots, recorder);
        }
        let stats = self.stats.clone();
        let wire = self.served.as_ref().map(|served| (served.wire.clone(), served.earlier));
        self.count::<R>(now, slots, None);
        let mut counts = ChannelCounts::of(self);
        self.stats = stats;
        // As of the packets that have entered: see `count_earlier`.
        (counts.entered, counts.wait_ns) = (self.stats.packets, self.stats.wait_ns);
        if let (Some(served), Some(wire)) = (&mut self.served, wire) {
            (served.wire, served.earlier) = wire;
        }
        let (packets, bytes) = (self.queued(), self.waiting_bytes);
        let stats = &mut self.stats;
        let most = std::mem::replace(&mut stats.packets_max, packets);
        stats.bytes_max = bytes;
        let longest = match &mut self.served {
            // Packets that wait now are counted when they leave, and must not be then.
            Some(served) => {
                served.since_mark = Some(SinceMark { at: now, ..SinceMark::default() });
                stats.wait_max
            }
            None => {
                if let Some(waits) = &mut self.waits {
                    waits.peaks = Peaks::default();
                }
                std::mem::take(&mut stats.wait_max)
            }
        };
        (counts, (most, longest))
    }

    /// Served by events: a packet that entered then begins to be transmitted.
    #[inline]
    pub(super) fn note_wait(&mut self, entered: Time, start: Time) {
        let Some(since) = self.served.as_mut().and_then(|s| s.since_mark.as_mut()) else { return };
        let wait = start.since(entered);
        if entered > since.at {
            since.longest = since.longest.max(wait);
        } else {
            since.earlier += 1;
            since.earlier_wait_ns += u128::from(wait.as_ns());
        }
    }

    /// Longest wait until now of a packet that has entered, since the mark if there was one. To be asked after
    /// [`Channel::close`].
    pub fn longest_wait(&self, now: Time) -> Time {
        self.waits.as_ref().map_or(Time::ZERO, |waits| waits.peaks.longest(now))
    }

    /// Served by events: when each packet that waits entered, those that a discipline keeps included.
    fn entered_and_wait(&self, slots: &Slots) -> impl Iterator<Item = Time> {
        let waiting = self.waiting(slots).into_iter().map(|entry| entry.time);
        waiting.chain(self.kept_packets().into_iter().map(|held| held.entered))
    }

    /// Served by events: the longest wait until now, as [`Channel::longest_wait`] has it.
    fn longest_until(&self, now: Time, slots: &Slots) -> Time {
        let since = self.served.as_ref().and_then(|served| served.since_mark);
        let (mark, longest) =
            since.map_or((None, self.stats.wait_max), |since| (Some(since.at), since.longest));
        let entered = self.entered_and_wait(slots);
        let counted = entered.filter(|entered| mark.is_none_or(|mark| *entered > mark));
        counted.map(|entered| now.since(entered)).max().map_or(longest, |wait| wait.max(longest))
    }
}
