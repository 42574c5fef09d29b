//! What counts beside the fit: whose lesson it is, how well it is founded, how old it is, what came of it when it was shown.
//!
//! Factors a little below one, so that they order what fits alike and never put what does not fit before what does.

use std::time::Duration;

use crate::ghap::Tier;
use crate::injection::Effects;

/// What was learnt in another project counts so much.
const ELSEWHERE: f64 = 0.8;
/// How much a tier can take away.
const TIER: f64 = 0.2;
/// How much age can take away, and after how long half of that is gone.
const AGE: f64 = 0.1;
const HALF_LIFE: Duration = Duration::from_hours(180 * 24);
/// What nobody knows to have helped counts so much of what has often; each time it helped makes up for a part of that, and each
/// time it hurt costs several times as much.
const UNTRIED: f64 = 0.94;
const HELPED: f64 = 0.02;
const HURT: f64 = 0.08;
const WORST: f64 = 0.7;

/// How much it counts what came of a row when it was shown.
pub fn tried(effects: Effects) -> f64 {
    let tried = UNTRIED + HELPED * f64::from(effects.helped) - HURT * f64::from(effects.hurt);
    tried.clamp(WORST, 1.0)
}

/// How much a document counts beside its fit.
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
