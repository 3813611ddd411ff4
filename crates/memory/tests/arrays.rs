//! Arrays keep their items, and Linux knows which ones may lie in large pages.

use ackclock_memory::{with_capacity, with_room};

const PAGE_BYTES: usize = 2 << 20;

#[test]
fn arrays_keep_their_items() {
    for length in [0, 1, 100_000, 1_000_000] {
        let array = with_room((0..length).collect(), 1000);
        assert!(array.capacity() >= length + 1000);
        assert!(array.into_iter().eq(0..length));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_large_array_lies_in_pages_that_may_be_large() {
    let mut array = with_capacity::<u64>(1 << 20);
    array.resize(1 << 20, 1);
    let address = array.as_ptr().addr() + PAGE_BYTES;
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("a process has a map");
    let mut inside = false;
    let flags = maps.lines().find(|line| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let bounds = range.map(|(from, to)| [from, to].map(|end| usize::from_str_radix(end, 16)));
        if let Some([Ok(from), Ok(to)]) = bounds {
            inside = (from..to).contains(&address);
        }
        inside && line.starts_with("VmFlags:")
    });
    let flags = flags.expect("the array is on the map");
    let kernel = std::path::Path::new("/sys/kernel/mm/transparent_hugepage");
    assert!(!kernel.exists() || flags.split(' ').any(|flag| flag == "hg"), "{flags}");
}
