//! What unknown keys were probably meant to be.

use ackclock_units::param::Param;
use ackclock_units::spelling::nearest;

/// What an unknown key was probably meant to be: a misspelled one, or one by another program's name.
pub(super) fn meant(key: &str, table: &[Param]) -> Option<String> {
    synonym(key, table).or_else(|| similar(key, table)).map(did_you_mean)
}

pub(super) fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

pub(super) fn similar<'t>(key: &str, table: &'t [Param]) -> Option<&'t str> {
    nearest(key, table.iter().map(|param| param.name))
}

/// The key of a table for one of another program; that is no misspelling: `duration` is not `question`.
pub(super) fn synonym(key: &str, table: &[Param]) -> Option<&'static str> {
    const SYNONYMS: &[(&str, &str)] = &[
        ("after", "at_latest"),
        ("algorithm", "cc"),
        ("algorithm", "tcp"),
        ("bandwidth", "rate"),
        ("buffer", "queue"),
        ("bw", "rate"),
        ("bytes", "send"),
        ("capacity", "rate"),
        ("cc", "tcp"),
        ("congestion_control", "cc"),
        ("congestion_control", "tcp"),
        ("destination", "to"),
        ("dst", "to"),
        ("duration", "at_latest"),
        ("duration", "stop"),
        ("end", "stop"),
        ("ends", "between"),
        ("initial_cwnd", "initial_window"),
        ("kind", "preset"),
        ("latency", "delay"),
        ("mss", "segment"),
        ("name", "preset"),
        ("nodes", "hosts"),
        ("packet", "write"),
        ("packet_size", "write"),
        ("propagation", "delay"),
        ("random_seed", "seed"),
        ("receiver", "to"),
        ("sim_time", "stop"),
        ("simulation_time", "stop"),
        ("size", "limit"),
        ("size", "send"),
        ("source", "from"),
        ("src", "from"),
        ("switches", "routers"),
        ("time", "at_latest"),
        ("warm_up", "warmup"),
        ("warmup_period", "warmup"),
    ];
    let has = |name: &str| table.iter().any(|param| param.name == name);
    SYNONYMS.iter().find(|(other, name)| *other == key && has(name)).map(|(_, name)| *name)
}
