//! What BBR is doing.

use crate::journal::Rule;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

impl Mode {
    /// What sets the window meanwhile, unless a loss does.
    pub fn rule(self) -> Rule {
        match self {
            Self::Startup => Rule::BbrStartup,
            Self::Drain => Rule::BbrDrain,
            Self::ProbeBw => Rule::BbrProbeBw,
            Self::ProbeRtt => Rule::BbrProbeRtt,
        }
    }
}
