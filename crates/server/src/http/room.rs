//! The limit on connections, and the choice of the connection to close when the limit is reached.
//!
//! Any process can hold a connection open without sending anything. So only a connection at work is protected: one with
//! the right token and a response in progress. All others are idle, and the one that is idle longest is closed for a
//! new connection.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The slots for connections.
#[derive(Debug)]
pub(super) struct Room {
    most: usize,
    taken: Mutex<Taken>,
    /// Notified when a connection closes or changes between idle and working.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    /// The connections by their number, in order of arrival.
    seats: BTreeMap<u64, Place>,
    came: u64,
}

#[derive(Debug)]
struct Place {
    /// The start of the idle time; None while the connection is working.
    waits: Option<Instant>,
    leave: Arc<Notify>,
}

/// A slot of one connection, freed on drop.
#[derive(Debug)]
pub(super) struct Seat {
    room: Arc<Room>,
    number: u64,
    leave: Arc<Notify>,
}

/// Marks a connection as working, until it is dropped.
#[derive(Debug)]
pub(super) struct Work {
    room: Arc<Room>,
    number: u64,
}

impl Room {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default(), changed: Notify::new() })
    }

    /// Returns a slot. If all are taken, closes the longest idle connection; if all are working, waits for one to
    /// finish.
    pub(super) async fn seat(self: &Arc<Self>) -> Seat {
        loop {
            // Registers before the check, so that no change in between is missed.
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

    /// Closes all idle connections.
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

    /// Waits until all connections are closed.
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
    /// Waits until the slot is needed for another connection.
    pub(super) async fn needed(&self) {
        self.leave.notified().await;
    }

    /// Waits until the connection has been idle for `patience`.
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

    /// Marks the connection as working.
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

    /// Returns the value of a future that is ready at once.
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
        // The slot has a new owner already, so a late drop must not free it.
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
