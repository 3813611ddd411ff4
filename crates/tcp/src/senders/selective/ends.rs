//! The two ends of a flow of packets, each acknowledged by itself.

use super::{Answer, Arrivals, Recovery, Sender, Setup};
use crate::cc::Window;
use crate::ends::{Ack, AckFields, Ends, of_sender};
use crate::segment::{Flags, Segment};
use crate::senders::Common;
use crate::stats::SenderStats;
use ackclock_units::Time;
use ackclock_units::param::Chosen;

/// Both ends.
#[derive(Debug, Clone)]
pub struct SelectiveRepeat {
    sender: Sender,
    /// What has arrived at the receiver.
    arrivals: Arrivals,
    /// Packets that arrived once more and that the sender had sent before.
    spurious: u64,
    /// ACKs show the receiver as it is when they arrive.
    live_view: bool,
    /// Duplicates are acknowledged.
    acks_duplicates: bool,
}

impl SelectiveRepeat {
    /// The ends that a scenario chose.
    pub fn new(chosen: &Chosen, common: Common) -> Self {
        let sender = Sender::new(Setup {
            segment: common.segment,
            data: common.data,
            initial_window: common.initial_window,
            initial_ssthresh: common.initial_ssthresh / f64::from(common.segment),
            cc: common.cc,
            recovery: Recovery::new(chosen.inner("recovery")),
            rto: common.rto,
        });
        Self {
            sender,
            arrivals: Arrivals::new(),
            spurious: 0,
            live_view: chosen.word("ack_view") == "live",
            acks_duplicates: chosen.word("ack_duplicates") == "always",
        }
    }

    /// There are no rules to share.
    pub(crate) fn share_rules(&mut self, _other: &Self) {}

    /// The sender looks into the receiver's ledger, so its ends are never apart.
    pub(crate) fn join(&mut self, _other: Self) {
        unreachable!("the ends share what has arrived")
    }
}

impl Ends for SelectiveRepeat {
    of_sender!();

    #[inline]
    fn on_data(
        &mut self,
        _now: Time,
        seq: u32,
        _payload: u16,
        stamp: Time,
        flags: Flags,
    ) -> Option<Ack> {
        let new = self.arrivals.on_data(seq);
        self.spurious += u64::from(!new && flags.has(Flags::AGAIN));
        (new || self.acks_duplicates).then(|| {
            let fields = AckFields { seq, aux: self.arrivals.count(), stamp };
            Ack { fields, ece: false }
        })
    }

    #[inline]
    fn on_ack(&mut self, now: Time, ack: AckFields, _ece: bool) -> Option<Time> {
        let number = if self.live_view { self.arrivals.count() } else { ack.aux };
        let view = self.arrivals.view(number);
        self.sender.on_ack(now, &Answer { seq: ack.seq, stamp: ack.stamp }, view);
        self.arrivals.forget_below(self.sender.base());
        Some(now - ack.stamp)
    }

    fn write(&mut self, _now: Time, bytes: u64, last: bool) {
        self.sender.write(bytes, last);
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.sender.next_timer()
    }

    fn on_timer(&mut self, now: Time) -> Option<Ack> {
        self.sender.on_timer(now);
        None
    }

    #[inline]
    fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        self.sender.poll_transmit(now)
    }

    #[inline]
    fn is_delivered(&self) -> bool {
        self.sender.packets() == Some(self.arrivals.cumulative())
    }

    fn bytes_delivered(&self) -> u64 {
        self.arrivals.cumulative().checked_sub(1).map_or(0, |last| {
            u64::from(last) * u64::from(self.sender.segment_bytes())
                + u64::from(self.sender.payload(last))
        })
    }

    fn duplicates(&self) -> u64 {
        self.arrivals.duplicates
    }

    fn spurious(&self) -> u64 {
        self.spurious
    }

    fn reordered(&self) -> u64 {
        self.arrivals.reordered
    }

    fn packets(&self) -> Option<u64> {
        self.sender.packets().map(u64::from)
    }
}
