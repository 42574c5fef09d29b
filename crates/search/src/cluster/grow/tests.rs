//! Checks that the groups are the same whether all members are read or only the necessary ones.

use std::collections::BTreeMap;
use std::convert::Infallible;

use rutter_testkit::dice::SeededRandom;

use super::{Grouping, GroupingRule, MIN_CLUSTER_SIZE};
use crate::cluster::{Axis, TextPoint};
use crate::embed::{VECTOR_DIMS, Vector};

/// Returns a point between two directions.
fn point_between(one: usize, another: usize, share: f32, weight: f32) -> TextPoint {
    let mut sums = [0.0; VECTOR_DIMS];
    sums[one] += 1.0 - share;
    sums[another] += share;
    TextPoint { vector: Vector::from_sums(&sums).unwrap(), weight }
}

/// Adds texts in batches of up to `most`, once with all members read and once with as few as possible. Returns the
/// number of texts that were read, the number that could have been read, and the number of merges into unread groups.
fn grow_both_ways(
    points: &[TextPoint],
    dice: &mut SeededRandom,
    most: usize,
) -> (usize, usize, usize) {
    let rule = GroupingRule { join: 0.22, merge: 0.24, ..GroupingRule::for_axis(Axis::RootCause) };
    let (mut of, mut unrest) = (Vec::new(), BTreeMap::new());
    let mut left = BTreeMap::new();
    let (mut read, mut all, mut unread) = (0, 0, 0);
    while of.len() < points.len() {
        let (from, to) = (of.len(), (of.len() + 1 + dice.below(most)).min(points.len()));
        let mut before: Vec<Option<u32>> = of.clone();
        before.resize(to, None);
        let mut full = Grouping::new(rule, &points[..to], before.clone()).with_unrest(&unrest);
        full.grow(&(from..to).collect::<Vec<_>>());

        let mut kept = Grouping::from_states(rule, left);
        let order = |at: usize| i64::try_from(at).unwrap();
        let places = |wanted: Option<u32>| {
            let places = (0..to).filter(|at| before[*at] == wanted);
            places.map(|at| (order(at), points[at])).collect::<Vec<_>>()
        };
        let mut known = Vec::new();
        for (at, point) in places(None) {
            kept.add(at, &point, None);
            known.push(at);
        }
        let new: Vec<usize> =
            (0..known.len()).filter(|place| known[*place] >= order(from)).collect();
        let mut members = |number: u32| {
            let members = places(Some(number));
            known.extend(members.iter().map(|(at, _)| *at));
            Ok::<_, Infallible>(members)
        };
        let Ok(()) = kept.grow_with(&new, &mut members);
        let parts: BTreeMap<u32, u32> = kept.unread_parts().collect();
        let mut after: Vec<Option<u32>> = before.clone();
        for number in after.iter_mut().flatten() {
            *number = parts.get(number).copied().unwrap_or(*number);
        }
        for (at, number) in known.iter().zip(kept.group_numbers()) {
            after[usize::try_from(*at).unwrap()] = *number;
        }
        assert_eq!(after, full.group_numbers());
        assert_eq!(kept.merged(), full.merged());
        assert_eq!(kept.unrest(), full.unrest());
        read += known.len();
        all += to;
        unread += parts.iter().filter(|(from, into)| from != into).count();
        of = full.group_numbers().to_vec();
        unrest.clone_from(full.unrest());
        left = kept.states().collect();
        for (number, left) in &left {
            let size = of.iter().filter(|own| **own == Some(*number)).count();
            assert_eq!(left.group.size, size);
            assert!(size >= MIN_CLUSTER_SIZE);
        }
    }
    (read, all, unread)
}

#[test]
fn unread_members_change_nothing() {
    let (mut read, mut all) = (0, 0);
    for seed in 0..8 {
        let mut dice = SeededRandom::new(seed);
        let weights = [1.0, 0.8, 0.5, 0.2];
        let points: Vec<TextPoint> = (0..400)
            .map(|_| {
                // A few causes make up most of the texts, and some texts are between two causes.
                let (one, another) = (dice.weighted_below(8), dice.below(8));
                #[expect(clippy::cast_precision_loss, reason = "a number below ten")]
                let share = dice.below(10) as f32 / 14.0;
                point_between(one, another, share, *dice.pick(&weights))
            })
            .collect();
        let (some, every, _) = grow_both_ways(&points, &mut dice, 12);
        read += some;
        all += every;
    }
    assert!(read * 3 < all * 2, "{read} of {all}");
}

/// A small group moves towards a large one, text by text, until they merge; too few texts came to check the members
/// again.
#[test]
fn small_group_merges_into_unread() {
    // A group of this size had its members checked only just before.
    let mut points = vec![point_between(0, 0, 0.0, 1.0); 580];
    points.extend(vec![point_between(1, 1, 0.0, 1.0); 3]);
    points.extend(vec![point_between(1, 0, 0.49, 1.0); 6]);
    let (read, all, unread) = grow_both_ways(&points, &mut SeededRandom::new(1), 1);
    assert!(unread > 0);
    assert!(read * 2 < all, "{read} of {all}");
}
