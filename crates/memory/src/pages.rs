//! Large arrays in large pages of memory.
//!
//! The flows and links of a large network, visited in turn, are more than the processor's table of pages covers, so that most
//! visits begin with a search for the page. Linux has pages of 2 MB, 512 times as large, but most systems give them only to
//! programs that ask for them (`madvise` in `/sys/kernel/mm/transparent_hugepage/enabled`). Arrays made here ask. That
//! changes where they lie and nothing else; on other systems they are ordinary arrays.
//!
//! Source: madvise(2), `MADV_HUGEPAGE`; Linux, Documentation/admin-guide/mm/transhuge.rst.

/// A large page on the processors that have them by default.
const PAGE_BYTES: usize = 2 << 20;

/// An empty array with room for `capacity` items.
pub fn with_capacity<T>(capacity: usize) -> Vec<T> {
    let mut array = Vec::with_capacity(capacity);
    if array.capacity() * size_of::<T>() >= PAGE_BYTES {
        // Before anything is in it: what lies in small pages stays there.
        ask(array.spare_capacity_mut());
    }
    array
}

/// An array with room for `more` items, and those of `array` in it.
pub fn with_room<T>(mut array: Vec<T>, more: usize) -> Vec<T> {
    let mut larger = with_capacity(array.len() + more);
    larger.append(&mut array);
    larger
}

/// Asks for large pages wherever whole ones lie in the memory.
#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "a hint to the system about memory that is borrowed alone; its contents stay"
)]
fn ask<T>(memory: &mut [std::mem::MaybeUninit<T>]) {
    let address = memory.as_mut_ptr().cast::<u8>();
    let before = address.align_offset(PAGE_BYTES);
    let whole = size_of_val(memory).saturating_sub(before) / PAGE_BYTES * PAGE_BYTES;
    if whole > 0 {
        // A system without large pages refuses, and the array is an ordinary one.
        unsafe { libc::madvise(address.wrapping_add(before).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask<T>(_: &mut [std::mem::MaybeUninit<T>]) {}
