//! Factors of the rank besides relevance: project, evidence, age, and effects when it was shown.
//!
//! The factors are a little below one, so they order documents of similar relevance and never put an irrelevant one
//! first.

use std::time::Duration;

use crate::ghap::Tier;
use crate::injection::EffectCounts;

/// Factor for documents of another project.
const OTHER_PROJECT_FACTOR: f64 = 0.8;
/// Maximum reduction by tier, or by importance.
const MAX_TIER_REDUCTION: f64 = 0.2;
/// Maximum reduction by age, and the age at which half of it applies.
const MAX_AGE_REDUCTION: f64 = 0.1;
const AGE_HALF_LIFE: Duration = Duration::from_hours(180 * 24);
/// Factor for documents without known effects. Each time a document helped adds a bonus, each time it hurt subtracts
/// several times as much.
const UNTRIED_FACTOR: f64 = 0.94;
const HELPED_BONUS: f64 = 0.02;
const HURT_PENALTY: f64 = 0.08;
const MIN_EFFECT_FACTOR: f64 = 0.7;

/// Returns the factor for the effects of a row.
pub fn effect_factor(effects: EffectCounts) -> f64 {
    let tried = UNTRIED_FACTOR + HELPED_BONUS * f64::from(effects.helped)
        - HURT_PENALTY * f64::from(effects.hurt);
    tried.clamp(MIN_EFFECT_FACTOR, 1.0)
}

/// Returns the factor for the importance of a memory, from 0 to 1.
pub fn importance_factor(importance: f64) -> f64 {
    1.0 - MAX_TIER_REDUCTION * (1.0 - importance)
}

/// Returns the product of all factors of a document.
pub fn rank_factor(
    is_elsewhere: bool,
    tier: Option<Tier>,
    age: Duration,
    effects: EffectCounts,
) -> f64 {
    let place = if is_elsewhere { OTHER_PROJECT_FACTOR } else { 1.0 };
    let tier = 1.0 - MAX_TIER_REDUCTION * (1.0 - tier.map_or(1.0, Tier::weight));
    let young = 0.5_f64.powf(age.as_secs_f64() / AGE_HALF_LIFE.as_secs_f64());
    place * tier * effect_factor(effects) * (1.0 - MAX_AGE_REDUCTION * (1.0 - young))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_factors_order_equal_matches() {
        let now = Duration::ZERO;
        let effects = |helped, hurt| EffectCounts { helped, hurt };
        let best = rank_factor(false, Some(Tier::Gold), now, effects(3, 0));
        assert!((best - 1.0).abs() < 1e-12);
        for less in [
            rank_factor(true, Some(Tier::Gold), now, effects(3, 0)),
            rank_factor(false, Some(Tier::Silver), now, effects(3, 0)),
            rank_factor(false, Some(Tier::Gold), AGE_HALF_LIFE, effects(3, 0)),
            rank_factor(false, Some(Tier::Gold), now, effects(2, 0)),
        ] {
            assert!(less < best && less >= 0.6, "{less}");
        }
        let oldest = rank_factor(true, Some(Tier::Abandoned), Duration::MAX, effects(0, 0));
        assert!(oldest > 0.55, "{oldest}");
    }

    #[test]
    fn harm_outweighs_help() {
        let of = |helped, hurt| effect_factor(EffectCounts { helped, hurt });
        assert!(of(0, 0) < of(1, 0) && of(1, 0) < of(3, 0));
        assert!(of(3, 1) < of(0, 0) && of(4, 1) >= of(0, 0));
        assert!((of(100, 0) - 1.0).abs() < 1e-12 && (of(0, 100) - MIN_EFFECT_FACTOR).abs() < 1e-12);
    }
}
