//! What unknown keys and words were probably meant to be.

use super::problems::{Fault, brief};
use super::scalar::value_alone;
use ackclock_units::param::Param;
use ackclock_units::spelling::{nearest, same, spaced};

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

/// For `rate:10 Mbps`, which YAML reads as one text.
pub(super) fn space_missing(text: &str) -> Option<String> {
    spaced(text).map(|entry| format!("a space is missing after the colon: `{}`", brief(&entry)))
}

/// A word that is not known; `other` is what it means elsewhere.
pub(super) fn unknown_word(
    what: &str,
    text: &str,
    known: impl Iterator<Item = &'static str>,
    other: Option<String>,
) -> Fault {
    let known: Vec<&str> = known.collect();
    let hint = same(text, known.iter().copied())
        .map(did_you_mean)
        .or(other)
        .or_else(|| space_missing(text))
        .or_else(|| {
            usual_word(text, &known)
                .or_else(|| nearest(text, known.iter().copied()))
                .map(did_you_mean)
        })
        .or_else(|| value_alone(text, &known))
        .or_else(|| program_alone(text, &known));
    Fault::new(format!("unknown {what} `{}`", brief(text)))
        .allowed(known.join(", "))
        .maybe_hint(hint)
}

/// For a file where a model belongs: the model with it.
fn program_alone(text: &str, known: &[&str]) -> Option<String> {
    let is_program = text.ends_with(".py") && known.contains(&"python");
    is_program.then(|| format!("write `{{kind: python, file: {}}}`", brief(text)))
}

/// The word that is known here for one of other programs, or of other places in a scenario.
pub(super) fn usual_word(text: &str, known: &[&'static str]) -> Option<&'static str> {
    const OTHERS: &[(&str, &[&str])] = &[
        ("burst", &["gilbert-elliott"]),
        ("fifo", &["droptail"]),
        ("false", &["none", "off"]),
        ("never", &["none", "off"]),
        ("no", &["none", "off"]),
        ("none", &["off"]),
        ("off", &["none"]),
        ("on", &["all", "changes"]),
        ("pfifo", &["droptail"]),
        ("random", &["bernoulli"]),
        ("tail-drop", &["droptail"]),
        ("taildrop", &["droptail"]),
        ("true", &["all", "changes"]),
        ("yes", &["all", "changes"]),
    ];
    let word = text.trim().to_ascii_lowercase();
    let (_, meant) = OTHERS.iter().find(|(other, _)| *other == word)?;
    known.iter().copied().find(|name| meant.contains(name))
}
