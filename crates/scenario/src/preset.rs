//! Presets: what a word like NewReno means, as settings of `tcp`.
//!
//! A standard or a paper means more than a congestion control by such a word: the family of senders, how losses
//! are repaired, how the window grows. A preset says all of that at once. What the `tcp` block says itself wins over
//! its preset, which wins over the defaults below. What the receiver does is not part of the sender: there the preset
//! has the last word, after profiles, before the tables. To add one: a static here, and its name in `presets!`.
//!
//! What Linux sends and how it counts stands here once: presets take it as settings, and below everything it is what
//! a flow of the family `modern` has that says nothing else ([`base`]).

use ackclock_units::param::{Entry, help};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// A preset.
#[derive(Debug)]
pub struct Preset {
    /// Name, label, summary and references.
    pub entry: Entry,
    /// Family of senders.
    sender: &'static str,
    /// Loss recovery of the family, where it has such a key.
    recovery: &'static str,
    cc: &'static str,
    /// More settings, as a JSON object.
    more: &'static str,
    /// When ACKs are sent, if nothing else says that.
    receiver: Option<&'static str>,
}

const fn classic(entry: Entry, recovery: &'static str, cc: &'static str) -> Preset {
    Preset { entry, sender: "classic", recovery, cc, more: "{}", receiver: Some("delayed") }
}

/// What Linux sends, whatever the congestion control: segments of an Ethernet frame with timestamps, ten of them at
/// first.
const LINUX: &str = r#"{
    "segment": "1448 B", "header": "52 B", "ack": "52 B", "initial_window": 10, "rto": "linux",
    "handshake": {"kind": "three-way", "syn": "60 B", "syn_ack": "60 B", "ack": "52 B", "timeout": "1 s",
                  "linear_timeouts": 4, "repetitions": 10}
}"#;

/// How Linux counts in each congestion control that it has in common with us; the first is its default.
const LINUX_CC: &str = r#"[
    {"kind": "cubic", "counting": "bytes", "decrease_from": "cwnd", "arithmetic": "linux", "hystart": "linux"},
    {"kind": "reno", "counting": "bytes", "decrease_from": "cwnd", "arithmetic": "linux"},
    {"kind": "dctcp", "counting": "bytes", "decrease_from": "cwnd", "arithmetic": "linux"},
    {"kind": "vegas", "alpha": 2, "beta": 4, "gamma": 1, "actual": "window", "rtt": "least", "base_rtt": "data",
     "exit": "actual", "counting": "bytes"},
    {"kind": "aimd", "counting": "bytes", "decrease_from": "cwnd"},
    {"kind": "aiad", "counting": "bytes", "decrease_from": "cwnd"}
]"#;

/// What the older families have instead of the tables' defaults, which are those of the modern one.
const OLDER: &str =
    r#"{"segment": "1460 B", "header": "40 B", "ack": "40 B", "cc": "reno", "rto": "rfc6298"}"#;

/// The lowest layer of the `tcp` blocks of a family of senders.
pub fn base(family: &str) -> &'static Map<String, Value> {
    static MODERN: LazyLock<Map<String, Value>> = LazyLock::new(|| {
        let mut all = object(LINUX);
        all.insert("cc".to_owned(), Value::from(linux_cc()));
        all
    });
    static OTHERS: LazyLock<Map<String, Value>> = LazyLock::new(|| object(OLDER));
    if family == "modern" { &MODERN } else { &OTHERS }
}

/// How Linux counts, as settings of each congestion control.
pub(crate) fn linux_cc() -> Vec<Value> {
    serde_json::from_str(LINUX_CC).expect("settings are JSON")
}

fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).expect("settings are JSON")
}

const fn linux(entry: Entry, cc: &'static str, more: &'static str) -> Preset {
    Preset { entry, sender: "modern", recovery: "", cc, more, receiver: Some("linux") }
}

static LINUX_RENO: Preset = linux(
    Entry {
        name: "linux-reno",
        label: "Reno",
        summary: help(
            "Reno as in Linux: SACK, RACK-TLP and PRR; windows in whole segments; a loss halves cwnd.",
        ),
        references: &["Linux, tcp_cong.c", "RFC 5681", "RFC 8985"],
        ..Entry::BLANK
    },
    "reno",
    "{}",
);

static LINUX_CUBIC: Preset = linux(
    Entry {
        name: "linux-cubic",
        label: "CUBIC",
        summary: help("CUBIC as in Linux, its default, with the arithmetic and HyStart of Linux."),
        references: &["Linux, tcp_cubic.c", "RFC 9438"],
        ..Entry::BLANK
    },
    "cubic",
    "{}",
);

static LINUX_BBR: Preset = linux(
    Entry {
        name: "linux-bbr",
        label: "BBR",
        summary: help("BBR version 1 as in Linux: paced at the measured bandwidth."),
        references: &["Linux, tcp_bbr.c", "Cardwell, Cheng, Gunn, Yeganeh, Jacobson 2016"],
        ..Entry::BLANK
    },
    "bbr",
    "{}",
);

static LINUX_BBR3: Preset = linux(
    Entry {
        name: "linux-bbr3",
        label: "BBRv3",
        summary: help("BBR version 3 as in Google's branch of Linux: inflight bounded by losses."),
        references: &["Google's BBR, branch v3, tcp_bbr.c", "draft-ietf-ccwg-bbr"],
        ..Entry::BLANK
    },
    "bbr3",
    r#"{"cc": {"kind": "bbr3", "rules": "linux"}}"#,
);

static LINUX_DCTCP: Preset = linux(
    Entry {
        name: "linux-dctcp",
        label: "DCTCP",
        summary: help(
            "DCTCP as in Linux, for data centres with marking queues: accurate ECN echo.",
        ),
        references: &["Linux, tcp_dctcp.c", "RFC 8257"],
        ..Entry::BLANK
    },
    "dctcp",
    r#"{"ecn": true}"#,
);

static PRAGUE: Preset = linux(
    Entry {
        name: "prague",
        label: "Prague",
        summary: help("TCP Prague, for L4S: ECT(1), accurate ECN echo."),
        references: &["draft-briscoe-iccrg-prague-congestion-control", "RFC 9331"],
        ..Entry::BLANK
    },
    "prague",
    r#"{"ecn": true}"#,
);

static RFC_CUBIC: Preset = linux(
    Entry {
        name: "rfc-cubic",
        label: "CUBIC",
        summary: help("CUBIC as in the RFCs: real arithmetic, HyStart++, the modern sender."),
        references: &["RFC 9438", "RFC 9406", "RFC 8985", "RFC 6298"],
        ..Entry::BLANK
    },
    "cubic",
    r#"{"rto": "rfc6298", "cc": {"kind": "cubic", "counting": "capped-bytes", "decrease_from": "flight",
        "arithmetic": "real", "hystart": "hystart++"}}"#,
);

static TAHOE: Preset = classic(
    Entry {
        name: "tahoe",
        label: "Tahoe",
        summary: help(
            "4.3BSD-Tahoe: fast retransmit at the third duplicate ACK, then slow start from one segment.",
        ),
        references: &["Jacobson 1988", "Fall and Floyd 1996 section 2"],
        ..Entry::BLANK
    },
    "tahoe",
    "reno",
);

static RENO: Preset = classic(
    Entry {
        name: "reno",
        label: "Reno",
        summary: help("4.3BSD-Reno: fast recovery, ended by the first ACK of new data."),
        references: &["RFC 5681", "Fall and Floyd 1996 section 3"],
        ..Entry::BLANK
    },
    "reno",
    "reno",
);

static NEWRENO: Preset = classic(
    Entry {
        name: "newreno",
        label: "NewReno",
        summary: help("Reno with fast recovery that lasts until the whole window is repaired."),
        references: &["RFC 6582", "RFC 5681"],
        ..Entry::BLANK
    },
    "newreno",
    "reno",
);

static VEGAS: Preset = classic(
    Entry {
        name: "vegas",
        label: "Vegas",
        summary: help(
            "Vegas: the window follows the round-trip time, and a fine-grained clock detects losses.",
        ),
        references: &["Brakmo and Peterson 1995"],
        ..Entry::BLANK
    },
    "vegas",
    "vegas",
);

static RFC1122: Preset = classic(
    Entry {
        name: "rfc1122",
        label: "RFC 1122",
        summary: help(
            "Slow start and congestion avoidance without fast retransmit: only the timer detects losses.",
        ),
        references: &["RFC 1122 section 4.2.2.15", "Jacobson 1988"],
        ..Entry::BLANK
    },
    "timeout",
    "reno",
);

static FAST: Preset = Preset {
    entry: Entry {
        name: "fast",
        label: "FAST",
        summary: help(
            "FAST: the window follows the queueing delay; each ACK lists what has arrived.",
        ),
        references: &["Wei, Jin, Low, Hegde 2006", "Bhasin, Luo, Su, Yang 2015"],
        ..Entry::BLANK
    },
    sender: "selective-repeat",
    recovery: "selective-repeat",
    cc: "fast",
    more: "{}",
    receiver: None,
};

/// Lists the presets.
macro_rules! presets {
    ($($preset:ident),* $(,)?) => {
        /// All presets.
        pub static PRESETS: &[&Preset] = &[$(&$preset),*];

        /// What a scenario can name as a preset.
        pub static ENTRIES: &[&Entry] = &[$(&$preset.entry),*];
    };
}

presets! {
    LINUX_CUBIC, LINUX_RENO, LINUX_BBR, LINUX_BBR3, LINUX_DCTCP, PRAGUE, RFC_CUBIC,
    RFC1122, TAHOE, RENO, NEWRENO, VEGAS, FAST,
}

/// The settings of a preset: above the defaults, and below everything.
type Settings = [Map<String, Value>; 2];

static SETTINGS: LazyLock<Vec<Settings>> =
    LazyLock::new(|| PRESETS.iter().map(|preset| preset.written()).collect());

impl Preset {
    /// The preset of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().copied().find(|preset| preset.entry.name == name)
    }

    fn written(&self) -> Settings {
        let word = |(key, word): (&str, &str)| (key.to_owned(), Value::from(word));
        let words = [("sender", self.sender), ("recovery", self.recovery), ("cc", self.cc)];
        let mut sender: Map<String, Value> =
            words.into_iter().filter(|(_, word)| !word.is_empty()).map(word).collect();
        if self.sender == "modern" {
            sender.extend(object(LINUX));
            let counts = linux_cc().into_iter().find(|settings| settings["kind"] == self.cc);
            sender.extend(counts.map(|settings| ("cc".to_owned(), settings)));
        }
        sender.extend(object(self.more));
        [
            sender,
            self.receiver.map(|receiver| ("receiver", receiver)).into_iter().map(word).collect(),
        ]
    }

    fn settings(&self) -> &'static Settings {
        let index = PRESETS.iter().position(|preset| preset.entry.name == self.entry.name);
        &SETTINGS[index.expect("a registered preset")]
    }

    /// What it says of the sender.
    pub fn of_sender(&self) -> &'static Map<String, Value> {
        &self.settings()[0]
    }

    /// What it says where nothing else does.
    pub fn of_receiver(&self) -> &'static Map<String, Value> {
        &self.settings()[1]
    }
}

/// What to say to somebody who wrote a word that means a preset, where it is not congestion control.
pub fn hint(word: &str) -> Option<String> {
    const OTHERS: &[(&str, &str)] = &[
        ("bbrv1", "bbr"),
        ("bbrv3", "bbr3"),
        ("hstcp", "highspeed"),
        ("pcc", "vivace"),
        ("tcplp", "lp"),
        ("westwood+", "westwood"),
        ("westwoodplus", "westwood"),
    ];
    let plain = |word: &str| word.to_ascii_lowercase().replace(['-', '_', ' '], "");
    let word = plain(word);
    let is = |name: &str| {
        PRESETS.iter().map(|preset| preset.entry.name).find(|known| plain(known) == plain(name))
    };
    if let Some(name) = is(&word) {
        return Some(format!("write `tcp: {name}`, which sets sender, recovery and cc"));
    }
    if let Some(name) = is(&format!("linux{word}")) {
        return Some(format!("write `tcp: {name}`, or `cc: {word}` with settings of your own"));
    }
    if ["linux", "modern", "sack"].contains(&word.as_str()) {
        return Some("write `tcp: linux-cubic`, the default, which has SACK".to_owned());
    }
    let (_, cc) = OTHERS.iter().find(|(other, _)| *other == word)?;
    Some(format!("write `tcp: {{cc: {cc}}}`"))
}

/// What a flow of these settings is called in tables and plots; one of a program by its `class`.
pub fn label(sender: &str, recovery: &str, cc: &str, class: Option<&str>) -> String {
    let is = |preset: &&&Preset| {
        preset.sender == sender && preset.recovery == recovery && preset.cc == cc
    };
    if let Some(preset) = PRESETS.iter().find(is) {
        return preset.entry.label().to_owned();
    }
    let label = |entries: &[&Entry], name: &str| {
        entries
            .iter()
            .find(|entry| entry.name == name)
            .map_or(name.to_owned(), |e| e.label().into())
    };
    let cc = class.map_or_else(|| label(ackclock_tcp::cc::ENTRIES, cc), str::to_owned);
    match sender {
        "classic" => {
            let recovery = label(ackclock_tcp::classic::recovery::ENTRIES, recovery);
            format!("{cc}, recovery {recovery}")
        }
        "modern" => cc,
        other => format!("{cc} ({})", label(ackclock_tcp::connection::ENTRIES, other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use serde_json::json;

    fn tcp(tcp: &Value, more: &Value) -> Result<Value, String> {
        let mut document = json!({
            "hosts": ["A", "B"],
            "links": [{"id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "1 ms"}],
            "flows": [{"id": "F", "from": "A", "to": "B", "send": "1 MB", "tcp": tcp}],
        });
        for (key, value) in more.as_object().unwrap() {
            document[key] = value.clone();
        }
        let checked = check(&document);
        match checked.problems.first() {
            None => Ok(checked.canonical().unwrap()["flows"][0]["tcp"].clone()),
            Some(problem) => Err(format!(
                "{}: {} | {}",
                problem.place(),
                problem.message,
                problem.hint.clone().unwrap_or_default()
            )),
        }
    }

    #[test]
    fn every_preset_is_a_word_for_settings_that_can_be_written_out() {
        for (preset, entry) in PRESETS.iter().zip(ENTRIES) {
            assert_eq!(preset.entry.name, entry.name);
            let short = tcp(&json!(entry.name), &json!({})).unwrap();
            assert_eq!(short, tcp(&json!({"preset": entry.name}), &json!({})).unwrap());
            assert_eq!(short.get("preset"), None);
            let mut written = preset.of_sender().clone();
            written.extend(preset.of_receiver().clone());
            assert_eq!(short, tcp(&Value::Object(written), &json!({})).unwrap());
            let kind = |key: &str| short[key]["kind"].as_str().unwrap_or_default();
            let sender = short["sender"].as_str().unwrap();
            assert_eq!(label(sender, kind("recovery"), kind("cc"), None), entry.label());
        }
    }

    #[test]
    fn the_block_wins_over_its_preset_which_wins_over_defaults() {
        let more = json!({"defaults": {"tcp": {"sender": "selective-repeat", "cc": "fast", "nagle": true}}});
        let reno = tcp(&json!({"preset": "reno", "cc": {"decrease_from": "cwnd"}}), &more).unwrap();
        assert_eq!((&reno["sender"], &reno["nagle"]), (&json!("classic"), &json!(true)));
        assert_eq!(
            (&reno["cc"]["kind"], &reno["cc"]["decrease_from"]),
            (&json!("reno"), &json!("cwnd"))
        );
        let tahoe = tcp(&json!({"preset": "reno", "recovery": "tahoe"}), &more).unwrap();
        assert_eq!(tahoe["recovery"]["kind"], "tahoe");
        // A preset of the defaults, and a profile that knows the kind, and the receiver.
        let more = json!({"defaults": {"tcp": "newreno"}, "profile": "ns-2.35"});
        let newreno = tcp(&json!({}), &more).unwrap();
        assert_eq!(
            (&newreno["recovery"]["kind"], &newreno["recovery"]["burst"]),
            (&json!("newreno"), &json!(2))
        );
        assert_eq!(newreno["receiver"]["kind"], "immediate");
        assert_eq!(tcp(&json!("newreno"), &json!({})).unwrap()["receiver"]["kind"], "delayed");
    }

    #[test]
    fn words_that_are_no_presets_get_a_hint() {
        for (block, problem) in [
            (json!("newrno"), "flows.0.tcp: unknown preset `newrno` | did you mean `newreno`?"),
            (
                json!({"preset": "cubic"}),
                "flows.0.tcp.preset: unknown preset `cubic` | write `tcp: linux-cubic`, or `cc: cubic` with \
                 settings of your own",
            ),
            (
                json!({"preset": "bic"}),
                "flows.0.tcp.preset: unknown preset `bic` | did you mean `{cc: bic}`?",
            ),
            (
                json!({"cc": "hstcp"}),
                "flows.0.tcp.cc: unknown cc `hstcp` | write `tcp: {cc: highspeed}`",
            ),
            (
                json!({"cc": "linux-bbr"}),
                "flows.0.tcp.cc: unknown cc `linux-bbr` | write `tcp: linux-bbr`, which sets sender, recovery and \
                 cc",
            ),
            (json!("bbrv3"), "flows.0.tcp: unknown preset `bbrv3` | write `tcp: {cc: bbr3}`"),
            (
                json!("linux"),
                "flows.0.tcp: unknown preset `linux` | write `tcp: linux-cubic`, the default, which has SACK",
            ),
            (
                json!({"kind": "reno"}),
                "flows.0.tcp.kind: unknown key `kind` | did you mean `preset`?",
            ),
            (
                json!({"cc:reno": null}),
                "flows.0.tcp.cc:reno: unknown key `cc:reno` | a space is missing after the colon: `cc: reno`",
            ),
            (
                json!("cc:reno"),
                "flows.0.tcp: unknown preset `cc:reno` | a space is missing after the colon: `cc: reno`",
            ),
            (json!({"cc": "Cubic"}), "flows.0.tcp.cc: unknown cc `Cubic` | did you mean `cubic`?"),
            (json!("NewReno"), "flows.0.tcp: unknown preset `NewReno` | did you mean `newreno`?"),
            (
                json!({"cc": "tahoe"}),
                "flows.0.tcp.cc: unknown cc `tahoe` | write `tcp: tahoe`, which sets sender, recovery and cc",
            ),
            (
                json!({"cc": {"kind": "New-Reno"}}),
                "flows.0.tcp.cc.kind: unknown cc `New-Reno` | write `tcp: newreno`, which sets sender, recovery \
                 and cc",
            ),
            (
                json!({"preset": "reno", "sender": "selective-repeat"}),
                "flows.0.tcp.preset: preset `reno` is of the `classic` sender, this is `selective-repeat` | \
                 leave one of the two out",
            ),
        ] {
            assert_eq!(tcp(&block, &json!({})).unwrap_err(), problem);
        }
    }

    #[test]
    fn what_is_no_preset_is_called_by_its_parts() {
        assert_eq!(label("classic", "newreno", "aimd", None), "AIMD, recovery NewReno");
        assert_eq!(label("selective-repeat", "selective-repeat", "reno", None), "Reno (selective)");
        assert_eq!(label("modern", "", "python", Some("Mine")), "Mine");
    }
}
