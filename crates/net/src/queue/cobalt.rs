//! COBALT: CoDel and BLUE, for what answers CoDel's drops and for what does not.
//!
//! Source: Palmei and others, "Design and evaluation of COBALT queue discipline", IEEE LANMAN 2019; Linux
//! `net/sched/sch_cake.c` (`cobalt_*`). All decisions fall when packets leave:
//!
//! ```text
//! over target:    the wait is above `target`, and above 4 times what a packet of `mtu` takes on the link
//! not dropping:   over target: dropping, drop_next := now + interval / sqrt(count), count at least 1
//! dropping:       each time drop_next is over: a packet is marked, or dropped; count + 1, drop_next += interval / sqrt(count)
//! count 0:        drop_next := now + interval; so after a longer pause a wait over target makes the next packet due at once
//! below target:   not dropping; count - 1 for each drop_next that passes
//! BLUE:           the queue overflows: p + 1/256;  it runs empty: p - 1/4096;  each at most once per target
//!                 a packet that leaves is dropped with p, marks or not
//! ```
//!
//! So CoDel's memory of the last spell is a count that decays, its first drop comes after `interval`, and a flow that does not
//! slow down meets BLUE. The last packet of a queue may be marked, but not dropped.
//!
//! 1 / sqrt(count) is in integers, as Linux has it ([`ROOTS`], [`newton_step`]).

use super::control::{self, INTERVAL, TARGET, newton_step};
use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::{Fates, Held, Place, Store};
use ackclock_engine::Stream;
use ackclock_trace::{aqm_variable, drop_reason};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Clash, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "cobalt",
    summary: help(
        "CoDel and BLUE together: drops by the wait, and more by chance where the queue overflows.",
    ),
    references: &["Palmei and others 2019", "Linux net/sched/sch_cake.c"],
    params: &[
        limit::param("1000 packets"),
        TARGET,
        INTERVAL,
        Param::new(
            "mtu",
            Kind::Size,
            "1500 B",
            "A wait of up to four times what this takes on the link is not too long (Linux on Ethernet: 1514 B).",
        )
        .at_most("65535 B"),
        control::ecn("true"),
        BLUE_INCREMENT,
        BLUE_DECREMENT,
    ],
    native: true,
    state: &["probability", "dropping", "count"],
    label: "COBALT",
    check: Some(check),
    ..Entry::BLANK
};

pub(super) const BLUE_INCREMENT: Param =
    Param::new("blue_increment", Kind::Real, "0.00390625", "What an overflow adds to BLUE's p.")
        .at_least("0")
        .at_most("1");
pub(super) const BLUE_DECREMENT: Param = Param::new(
    "blue_decrement",
    Kind::Real,
    "0.000244140625",
    "What a queue that has run empty takes from it.",
)
.at_least("0")
.at_most("1");

pub(super) fn check(chosen: &Chosen) -> Result<(), Clash> {
    control::check_target(chosen, "usual is 5 % of the interval")
}

/// Parameters.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub target: Time,
    pub interval: Time,
    /// Time of a packet on the link.
    pub packet_time: Time,
    pub ecn: bool,
    pub increment: f64,
    pub decrement: f64,
}

impl Rules {
    /// Those of a queue whose packets take no time.
    pub fn new(chosen: &Chosen) -> Self {
        Self {
            target: Time::from_ns(chosen.int("target_ns")),
            interval: Time::from_ns(chosen.int("interval_ns")),
            packet_time: Time::ZERO,
            ecn: chosen.flag("ecn"),
            increment: chosen.real("blue_increment"),
            decrement: chosen.real("blue_decrement"),
        }
    }
}

/// 2^32 / sqrt(count) for small counts: four steps from the one before, which leaves that of 2 too small by 0.06 %.
const ROOTS: [u32; 16] = {
    let mut roots = [u32::MAX; 16];
    let mut count = 1;
    while count < roots.len() {
        let mut root = roots[count - 1];
        let mut step = 0;
        while step < 4 {
            root = newton_step(root, count as u32);
            step += 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
};

/// State of one queue.
#[derive(Debug, Clone)]
pub(super) struct Control {
    dropping: bool,
    /// When the next signal is due, or the count decays.
    drop_next: Time,
    count: u32,
    /// 2^32 / sqrt(count).
    root: u32,
    p: f64,
    /// When p was last changed.
    blue_at: Option<Time>,
}

impl Default for Control {
    fn default() -> Self {
        let [root, ..] = ROOTS;
        Self { dropping: false, drop_next: Time::ZERO, count: 0, root, p: 0.0, blue_at: None }
    }
}

impl Control {
    /// The queue overflows: BLUE drops more, and so does CoDel from now on.
    pub fn on_overflow(&mut self, now: Time, rules: &Rules) {
        self.change(now, rules, rules.increment);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue has run empty: BLUE drops less, and the count decays.
    pub fn on_empty(&mut self, now: Time, rules: &Rules) {
        if self.p > 0.0 {
            self.change(now, rules, -rules.decrement);
        }
        self.dropping = false;
        if self.is_due(now) {
            self.step(self.count - 1, rules);
        }
    }

    /// Whether an empty queue's state is not yet that of a new one.
    pub fn remembers(&self, now: Time) -> bool {
        self.p > 0.0 || self.count > 0 || now < self.drop_next
    }

    fn change(&mut self, now: Time, rules: &Rules, step: f64) {
        if self.blue_at.is_none_or(|at| now.since(at) > rules.target) {
            self.p = (self.p + step).clamp(0.0, 1.0);
            self.blue_at = Some(now);
        }
    }

    /// The time of the next signal after one at `from`: interval / sqrt(count), rounded down.
    fn after(&self, from: Time, rules: &Rules) -> Time {
        let interval = u128::from(rules.interval.as_ns());
        from + Time::from_ns(((interval * u128::from(self.root)) >> 32) as u64)
    }

    /// Another count, and the signal after the next one.
    fn step(&mut self, count: u32, rules: &Rules) {
        self.count = count;
        let small = ROOTS.get(count as usize).copied();
        self.root = small.unwrap_or_else(|| newton_step(self.root, count));
        self.drop_next = self.after(self.drop_next, rules);
    }

    /// What becomes of a packet that leaves; `last`: no other one of its queue waits.
    fn judge(
        &mut self,
        now: Time,
        rules: &Rules,
        held: Held,
        last: bool,
        random: &mut Stream,
        fates: &mut Fates,
    ) -> Option<Held> {
        let wait = held.sojourn(now);
        let over = wait > rules.target && wait > rules.packet_time.times(4);
        let due = self.is_due(now);
        let late = now > self.drop_next;
        if over {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.after(now, rules);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let signal = due && self.dropping;
        if signal {
            self.step(self.count.saturating_add(1), rules);
        } else {
            // The memory of the last spell decays.
            while self.is_due(now) {
                self.step(self.count - 1, rules);
            }
        }
        // If nothing was due, Linux goes by what was scheduled before this packet.
        let late = if due { now > self.drop_next } else { late };
        let marks = signal && rules.ecn && held.packet.is_ecn_capable();
        let by_chance = (!signal || marks) && self.p > 0.0 && random.uniform() < self.p;
        let drops = by_chance || (signal && !marks);
        if self.count == 0 {
            self.drop_next = now + rules.interval;
        } else if late && !drops {
            self.drop_next = now;
        }
        if drops && !last {
            let reason = if by_chance { drop_reason::EARLY } else { drop_reason::CODEL };
            fates.drop(held, reason);
            return None;
        }
        Some(if marks { fates.mark(held, drop_reason::CODEL) } else { held })
    }

    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// The packet to send from `fifo`; where there is none, `on_empty` is to be called.
    pub fn next(
        &mut self,
        now: Time,
        rules: &Rules,
        fifo: &mut Fifo,
        random: &mut Stream,
        fates: &mut Fates,
    ) -> Option<Held> {
        while let Some(held) = fifo.pop() {
            if let Some(sent) = self.judge(now, rules, held, fifo.is_empty(), random, fates) {
                return Some(sent);
            }
        }
        None
    }
}

/// Packets, limit and state.
#[derive(Debug, Clone)]
pub struct Cobalt {
    limit: Limit,
    mtu_bytes: u64,
    rules: Rules,
    control: Control,
    fifo: Fifo,
    stream: Stream,
}

impl Cobalt {
    pub(super) fn new(chosen: &Chosen, place: Place) -> Self {
        let mut cobalt = Self {
            limit: Limit::new(chosen),
            mtu_bytes: chosen.int("mtu_bytes"),
            rules: Rules::new(chosen),
            control: Control::default(),
            fifo: Fifo::default(),
            stream: place.stream,
        };
        cobalt.set_rate(place.rate_bps);
        cobalt
    }
}

impl Store for Cobalt {
    fn enqueue(&mut self, now: Time, held: Held, idle: bool, fates: &mut Fates) {
        if idle || self.limit.has_room_in(&self.fifo, held.size()) {
            self.fifo.push(held);
        } else {
            self.control.on_overflow(now, &self.rules);
            fates.drop(held, drop_reason::QUEUE_FULL);
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held> {
        let sent = self.control.next(now, &self.rules, &mut self.fifo, &mut self.stream, fates);
        if sent.is_none() {
            self.control.on_empty(now, &self.rules);
        }
        sent
    }

    fn set_rate(&mut self, rate_bps: u64) {
        let bits = 8 * self.mtu_bytes;
        self.rules.packet_time = Time::from_ns(bits * 1_000_000_000 / rate_bps.max(1));
    }

    fn state(&self, show: &mut dyn FnMut(i32, f64)) {
        show(aqm_variable::PROBABILITY, self.control.p);
        show(aqm_variable::DROPPING, f64::from(self.control.dropping));
        show(aqm_variable::COUNT, f64::from(self.control.count));
    }

    fn waiting(&self) -> Vec<Held> {
        self.fifo.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Ecn, Kind as PacketKind, Packet};

    fn cobalt() -> Cobalt {
        Cobalt {
            limit: Limit::new(&Chosen { kind: "cobalt".into(), values: Vec::new() }),
            mtu_bytes: 0,
            rules: Rules {
                target: Time::from_ms(5),
                interval: Time::from_ms(100),
                packet_time: Time::ZERO,
                ecn: true,
                increment: 1.0 / 256.0,
                decrement: 1.0 / 4096.0,
            },
            control: Control::default(),
            fifo: Fifo::default(),
            stream: Stream::new(1, "queue/L/forward"),
        }
    }

    fn held(entered: Time, ecn: Ecn) -> Held {
        let mut packet = Packet::new(PacketKind::Data, 0, 1500);
        packet.set_ecn(ecn);
        Held { packet, entered, id: 0 }
    }

    /// When it signals, in ms after the first one: a packet leaves each 0.1 ms, and each has waited for that long.
    fn signals(queue: &mut Cobalt, wait: Time, ecn: Ecn, from_ms: u64, to_ms: u64) -> Vec<f64> {
        let mut fates = Fates::default();
        let mut seen = Vec::new();
        for step in 10 * from_ms..10 * to_ms {
            let now = Time::from_ns(100_000 * step);
            while queue.fifo.packets() < 4 {
                queue.fifo.push(held(now.since(wait), ecn));
            }
            let before = fates.dropped.len() + fates.marked.len();
            queue.dequeue(now, &mut fates);
            // What stays has waited for as long.
            let rest: Vec<Held> = std::iter::from_fn(|| queue.fifo.pop()).collect();
            rest.iter().for_each(|_| queue.fifo.push(held(now.since(wait), ecn)));
            let after = fates.dropped.len() + fates.marked.len();
            seen.extend((before..after).map(|_| now.as_secs() * 1e3));
        }
        seen
    }

    #[test]
    fn signals_come_at_the_instants_of_the_control_law() {
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            let mut queue = cobalt();
            assert!(signals(&mut queue, Time::ZERO, ecn, 999, 1000).is_empty());
            let seen = signals(&mut queue, Time::from_ms(50), ecn, 1000, 2000);
            // An interval after the wait was too long, first at 1000.1; then 100 / sqrt 2, 100 / sqrt 3, ...
            let mut expected = 1100.1;
            for (index, at) in seen.iter().enumerate().take(ROOTS.len() - 1) {
                assert!((at - expected).abs() < 0.15, "{at} ms, not {expected} ms");
                expected += 100.0 / ((index + 2) as f64).sqrt();
            }
            assert!(seen.len() > 25, "{seen:?}");
        }
    }

    /// Steps of the trace source `DropNext` of CobaltQueueDisc in ns-3.44, whose arithmetic is that of Linux.
    #[test]
    fn the_control_law_is_that_of_linux_to_the_nanosecond() {
        let mut queue = cobalt();
        let mut steps = [0; 7];
        for (count, step) in (1..).zip(&mut steps) {
            let from = queue.control.drop_next;
            queue.control.step(count, &queue.rules);
            *step = queue.control.drop_next.since(from).as_ns();
        }
        let ns3 =
            [99_999_999, 70_670_846, 57_735_025, 49_999_999, 44_721_359, 40_824_829, 37_796_447];
        assert_eq!(steps, ns3);
        // One step for each count beyond the table, upwards and downwards.
        for count in (8..=100).chain((16..100).rev()) {
            queue.control.step(count, &queue.rules);
            let exact = f64::from(count).sqrt().recip() * 2f64.powi(32);
            assert!((f64::from(queue.control.root) / exact - 1.0).abs() < 0.002, "{count}");
        }
    }

    #[test]
    fn a_first_packet_that_waited_too_long_makes_the_next_one_due() {
        let mut queue = cobalt();
        let seen = signals(&mut queue, Time::from_ms(50), Ecn::NotEct, 1000, 1100);
        assert_eq!(seen.len(), 2, "{seen:?}");
        assert!((seen[0] - 1000.1).abs() < 1e-6 && (seen[1] - 1070.7).abs() < 1e-6, "{seen:?}");
    }

    #[test]
    fn below_target_the_count_decays_one_by_one() {
        let mut queue = cobalt();
        signals(&mut queue, Time::from_ms(50), Ecn::NotEct, 1000, 1300);
        let count = queue.control.count;
        assert!(count >= 3, "{count}");
        // The time of the control law that leads back to nothing is passed without a signal.
        let none = signals(&mut queue, Time::from_ms(1), Ecn::NotEct, 1300, 1400);
        assert!(none.is_empty() && queue.control.count < count && queue.control.count > 0);
        signals(&mut queue, Time::from_ms(1), Ecn::NotEct, 1400, 2000);
        assert_eq!(queue.control.count, 0);
    }

    #[test]
    fn blue_learns_from_overflows_and_idle_times_and_spares_the_last_packet() {
        let mut queue = cobalt();
        for ms in [1000, 1002, 1006, 1012, 1013] {
            queue.control.on_overflow(Time::from_ms(ms), &queue.rules);
        }
        assert_eq!(queue.control.p, 3.0 / 256.0);
        for ms in [1014, 1020, 1021] {
            queue.control.on_empty(Time::from_ms(ms), &queue.rules);
        }
        assert_eq!(queue.control.p, 3.0 / 256.0 - 1.0 / 4096.0);
        queue.control.p = 1.0;
        let mut fates = Fates::default();
        let now = Time::from_ms(1030);
        queue.fifo.push(held(now, Ecn::Ect0));
        queue.fifo.push(held(now, Ecn::Ect0));
        assert!(queue.dequeue(now, &mut fates).is_some());
        assert_eq!(fates.dropped.len(), 1);
    }
}
