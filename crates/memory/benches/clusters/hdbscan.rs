//! HDBSCAN: clusters that persist over many densities, after Campello, Moulavi and Sander, by excess of mass.

use super::methods::{VectorRow, dot_product};

/// Returns the cluster of each row, or None for noise.
pub(crate) fn hdbscan(rows: &[VectorRow], fewest: usize, samples: usize) -> Vec<Option<usize>> {
    let count = rows.len();
    if count < fewest.max(2) {
        return vec![None; count];
    }
    let far = |one: usize, other: usize| (1.0 - dot_product(&rows[one], &rows[other])).max(0.0);
    let core: Vec<f32> = (0..count)
        .map(|one| {
            let mut all: Vec<f32> = (0..count).map(|other| far(one, other)).collect();
            let place = samples.min(count - 1);
            *all.select_nth_unstable_by(place, f32::total_cmp).1
        })
        .collect();
    let edges = spanning_tree(count, |one, other| far(one, other).max(core[one]).max(core[other]));
    let (children, sizes, heights) = dendrogram(count, edges);
    choose_clusters(count, fewest, &children, &sizes, &heights)
}

/// Returns a minimum spanning tree, by Prim's algorithm.
fn spanning_tree(count: usize, far: impl Fn(usize, usize) -> f32) -> Vec<(f32, usize, usize)> {
    let mut best = vec![(f32::INFINITY, 0); count];
    let mut done = vec![false; count];
    let mut edges = Vec::with_capacity(count - 1);
    let mut at = 0;
    for _ in 1..count {
        done[at] = true;
        for other in 0..count {
            let length = if done[other] { continue } else { far(at, other) };
            if length < best[other].0 {
                best[other] = (length, at);
            }
        }
        let next = (0..count)
            .filter(|other| !done[*other])
            .min_by(|one, other| best[*one].0.total_cmp(&best[*other].0));
        at = next.expect("one is left");
        edges.push((best[at].0, best[at].1, at));
    }
    edges.sort_by(|one, other| one.0.total_cmp(&other.0));
    edges
}

fn find_root(parent: &mut [usize], mut of: usize) -> usize {
    while parent[of] != of {
        parent[of] = parent[parent[of]];
        of = parent[of];
    }
    of
}

type Dendrogram = (Vec<Option<(usize, usize)>>, Vec<usize>, Vec<f32>);

fn dendrogram(count: usize, edges: Vec<(f32, usize, usize)>) -> Dendrogram {
    let (mut children, mut sizes, mut heights) =
        (vec![None; count], vec![1; count], vec![0.0; count]);
    let mut parent: Vec<usize> = (0..count).collect();
    let mut node: Vec<usize> = (0..count).collect();
    for (length, one, other) in edges {
        let (one, other) = (find_root(&mut parent, one), find_root(&mut parent, other));
        children.push(Some((node[one], node[other])));
        sizes.push(sizes[node[one]] + sizes[node[other]]);
        heights.push(length);
        parent[other] = one;
        node[one] = children.len() - 1;
    }
    (children, sizes, heights)
}

/// A cluster of the condensed tree.
struct CondensedCluster {
    top: usize,
    born: f32,
    mass: f32,
    parts: Vec<usize>,
}

fn choose_clusters(
    count: usize,
    fewest: usize,
    children: &[Option<(usize, usize)>],
    sizes: &[usize],
    heights: &[f32],
) -> Vec<Option<usize>> {
    let density = |height: f32| 1.0 / height.max(1e-4);
    // Condense the tree: a cluster continues while only small parts split off.
    let root = children.len() - 1;
    let mut parts = vec![CondensedCluster { top: root, born: 0.0, mass: 0.0, parts: Vec::new() }];
    let mut open = vec![(0, root)];
    while let Some((part, node)) = open.pop() {
        let Some((one, other)) = children[node] else { continue };
        let now = density(heights[node]);
        let large = |node: usize| sizes[node] >= fewest;
        #[expect(clippy::cast_precision_loss, reason = "a count of texts")]
        let lose = |part: &mut CondensedCluster, texts: usize| {
            part.mass += (now - part.born) * texts as f32;
        };
        match (large(one), large(other)) {
            (true, true) => {
                lose(&mut parts[part], sizes[node]);
                for child in [one, other] {
                    parts.push(CondensedCluster {
                        top: child,
                        born: now,
                        mass: 0.0,
                        parts: Vec::new(),
                    });
                    let number = parts.len() - 1;
                    parts[part].parts.push(number);
                    open.push((number, child));
                }
            }
            (true, false) | (false, true) => {
                let (goes_on, falls) = if large(one) { (one, other) } else { (other, one) };
                lose(&mut parts[part], sizes[falls]);
                open.push((part, goes_on));
            }
            (false, false) => lose(&mut parts[part], sizes[node]),
        }
    }
    // From the leaves up: choose a cluster if its mass is at least that of its parts; never the root.
    let mut chosen = vec![false; parts.len()];
    let mut weight: Vec<f32> = parts.iter().map(|part| part.mass).collect();
    for number in (1..parts.len()).rev() {
        let below: f32 = parts[number].parts.iter().map(|part| weight[*part]).sum();
        chosen[number] = parts[number].mass >= below;
        weight[number] = weight[number].max(below);
    }
    let mut of = vec![None; count];
    let mut open = vec![0];
    while let Some(number) = open.pop() {
        if chosen[number] {
            let mut nodes = vec![parts[number].top];
            while let Some(node) = nodes.pop() {
                match children[node] {
                    Some((one, other)) => nodes.extend([one, other]),
                    None => of[node] = Some(number),
                }
            }
        } else {
            open.extend(&parts[number].parts);
        }
    }
    of
}
