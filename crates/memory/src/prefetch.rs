//! Memory that will be used soon.
//!
//! A processor that needs what is in none of its caches waits for some hundred cycles, unless it was told before. Nothing
//! waits for what is asked for here; it is forgotten if the cache line is there already.
//!
//! Source: AMD64 Architecture Programmer's Manual, volume 3, PREFETCHlevel; Arm Architecture Reference Manual, PRFM.

use std::ops::Range;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for some of the cache lines of an item; on processors other than x86-64 and AArch64, does nothing.
#[inline(always)]
pub fn prefetch<T>(item: &T, lines: Range<usize>) {
    debug_assert!(lines.end <= size_of::<T>().div_ceil(LINE), "lines of another item");
    let address = std::ptr::from_ref(item).cast::<u8>();
    for line in lines {
        prefetch_line(address.wrapping_add(line * LINE));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code, reason = "a hint, which no address makes fail")]
fn prefetch_line(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
#[allow(unsafe_code, reason = "a hint, which no address makes fail")]
fn prefetch_line(address: *const u8) {
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn prefetch_line(_: *const u8) {}
