//! Named random streams.
//!
//! Each user of randomness has a stream of its own, keyed by the seed of the run and by a name such
//! as `loss/L1/forward`, never by the order of calls: adding a flow does not change another flow's
//! random numbers.

use crate::elementary::{exp, ln};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// One step of SplitMix64 (Steele, Lea, Flood 2014): spreads a number over all 64 bits.
#[inline]
pub const fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A random stream.
#[derive(Debug, Clone)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of `name` in a run with this seed.
    pub fn new(seed: u64, name: &str) -> Self {
        let mut state = mix(seed);
        for byte in name.bytes() {
            state = mix(state ^ u64::from(byte));
        }
        let mut key = [0; 32];
        for chunk in key.chunks_exact_mut(8) {
            state = mix(state);
            chunk.copy_from_slice(&state.to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A uniform number of 64 bits.
    // One copy of the generator is enough where the program has to be downloaded.
    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline)]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform real in [0, 1), with 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// An exponentially distributed number with mean 1, at most 36.8.
    pub fn exponential(&mut self) -> f64 {
        -ln(1.0 - self.uniform())
    }

    /// A normally distributed number with mean 0 and deviation 1 (Marsaglia's polar method).
    pub fn normal(&mut self) -> f64 {
        loop {
            let [u, v] = [0; 2].map(|_| 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * ln(s) / s).sqrt();
            }
        }
    }

    /// A Pareto distributed number: at least 1, and above x with probability x^-shape. The mean is
    /// shape / (shape - 1) for a shape above 1. Computed as e^(E / shape) with E exponential.
    pub fn pareto(&mut self, shape: f64) -> f64 {
        exp(self.exponential() / shape)
    }

    /// A uniform whole number below `bound` (at least 1), without bias to speak of: the error is
    /// below 2^-32 for bounds below 2^32.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        self.below_u64(bound as u64) as usize
    }

    /// The same for amounts that do not fit into a `usize` everywhere, such as nanoseconds.
    #[inline]
    pub fn below_u64(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Puts a slice into a uniformly random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_beyond_32_bits_are_drawn_whole_on_every_machine() {
        let mut stream = Stream::new(1, "amounts");
        let bound = 60_000_000_000;
        let drawn: Vec<u64> = (0..100).map(|_| stream.below_u64(bound)).collect();
        assert!(drawn.iter().all(|amount| *amount < bound));
        assert!(drawn.iter().any(|amount| *amount > bound / 2));
    }

    #[test]
    fn streams_depend_on_seed_and_name_only() {
        let first = Stream::new(1, "loss/L1").next_u64();
        assert_eq!(first, Stream::new(1, "loss/L1").next_u64());
        assert_ne!(first, Stream::new(2, "loss/L1").next_u64());
        assert_ne!(first, Stream::new(1, "loss/L2").next_u64());
    }

    #[test]
    fn uniform_numbers_have_the_right_mean_and_range() {
        let mut stream = Stream::new(1, "test");
        let draws: Vec<f64> = (0..100_000).map(|_| stream.uniform()).collect();
        assert!(draws.iter().all(|x| (0.0..1.0).contains(x)));
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        // Standard error 0.0009.
        assert!((mean - 0.5).abs() < 0.004, "mean {mean}");
    }

    #[test]
    fn exponential_numbers_have_the_right_mean_and_tail() {
        let mut stream = Stream::new(1, "exponential");
        let draws: Vec<f64> = (0..100_000).map(|_| stream.exponential()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        // Standard error 0.0032; that of the share beyond 2 is 0.0011.
        assert!((mean - 1.0).abs() < 0.013, "mean {mean}");
        let tail = draws.iter().filter(|x| **x > 2.0).count() as f64 / draws.len() as f64;
        assert!((tail - 0.1353).abs() < 0.0045, "tail {tail}");
    }

    #[test]
    fn pareto_numbers_have_the_right_least_and_tail() {
        let mut stream = Stream::new(1, "pareto");
        let draws: Vec<f64> = (0..100_000).map(|_| stream.pareto(1.5)).collect();
        assert!(draws.iter().all(|x| *x >= 1.0));
        for (bound, share) in [(2.0, 0.3536), (10.0, 0.0316), (100.0, 0.001)] {
            let tail = draws.iter().filter(|x| **x > bound).count() as f64 / draws.len() as f64;
            let error = f64::sqrt(share * (1.0 - share) / draws.len() as f64);
            assert!((tail - share).abs() < 4.0 * error, "beyond {bound}: {tail}");
        }
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut items: Vec<usize> = (0..50).collect();
        Stream::new(3, "order").shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }

    /// The first numbers of a stream are part of the contract: results depend on them.
    #[test]
    fn the_stream_is_pinned() {
        assert_eq!(Stream::new(1, "pinned").next_u64(), 6_629_040_559_479_896_294);
    }
}
