//! The layout of the cluster map: similar clusters are near each other, members surround the centre of their cluster.
//!
//! The centres of clusters are projected on the two directions of greatest variance, and then moved apart until none
//! overlaps another. Members are placed in a spiral around the centre, the nearest first, so that the pointer can reach
//! each of them, even if five have the same text. The layout is deterministic.

use std::f64::consts::PI;

use rutter_search::embed::{VECTOR_DIMS, Vector};

/// Distance between two members of a cluster.
const MEMBER_SPACING: f64 = 9.0;
/// Empty margin around a cluster.
const CLUSTER_MARGIN: f64 = 26.0;
/// Empty margin around an experience without a cluster.
const LONE_MARGIN: f64 = 7.0;
/// Maximum rounds of moving overlapping items apart. Few are enough in nearly all cases.
const MAX_SEPARATION_ROUNDS: usize = 300;

/// A point on the map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct MapPoint {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The position of a cluster and of its members.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ClusterDisc {
    pub(super) middle: MapPoint,
    pub(super) radius: f64,
    pub(super) members: Vec<MapPoint>,
}

/// The whole map. All coordinates are between 0 and the width or height.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ClusterMap {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) discs: Vec<ClusterDisc>,
    pub(super) lone: Vec<MapPoint>,
}

/// Computes the map of clusters, each with its members ordered from the centre outwards, and of lone experiences.
pub(super) fn layout_map(clusters: &[Vec<Vector>], lone: &[Vector]) -> ClusterMap {
    let middles: Vec<[f64; VECTOR_DIMS]> =
        clusters.iter().map(|members| mean_direction(members)).collect();
    let radii: Vec<f64> = clusters.iter().map(|members| cluster_radius(members.len())).collect();
    // The map is so small that clusters cover most of it: distances carry information, empty space does not.
    let area: f64 = radii.iter().map(|radius| (radius + CLUSTER_MARGIN).powi(2) * PI).sum();
    let side = (area * 0.9).sqrt().max(200.0);
    let mut spots = project_centres(&middles, side * 1.4, side);
    let mut sizes: Vec<f64> = radii.iter().map(|radius| radius + CLUSTER_MARGIN * 0.75).collect();
    separate_overlaps(&mut spots, &sizes, 0);
    let fixed = spots.len();
    for (number, vector) in lone.iter().enumerate() {
        spots.push(lone_position(
            &vector_components(vector),
            &middles,
            &spots[..fixed],
            number,
            side,
        ));
        sizes.push(LONE_MARGIN);
    }
    separate_overlaps(&mut spots, &sizes, fixed);
    frame_map(&spots, &radii, clusters)
}

/// Shifts all points so that the map starts at 0, and computes its size.
fn frame_map(spots: &[MapPoint], radii: &[f64], clusters: &[Vec<Vector>]) -> ClusterMap {
    let reach = |at: usize| radii.get(at).map_or(LONE_MARGIN, |radius| radius + CLUSTER_MARGIN);
    let low = |of: fn(&MapPoint) -> f64| {
        let all = spots.iter().enumerate().map(|(at, spot)| of(spot) - reach(at));
        all.fold(f64::INFINITY, f64::min)
    };
    let high = |of: fn(&MapPoint) -> f64| {
        let all = spots.iter().enumerate().map(|(at, spot)| of(spot) + reach(at));
        all.fold(f64::NEG_INFINITY, f64::max)
    };
    if spots.is_empty() {
        return ClusterMap::default();
    }
    let (left, top) = (low(|spot| spot.x), low(|spot| spot.y));
    let (width, height) = (high(|spot| spot.x) - left, high(|spot| spot.y) - top);
    let placed = |spot: &MapPoint| MapPoint { x: spot.x - left, y: spot.y - top };
    let discs = clusters.iter().zip(radii).zip(spots).map(|((members, radius), spot)| {
        let middle = placed(spot);
        let members = (0..members.len()).map(|number| member_position(middle, number)).collect();
        ClusterDisc { middle, radius: *radius, members }
    });
    let lone = spots[clusters.len()..].iter().map(placed).collect();
    ClusterMap { width, height, discs: discs.collect(), lone }
}

#[expect(clippy::cast_precision_loss, reason = "a count of members")]
fn cluster_radius(members: usize) -> f64 {
    MEMBER_SPACING * (members as f64).sqrt() * 0.75 + 6.0
}

/// Returns the position of a member, arranged like seeds in a sunflower.
#[expect(clippy::cast_precision_loss, reason = "a count of members")]
fn member_position(middle: MapPoint, number: usize) -> MapPoint {
    let (far, angle) = (
        MEMBER_SPACING * 0.75 * (number as f64 + 0.5).sqrt(),
        number as f64 * PI * (3.0 - 5_f64.sqrt()),
    );
    MapPoint { x: middle.x + far * angle.cos(), y: middle.y + far * angle.sin() }
}

fn vector_components(vector: &Vector) -> [f64; VECTOR_DIMS] {
    vector.numbers().map(|number| f64::from(number) * f64::from(vector.scale()))
}

fn dot_product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Returns the normalized mean direction of the members.
fn mean_direction(members: &[Vector]) -> [f64; VECTOR_DIMS] {
    let mut sum = [0.0; VECTOR_DIMS];
    for member in members {
        for (sum, number) in sum.iter_mut().zip(vector_components(member)) {
            *sum += number;
        }
    }
    let length = dot_product(&sum, &sum).sqrt().max(f64::MIN_POSITIVE);
    sum.map(|number| number / length)
}

/// Projects the centres on the two directions of greatest variance: classical scaling of their distances.
fn project_centres(middles: &[[f64; VECTOR_DIMS]], width: f64, height: f64) -> Vec<MapPoint> {
    let count = middles.len();
    #[expect(clippy::cast_precision_loss, reason = "a count of clusters")]
    let many = count.max(1) as f64;
    let mut mean = [0.0; VECTOR_DIMS];
    for middle in middles {
        for (mean, number) in mean.iter_mut().zip(middle) {
            *mean += number / many;
        }
    }
    let centred: Vec<Vec<f64>> = middles
        .iter()
        .map(|middle| middle.iter().zip(mean).map(|(number, mean)| number - mean).collect())
        .collect();
    let mut gram: Vec<Vec<f64>> = centred
        .iter()
        .map(|one| centred.iter().map(|other| dot_product(one, other)).collect())
        .collect();
    let first = extract_dominant_eigenvector(&mut gram);
    let second = extract_dominant_eigenvector(&mut gram);
    let stretch = |all: &[f64], to: f64| {
        let most = all.iter().fold(0.0_f64, |most, number| most.max(number.abs()));
        if most > 1e-9 { to / 2.0 / most } else { 0.0 }
    };
    let (across, down) = (stretch(&first, width), stretch(&second, height));
    (0..count).map(|at| MapPoint { x: first[at] * across, y: second[at] * down }).collect()
}

/// Returns the dominant eigenvector of a symmetric matrix, and subtracts its component from the matrix.
fn extract_dominant_eigenvector(gram: &mut [Vec<f64>]) -> Vec<f64> {
    let count = gram.len();
    // Any start vector works unless it happens to be orthogonal to the eigenvector.
    let mut found: Vec<f64> = (0..count).map(|at| 1.0 + 0.37 * deterministic_jitter(at)).collect();
    let mut strength = 0.0;
    for _ in 0..200 {
        let next: Vec<f64> = gram.iter().map(|row| dot_product(row, &found)).collect();
        strength = dot_product(&next, &next).sqrt();
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
fn deterministic_jitter(at: usize) -> f64 {
    (at as f64 * 2.399_963).sin()
}

/// Returns the position of a lone experience: between its most similar clusters, and farther out if it resembles none.
fn lone_position(
    vector: &[f64; VECTOR_DIMS],
    middles: &[[f64; VECTOR_DIMS]],
    spots: &[MapPoint],
    number: usize,
    side: f64,
) -> MapPoint {
    let mut near: Vec<(f64, usize)> = middles
        .iter()
        .enumerate()
        .map(|(at, middle)| (dot_product(vector, middle).max(0.0), at))
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    near.truncate(3);
    let all: f64 = near.iter().map(|(near, _)| near * near).sum();
    let mut spot = MapPoint::default();
    if all > 1e-9 {
        for (near, at) in &near {
            spot.x += spots[*at].x * near * near / all;
            spot.y += spots[*at].y * near * near / all;
        }
    }
    // The offset keeps two points from the same position, which would leave no direction to move them apart.
    let strange = 1.0 - near.first().map_or(0.0, |(near, _)| *near);
    let off = side * 0.25 * strange;
    MapPoint {
        x: spot.x + off * deterministic_jitter(number + 1),
        y: spot.y + off * deterministic_jitter(number + 7),
    }
}

/// Moves items apart until none overlaps another. The first `fixed` items keep their positions.
fn separate_overlaps(spots: &mut [MapPoint], sizes: &[f64], fixed: usize) {
    for _ in 0..MAX_SEPARATION_ROUNDS {
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
                    let angle = PI * deterministic_jitter(one + 3 * other);
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

    fn distance(one: MapPoint, other: MapPoint) -> f64 {
        (one.x - other.x).hypot(one.y - other.y)
    }

    fn embed_texts(texts: &[&str]) -> Vec<Vector> {
        texts.iter().map(|text| embed(text).unwrap()).collect()
    }

    fn sample_clusters() -> Vec<Vec<Vector>> {
        vec![
            embed_texts(&["the connection pool is empty"; 30]),
            embed_texts(&["the connection pool ran out", "no connection is left in the pool"]),
            embed_texts(&["sort by the date in the calendar", "the date has no time zone"]),
        ]
    }

    #[test]
    fn items_do_not_overlap() {
        let lone = embed_texts(&["an icon for the weather"; 12]);
        let map = layout_map(&sample_clusters(), &lone);
        assert_eq!((map.discs.len(), map.lone.len()), (3, 12));
        for (at, one) in map.discs.iter().enumerate() {
            for other in &map.discs[at + 1..] {
                assert!(distance(one.middle, other.middle) > one.radius + other.radius);
            }
            for (number, spot) in one.members.iter().enumerate() {
                assert!(distance(one.middle, *spot) < one.radius);
                assert!(
                    one.members[number + 1..].iter().all(|other| distance(*spot, *other) > 5.0)
                );
            }
            for spot in &map.lone {
                assert!(distance(one.middle, *spot) > one.radius);
            }
        }
        let mut all = map.discs.iter().flat_map(|disc| &disc.members).chain(&map.lone);
        assert!(
            all.all(
                |spot| (0.0..map.width).contains(&spot.x) && (0.0..map.height).contains(&spot.y)
            )
        );
        assert_eq!(layout_map(&sample_clusters(), &lone), map, "the same is drawn the same");
    }

    #[test]
    fn similar_clusters_are_near() {
        let map = layout_map(&sample_clusters(), &[]);
        let [one, two, other] = [0, 1, 2].map(|at| map.discs[at].middle);
        assert!(distance(one, two) < distance(one, other), "{map:?}");
    }

    #[test]
    fn handles_few_or_no_clusters() {
        assert_eq!(layout_map(&[], &[]), ClusterMap::default());
        let one = layout_map(&sample_clusters()[..1], &[]);
        assert!(one.width > 0.0 && one.discs[0].members.len() == 30);
        let lone = layout_map(&[], &embed_texts(&["alone", "and another"]));
        assert!(distance(lone.lone[0], lone.lone[1]) >= LONE_MARGIN);
    }
}
