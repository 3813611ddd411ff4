use super::Dimension::{Packets, Rate, Size, Time};
use super::*;
use proptest::prelude::*;

fn rate(text: &str) -> u64 {
    match parse(text, &[Rate]) {
        Ok(Quantity::Rate(value)) => value,
        other => panic!("{text}: {other:?}"),
    }
}

fn size(text: &str) -> u64 {
    match parse(text, &[Size]) {
        Ok(Quantity::Size(value)) => value,
        other => panic!("{text}: {other:?}"),
    }
}

fn time(text: &str) -> u64 {
    match parse(text, &[Time]) {
        Ok(Quantity::Time(value)) => value,
        other => panic!("{text}: {other:?}"),
    }
}

fn refused(text: &str, dimensions: &[Dimension]) -> String {
    let error = parse(text, dimensions).expect_err(text);
    match error.hint {
        Some(hint) => format!("{} | {hint}", error.message),
        None => error.message,
    }
}

#[test]
fn quantities_are_exact() {
    assert_eq!(rate("10 Mbps"), 10_000_000);
    assert_eq!(rate("10Mbps"), 10_000_000);
    assert_eq!(rate("10 Mb/s"), 10_000_000);
    assert_eq!(rate("10 MB/s"), 80_000_000);
    assert_eq!(rate("10 Mibps"), 10_485_760);
    assert_eq!(rate("12.5 Mibps"), 13_107_200);
    assert_eq!(rate("1e6 bps"), 1_000_000);
    assert_eq!(rate("1.5e-3 Mbit/s"), 1500);
    assert_eq!(rate("1 MB/s"), 8_000_000);
    assert_eq!(rate(".5 kbps"), 500);
    assert_eq!(size("64 KiB"), 65_536);
    assert_eq!(size("64 KB"), 64_000);
    assert_eq!(size("1.5 KiB"), 1536);
    assert_eq!(size("16 bit"), 2);
    assert_eq!(size("1 kbit"), 125);
    assert_eq!(size("0.0625 KiB"), 64);
    assert_eq!(time("0.5 s"), 500_000_000);
    assert_eq!(time("0.1 us"), 100);
    assert_eq!(time("1 \u{b5}s"), 1000);
    assert_eq!(time("2 h"), 7_200_000_000_000);
    assert_eq!(time("0.000 s"), 0);
    assert_eq!(time("1.000000000000000000000000000000000000000000000 s"), 1_000_000_000);
    assert_eq!(parse("20 packets", &[Size, Packets]), Ok(Quantity::Packets(20)));
    assert_eq!(parse("64 KiB", &[Size, Packets]), Ok(Quantity::Size(65_536)));
    assert_eq!(size("18446744073709551615 B"), u64::MAX);
}

#[test]
fn what_is_no_whole_number_or_too_large_is_refused() {
    assert_eq!(
        refused("0.5 ns", &[Time]),
        "`0.5 ns` is not a whole number of nanoseconds, which is the resolution"
    );
    assert_eq!(
        refused("0.5 bps", &[Rate]),
        "`0.5 bps` is not a whole number of bits per second, which is the resolution"
    );
    assert_eq!(
        refused("3 bit", &[Size]),
        "`3 bit` is not a whole number of bytes, which is the resolution"
    );
    assert_eq!(
        refused("1e-400 s", &[Time]),
        "`1e-400 s` is not a whole number of nanoseconds, which is the resolution"
    );
    assert_eq!(
        refused("1.5 packets", &[Size, Packets]),
        "`1.5 packets` is not a whole number of packets, which is the resolution"
    );
    assert_eq!(refused("1e308 s", &[Time]), "`1e308 s` is too large");
    assert_eq!(refused("1e99999999999 s", &[Time]), "`1e99999999999 s` is too large");
    assert_eq!(refused("18446744073709551616 B", &[Size]), "`18446744073709551616 B` is too large");
}

#[test]
fn errors_teach() {
    for (text, dimensions, expected) in [
        ("10", &[Rate][..], "`10` has no unit | for example `10 Mbps`"),
        ("1000000", &[Rate], "`1000000` has no unit | for example `1000000 bps`"),
        ("10", &[Size, Packets], "`10` has no unit | for example `10 KiB` or `10 packets`"),
        ("10Mb", &[Rate], "`10Mb` is an amount of data; a rate is `10 Mbps`"),
        ("10 MB", &[Rate], "`10 MB` is an amount of data; a rate is `10 MB/s`"),
        ("10 Mbit", &[Rate], "`10 Mbit` is an amount of data; a rate is `10 Mbps`"),
        (
            "64 KBps",
            &[Rate],
            "`64 KBps`: `KBps` is not used, since `B` and `b` are easily confused | \
             bytes per second are `64 kB/s`, bits per second are `64 kbps`",
        ),
        ("10 mbps", &[Rate], "unknown unit `mbps` in `10 mbps` | did you mean `10 Mbps`?"),
        ("10 Kbps", &[Rate], "unknown unit `Kbps` in `10 Kbps` | did you mean `10 kbps`?"),
        ("10 M", &[Rate], "`10 M` has no unit, only a prefix | bits per second are `10 Mbps`"),
        ("10 ms", &[Rate], "`10 ms` is a time, not a rate | for example `10 Mbps`"),
        ("10 Mb", &[Size], "`10 Mb` may be bits or bytes | bits are `10 Mbit`, bytes are `10 MB`"),
        ("10 Mbps", &[Size], "`10 Mbps` is a rate; an amount of data is `10 Mbit`"),
        ("10 k", &[Size, Packets], "`10 k` has no unit, only a prefix | bytes are `10 kB`"),
        (
            "100 packet",
            &[Size],
            "`100 packet` is a number of packets, not an amount of data | for example `10 KiB`",
        ),
        (
            "5 m",
            &[Time],
            "`5 m` may be minutes or milliseconds | minutes are `5 min`, milliseconds are `5 ms`",
        ),
        ("5 sec", &[Time], "unknown unit `sec` in `5 sec` | did you mean `5 s`?"),
        ("5 parsec", &[Time], "unknown unit `parsec` in `5 parsec`"),
        ("-5 ms", &[Time], "`-5 ms` is negative"),
        ("-0.0 ms", &[Time], "`-0.0 ms` is negative | write `0 ms`"),
        ("nan s", &[Time], "`nan s` is not a finite number"),
        ("-.inf", &[Time], "`-.inf` is not a finite number"),
        ("", &[Time], "nothing is written here | for example `10 ms`"),
        ("fast", &[Rate], "`fast` does not begin with a number | for example `10 Mbps`"),
        (
            "0,5 s",
            &[Time],
            "`0,5 s`: a number has digits and a point only | decimals follow a point: `0.5 s`",
        ),
        (
            "1_000 bps",
            &[Rate],
            "`1_000 bps`: a number has digits and a point only | write `1000 bps`",
        ),
    ] {
        assert_eq!(refused(text, dimensions), expected);
    }
}

#[test]
fn printed_quantities_are_short() {
    for (quantity, expected) in [
        (Quantity::Rate(10_485_760), "10 Mibps"),
        (Quantity::Rate(12_500_000), "12.5 Mbps"),
        (Quantity::Rate(13_107_200), "12.5 Mibps"),
        (Quantity::Rate(0), "0 bps"),
        (Quantity::Rate(500), "500 bps"),
        (Quantity::Size(65_536), "64 KiB"),
        (Quantity::Size(1460), "1460 B"),
        (Quantity::Size(1500), "1500 B"),
        (Quantity::Size(20_000_000), "20 MB"),
        (Quantity::Time(500_000_000), "500 ms"),
        (Quantity::Time(1_500_000_000), "1.5 s"),
        (Quantity::Time(62_000_000_000), "62 s"),
        (Quantity::Time(60_000_000_000), "60 s"),
        (Quantity::Time(7_200_000_000_000), "2 h"),
        (Quantity::Time(0), "0 s"),
        (Quantity::Packets(1), "1 packet"),
        (Quantity::Packets(100), "100 packets"),
        (Quantity::Products(0), "0 BDP"),
        (Quantity::Products(250), "0.25 BDP"),
        (Quantity::Products(2000), "2 BDP"),
    ] {
        assert_eq!(quantity.to_string(), expected);
    }
}

#[test]
fn every_unit_is_named_once() {
    let names: std::collections::BTreeSet<&str> = UNITS.iter().map(|unit| unit.name).collect();
    assert_eq!(names.len(), UNITS.len());
}

fn values() -> impl Strategy<Value = u64> {
    // Numbers of all lengths, round ones included.
    prop_oneof![
        any::<u64>(),
        (0_u64..10_000, 0_u32..15).prop_map(|(n, e)| n * 10_u64.pow(e)),
        (0_u64..10_000, 0_u32..40).prop_map(|(n, e)| n << e),
    ]
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(value in values()) {
        for quantity in [
            Quantity::Rate(value),
            Quantity::Size(value),
            Quantity::Packets(value),
            Quantity::Time(value),
        ] {
            let text = quantity.to_string();
            prop_assert_eq!(parse(&text, &[Rate, Size, Packets, Time]), Ok(quantity), "{}", text);
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,20}|[-+]?[0-9.]{0,60}(e[-+]?[0-9]{0,12})? ?[a-zA-Z/\u{b5}]{0,5}") {
        for dimensions in [&[Rate][..], &[Size], &[Size, Packets], &[Time]] {
            if let Ok(quantity) = parse(&text, dimensions) {
                prop_assert_eq!(parse(&quantity.to_string(), dimensions), Ok(quantity));
            }
        }
    }
}
