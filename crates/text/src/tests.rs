use super::*;
use proptest::prelude::*;

fn value(text: &str, format: Format) -> Tree {
    read(text, format).unwrap_or_else(|problems| panic!("{text}: {problems:?}")).unwrap()
}

fn wrong(text: &str, format: Format) -> Problem {
    read(text, format).unwrap_err().remove(0)
}

fn place(line: u32, column: u32) -> Option<Place> {
    Some(Place { line, column })
}

#[test]
fn plain_scalars_are_those_of_the_core_schema() {
    for text in
        ["yes", "off", "No", "10:30", "1_000", "0b1", "0o8", "0x", "1e", "+", "-", ".", "1.2.3"]
    {
        assert_eq!(scalar(text), Value::Text(text), "{text}");
    }
    for (text, number) in [("017", 17), ("+5", 5), ("-0", 0), ("0o17", 15), ("0x1F", 31)] {
        assert_eq!(scalar(text), Value::Integer(number), "{text}");
    }
    for (text, number) in [("1e6", 1e6), (".5", 0.5), ("-1.", -1.0), ("6.E-1", 0.6)] {
        assert_eq!(scalar(text), Value::Real(number), "{text}");
    }
    assert_eq!(scalar("18446744073709551615"), Value::Natural(u64::MAX));
    assert!(matches!(scalar("18446744073709551616"), Value::Beyond(_)));
    assert!(matches!(scalar(&"9".repeat(401)), Value::Real(number) if number.is_infinite()));
}

#[test]
fn columns_are_characters_in_all_formats() {
    let texts = [
        ("é: {ö: 1, ü: x}", Format::Yaml),
        ("{\"é\": {\"ö\": 1, \"ü\": nul}}", Format::Json),
        ("é: {ö: 1, ü: x}\nb: *ü\n", Format::Yaml),
        ("'é' = {'ö' = 1, 'ü' = 07:00:00}", Format::Toml),
    ];
    let ue = Step::Key("ü".into());
    let at = value(texts[0].0, texts[0].1).root().locate(&[Step::Key("é".into()), ue], false);
    assert_eq!(Some(at), place(1, 14));
    assert_eq!(wrong(texts[1].0, texts[1].1).place, place(1, 21));
    assert_eq!(wrong(texts[2].0, texts[2].1).place, place(2, 4));
    assert_eq!(wrong(texts[3].0, texts[3].1).place, place(1, 23));
}

#[test]
fn escapes_of_json_are_read_as_serde_reads_them() {
    let text = r#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#;
    let expected = "a\"\\/\u{8}\u{c}\n\r\té😀";
    assert_eq!(value(text, Format::Json).root().value(), Value::Text(expected));
    for text in [r#""\u+123""#, r#""\u12"#, r#""\u12é4""#, r#""\é""#, "\"\\", "\"\\\n\""] {
        read(text, Format::Json).unwrap_err();
    }
}

#[test]
fn aliases_count_as_what_they_stand_for() {
    let deep = (0..40).map(|_| "[").chain((0..40).map(|_| "]")).collect::<String>();
    let around = |open: &str, close: &str| {
        format!("a: &a {deep}\nb: {}*a{}\n", open.repeat(20), close.repeat(20))
    };
    value(&around("[", "]"), Format::Yaml);
    let text = format!("a: &a {deep}\nb: {}*a{}\n", "[".repeat(30), "]".repeat(30));
    assert!(wrong(&text, Format::Yaml).message.contains("nested"));
    let thousand = format!("a: &a [{}]\n", "1,".repeat(1000));
    let text = format!("{thousand}b: &b [{}]\nc: [{}]\n", "*a,".repeat(1000), "*b,".repeat(4));
    assert!(wrong(&text, Format::Yaml).message.contains("too many"));
}

#[test]
fn keys_are_found_and_duplicates_reported_however_many_there_are() {
    let many: Vec<String> =
        (0..40).map(|i| format!("k-{i}: {{k-0: {i}, b: [1, {{c: 2}}]}}")).collect();
    let tree = value(&many.join("\n"), Format::Yaml);
    let entry = tree.root().get("k_39").unwrap();
    assert_eq!((entry.written, entry.place), (Some("k-39"), Place { line: 40, column: 1 }));
    assert_eq!(entry.node.json(), serde_json::json!({"k_0": 39, "b": [1, {"c": 2}]}));
    let steps =
        [Step::Key("k_39".into()), Step::Key("b".into()), Step::Index(1), Step::Key("c".into())];
    assert_eq!(Some(tree.root().locate(&steps, false)), place(40, 28));
    assert_eq!(tree.depth(), 4);
    for doubled in [3, 30] {
        let text = format!("{}\nk_{doubled}: 1\nk-{doubled}: 2", many.join("\n"));
        let problems = read(&text, Format::Yaml).unwrap_err();
        let first = format!("it was first given on line {}; keep one of the two", doubled + 1);
        let found: Vec<_> =
            problems.into_iter().map(|problem| (problem.hint, problem.place)).collect();
        assert_eq!(found, [(Some(first.clone()), place(41, 1)), (Some(first), place(42, 1))]);
    }
}

#[test]
fn an_alias_is_the_value_at_its_anchor() {
    let tree = value("a: &a {x: [1, 2]}\n&k b: *a\nc: [*a, *k, 3]\n", Format::Yaml);
    let json =
        serde_json::json!({"a": {"x": [1, 2]}, "b": {"x": [1, 2]}, "c": [{"x": [1, 2]}, "b", 3]});
    assert_eq!(tree.root().json(), json);
    let third = [Step::Key("c".into()), Step::Index(2)];
    assert_eq!(Some(tree.root().locate(&third, false)), place(3, 13));
}

#[test]
fn problems_are_not_collected_without_end() {
    assert_eq!(read(&"a: 1\n".repeat(10_000), Format::Yaml).unwrap_err().len(), MAX_PROBLEMS);
    assert_eq!(read(&"- .nan\n".repeat(10_000), Format::Yaml).unwrap_err().len(), MAX_PROBLEMS);
}

#[test]
fn json_in_a_yaml_file_may_follow_comments() {
    let root = value("# a\n\n# b\n{\"a\": \"\\ud83d\\ude00\"}\n", Format::Yaml);
    assert_eq!(root.root().place(), Place { line: 4, column: 1 });
    // What is not JSON is reported as YAML.
    assert_eq!(value("{a: 1}", Format::Yaml).root().place(), Place { line: 1, column: 1 });
    assert!(wrong("# x\n{\"a\": 1,\n\"a\": 2}", Format::Yaml).message.contains("duplicate"));
}

const SCENARIO: &str = "name: x # c\nhosts: [A, B]\nlinks:\n  - &l {id: L, between: [A, B], rate: 1 Mbps}\n  - *l\n\
     flows:\n- id: 'F'\n  send: \"1\\u0020MB\"\ntext: >-\n  a\n  b\nmore: |\n  c\nset: {\"a\": 1e3, b: ~}\n";
const BITS: &str = "\n  \n- ?: [],{}'\"|>&*!%---\n...\n\t#@`\\x1u\u{e9}\u{feff}\u{85}~=.";

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    // Whatever is in a text: an answer, not a panic. The program aborts on panics.
    #[test]
    fn damaged_texts_are_read_or_refused(
        start in 0..200_usize,
        length in 0..250_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_usize), 1..12),
    ) {
        let bits: Vec<char> = BITS.chars().collect();
        let mut text: Vec<char> = SCENARIO.chars().skip(start).take(length).collect();
        for (at, bit, how) in edits {
            let at = at.index(text.len() + 1);
            match how {
                0 => text.truncate(at),
                1 if at < text.len() => { text.remove(at); }
                _ => text.insert(at, bits[bit.index(bits.len())]),
            }
        }
        let text: String = text.into_iter().collect();
        for format in [Format::Yaml, Format::Json, Format::Toml] {
            if let Err(problems) = read(&text, format) {
                prop_assert!(!problems.is_empty());
            }
        }
    }
}
