//! CUBIC in real numbers: RFC 9438 section 4, windows in segments and times in seconds.

use crate::cc::{AckEvent, Window};
use ackclock_math::elementary::cbrt;
use ackclock_units::Time;
use ackclock_units::param::Chosen;

/// Where the window is on its way; what a cut that answered no loss restores (section 4.9).
#[derive(Debug, Clone, Copy, Default)]
struct Course {
    /// Beginning of congestion avoidance, if that has begun since the last cut.
    epoch: Option<Time>,
    /// Where the cubic rests; zero where no loss has shown it.
    w_max: f64,
    /// When the cubic rests, seconds after the epoch.
    k: f64,
    /// The window at the last cut.
    prior: f64,
    /// The window of a Reno flow with the same mean.
    reno: f64,
}

/// Rules and state.
#[derive(Debug, Clone)]
pub(super) struct Real {
    c: f64,
    fast_convergence: bool,
    /// Segments that the Reno flow adds a round trip; none if it does not matter.
    alpha: Option<f64>,
    now: Course,
    before: Course,
    /// When the last ACK came, and whether the application limited the flow from then on.
    last: Time,
    limited: bool,
}

impl Real {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let left = chosen.real("decrease");
        Self {
            c: chosen.real("c"),
            fast_convergence: chosen.flag("fast_convergence"),
            alpha: chosen.flag("reno_friendly").then_some(3.0 * (1.0 - left) / (1.0 + left)),
            now: Course::default(),
            before: Course::default(),
            last: Time::ZERO,
            limited: false,
        }
    }

    /// Whether congestion avoidance has begun within a second.
    pub(super) fn is_fresh(&self, now: Time) -> bool {
        self.now.epoch.is_some_and(|epoch| now < epoch + Time::from_secs(1))
    }

    /// Takes time out in which the window was not used (section 4.2, end).
    pub(super) fn keep_time(&mut self, window: &Window, ack: &AckEvent) {
        if (self.limited || !ack.may_grow)
            && let Some(epoch) = &mut self.now.epoch
        {
            *epoch = (*epoch + (ack.now - self.last)).min(ack.now);
        }
        self.last = ack.now;
        self.limited = ack.is_app_limited(window);
    }

    /// Congestion avoidance; `counted` was acknowledged, in the window's unit.
    pub(super) fn grow(&mut self, window: &mut Window, ack: &AckEvent, counted: f64) {
        let cwnd = window.cwnd / window.segment;
        let acked = counted / window.segment;
        let course = &mut self.now;
        let epoch = *course.epoch.get_or_insert_with(|| {
            if course.prior == 0.0 {
                // Slow start has ended without a loss (section 4.10).
                course.prior = cwnd;
            }
            course.reno = cwnd;
            if course.w_max <= cwnd {
                course.k = 0.0;
                course.w_max = cwnd;
            } else {
                course.k = cbrt((course.w_max - cwnd) / self.c);
            }
            ack.now
        });
        let t = (ack.now - epoch).as_secs();
        let rtt = ack.sender.srtt().or(ack.rtt).map_or(0.0, Time::as_secs);
        let cubic = |t: f64| {
            let from_rest = t - course.k;
            self.c * from_rest * from_rest * from_rest + course.w_max
        };
        if let Some(alpha) = self.alpha {
            let alpha = if course.reno >= course.prior { 1.0 } else { alpha };
            course.reno += alpha * acked / cwnd;
        }
        let next = if self.alpha.is_some() && cubic(t) < course.reno {
            cwnd.max(course.reno)
        } else {
            let target = cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) / cwnd * acked
        };
        window.cwnd = next * window.segment;
    }

    /// A cut leaves this part of a window of `cwnd` segments.
    pub(super) fn on_loss(&mut self, cwnd: f64, left: f64, timeout: bool) {
        self.before = self.now;
        let course = &mut self.now;
        course.prior = cwnd;
        course.epoch = None;
        let early = self.fast_convergence && cwnd < course.w_max;
        course.w_max = if early { cwnd * (1.0 + left) / 2.0 } else { cwnd };
        if timeout {
            self.reset();
        }
    }

    /// After a timeout the cubic begins where congestion avoidance does (section 4.8).
    pub(super) fn reset(&mut self) {
        self.now.epoch = None;
        self.now.w_max = 0.0;
    }

    /// The last cut answered no loss.
    pub(super) fn undo(&mut self) {
        self.now = self.before;
    }
}
