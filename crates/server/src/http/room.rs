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
pub(super) struct ConnectionLimiter {
    most: usize,
    taken: Mutex<TakenSlots>,
    /// Notified when a connection closes or changes between idle and working.
    changed: Notify,
}

#[derive(Debug, Default)]
struct TakenSlots {
    /// The connections by their number, in order of arrival.
    seats: BTreeMap<u64, SlotState>,
    came: u64,
}

#[derive(Debug)]
struct SlotState {
    /// The start of the idle time; None while the connection is working.
    idle_since: Option<Instant>,
    leave: Arc<Notify>,
}

/// A slot of one connection, freed on drop.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    room: Arc<ConnectionLimiter>,
    number: u64,
    leave: Arc<Notify>,
}

/// Marks a connection as working, until it is dropped.
#[derive(Debug)]
pub(super) struct WorkGuard {
    room: Arc<ConnectionLimiter>,
    number: u64,
}

impl ConnectionLimiter {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default(), changed: Notify::new() })
    }

    /// Returns a slot. If all are taken, closes the longest idle connection; if all are working, waits for one to
    /// finish.
    pub(super) async fn acquire(self: &Arc<Self>) -> ConnectionSlot {
        loop {
            // Registers before the check, so that no change in between is missed.
            let changed = self.changed.notified();
            if let Some(seat) = self.try_acquire() {
                return seat;
            }
            changed.await;
        }
    }

    fn try_acquire(self: &Arc<Self>) -> Option<ConnectionSlot> {
        let mut taken = self.lock_slots();
        if taken.seats.len() >= self.most {
            let waiting =
                taken.seats.iter().filter_map(|(number, place)| Some((place.idle_since?, *number)));
            let (_, longest) = waiting.min()?;
            if let Some(place) = taken.seats.remove(&longest) {
                place.leave.notify_one();
            }
        }
        let number = taken.came;
        taken.came += 1;
        let leave = Arc::new(Notify::new());
        let place = SlotState { idle_since: Some(Instant::now()), leave: Arc::clone(&leave) };
        taken.seats.insert(number, place);
        Some(ConnectionSlot { room: Arc::clone(self), number, leave })
    }

    /// Closes all idle connections.
    pub(super) fn close_idle(&self) {
        self.update_slots(|taken| {
            taken.seats.retain(|_, place| {
                if place.idle_since.is_some() {
                    place.leave.notify_one();
                }
                place.idle_since.is_none()
            });
        });
    }

    /// Waits until all connections are closed.
    pub(super) async fn wait_until_empty(&self) {
        loop {
            let changed = self.changed.notified();
            if self.lock_slots().seats.is_empty() {
                return;
            }
            changed.await;
        }
    }

    fn lock_slots(&self) -> MutexGuard<'_, TakenSlots> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update_slots(&self, change: impl FnOnce(&mut TakenSlots)) {
        change(&mut self.lock_slots());
        self.changed.notify_waiters();
    }
}

impl ConnectionSlot {
    /// Waits until the slot is needed for another connection.
    pub(super) async fn wait_until_evicted(&self) {
        self.leave.notified().await;
    }

    /// Waits until the connection has been idle for `patience`.
    pub(super) async fn wait_until_stale(&self, patience: Duration) {
        loop {
            let waits =
                self.room.lock_slots().seats.get(&self.number).and_then(|place| place.idle_since);
            let until = waits.unwrap_or_else(Instant::now) + patience;
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Marks the connection as working.
    pub(super) fn begin_work(&self) -> WorkGuard {
        let work = WorkGuard { room: Arc::clone(&self.room), number: self.number };
        work.set_idle_since(None);
        work
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.room.update_slots(|taken| drop(taken.seats.remove(&self.number)));
    }
}

impl WorkGuard {
    fn set_idle_since(&self, waits: Option<Instant>) {
        self.room.update_slots(|taken| {
            if let Some(place) = taken.seats.get_mut(&self.number) {
                place.idle_since = waits;
            }
        });
    }
}

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.set_idle_since(Some(Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Returns the value of a future that is ready at once.
    fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[test]
    fn evicts_longest_idle_connection() {
        let room = ConnectionLimiter::new(3);
        let [first, second, third] = [(); 3].map(|()| poll_once(room.acquire()).unwrap());
        let work = first.begin_work();
        let fourth = poll_once(room.acquire()).unwrap();
        assert!(poll_once(second.wait_until_evicted()).is_some());
        assert!(poll_once(first.wait_until_evicted()).is_none());
        // The slot has a new owner already, so a late drop must not free it.
        drop(second);
        let busy = [third.begin_work(), fourth.begin_work()];
        assert!(poll_once(room.acquire()).is_none(), "all are at work");
        drop(work);
        let fifth = poll_once(room.acquire()).unwrap();
        assert!(poll_once(first.wait_until_evicted()).is_some());
        drop((first, third, fourth, busy));
        assert!(poll_once(room.wait_until_empty()).is_none());
        let work = fifth.begin_work();
        room.close_idle();
        assert!(poll_once(fifth.wait_until_evicted()).is_none());
        drop(work);
        room.close_idle();
        assert!(poll_once(fifth.wait_until_evicted()).is_some());
        assert!(poll_once(room.wait_until_empty()).is_some());
    }

    #[test]
    fn waiter_gets_next_free_slot() {
        let room = ConnectionLimiter::new(1);
        let only = poll_once(room.acquire()).unwrap();
        let work = only.begin_work();
        let mut next = pin!(room.acquire());
        let mut context = Context::from_waker(Waker::noop());
        assert!(next.as_mut().poll(&mut context).is_pending());
        drop(work);
        assert!(next.as_mut().poll(&mut context).is_ready());
        assert!(poll_once(only.wait_until_evicted()).is_some());
    }
}
