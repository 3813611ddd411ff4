//! The units that documents may use.

use super::Dimension::{self, Packets, Products, Rate, Size, Time};

/// A unit: `factor / divisor` units of the model.
pub(super) struct Unit {
    pub name: &'static str,
    pub dimension: Dimension,
    pub factor: u128,
    pub divisor: u128,
    /// Another spelling, left out of the lists in messages.
    pub alias: bool,
    /// Used for printing.
    pub printed: bool,
}

const fn unit(name: &'static str, dimension: Dimension, factor: u128) -> Unit {
    Unit { name, dimension, factor, divisor: 1, alias: false, printed: true }
}

const fn other(name: &'static str, dimension: Dimension, factor: u128) -> Unit {
    Unit { printed: false, ..unit(name, dimension, factor) }
}

const fn alias(name: &'static str, dimension: Dimension, factor: u128) -> Unit {
    Unit { alias: true, ..other(name, dimension, factor) }
}

const K: u128 = 1000;
const M: u128 = 1_000_000;
const G: u128 = 1_000_000_000;
const T: u128 = 1_000_000_000_000;
const KI: u128 = 1 << 10;
const MI: u128 = 1 << 20;
const GI: u128 = 1 << 30;
const TI: u128 = 1 << 40;

/// All units, the usual ones of each dimension first.
pub(super) static UNITS: &[Unit] = &[
    unit("bps", Rate, 1),
    unit("kbps", Rate, K),
    unit("Mbps", Rate, M),
    unit("Gbps", Rate, G),
    unit("Tbps", Rate, T),
    unit("Kibps", Rate, KI),
    unit("Mibps", Rate, MI),
    unit("Gibps", Rate, GI),
    alias("bit/s", Rate, 1),
    alias("kbit/s", Rate, K),
    alias("Mbit/s", Rate, M),
    alias("Gbit/s", Rate, G),
    alias("Tbit/s", Rate, T),
    alias("Kibit/s", Rate, KI),
    alias("Mibit/s", Rate, MI),
    alias("Gibit/s", Rate, GI),
    alias("b/s", Rate, 1),
    alias("kb/s", Rate, K),
    alias("Mb/s", Rate, M),
    alias("Gb/s", Rate, G),
    alias("Tb/s", Rate, T),
    other("B/s", Rate, 8),
    other("kB/s", Rate, 8 * K),
    other("MB/s", Rate, 8 * M),
    other("GB/s", Rate, 8 * G),
    other("KiB/s", Rate, 8 * KI),
    other("MiB/s", Rate, 8 * MI),
    other("GiB/s", Rate, 8 * GI),
    unit("B", Size, 1),
    unit("kB", Size, K),
    alias("KB", Size, K),
    unit("MB", Size, M),
    unit("GB", Size, G),
    unit("TB", Size, T),
    unit("KiB", Size, KI),
    unit("MiB", Size, MI),
    unit("GiB", Size, GI),
    unit("TiB", Size, TI),
    Unit { divisor: 8, ..other("bit", Size, 1) },
    other("kbit", Size, K / 8),
    other("Mbit", Size, M / 8),
    other("Gbit", Size, G / 8),
    unit("packets", Packets, 1),
    alias("packet", Packets, 1),
    alias("pkts", Packets, 1),
    alias("pkt", Packets, 1),
    alias("segments", Packets, 1),
    alias("segment", Packets, 1),
    unit("BDP", Products, K),
    alias("bdp", Products, K),
    unit("ns", Time, 1),
    unit("us", Time, K),
    // The micro sign, and the Greek letter that looks like it.
    alias("\u{b5}s", Time, K),
    alias("\u{3bc}s", Time, K),
    unit("ms", Time, M),
    unit("s", Time, G),
    unit("min", Time, 60 * G),
    unit("h", Time, 3600 * G),
    unit("d", Time, 86_400 * G),
];

/// The unit of this name, if it measures one of `dimensions`.
pub(super) fn find(name: &str, dimensions: &[Dimension]) -> Option<&'static Unit> {
    UNITS.iter().find(|unit| unit.name == name && dimensions.contains(&unit.dimension))
}

/// What the unit of this name measures.
pub(super) fn dimension_of(name: &str) -> Option<Dimension> {
    UNITS.iter().find(|unit| unit.name == name).map(|unit| unit.dimension)
}
