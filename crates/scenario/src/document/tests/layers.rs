//! Which of the object, the scenario's defaults, the profile and the tables wins.

use super::*;

fn caltech() -> Value {
    json!({
        "profile": "caltech2015",
        "hosts": ["H1", "H2"],
        "links": [{
            "id": "L1", "between": ["H1", "H2"], "rate": "10 Mibps", "delay": "10 ms",
            "queue": {"limit": "64 KiB"},
        }],
        "flows": [{"id": "F1", "from": "H1", "to": "H2", "send": "20 MiB"}],
    })
}

#[test]
fn a_profile_gives_what_the_document_does_not_say() {
    let resolved = model(&caltech());
    let link = &resolved["links"][0];
    assert_eq!(link["duplex"], "half");
    assert_eq!(
        link["forward"]["queue"],
        json!({
            "kind": "droptail", "limit_bytes": 65_536, "counts": "waiting", "admission": "strict",
        })
    );
    assert_eq!(link["forward"], link["backward"]);
    let tcp = &resolved["flows"][0]["tcp"];
    assert_eq!(tcp["segment_bytes"], 1024);
    assert_eq!(tcp["initial_ssthresh"], json!(100.0));
    assert_eq!(tcp["rto"], json!({"kind": "fixed", "timeout_ns": 500_000_000}));
    assert_eq!(tcp["recovery"]["reduction"], "per-packet");
    assert_eq!(tcp["cc"]["kind"], "reno");
    assert_eq!(tcp["cc"]["decrease_from"], "cwnd");
    assert_eq!(tcp["ack_view"], "live");
    assert_eq!(resolved["routing"]["kind"], "distance-vector");
    assert_eq!(resolved["routing"]["settling_ns"], 150_000_000);
    let ties = json!({"kind": "first-come", "sends": "direct", "clock": "exact"});
    assert_eq!(resolved["ties"], ties);
}

#[test]
fn defaults_win_over_the_profile_and_the_object_over_both() {
    let mut document = caltech();
    document["defaults"] = json!({
        "link": {"queue": {"admission": "fits"}},
        "tcp": {"ack-duplicates": "always", "recovery": {"threshold": 5, "growth": "any-ack"}},
    });
    document["flows"][0]["tcp"] = json!({"recovery": {"kind": "selective-repeat", "threshold": 1}});
    let resolved = model(&document);
    assert_eq!(resolved["links"][0]["forward"]["queue"]["admission"], "fits");
    let tcp = &resolved["flows"][0]["tcp"];
    assert_eq!(tcp["ack_duplicates"], "always");
    assert_eq!(tcp["recovery"]["threshold"], 1);
    assert_eq!(tcp["recovery"]["growth"], "any-ack");
    assert_eq!(tcp["recovery"]["reduction"], "per-packet");
}

#[test]
fn parameters_of_another_kind_do_not_count() {
    let mut document = caltech();
    document["flows"][0]["tcp"] = json!({"rto": "rfc6298"});
    document["routing"] = json!("shortest-path");
    let resolved = model(&document);
    let rto = &resolved["flows"][0]["tcp"]["rto"];
    assert_eq!(rto["kind"], "rfc6298");
    assert_eq!(rto["initial_ns"], 1_000_000_000_u64);
    assert_eq!(rto.get("timeout_ns"), None);
    assert_eq!(resolved["routing"], json!({"kind": "shortest-path"}));
}

#[test]
fn a_profile_has_defaults_for_several_kinds() {
    let mut document = caltech();
    document["flows"][0]["tcp"] = json!({"cc": {"kind": "fast", "alpha": 50}});
    let cc = &model(&document)["flows"][0]["tcp"]["cc"];
    assert_eq!(cc["update"], "period");
    assert_eq!(cc["alpha"], json!(50.0));
    // The defaults choose the kind, the object one parameter of it.
    document["defaults"] = json!({"tcp": {"cc": "fast"}});
    document["flows"][0]["tcp"] = json!({"cc": {"samples": 7}});
    let cc = &model(&document)["flows"][0]["tcp"]["cc"];
    assert_eq!(
        (&cc["kind"], &cc["samples"], &cc["averaging"]),
        (&json!("fast"), &json!(7), &json!("samples"))
    );
}

#[test]
fn faults_of_defaults_are_told_once_and_where_they_stand() {
    let mut document = valid();
    document["defaults"] = json!({
        "link": {"queue": {"kind": "droptail", "limit": 5}, "id": "L"},
        "tcp": {"cc": {"alpha": 3}, "ack": "40"},
        "udp": {},
    });
    assert_eq!(
        messages(&check(&document).problems),
        [
            "defaults.udp: unknown key `udp`",
            "defaults.link.id: unknown key `id`",
            "defaults.link.queue.limit: `5` has no unit | for example `5 KiB` or `5 packets` or `5 ms` or `5 BDP`",
            "defaults.tcp.ack: `40` has no unit | for example `40 B`",
            "defaults.tcp.cc.alpha: unknown key `alpha` | `alpha` belongs to `fast`, this is `cubic`",
        ]
    );
}

#[test]
fn every_profile_is_a_valid_set_of_defaults() {
    for profile in crate::profile::PROFILES {
        let name = profile.entry.name;
        let defaults = crate::profile::document(name).unwrap();
        let mut document = caltech();
        document["profile"] = json!(name);
        document["defaults"] = json!({"link": defaults["link"], "tcp": defaults["tcp"]});
        for key in ["routing", "ties", "stop", "record", "seed"] {
            if let Some(value) = defaults.get(key) {
                document[key] = value.clone();
            }
        }
        let Value::Object(map) = defaults else { panic!("{name} is not a mapping") };
        let known = ["link", "tcp", "routing", "ties", "stop", "record", "seed"];
        assert!(map.keys().all(|key| known.contains(&key.as_str())), "{name}");
        // Each kind of a list in turn stands as a user would write it. Required parameters that a
        // profile leaves open are the user's.
        for block in ["link", "tcp"] {
            for (key, value) in document["defaults"][block].clone().as_object().unwrap() {
                let Value::Array(kinds) = value else { continue };
                for kind in kinds {
                    document["defaults"][block][key] = kind.clone();
                    let faults = messages(&check(&document).problems);
                    let place = format!("defaults.{block}.{key}:");
                    assert!(!faults.iter().any(|fault| fault.starts_with(&place)), "{faults:?}");
                }
                document["defaults"][block][key] = kinds[0].clone();
            }
        }
        assert_eq!(messages(&check(&document).problems), Vec::<String>::new());
    }
}
