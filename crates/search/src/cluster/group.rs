//! A group: where its members point together, and how much they agree.

use crate::embed::{DIMS, Near, Vector};

/// A text among others: where it points and how much it counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where it points, beside what all of them have in common.
    pub vector: Vector,
    /// How much it counts: the weight of its tier.
    pub weight: f32,
}

/// The sum of its members. How near a text is to a group is how near it is to its members on average, which follows from the
/// sum alone; so nothing is ever compared with every member.
#[derive(Debug, Clone)]
pub struct Group {
    sum: [f32; DIMS],
    weight: f32,
    /// The squares of the weights: what each member has in common with itself.
    squares: f32,
    pub size: usize,
    /// The sum as whole numbers, to be compared fast and the same on every machine.
    direction: Option<Vector>,
    /// How long the mean of the members is: 1 where all point the same way.
    length: f32,
    /// How near the members are to each other on average, each without itself: it follows from the sum and the weights alone.
    cohesion: f32,
}

impl Group {
    pub fn new() -> Self {
        Self {
            sum: [0.0; DIMS],
            weight: 0.0,
            squares: 0.0,
            size: 0,
            direction: None,
            length: 0.0,
            cohesion: 0.0,
        }
    }

    pub fn of<'a>(members: impl IntoIterator<Item = &'a Point>) -> Self {
        let mut group = Self::new();
        for member in members {
            group.take(member, 1.0);
            group.size += 1;
        }
        group.settle();
        group
    }

    fn take(&mut self, point: &Point, sign: f32) {
        let by = sign * point.weight * point.vector.scale();
        for (sum, number) in self.sum.iter_mut().zip(point.vector.numbers()) {
            *sum += by * f32::from(number);
        }
        self.weight += sign * point.weight;
        self.squares += sign * point.weight * point.weight;
    }

    fn settle(&mut self) {
        let square: f32 = self.sum.iter().map(|number| number * number).sum();
        self.direction = Vector::near(&self.sum);
        self.length = if self.weight > 0.0 { square.sqrt() / self.weight } else { 0.0 };
        let pairs = self.weight * self.weight - self.squares;
        let together = square - self.squares;
        self.cohesion = if pairs > 1e-6 { (together / pairs).clamp(0.0, 1.0) } else { 0.0 };
    }

    pub fn join(&mut self, point: &Point) {
        self.take(point, 1.0);
        self.size += 1;
        self.settle();
    }

    pub fn leave(&mut self, point: &Point) {
        self.take(point, -1.0);
        self.size -= 1;
        self.settle();
    }

    pub fn absorb(&mut self, other: &Self) {
        for (sum, number) in self.sum.iter_mut().zip(&other.sum) {
            *sum += number;
        }
        self.weight += other.weight;
        self.squares += other.squares;
        self.size += other.size;
        self.settle();
    }

    /// How near a text is to the members on average.
    pub fn link(&self, near: &Near<'_>) -> f32 {
        self.direction
            .as_ref()
            .map_or(0.0, |direction| near.at(direction.bytes(), direction.scale()) * self.length)
    }

    /// How near a member is to the others on average: without itself, to which it is as near as can be.
    pub fn link_of_member(&self, near: &Near<'_>, weight: f32) -> f32 {
        let others = self.weight - weight;
        if others <= 0.0 {
            return 0.0;
        }
        (self.link(near) * self.weight - weight) / others
    }

    /// How near the members of two groups are to each other on average.
    pub fn link_to(&self, other: &Self) -> f32 {
        match (&self.direction, &other.direction) {
            (Some(one), Some(another)) => one.cosine(another) * self.length * other.length,
            _ => 0.0,
        }
    }

    /// What it comes to, as it is kept: all of it but how many members there are.
    pub fn bytes(&self) -> Vec<u8> {
        let further = [self.weight, self.squares];
        self.sum.iter().chain(&further).flat_map(|number| number.to_le_bytes()).collect()
    }

    /// As it was kept; nothing of what is no such thing, or of what another version knew of it.
    pub fn of_bytes(bytes: &[u8], size: usize) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        let numbers: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
        let (sum, further) = numbers.split_first_chunk::<DIMS>()?;
        let &[weight, squares] = further else { return None };
        let sound = rest.is_empty() && numbers.iter().all(|number| number.is_finite());
        let mut group = Self { sum: *sum, weight, squares, size, ..Self::new() };
        group.settle();
        sound.then_some(group)
    }

    /// How near the members are to each other on average.
    pub fn cohesion(&self) -> f32 {
        self.cohesion
    }

    /// Where the members point together.
    pub fn direction(&self) -> Option<&Vector> {
        self.direction.as_ref()
    }
}
