//! Reproducible random numbers.

/// A seeded random number generator (splitmix64).
#[derive(Debug, Clone)]
pub struct SeededRandom(u64);

impl SeededRandom {
    /// Creates a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a random number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number below `limit`; 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next_u64() % limit).unwrap_or_default()
    }

    /// Returns a random number below `limit`; the n-th is 1/(n + 3) as likely.
    pub fn weighted_below(&mut self, limit: usize) -> usize {
        let weight = |place: usize| 1_000_000 / (place + 3);
        let mut drawn = self.below((0..limit).map(weight).sum());
        for place in 0..limit {
            match drawn.checked_sub(weight(place)) {
                Some(left) => drawn = left,
                None => return place,
            }
        }
        0
    }

    /// Returns a random element.
    ///
    /// # Panics
    /// If the slice is empty.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Shuffles a slice.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for place in (1..all.len()).rev() {
            all.swap(place, self.below(place + 1));
        }
    }
}
