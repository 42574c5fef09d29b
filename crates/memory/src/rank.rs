//! Factors of the rank besides relevance: project, evidence, age, and effects when it was shown.
//!
//! The factors are a little below one, so they order documents of similar relevance and never put an irrelevant one
//! first.

use std::time::Duration;

use crate::ghap::Tier;
use crate::injection::Effects;

/// Factor for documents of another project.
const ELSEWHERE: f64 = 0.8;
/// Maximum reduction by tier.
const TIER: f64 = 0.2;
/// Maximum reduction by age, and the age at which half of it applies.
const AGE: f64 = 0.1;
const HALF_LIFE: Duration = Duration::from_hours(180 * 24);
/// Factor for documents without known effects. Each time a document helped adds a bonus, each time it hurt subtracts
/// several times as much.
const UNTRIED: f64 = 0.94;
const HELPED: f64 = 0.02;
const HURT: f64 = 0.08;
const WORST: f64 = 0.7;

/// Returns the factor for the effects of a row.
pub fn tried(effects: Effects) -> f64 {
    let tried = UNTRIED + HELPED * f64::from(effects.helped) - HURT * f64::from(effects.hurt);
    tried.clamp(WORST, 1.0)
}

/// Returns the product of all factors of a document.
pub fn prior(is_elsewhere: bool, tier: Option<Tier>, age: Duration, effects: Effects) -> f64 {
    let place = if is_elsewhere { ELSEWHERE } else { 1.0 };
    let tier = 1.0 - TIER * (1.0 - tier.map_or(1.0, Tier::weight));
    let young = 0.5_f64.powf(age.as_secs_f64() / HALF_LIFE.as_secs_f64());
    place * tier * tried(effects) * (1.0 - AGE * (1.0 - young))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_order_what_fits_alike() {
        let now = Duration::ZERO;
        let effects = |helped, hurt| Effects { helped, hurt };
        let best = prior(false, Some(Tier::Gold), now, effects(3, 0));
        assert!((best - 1.0).abs() < 1e-12);
        for less in [
            prior(true, Some(Tier::Gold), now, effects(3, 0)),
            prior(false, Some(Tier::Silver), now, effects(3, 0)),
            prior(false, Some(Tier::Gold), HALF_LIFE, effects(3, 0)),
            prior(false, Some(Tier::Gold), now, effects(2, 0)),
        ] {
            assert!(less < best && less >= 0.6, "{less}");
        }
        let oldest = prior(true, Some(Tier::Abandoned), Duration::MAX, effects(0, 0));
        assert!(oldest > 0.55, "{oldest}");
    }

    #[test]
    fn harm_counts_more_than_help_and_neither_without_end() {
        let of = |helped, hurt| tried(Effects { helped, hurt });
        assert!(of(0, 0) < of(1, 0) && of(1, 0) < of(3, 0));
        assert!(of(3, 1) < of(0, 0) && of(4, 1) >= of(0, 0));
        assert!((of(100, 0) - 1.0).abs() < 1e-12 && (of(0, 100) - WORST).abs() < 1e-12);
    }
}
