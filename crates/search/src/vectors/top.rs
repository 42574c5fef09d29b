//! The best of many, without sorting all of them.

/// Keeps up to twice as many as are wanted and sorts only when that is full.
pub(super) struct Top {
    most: usize,
    best: Vec<(i64, f32)>,
    /// What is lower is not among the best.
    floor: f32,
}

impl Top {
    pub(super) fn new(most: usize) -> Self {
        Self { most, best: Vec::new(), floor: f32::NEG_INFINITY }
    }

    pub(super) fn offer(&mut self, row: i64, score: f32, filter: &mut impl FnMut(i64) -> bool) {
        // Where scores are equal the row decides, so an equal one may still get in.
        if score < self.floor || self.most == 0 || !filter(row) {
            return;
        }
        self.best.push((row, score));
        if self.best.len() >= self.most.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.best.sort_unstable_by(|(a, near), (b, far)| far.total_cmp(near).then(a.cmp(b)));
        self.best.truncate(self.most);
        if self.best.len() == self.most {
            self.floor = self.best.last().map_or(self.floor, |&(_, score)| score);
        }
    }

    pub(super) fn into_sorted(mut self) -> Vec<(i64, f32)> {
        self.cut();
        self.best
    }
}
