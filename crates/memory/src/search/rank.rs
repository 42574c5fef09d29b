//! What counts beside the fit: whose lesson it is, how well it is founded, how old it is.
//!
//! Factors a little below one, so that they order what fits alike and never put what does not fit before what does.

use std::time::Duration;

use crate::ghap::Tier;

/// What was learnt in another project counts so much.
const ELSEWHERE: f64 = 0.8;
/// How much a tier can take away.
const TIER: f64 = 0.2;
/// How much age can take away, and after how long half of that is gone.
const AGE: f64 = 0.1;
const HALF_LIFE: Duration = Duration::from_hours(180 * 24);

/// How much a document counts beside its fit.
pub fn prior(is_elsewhere: bool, tier: Option<Tier>, age: Duration) -> f64 {
    let place = if is_elsewhere { ELSEWHERE } else { 1.0 };
    let tier = 1.0 - TIER * (1.0 - tier.map_or(1.0, Tier::weight));
    let young = 0.5_f64.powf(age.as_secs_f64() / HALF_LIFE.as_secs_f64());
    place * tier * (1.0 - AGE * (1.0 - young))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_order_what_fits_alike() {
        let now = Duration::ZERO;
        let best = prior(false, Some(Tier::Gold), now);
        assert!((best - 1.0).abs() < 1e-12);
        for less in [
            prior(true, Some(Tier::Gold), now),
            prior(false, Some(Tier::Silver), now),
            prior(false, Some(Tier::Gold), HALF_LIFE),
        ] {
            assert!(less < best && less >= 0.6, "{less}");
        }
        let oldest = prior(true, Some(Tier::Abandoned), Duration::MAX);
        assert!(oldest > 0.6, "{oldest}");
    }
}
