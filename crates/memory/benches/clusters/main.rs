//! scratch
#![allow(clippy::all, clippy::pedantic, clippy::disallowed_methods, dead_code)]
mod corpus;
mod hdbscan;
mod measure;
mod methods;
use corpus::points;
use measure::{grown, quality};
use methods::Method;
use rutter_memory::cluster::{Axis, Common, Rule};
use rutter_testkit::lessons::lessons;

use rutter_memory::cluster::middle;
use rutter_memory::embed::embed;
use rutter_testkit::lessons::learnt;
fn main() {
    for axis in [Axis::Full, Axis::Surprise, Axis::RootCause] {
        let mut rows: Vec<(bool, f64, f64)> = vec![];
        for seed in [1, 2, 3] {
            let all = lessons(seed, 1000);
            let half: Vec<_> =
                all.iter().filter(|l| l.label.is_none_or(|x| x % 2 == 0)).cloned().collect();
            let p = points(&half, axis);
            let common = Common::of(axis, p.iter().map(|p| &p.vector));
            // the same entries, all that they say
            let has: Vec<_> = half
                .iter()
                .filter(|l| !points(std::slice::from_ref(*l), axis).is_empty())
                .cloned()
                .collect();
            let every = points(&half, Axis::Full);
            let common = Common::of(Axis::Full, every.iter().map(|p| &p.vector));
            let t: Vec<_> = points(&has, Axis::Full)
                .iter()
                .map(|p| rutter_memory::cluster::Point {
                    vector: common.without(&p.vector).unwrap(),
                    weight: p.weight,
                })
                .collect();
            let g = grown(Method::Kept(Rule::of(axis)), axis, &p);
            let names: std::collections::BTreeSet<usize> = g.of.iter().flatten().copied().collect();
            for name in names {
                let m: Vec<usize> = (0..p.len()).filter(|i| g.of[*i] == Some(name)).collect();
                let mut c = std::collections::HashMap::new();
                for i in &m {
                    *c.entry(p[*i].label).or_insert(0) += 1;
                }
                let (label, n) = c.iter().max_by_key(|(_, n)| **n).unwrap();
                let Some(label) = label else { continue };
                if n * 2 < m.len() {
                    continue;
                }
                let mid = middle(&m.iter().map(|i| t[*i]).collect::<Vec<_>>()).unwrap();
                let d: Vec<f64> =
                    m.iter().map(|i| 1.0 - f64::from(t[*i].vector.cosine(&mid))).collect();
                let own = rutter_memory::value::threshold(&d, 0.0);
                for other in (0..40).step_by(2) {
                    if other != *label && c.contains_key(&Some(other)) {
                        continue;
                    }
                    for text in learnt(other) {
                        let v = common.without(&embed(text).unwrap()).unwrap();
                        rows.push((other == *label, 1.0 - f64::from(v.cosine(&mid)), own));
                    }
                }
            }
        }
        for least in [0.0, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9] {
            let rate = |right: bool| {
                let all: Vec<_> = rows.iter().filter(|r| r.0 == right).collect();
                all.iter().filter(|r| r.1 <= r.2.max(least)).count() as f64 / all.len() as f64
            };
            println!(
                "{axis} least {least:.2} right accepted {:.3} wrong accepted {:.3} of {}",
                rate(true),
                rate(false),
                rows.len()
            );
        }
    }
}
