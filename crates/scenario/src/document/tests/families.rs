//! Keys that belong to one family of senders.

use super::*;
use ackclock_tcp::connection::ENTRIES as FAMILIES;

/// A document with one flow of these settings over these defaults.
fn document(tcp: &Value, defaults: &Value) -> Value {
    let mut document = valid();
    document["flows"] = json!([{"id": "F", "from": "H1", "to": "H2", "send": "1 MB", "tcp": tcp}]);
    document["defaults"] = json!({"tcp": defaults});
    document
}

#[test]
fn a_key_of_another_family_is_an_error_that_names_the_family() {
    for (tcp, problem) in [
        (
            json!({"sender": "selective-repeat", "nagle": true}),
            "flows.0.tcp.nagle: `nagle` belongs to the `modern` and the `classic` sender, this is `selective-repeat` | \
             write `sender: modern`, or leave `nagle` out",
        ),
        (
            json!({"sender": "classic", "ack-view": "live"}),
            "flows.0.tcp.ack_view: `ack_view` belongs to the `selective-repeat` sender, this is \
             `classic` | write `sender: selective-repeat`, or leave `ack_view` out",
        ),
        (
            json!({"sender": "selective-repeat", "recovery": {"kind": "newreno", "burst": 2}}),
            "flows.0.tcp.recovery: `newreno` does not fit the selective-repeat sender | \
             or write `sender: classic`",
        ),
        (
            json!({"recovery": "newreno"}),
            "flows.0.tcp.recovery: `recovery` belongs to the `classic` and the `selective-repeat` sender, this is \
             `modern`, the default | write `sender: classic`, or leave `recovery` out: the modern sender recovers \
             by `detect` and `reduce`",
        ),
        (
            json!({"window_unit": "segments"}),
            "flows.0.tcp.window_unit: `window_unit` belongs to the `classic` sender, this is `modern`, the default | \
             write `sender: classic`, or leave `window_unit` out",
        ),
        (json!({"nagel": true}), "flows.0.tcp.nagel: unknown key `nagel` | did you mean `nagle`?"),
        (
            json!({"framng": "full"}),
            "flows.0.tcp.framng: unknown key `framng` | did you mean `framing`, a key of the `classic` \
             sender?",
        ),
    ] {
        assert_eq!(messages(&check(&document(&tcp, &json!({}))).problems), [problem]);
    }
}

#[test]
fn a_default_that_suits_one_family_only_is_refused_for_the_other() {
    let problems = check(&document(
        &json!({"sender": "modern"}),
        &json!({"sender": "classic", "receive_window": "2 GB"}),
    ))
    .problems;
    assert_eq!(messages(&problems), ["defaults.tcp.receive_window: `2 GB` is too large"]);
}

#[test]
fn every_key_of_a_family_is_refused_by_all_others() {
    for own in FAMILIES {
        for other in FAMILIES.iter().filter(|other| other.name != own.name) {
            let shared = |key: &str| own.params.iter().any(|param| param.name == key);
            for param in other.params.iter().filter(|param| !shared(param.name)) {
                let tcp = json!({"sender": own.name, param.name: "none"});
                let problems = check(&document(&tcp, &json!({}))).problems;
                let message = format!("`{}` belongs to the `", param.name);
                assert!(problems[0].message.starts_with(&message), "{problems:?}");
            }
        }
    }
}

#[test]
fn a_resolved_flow_has_the_keys_of_its_family_only() {
    let defaults = json!({"nagle": true, "ack_view": "live", "recovery": "tahoe"});
    let mut both = document(&json!({"sender": "classic"}), &defaults);
    let other = json!({
        "id": "G", "from": "H1", "to": "H2", "send": "1 MB", "tcp": {"sender": "selective-repeat"},
    });
    both["flows"].as_array_mut().unwrap().push(other);
    let checked = check(&both);
    assert_eq!(messages(&checked.problems), [] as [&str; 0]);
    assert_eq!(messages(&checked.warnings), [] as [&str; 0]);
    for part in [checked.canonical().unwrap(), checked.model().unwrap()] {
        let [classic, selective] = [0, 1].map(|flow| &part["flows"][flow]["tcp"]);
        assert_eq!((&classic["nagle"], classic.get("ack_view")), (&json!(true), None));
        assert_eq!((selective.get("nagle"), &selective["ack_view"]), (None, &json!("live")));
        assert_eq!(classic["recovery"]["kind"], "tahoe");
        assert_eq!(selective["recovery"]["kind"], "selective-repeat");
    }
}

#[test]
fn the_model_says_what_sequence_numbers_count() {
    for (sender, numbering) in [("classic", "bytes"), ("selective-repeat", "packets")] {
        let checked = check(&document(&json!({"sender": sender}), &json!({})));
        assert_eq!(checked.model().unwrap()["flows"][0]["tcp"]["numbering"], numbering);
    }
}

#[test]
fn a_default_that_no_flow_uses_gets_a_warning() {
    let defaults = json!({"nagle": true, "recovery": "tahoe", "ack_view": "live"});
    let selective = json!({"sender": "selective-repeat"});
    let warnings = messages(&check(&document(&selective, &defaults)).warnings);
    assert_eq!(
        warnings,
        [
            "defaults.tcp.nagle: `nagle` has no effect: it belongs to the `modern` sender, which no \
             flow uses | write `sender: modern`, or leave it out",
            "defaults.tcp.recovery: `recovery` has no effect: it belongs to the `classic` sender, \
             which no flow uses | write `sender: classic`, or leave it out",
        ]
    );
}

#[test]
fn defaults_are_checked_for_the_family_to_which_they_belong() {
    let defaults =
        json!({"nagle": 7, "ack_view": "liv", "recovery": {"kind": "tahoe", "guard": 1}});
    let problems = messages(&check(&document(&json!({"sender": "classic"}), &defaults)).problems);
    let places: Vec<&str> = problems.iter().map(|text| text.split(':').next().unwrap()).collect();
    assert_eq!(
        places,
        ["defaults.tcp.nagle", "defaults.tcp.recovery.guard", "defaults.tcp.ack_view"]
    );
    // Parameters without a kind are those of the family that the defaults choose.
    let defaults = json!({"sender": "classic", "recovery": {"guard": "none"}});
    assert_eq!(messages(&check(&document(&json!({}), &defaults)).problems), [] as [&str; 0]);
}

#[test]
fn a_profile_of_another_family_leaves_the_flow_its_own_defaults() {
    let mut document = document(&json!({"sender": "selective-repeat"}), &json!({}));
    document["profile"] = json!("bene");
    let checked = check(&document);
    assert_eq!(messages(&checked.problems), [] as [&str; 0]);
    let tcp = &checked.model().unwrap()["flows"][0]["tcp"];
    let own = (&tcp["recovery"]["kind"], &tcp["header_bytes"]);
    assert_eq!(own, (&json!("selective-repeat"), &json!(0)));
}

#[test]
fn a_default_in_words_of_another_family_leaves_the_flow_its_own_default() {
    let defaults = json!({"sender": "classic", "idle_restart": "rto"});
    let checked = check(&document(&json!({"sender": "modern"}), &defaults));
    assert_eq!(messages(&checked.problems), [] as [&str; 0]);
    let canonical = checked.canonical().unwrap();
    assert_eq!(canonical["flows"][0]["tcp"]["idle_restart"], "decay");
    let problems =
        check(&document(&json!({"sender": "modern", "idle_restart": "rto"}), &json!({}))).problems;
    assert_eq!(problems[0].place(), "flows.0.tcp.idle_restart");
}

#[test]
fn parameters_of_an_entry_are_checked_together() {
    for (tcp, problem) in [
        (
            json!({"sender": "modern", "ecn": true, "cc": {"kind": "dctcp", "arithmetic": "linux", "g": 0.1}}),
            "flows.0.tcp.cc.g: `g` (0.1) is not a power of 1/2, as `arithmetic: linux` has it | for \
             example 0.0625, which is 1/16",
        ),
        (
            json!({"cc": {"kind": "vegas", "alpha": 5}}),
            "flows.0.tcp.cc.alpha: `alpha` (5) is above `beta` (4) | the window would grow and shrink in \
             turn; `alpha` and `beta` may be equal",
        ),
        (
            json!({"rto": {"kind": "ticks", "min": "70 s", "max": "60 s"}}),
            "flows.0.tcp.rto.min: `min` (70 s) is above `max` (60 s)",
        ),
    ] {
        assert_eq!(messages(&check(&document(&tcp, &json!({}))).problems), [problem]);
    }
}
