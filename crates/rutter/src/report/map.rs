//! The layout of the cluster map: similar clusters are near each other, members surround the centre of their cluster.
//!
//! The centres of clusters are projected on the two directions of greatest variance, and then moved apart until none
//! overlaps another. Members are placed in a spiral around the centre, the nearest first, so that the pointer can reach
//! each of them, even if five have the same text. The layout is deterministic.

use std::f64::consts::PI;

use rutter_search::embed::{DIMS, Vector};

/// Distance between two members of a cluster.
const STEP: f64 = 9.0;
/// Empty margin around a cluster.
const GAP: f64 = 26.0;
/// Empty margin around an experience without a cluster.
const LONE: f64 = 7.0;
/// Maximum rounds of moving overlapping items apart. Few are enough in nearly all cases.
const ROUNDS: usize = 300;

/// A point on the map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Spot {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The position of a cluster and of its members.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Disc {
    pub(super) middle: Spot,
    pub(super) radius: f64,
    pub(super) members: Vec<Spot>,
}

/// The whole map. All coordinates are between 0 and the width or height.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Map {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) discs: Vec<Disc>,
    pub(super) lone: Vec<Spot>,
}

/// Computes the map of clusters, each with its members ordered from the centre outwards, and of lone experiences.
pub(super) fn draw(clusters: &[Vec<Vector>], lone: &[Vector]) -> Map {
    let middles: Vec<[f64; DIMS]> = clusters.iter().map(|members| middle(members)).collect();
    let radii: Vec<f64> = clusters.iter().map(|members| radius(members.len())).collect();
    // The map is so small that clusters cover most of it: distances carry information, empty space does not.
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

/// Shifts all points so that the map starts at 0, and computes its size.
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

/// Returns the position of a member, arranged like seeds in a sunflower.
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

/// Returns the normalized mean direction of the members.
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

/// Projects the centres on the two directions of greatest variance: classical scaling of their distances.
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

/// Returns the dominant eigenvector of a symmetric matrix, and subtracts its component from the matrix.
fn strongest(gram: &mut [Vec<f64>]) -> Vec<f64> {
    let count = gram.len();
    // Any start vector works unless it happens to be orthogonal to the eigenvector.
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

/// Returns a deterministic number from -1 to 1 that differs between indices.
#[expect(clippy::cast_precision_loss, reason = "a small number")]
fn wave(at: usize) -> f64 {
    (at as f64 * 2.399_963).sin()
}

/// Returns the position of a lone experience: between its most similar clusters, and farther out if it resembles none.
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
    // The offset keeps two points from the same position, which would leave no direction to move them apart.
    let strange = 1.0 - near.first().map_or(0.0, |(near, _)| *near);
    let off = side * 0.25 * strange;
    Spot { x: spot.x + off * wave(number + 1), y: spot.y + off * wave(number + 7) }
}

/// Moves items apart until none overlaps another. The first `fixed` items keep their positions.
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
                // The smaller item moves farther.
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
    use rutter_search::embed::embed;

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
