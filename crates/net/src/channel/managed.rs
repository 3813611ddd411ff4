//! Channels with another discipline than drop-tail.

use super::{Channel, Offer};
use crate::packet::{Ecn, Kind, Packet};
use crate::queue::{Arrival, Discipline, Fates, Held, OnArrival, Store, Verdict};
use crate::slots::Slots;
use ackclock_trace::{AqmRow, Costly, MarkRow, Recorder, aqm_variable, drop_reason};
use ackclock_units::Time;

/// What such a channel keeps.
#[derive(Debug, Clone)]
pub(super) struct Managed {
    pub discipline: Discipline,
    /// Packets dropped by a discipline that keeps them, until the world takes them.
    fates: Fates,
    /// Packets dropped early, by the code of the reason.
    early_drops: [u64; drop_reason::NAMES.len()],
    marks: u64,
    /// Packets that wait in the discipline.
    pub waiting: u32,
    /// What the discipline computed when it was recorded last, by the code of `aqm_variable`; NaN before.
    recorded: [f64; aqm_variable::NAMES.len()],
    /// Waits of packets that were dropped in the end: nanoseconds, and bytes times nanoseconds.
    pub dropped_wait: [u128; 2],
}

impl Managed {
    pub fn new(discipline: Discipline) -> Self {
        Self {
            discipline,
            fates: Fates::default(),
            early_drops: [0; drop_reason::NAMES.len()],
            marks: 0,
            waiting: 0,
            recorded: [f64::NAN; aqm_variable::NAMES.len()],
            dropped_wait: [0; 2],
        }
    }
}

impl Channel {
    /// Packets that the link has dropped for the reason of this code.
    pub fn dropped(&self, reason: i32) -> u64 {
        match reason {
            drop_reason::QUEUE_FULL => self.stats.drops,
            drop_reason::LOSS => self.stats.lost,
            drop_reason::LINK_DOWN => self.stats.drops_down,
            drop_reason::CORRUPTED => self.stats.drops_corrupted,
            other => self.managed.as_ref().map_or(0, |managed| managed.early_drops[other as usize]),
        }
    }

    /// Packets that the queue has marked.
    pub fn marked(&self) -> u64 {
        self.managed.as_ref().map_or(0, |managed| managed.marks)
    }

    /// Waits of packets that were dropped after they had waited: nanoseconds, and bytes times nanoseconds.
    pub fn dropped_wait(&self) -> [u128; 2] {
        self.managed.as_ref().map_or([0; 2], |managed| managed.dropped_wait)
    }

    /// Whether the digest counts drops by their reasons, and marks: where there is another discipline than drop-tail.
    /// One that lives outside the engine may be drop-tail, too; it is as long as it drops for lack of room alone.
    pub fn tells_fates(&self) -> bool {
        self.managed.as_ref().is_some_and(|managed| {
            let acts = managed.marks > 0 || managed.early_drops.iter().any(|count| *count > 0);
            acts || !managed.discipline.is_foreign()
        })
    }

    /// Whether there is another discipline than drop-tail.
    pub fn is_managed(&self) -> bool {
        self.managed.is_some()
    }

    /// Whether a discipline keeps the packets that wait.
    pub(super) fn keeps(&self) -> bool {
        let discipline = self.managed.as_ref().map(|managed| &managed.discipline);
        matches!(discipline, Some(Discipline::Store(_)))
    }

    fn managed(&mut self) -> &mut Managed {
        self.managed.as_mut().expect("a channel with a discipline")
    }

    pub(super) fn count_drop(&mut self, reason: i32) {
        if reason == drop_reason::QUEUE_FULL {
            self.stats.drops += 1;
        } else {
            self.managed().early_drops[reason as usize] += 1;
        }
    }

    /// Asks a discipline that decides on arrival; answers the reason if the packet is dropped.
    pub(super) fn ask<R: Recorder>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        exempt: bool,
        recorder: &mut R,
    ) -> Option<i32> {
        let idle = self.free_at <= now && !self.busy;
        let (packets, bytes) = (self.chain.queued(), self.waiting_bytes);
        let idle_since = idle.then_some(self.free_at);
        let Discipline::OnArrival(gate) = &mut self.managed().discipline else {
            unreachable!("it keeps the packets")
        };
        let verdict = gate.admit(&Arrival { now, packet, packets, bytes, idle_since });
        self.record_state(now, recorder);
        match verdict {
            _ if exempt => None,
            Verdict::Take => None,
            Verdict::Mark(reason) => {
                packet.set_ecn(Ecn::Ce);
                self.managed().marks += 1;
                if R::PACKETS {
                    let id = recorder.ids().present();
                    self.record_mark(now, *packet, id, reason, recorder);
                }
                None
            }
            Verdict::Drop(reason) => Some(reason),
        }
    }

    /// Gives a packet to a discipline that keeps it.
    pub(super) fn keep<R: Recorder>(
        &mut self,
        now: Time,
        packet: Packet,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> Offer {
        if let Some(harm) = &mut self.harm
            && harm.loses(&packet, true)
        {
            return self.lose_at_entry();
        }
        let id = if R::PACKETS { recorder.ids().present() } else { 0 };
        let idle = !self.busy;
        let before = self.level();
        let managed = self.managed();
        let Managed { discipline: Discipline::Store(store), fates, .. } = managed else {
            unreachable!("it keeps no packets")
        };
        store.enqueue(now, Held { packet, entered: now, id }, idle, fates);
        managed.waiting += 1;
        self.waiting_bytes += u64::from(packet.size());
        self.waiting_data += u32::from(packet.kind() == Kind::Data);
        self.settle_fates(now, recorder);
        let waits = self.managed().waiting > 0;
        let started = idle && waits && self.start_kept(now, self.unfinished(now), slots, recorder);
        self.note_queue(now, before, recorder);
        if idle && self.busy && !started {
            return Offer::Dropped(Offer::RESTS);
        }
        Offer::Kept { started }
    }

    /// A transmission has ended: begins that of the packet that the discipline wants to send, if there is one.
    pub(super) fn next_kept<R: Recorder>(
        &mut self,
        now: Time,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> bool {
        let before = self.level();
        let started = self.start_kept(now, self.carry, slots, recorder);
        self.note_queue(now, before, recorder);
        started
    }

    fn start_kept<R: Recorder>(
        &mut self,
        now: Time,
        carry: u64,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> bool {
        let Managed { discipline: Discipline::Store(store), fates, .. } = self.managed() else {
            unreachable!("it keeps no packets")
        };
        let next = store.dequeue(now, fates);
        let ready = if next.is_none() { store.ready_at() } else { None };
        if let Some(held) = next {
            self.leave(held.packet);
        }
        if let Some(ready) = ready {
            // The transmitter rests, and is asked again as if a transmission had ended then, which leaves nothing over.
            self.busy = true;
            self.free_at = ready;
            self.carry = 0;
            self.served().rested = true;
        }
        self.settle_fates(now, recorder);
        let Some(Held { mut packet, entered, id }) = next else { return false };
        if let Some(harm) = &mut self.harm {
            if harm.loses(&packet, false) {
                self.stats.losses += 1;
                packet.set_lost();
            }
            harm.spoil(&mut packet);
        }
        let arrival = self.begin(now, carry, entered, packet);
        self.put_on_wire(arrival, packet, slots);
        if R::PACKETS {
            if self.overtakes {
                self.number_on_line(id);
            } else {
                recorder.ids().start_kept(self.lane(), id);
            }
            self.record_start(now, arrival, packet, (id, entered), recorder);
        }
        true
    }

    /// A packet is no longer in the discipline.
    fn leave(&mut self, packet: Packet) {
        self.managed().waiting -= 1;
        self.waiting_bytes -= u64::from(packet.size());
        self.waiting_data -= u32::from(packet.kind() == Kind::Data);
    }

    /// Packets and bytes that wait.
    fn level(&self) -> (u32, u64) {
        (self.queued(), self.waiting_bytes)
    }

    /// Notes what waits now if that is not what waited before.
    fn note_queue<R: Recorder>(&mut self, now: Time, before: (u32, u64), recorder: &mut R) {
        self.record_state(now, recorder);
        if self.level() == before {
            return;
        }
        self.stats.packets_max = self.stats.packets_max.max(self.queued());
        self.stats.bytes_max = self.stats.bytes_max.max(self.waiting_bytes);
        if R::PACKETS {
            self.record_queue(now, recorder);
        }
    }

    /// Counts what the discipline has dropped and marked.
    fn settle_fates<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        // Most packets pass as they came.
        if self.managed().fates.is_empty() {
            return;
        }
        let mut fates = std::mem::take(&mut self.managed().fates);
        for (held, reason) in &fates.dropped {
            self.leave(held.packet);
            self.count_drop(*reason);
            if let Some(harm) = &mut self.harm {
                harm.passes_by_exit(&held.packet);
            }
            let wait = u128::from(held.sojourn(now).as_ns());
            let [packets, bytes] = &mut self.managed().dropped_wait;
            *packets += wait;
            *bytes += wait * u128::from(held.size());
        }
        for (held, reason) in fates.marked.drain(..) {
            self.managed().marks += 1;
            if R::PACKETS {
                self.record_mark(now, held.packet, held.id, reason, recorder);
            }
        }
        self.managed().fates = fates;
    }

    /// Whether packets have been dropped of which the world does not know.
    #[inline]
    pub(crate) fn has_dropped(&self) -> bool {
        self.managed.as_ref().is_some_and(|managed| !managed.fates.dropped.is_empty())
    }

    /// One of them, and the code of the reason.
    pub(crate) fn take_dropped(&mut self) -> Option<(Held, i32)> {
        self.managed.as_mut()?.fates.dropped.pop_front()
    }

    /// Records what the discipline computes, as far as it has changed.
    #[inline(always)]
    fn record_state<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        // Pages show nothing of it.
        if R::PACKETS && !cfg!(target_family = "wasm") && recorder.keeps(Costly::Queues) {
            self.record_changes(now, recorder);
        }
    }

    #[cold]
    fn record_changes<R: Recorder>(&mut self, time: Time, recorder: &mut R) {
        let (link, direction) = (self.link, self.direction as i8);
        let Managed { discipline, recorded, .. } = self.managed();
        discipline.state(&mut |variable, value| {
            let before = std::mem::replace(&mut recorded[variable as usize], value);
            if before != value {
                recorder.aqm(AqmRow { time, link, direction, variable: variable as i8, value });
            }
        });
    }

    fn record_mark<R: Recorder>(
        &self,
        time: Time,
        packet: Packet,
        id: i64,
        reason: i32,
        recorder: &mut R,
    ) {
        recorder.mark(MarkRow {
            time,
            link: self.link,
            direction: self.direction,
            flow: packet.flow_code(),
            kind: packet.kind_code(),
            seq: i64::from(packet.seq),
            bytes: i32::from(packet.size()),
            reason,
            reverse: packet.is_reverse(),
            id,
        });
    }
}
