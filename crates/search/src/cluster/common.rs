//! The mean direction of all texts of an axis, and its removal from each text.
//!
//! The vectors of any two texts about software point in much the same direction: both are full of `the`, `is`, `test`
//! and `fails`. Lessons differ in the part that remains when this mean is subtracted.

use super::Axis;
use crate::embed::{VECTOR_DIMS, Vector, VectorComparer, embed};

/// Plain texts that stand for all others while there are only a few lessons.
const BACKGROUND_TEXTS: [&str; 12] = [
    "the test still fails after the change because the value was not what we had expected it to be",
    "it works now: the error is gone and all of the tests pass",
    "check the code that calls the function before you change the function itself",
    "a new version of the service did not read the file that the old one had written",
    "when the user sends a request, the server should return the data of the page",
    "the wrong name was used in one place, so nothing was found and the default was taken",
    "add a test for the case that was missed and run the whole suite again",
    "the build failed on the other machine, where the settings are not the same",
    "two parts of the system did the same thing in a different way and at a different time",
    "look at what is really there first, then read the message, and only then make a guess",
    "the list was empty since the object had already been removed by another call",
    "make one small change at a time and see what it does to the result",
];
/// Number of texts that the background counts as.
const BACKGROUND_WEIGHT: f32 = 20.0;
/// Number of texts, oldest first, among which repetitions are counted once. Otherwise five texts that say the same
/// would dominate the mean; among more texts, five do not matter.
const DEDUPLICATED_TEXTS: usize = 256;
/// Minimum cosine, without the mean of the plain texts, of two texts that say the same.
const MIN_REPEAT_COSINE: f32 = 0.7;
/// Share of the work's vector that is subtracted from the vector of the whole lesson.
const WORK_SHARE: f32 = 0.4;

/// Returns the vector of a lesson without the subject of the work. The whole text also names the goal and the steps,
/// and lessons would be grouped by those; the strategy axis groups them by the work.
pub fn subtract_work(all: &Vector, work: &Vector) -> Vector {
    let mut left = [0.0; VECTOR_DIMS];
    add_scaled(&mut left, all, 1.0);
    add_scaled(&mut left, work, -WORK_SHARE);
    Vector::from_sums(&left).unwrap_or(*all)
}

/// The mean direction of the texts of an axis.
#[derive(Debug, Clone)]
pub struct MeanDirection {
    mean: [f32; VECTOR_DIMS],
}

impl MeanDirection {
    /// Computes the mean of these texts, oldest first.
    pub fn from_texts<'a>(axis: Axis, vectors: impl IntoIterator<Item = &'a Vector>) -> Self {
        // Length of the mean of many texts. Longer texts are more alike.
        let alike = match axis {
            Axis::Full => 0.78,
            Axis::Strategy => 0.73,
            Axis::Surprise | Axis::RootCause => 0.62,
        };
        let mut background = [0.0; VECTOR_DIMS];
        for vector in BACKGROUND_TEXTS.iter().filter_map(|text| embed(text)) {
            add_scaled(&mut background, &vector, 1.0);
        }
        let length = background.iter().map(|number| number * number).sum::<f32>().sqrt().max(1e-6);
        let plain = Self { mean: background.map(|number| number * alike / length) };
        let mut mean = plain.mean.map(|number| number * BACKGROUND_WEIGHT);
        let mut count = BACKGROUND_WEIGHT;
        let mut said: Vec<Vector> = Vec::new();
        for (number, vector) in vectors.into_iter().enumerate() {
            if number < DEDUPLICATED_TEXTS
                && let Some(left) = plain.subtract_from(vector)
            {
                let near = VectorComparer::new_for(&left, DEDUPLICATED_TEXTS * DEDUPLICATED_TEXTS);
                if said.iter().any(|other| {
                    near.cosine_with(other.as_bytes(), other.scale()) >= MIN_REPEAT_COSINE
                }) {
                    continue;
                }
                said.push(left);
            }
            add_scaled(&mut mean, vector, 1.0);
            count += 1.0;
        }
        Self { mean: mean.map(|number| number / count) }
    }

    /// Subtracts the mean from a vector. Returns None if nothing remains.
    pub fn subtract_from(&self, vector: &Vector) -> Option<Vector> {
        let mut left = self.mean.map(|number| -number);
        add_scaled(&mut left, vector, 1.0);
        Vector::from_sums(&left)
    }

    /// Returns the stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.mean.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Reads the stored form, or returns None if it is invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        let mean: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
        let mean = rest.is_empty().then_some(mean)?.try_into().ok()?;
        Some(Self { mean })
    }
}

fn add_scaled(sum: &mut [f32; VECTOR_DIMS], vector: &Vector, by: f32) {
    let by = by * vector.scale();
    for (sum, number) in sum.iter_mut().zip(vector.numbers()) {
        *sum += by * f32::from(number);
    }
}
