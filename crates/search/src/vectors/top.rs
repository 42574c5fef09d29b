//! Selects the best of many scores without sorting all of them.

/// Collects up to twice the wanted number of rows and sorts only when that buffer is full.
pub(super) struct TopScores {
    most: usize,
    best: Vec<(i64, f32)>,
    /// Lower scores are not among the best.
    floor: f32,
}

impl TopScores {
    pub(super) fn new(most: usize) -> Self {
        Self { most, best: Vec::new(), floor: f32::NEG_INFINITY }
    }

    pub(super) fn offer(&mut self, row: i64, score: f32, filter: &mut impl FnMut(i64) -> bool) {
        // The row id decides between equal scores, so an equal score may still enter.
        if score < self.floor || self.most == 0 || !filter(row) {
            return;
        }
        self.best.push((row, score));
        if self.best.len() >= self.most.saturating_mul(2) {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        self.best.sort_unstable_by(|(a, near), (b, far)| far.total_cmp(near).then(a.cmp(b)));
        self.best.truncate(self.most);
        if self.best.len() == self.most {
            self.floor = self.best.last().map_or(self.floor, |&(_, score)| score);
        }
    }

    pub(super) fn into_sorted(mut self) -> Vec<(i64, f32)> {
        self.shrink();
        self.best
    }
}
