//! The fingerprint of a run.

/// A hash of numbers in order: equal runs have equal digests, different runs almost surely not.
///
/// One multiplication and one rotation a number, so that it can follow a run at full speed. It is not
/// cryptographic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0x51_7C_C1_B7_27_22_0A_95)
    }
}

impl Digest {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0xF135_7AEA_2E62_A9C5);
    }

    /// The hash so far, with all bits mixed.
    pub const fn value(self) -> u64 {
        let z = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        z ^ (z >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_values_count() {
        let hash = |values: &[u64]| {
            let mut digest = Digest::default();
            values.iter().for_each(|&value| digest.add(value));
            digest.value()
        };
        let all = [hash(&[]), hash(&[0]), hash(&[0, 0]), hash(&[1, 2]), hash(&[2, 1])];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }
}
