//! Where things are drawn: clusters by what they are about, their members around the middle of each.
//!
//! The middles of clusters are projected on the two directions in which they differ most, and then moved apart until none covers
//! another. Members go around the middle in a spiral, the nearest first, so that every one of them can be pointed at, also where
//! five of them say the same. The same input is always drawn the same.

use std::f64::consts::PI;

use rutter_memory::embed::{DIMS, Vector};

/// How far two members of a cluster are from each other.
const STEP: f64 = 9.0;
/// Around a cluster nothing is drawn so near.
const GAP: f64 = 26.0;
/// What belongs to no cluster keeps so far from anything.
const LONE: f64 = 7.0;
/// Rounds of moving apart; nearly always few are enough.
const ROUNDS: usize = 300;

/// A place on the map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Spot {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Where a cluster is, and each of its members.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Disc {
    pub(super) middle: Spot,
    pub(super) radius: f64,
    pub(super) members: Vec<Spot>,
}

/// The whole map. All of it is between 0 and its width and height.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Map {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) discs: Vec<Disc>,
    pub(super) lone: Vec<Spot>,
}

/// Draws clusters, each with its members from the middle on, and what belongs to none.
pub(super) fn draw(clusters: &[Vec<Vector>], lone: &[Vector]) -> Map {
    let middles: Vec<[f64; DIMS]> = clusters.iter().map(|members| middle(members)).collect();
    let radii: Vec<f64> = clusters.iter().map(|members| radius(members.len())).collect();
    // So much room that most of it is covered: what is apart is told by the distance, and what is empty by nothing.
    let area: f64 = radii.iter().map(|radius| (radius + GAP).powi(2) * PI).sum();
    let side = (area * 0.9).sqrt().max(200.0);
    let mut spots = projected(&middles, side * 1.4, side);
    let mut sizes: Vec<f64> = radii.iter().map(|radius| radius + GAP * 0.75).collect();
    apart(&mut spots, &sizes, 0);
    let fixed = spots.len();
    for (number, vector) in lone.iter().enumerate() {
        spots.push(between(&numbers(vector), &middles, &spots[..fixed], number, side));
        sizes.push(LONE);
    }
    apart(&mut spots, &sizes, fixed);
    framed(&spots, &radii, clusters)
}

/// Moves all of it into the frame.
fn framed(spots: &[Spot], radii: &[f64], clusters: &[Vec<Vector>]) -> Map {
    let reach = |at: usize| radii.get(at).map_or(LONE, |radius| radius + GAP);
    let low = |of: fn(&Spot) -> f64| {
        let all = spots.iter().enumerate().map(|(at, spot)| of(spot) - reach(at));
        all.fold(f64::INFINITY, f64::min)
    };
    let high = |of: fn(&Spot) -> f64| {
        let all = spots.iter().enumerate().map(|(at, spot)| of(spot) + reach(at));
        all.fold(f64::NEG_INFINITY, f64::max)
    };
    if spots.is_empty() {
        return Map::default();
    }
    let (left, top) = (low(|spot| spot.x), low(|spot| spot.y));
    let (width, height) = (high(|spot| spot.x) - left, high(|spot| spot.y) - top);
    let placed = |spot: &Spot| Spot { x: spot.x - left, y: spot.y - top };
    let discs = clusters.iter().zip(radii).zip(spots).map(|((members, radius), spot)| {
        let middle = placed(spot);
        let members = (0..members.len()).map(|number| spiral(middle, number)).collect();
        Disc { middle, radius: *radius, members }
    });
    let lone = spots[clusters.len()..].iter().map(placed).collect();
    Map { width, height, discs: discs.collect(), lone }
}

#[expect(clippy::cast_precision_loss, reason = "a count of members")]
fn radius(members: usize) -> f64 {
    STEP * (members as f64).sqrt() * 0.75 + 6.0
}

/// The place of a member, as seeds are in a sunflower.
#[expect(clippy::cast_precision_loss, reason = "a count of members")]
fn spiral(middle: Spot, number: usize) -> Spot {
    let (far, angle) =
        (STEP * 0.75 * (number as f64 + 0.5).sqrt(), number as f64 * PI * (3.0 - 5_f64.sqrt()));
    Spot { x: middle.x + far * angle.cos(), y: middle.y + far * angle.sin() }
}

fn numbers(vector: &Vector) -> [f64; DIMS] {
    vector.numbers().map(|number| f64::from(number) * f64::from(vector.scale()))
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Where members point together.
fn middle(members: &[Vector]) -> [f64; DIMS] {
    let mut sum = [0.0; DIMS];
    for member in members {
        for (sum, number) in sum.iter_mut().zip(numbers(member)) {
            *sum += number;
        }
    }
    let length = dot(&sum, &sum).sqrt().max(f64::MIN_POSITIVE);
    sum.map(|number| number / length)
}

/// The places by the two directions in which middles differ most: classical scaling of their distances.
fn projected(middles: &[[f64; DIMS]], width: f64, height: f64) -> Vec<Spot> {
    let count = middles.len();
    #[expect(clippy::cast_precision_loss, reason = "a count of clusters")]
    let many = count.max(1) as f64;
    let mut mean = [0.0; DIMS];
    for middle in middles {
        for (mean, number) in mean.iter_mut().zip(middle) {
            *mean += number / many;
        }
    }
    let centred: Vec<Vec<f64>> = middles
        .iter()
        .map(|middle| middle.iter().zip(mean).map(|(number, mean)| number - mean).collect())
        .collect();
    let mut gram: Vec<Vec<f64>> =
        centred.iter().map(|one| centred.iter().map(|other| dot(one, other)).collect()).collect();
    let first = strongest(&mut gram);
    let second = strongest(&mut gram);
    let stretch = |all: &[f64], to: f64| {
        let most = all.iter().fold(0.0_f64, |most, number| most.max(number.abs()));
        if most > 1e-9 { to / 2.0 / most } else { 0.0 }
    };
    let (across, down) = (stretch(&first, width), stretch(&second, height));
    (0..count).map(|at| Spot { x: first[at] * across, y: second[at] * down }).collect()
}

/// The strongest direction of a symmetric matrix, which is taken out of it.
fn strongest(gram: &mut [Vec<f64>]) -> Vec<f64> {
    let count = gram.len();
    // Any start does that is not by chance at right angles to what is looked for.
    let mut found: Vec<f64> = (0..count).map(|at| 1.0 + 0.37 * wave(at)).collect();
    let mut strength = 0.0;
    for _ in 0..200 {
        let next: Vec<f64> = gram.iter().map(|row| dot(row, &found)).collect();
        strength = dot(&next, &next).sqrt();
        if strength < 1e-12 {
            return vec![0.0; count];
        }
        found = next.into_iter().map(|number| number / strength).collect();
    }
    for (row, one) in gram.iter_mut().zip(&found) {
        for (number, other) in row.iter_mut().zip(&found) {
            *number -= strength * one * other;
        }
    }
    found
}

/// A number from -1 to 1 that is another for each place, and always the same.
#[expect(clippy::cast_precision_loss, reason = "a small number")]
fn wave(at: usize) -> f64 {
    (at as f64 * 2.399_963).sin()
}

/// Where something is that belongs to no cluster: between those that it is nearest to, and outside where it is near to none.
fn between(
    vector: &[f64; DIMS],
    middles: &[[f64; DIMS]],
    spots: &[Spot],
    number: usize,
    side: f64,
) -> Spot {
    let mut near: Vec<(f64, usize)> =
        middles.iter().enumerate().map(|(at, middle)| (dot(vector, middle).max(0.0), at)).collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    near.truncate(3);
    let all: f64 = near.iter().map(|(near, _)| near * near).sum();
    let mut spot = Spot::default();
    if all > 1e-9 {
        for (near, at) in &near {
            spot.x += spots[*at].x * near * near / all;
            spot.y += spots[*at].y * near * near / all;
        }
    }
    // None exactly where another is, or nobody could tell in which direction to move it.
    let strange = 1.0 - near.first().map_or(0.0, |(near, _)| *near);
    let off = side * 0.25 * strange;
    Spot { x: spot.x + off * wave(number + 1), y: spot.y + off * wave(number + 7) }
}

/// Moves things apart until none covers another. The first so many stay where they are.
fn apart(spots: &mut [Spot], sizes: &[f64], fixed: usize) {
    for _ in 0..ROUNDS {
        let mut moved = false;
        for one in 0..spots.len() {
            for other in (one + 1).max(fixed)..spots.len() {
                let (dx, dy) = (spots[other].x - spots[one].x, spots[other].y - spots[one].y);
                let least = sizes[one] + sizes[other];
                let far = dx.hypot(dy);
                if far >= least - 0.01 {
                    continue;
                }
                moved = true;
                let (dx, dy) = if far > 1e-6 {
                    (dx / far, dy / far)
                } else {
                    let angle = PI * wave(one + 3 * other);
                    (angle.cos(), angle.sin())
                };
                // The lighter one goes further.
                let share = if one < fixed { 0.0 } else { sizes[other] / least };
                let by = least - far;
                spots[one].x -= dx * by * share;
                spots[one].y -= dy * by * share;
                spots[other].x += dx * by * (1.0 - share);
                spots[other].y += dy * by * (1.0 - share);
            }
        }
        if !moved {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use rutter_memory::embed::embed;

    use super::*;

    fn far(one: Spot, other: Spot) -> f64 {
        (one.x - other.x).hypot(one.y - other.y)
    }

    fn vectors(texts: &[&str]) -> Vec<Vector> {
        texts.iter().map(|text| embed(text).unwrap()).collect()
    }

    fn clusters() -> Vec<Vec<Vector>> {
        vec![
            vectors(&["the connection pool is empty"; 30]),
            vectors(&["the connection pool ran out", "no connection is left in the pool"]),
            vectors(&["sort by the date in the calendar", "the date has no time zone"]),
        ]
    }

    #[test]
    fn nothing_covers_anything_else_and_all_is_in_the_frame() {
        let lone = vectors(&["an icon for the weather"; 12]);
        let map = draw(&clusters(), &lone);
        assert_eq!((map.discs.len(), map.lone.len()), (3, 12));
        for (at, one) in map.discs.iter().enumerate() {
            for other in &map.discs[at + 1..] {
                assert!(far(one.middle, other.middle) > one.radius + other.radius);
            }
            for (number, spot) in one.members.iter().enumerate() {
                assert!(far(one.middle, *spot) < one.radius);
                assert!(one.members[number + 1..].iter().all(|other| far(*spot, *other) > 5.0));
            }
            for spot in &map.lone {
                assert!(far(one.middle, *spot) > one.radius);
            }
        }
        let mut all = map.discs.iter().flat_map(|disc| &disc.members).chain(&map.lone);
        assert!(
            all.all(
                |spot| (0.0..map.width).contains(&spot.x) && (0.0..map.height).contains(&spot.y)
            )
        );
        assert_eq!(draw(&clusters(), &lone), map, "the same is drawn the same");
    }

    #[test]
    fn what_is_alike_is_near() {
        let map = draw(&clusters(), &[]);
        let [one, two, other] = [0, 1, 2].map(|at| map.discs[at].middle);
        assert!(far(one, two) < far(one, other), "{map:?}");
    }

    #[test]
    fn few_or_none_are_drawn_too() {
        assert_eq!(draw(&[], &[]), Map::default());
        let one = draw(&clusters()[..1], &[]);
        assert!(one.width > 0.0 && one.discs[0].members.len() == 30);
        let lone = draw(&[], &vectors(&["alone", "and another"]));
        assert!(far(lone.lone[0], lone.lone[1]) >= LONE);
    }
}
