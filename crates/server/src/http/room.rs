//! How many clients there is room for, and who has to leave when there is none.
//!
//! Whoever connects can hold a seat without a word, so a seat is kept only by who is at work: whose token was right, and whose
//! answer is being made. All others wait, and of them who has waited longest leaves when somebody new comes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The seats.
#[derive(Debug)]
pub(super) struct Room {
    most: usize,
    taken: Mutex<Taken>,
    /// Somebody left or is done with work.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    /// By when they came.
    seats: BTreeMap<u64, Place>,
    came: u64,
}

#[derive(Debug)]
struct Place {
    /// Since when nothing is done for who sits there; none while something is.
    waits: Option<Instant>,
    leave: Arc<Notify>,
}

/// A seat, as long as it is held.
#[derive(Debug)]
pub(super) struct Seat {
    room: Arc<Room>,
    number: u64,
    leave: Arc<Notify>,
}

/// Work for who sits on a seat, as long as it is held.
#[derive(Debug)]
pub(super) struct Work {
    room: Arc<Room>,
    number: u64,
}

impl Room {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default(), changed: Notify::new() })
    }

    /// A seat. Where all are taken, somebody who waits leaves; where all are at work, it takes until one of them is done.
    pub(super) async fn seat(self: &Arc<Self>) -> Seat {
        loop {
            // Before the look, so that no change between the two is missed.
            let changed = self.changed.notified();
            if let Some(seat) = self.try_seat() {
                return seat;
            }
            changed.await;
        }
    }

    fn try_seat(self: &Arc<Self>) -> Option<Seat> {
        let mut taken = self.taken();
        if taken.seats.len() >= self.most {
            let waiting =
                taken.seats.iter().filter_map(|(number, place)| Some((place.waits?, *number)));
            let (_, longest) = waiting.min()?;
            if let Some(place) = taken.seats.remove(&longest) {
                place.leave.notify_one();
            }
        }
        let number = taken.came;
        taken.came += 1;
        let leave = Arc::new(Notify::new());
        let place = Place { waits: Some(Instant::now()), leave: Arc::clone(&leave) };
        taken.seats.insert(number, place);
        Some(Seat { room: Arc::clone(self), number, leave })
    }

    /// Has everybody leave for whom nothing is done.
    pub(super) fn dismiss(&self) {
        self.change(|taken| {
            taken.seats.retain(|_, place| {
                if place.waits.is_some() {
                    place.leave.notify_one();
                }
                place.waits.is_none()
            });
        });
    }

    /// Waits until everybody has left.
    pub(super) async fn empty(&self) {
        loop {
            let changed = self.changed.notified();
            if self.taken().seats.is_empty() {
                return;
            }
            changed.await;
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Taken)) {
        change(&mut self.taken());
        self.changed.notify_waiters();
    }
}

impl Seat {
    /// Waits until somebody else needs the seat.
    pub(super) async fn needed(&self) {
        self.leave.notified().await;
    }

    /// Waits until nothing was done for so long for who sits here.
    pub(super) async fn stale(&self, patience: Duration) {
        loop {
            let waits = self.room.taken().seats.get(&self.number).and_then(|place| place.waits);
            let until = waits.unwrap_or_else(Instant::now) + patience;
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Says that something is done for who sits here.
    pub(super) fn work(&self) -> Work {
        let work = Work { room: Arc::clone(&self.room), number: self.number };
        work.set(None);
        work
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.room.change(|taken| drop(taken.seats.remove(&self.number)));
    }
}

impl Work {
    fn set(&self, waits: Option<Instant>) {
        self.room.change(|taken| {
            if let Some(place) = taken.seats.get_mut(&self.number) {
                place.waits = waits;
            }
        });
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.set(Some(Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Whether it is so already.
    fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[test]
    fn who_has_waited_longest_leaves_for_who_comes_and_who_is_at_work_stays() {
        let room = Room::new(3);
        let [first, second, third] = [(); 3].map(|()| at_once(room.seat()).unwrap());
        let work = first.work();
        let fourth = at_once(room.seat()).unwrap();
        assert!(at_once(second.needed()).is_some());
        assert!(at_once(first.needed()).is_none());
        // The seat is another's already: leaving it late takes it from nobody.
        drop(second);
        let busy = [third.work(), fourth.work()];
        assert!(at_once(room.seat()).is_none(), "all are at work");
        drop(work);
        let fifth = at_once(room.seat()).unwrap();
        assert!(at_once(first.needed()).is_some());
        drop((first, third, fourth, busy));
        assert!(at_once(room.empty()).is_none());
        let work = fifth.work();
        room.dismiss();
        assert!(at_once(fifth.needed()).is_none());
        drop(work);
        room.dismiss();
        assert!(at_once(fifth.needed()).is_some());
        assert!(at_once(room.empty()).is_some());
    }

    #[test]
    fn who_waits_for_a_seat_gets_the_next_that_is_free() {
        let room = Room::new(1);
        let only = at_once(room.seat()).unwrap();
        let work = only.work();
        let mut next = pin!(room.seat());
        let mut context = Context::from_waker(Waker::noop());
        assert!(next.as_mut().poll(&mut context).is_pending());
        drop(work);
        assert!(next.as_mut().poll(&mut context).is_ready());
        assert!(at_once(only.needed()).is_some());
    }
}
