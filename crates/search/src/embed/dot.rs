//! Dot products of byte vectors. The only file of the crate that uses processor-specific instructions.

use super::Components;

/// Returns the fastest implementation for this processor.
pub(super) fn best_dot() -> fn(&Components, &Components) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the compiler does not know the processor")]
        // SAFETY: the processor has AVX2, as detected in the line above.
        return |a, b| unsafe { avx2(a, b) };
    }
    #[cfg(target_arch = "aarch64")]
    return neon;
    #[cfg(not(target_arch = "aarch64"))]
    portable_dot
}

/// The implementation for every processor; the others must give the same results.
pub(super) fn portable_dot(a: &Components, b: &Components) -> i32 {
    let product = |(&a, &b): (&u8, &u8)| i32::from(a.cast_signed()) * i32::from(b.cast_signed());
    a.iter().zip(b).map(product).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(a: &Components, b: &Components) -> i32 {
    use std::arch::x86_64::{
        __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_shuffle_epi32,
        _mm_unpackhi_epi64, _mm256_add_epi32, _mm256_castsi256_si128, _mm256_cvtepi8_epi16,
        _mm256_extracti128_si256, _mm256_madd_epi16, _mm256_setzero_si256,
    };
    #[target_feature(enable = "avx2")]
    fn wide(bytes: &[u8; 16]) -> __m256i {
        #[expect(unsafe_code, reason = "loads go by pointer")]
        // SAFETY: reads 16 bytes of an array of 16; the load needs no alignment.
        let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
        _mm256_cvtepi8_epi16(bytes)
    }
    let mut sum = _mm256_setzero_si256();
    for (a, b) in a.as_chunks().0.iter().zip(b.as_chunks().0) {
        // Two products of bytes are below 2^16, and their sums are of 32 bits.
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(wide(a), wide(b)));
    }
    let sum = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
    let sum = _mm_add_epi32(sum, _mm_unpackhi_epi64(sum, sum));
    _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32::<1>(sum)))
}

#[cfg(target_arch = "aarch64")]
fn neon(a: &Components, b: &Components) -> i32 {
    use std::arch::aarch64::{
        int8x16_t, vaddvq_s32, vdupq_n_s32, vget_low_s8, vld1q_s8, vmull_high_s8, vmull_s8,
        vpadalq_s16,
    };
    fn load(bytes: &[u8; 16]) -> int8x16_t {
        #[expect(unsafe_code, reason = "loads go by pointer")]
        // SAFETY: reads 16 bytes of an array of 16; every aarch64 processor has NEON.
        unsafe {
            vld1q_s8(bytes.as_ptr().cast())
        }
    }
    #[expect(unsafe_code, reason = "the compiler does not take it for granted")]
    // SAFETY: every aarch64 processor has NEON.
    unsafe {
        let mut sum = vdupq_n_s32(0);
        for (a, b) in a.as_chunks().0.iter().zip(b.as_chunks().0) {
            let (a, b) = (load(a), load(b));
            // A product of two bytes is at most 2^14 and fits 16 bits.
            sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
            sum = vpadalq_s16(sum, vmull_high_s8(a, b));
        }
        vaddvq_s32(sum)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::embed::VECTOR_DIMS;

    fn numbers() -> impl Strategy<Value = Components> {
        // The extreme values come as often as all others.
        let byte = prop_oneof![any::<u8>(), Just(127), Just(128), Just(255)];
        prop::collection::vec(byte, VECTOR_DIMS).prop_map(|bytes| bytes.try_into().unwrap())
    }

    proptest! {
        #[test]
        fn best_equals_portable((a, b) in (numbers(), numbers())) {
            let plain: i64 = a.iter().zip(&b).map(|(&a, &b)| i64::from(a.cast_signed()) * i64::from(b.cast_signed())).sum();
            prop_assert_eq!(i64::from(portable_dot(&a, &b)), plain);
            prop_assert_eq!(best_dot()(&a, &b), portable_dot(&a, &b));
        }
    }

    #[test]
    fn the_largest_sum_fits() {
        let (low, high) = ([128; VECTOR_DIMS], [127; VECTOR_DIMS]);
        for (a, b) in [(&low, &low), (&low, &high), (&high, &high)] {
            assert_eq!(best_dot()(a, b), portable_dot(a, b));
        }
        assert_eq!(portable_dot(&low, &low), 1 << 22);
    }
}
