//! A group of texts: the direction and the similarity of its members.

use crate::embed::{VECTOR_DIMS, Vector, VectorComparer};

/// A text: its direction and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextPoint {
    /// Direction, without the mean of all texts.
    pub vector: Vector,
    /// The weight of its tier.
    pub weight: f32,
}

/// The sum of its members. The average similarity of a text to the members follows from the sum alone, so no text is
/// ever compared with every member.
#[derive(Debug, Clone)]
pub struct Group {
    sum: [f32; VECTOR_DIMS],
    weight: f32,
    /// Sum of the squared weights: the similarity of each member to itself.
    squares: f32,
    pub size: usize,
    /// The sum as whole numbers, for comparisons that are fast and give the same result on every machine.
    direction: Option<Vector>,
    /// Length of the mean of the members: 1 if all point in the same direction.
    length: f32,
    /// Average similarity of different members, computed from the sum and the weights alone.
    cohesion: f32,
}

impl Group {
    pub(super) fn new() -> Self {
        Self {
            sum: [0.0; VECTOR_DIMS],
            weight: 0.0,
            squares: 0.0,
            size: 0,
            direction: None,
            length: 0.0,
            cohesion: 0.0,
        }
    }

    pub fn from_members<'a>(members: impl IntoIterator<Item = &'a TextPoint>) -> Self {
        let mut group = Self::new();
        for member in members {
            group.add_weighted(member, 1.0);
            group.size += 1;
        }
        group.update_derived();
        group
    }

    fn add_weighted(&mut self, point: &TextPoint, sign: f32) {
        let by = sign * point.weight * point.vector.scale();
        for (sum, number) in self.sum.iter_mut().zip(point.vector.numbers()) {
            *sum += by * f32::from(number);
        }
        self.weight += sign * point.weight;
        self.squares += sign * point.weight * point.weight;
    }

    fn update_derived(&mut self) {
        let square: f32 = self.sum.iter().map(|number| number * number).sum();
        self.direction = Vector::from_sums(&self.sum);
        self.length = if self.weight > 0.0 { square.sqrt() / self.weight } else { 0.0 };
        let pairs = self.weight * self.weight - self.squares;
        let together = square - self.squares;
        self.cohesion = if pairs > 1e-6 { (together / pairs).clamp(0.0, 1.0) } else { 0.0 };
    }

    pub fn add_member(&mut self, point: &TextPoint) {
        self.add_weighted(point, 1.0);
        self.size += 1;
        self.update_derived();
    }

    pub fn remove_member(&mut self, point: &TextPoint) {
        self.add_weighted(point, -1.0);
        self.size -= 1;
        self.update_derived();
    }

    pub fn absorb(&mut self, other: &Self) {
        for (sum, number) in self.sum.iter_mut().zip(&other.sum) {
            *sum += number;
        }
        self.weight += other.weight;
        self.squares += other.squares;
        self.size += other.size;
        self.update_derived();
    }

    /// Returns the average similarity of a text to the members.
    pub fn similarity(&self, near: &VectorComparer<'_>) -> f32 {
        self.direction.as_ref().map_or(0.0, |direction| {
            near.cosine_with(direction.as_bytes(), direction.scale()) * self.length
        })
    }

    /// Returns the average similarity of a member to the others. Leaves out its similarity to itself, which is the
    /// maximum.
    pub fn member_similarity(&self, near: &VectorComparer<'_>, weight: f32) -> f32 {
        let others = self.weight - weight;
        if others <= 0.0 {
            return 0.0;
        }
        (self.similarity(near) * self.weight - weight) / others
    }

    /// Returns the average similarity between the members of two groups.
    pub fn group_similarity(&self, other: &Self) -> f32 {
        match (&self.direction, &other.direction) {
            (Some(one), Some(another)) => one.cosine(another) * self.length * other.length,
            _ => 0.0,
        }
    }

    /// Returns the average similarity of different members.
    pub fn cohesion(&self) -> f32 {
        self.cohesion
    }

    /// Returns the mean direction of the members.
    pub fn direction(&self) -> Option<&Vector> {
        self.direction.as_ref()
    }
}
