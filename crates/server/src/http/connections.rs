//! The limit on connections, and the choice of the connection to close when the limit is reached.
//!
//! Any process can hold a connection open without sending anything. With only a semaphore, 64 silent connections would
//! keep all other clients waiting until the idle timeout, and for ever if they reconnect at once
//! (`idle_connections_are_evicted`). So only a connection at work is protected: one with the right token and a response
//! in progress. All others are idle, and the one that is idle longest is closed for a new connection. The semaphore
//! counts the connections; it cannot choose one, so the limiter also knows them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// The slots for connections.
#[derive(Debug)]
pub(super) struct ConnectionLimiter {
    most: u32,
    free: Arc<Semaphore>,
    taken: Mutex<Vec<Weak<ConnectionSlot>>>,
    /// Notified when a connection becomes idle.
    idle: Arc<Notify>,
}

/// A slot of one connection, freed on drop.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    /// The start of the idle time; None while the connection is working, and once it has to close.
    idle_since: Mutex<Option<Instant>>,
    evicted: Notify,
    idle: Arc<Notify>,
    _permit: OwnedSemaphorePermit,
}

/// Marks a connection as working, until it is dropped.
#[derive(Debug)]
pub(super) struct WorkGuard<'a>(&'a ConnectionSlot);

impl ConnectionLimiter {
    pub(super) fn new(most: u32) -> Self {
        Self {
            most,
            free: Arc::new(Semaphore::new(most as usize)),
            taken: Mutex::default(),
            idle: Arc::default(),
        }
    }

    /// Returns a slot. If all are taken, closes the longest idle connection; if all are working, waits for one to
    /// finish.
    pub(super) async fn acquire(&self) -> Arc<ConnectionSlot> {
        while self.free.available_permits() == 0 && !self.evict_longest_idle() {
            tokio::select! {
                permit = self.next_permit() => return self.new_slot(permit),
                () = self.idle.notified() => {}
            }
        }
        self.new_slot(self.next_permit().await)
    }

    async fn next_permit(&self) -> OwnedSemaphorePermit {
        let free = Arc::clone(&self.free);
        free.acquire_owned().await.expect("the semaphore is never closed")
    }

    fn new_slot(&self, permit: OwnedSemaphorePermit) -> Arc<ConnectionSlot> {
        let slot = Arc::new(ConnectionSlot {
            idle_since: Mutex::new(Some(Instant::now())),
            evicted: Notify::new(),
            idle: Arc::clone(&self.idle),
            _permit: permit,
        });
        let mut taken = lock(&self.taken);
        taken.retain(|slot| slot.strong_count() > 0);
        taken.push(Arc::downgrade(&slot));
        slot
    }

    /// Tells the longest idle connection to close. Returns false if none is idle.
    fn evict_longest_idle(&self) -> bool {
        let taken: Vec<Arc<ConnectionSlot>> =
            lock(&self.taken).iter().filter_map(Weak::upgrade).collect();
        let idle = taken.iter().filter_map(|slot| Some((slot.idle_since()?, slot)));
        let Some((_, longest)) = idle.min_by_key(|(since, _)| *since) else { return false };
        *lock(&longest.idle_since) = None;
        longest.evicted.notify_one();
        true
    }

    /// Closes all idle connections.
    pub(super) fn close_idle(&self) {
        while self.evict_longest_idle() {}
    }

    /// Waits until all connections are closed.
    pub(super) async fn wait_until_empty(&self) {
        drop(self.free.acquire_many(self.most).await);
    }
}

impl ConnectionSlot {
    /// Waits until the slot is needed for another connection.
    pub(super) async fn wait_until_evicted(&self) {
        self.evicted.notified().await;
    }

    /// Waits until the connection has been idle for `patience`.
    pub(super) async fn wait_until_stale(&self, patience: Duration) {
        loop {
            let until = self.idle_since().unwrap_or_else(Instant::now) + patience;
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Marks the connection as working.
    pub(super) fn begin_work(&self) -> WorkGuard<'_> {
        *lock(&self.idle_since) = None;
        WorkGuard(self)
    }

    fn idle_since(&self) -> Option<Instant> {
        *lock(&self.idle_since)
    }
}

impl Drop for WorkGuard<'_> {
    fn drop(&mut self) {
        *lock(&self.0.idle_since) = Some(Instant::now());
        self.0.idle.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        let limiter = ConnectionLimiter::new(3);
        let [first, second, third] = [(); 3].map(|()| poll_once(limiter.acquire()).unwrap());
        let work = first.begin_work();
        assert!(poll_once(limiter.acquire()).is_none(), "the second has to close first");
        assert!(poll_once(second.wait_until_evicted()).is_some());
        assert!(poll_once(first.wait_until_evicted()).is_none());
        drop(second);
        let fourth = poll_once(limiter.acquire()).unwrap();
        let busy = [third.begin_work(), fourth.begin_work()];
        assert!(poll_once(limiter.acquire()).is_none(), "all are at work");
        assert!(poll_once(third.wait_until_evicted()).is_none());
        drop(work);
        assert!(poll_once(limiter.acquire()).is_none());
        assert!(poll_once(first.wait_until_evicted()).is_some());
        drop(busy);
        drop((first, third, fourth));
        let fifth = poll_once(limiter.acquire()).unwrap();
        assert!(poll_once(limiter.wait_until_empty()).is_none());
        let work = fifth.begin_work();
        limiter.close_idle();
        assert!(poll_once(fifth.wait_until_evicted()).is_none());
        drop(work);
        limiter.close_idle();
        assert!(poll_once(fifth.wait_until_evicted()).is_some());
        drop(fifth);
        assert!(poll_once(limiter.wait_until_empty()).is_some());
    }

    #[test]
    fn waiter_gets_next_free_slot() {
        let limiter = ConnectionLimiter::new(1);
        let only = poll_once(limiter.acquire()).unwrap();
        let work = only.begin_work();
        let mut next = pin!(limiter.acquire());
        let mut context = Context::from_waker(Waker::noop());
        assert!(next.as_mut().poll(&mut context).is_pending());
        drop(work);
        assert!(next.as_mut().poll(&mut context).is_pending());
        assert!(poll_once(only.wait_until_evicted()).is_some());
        drop(only);
        assert!(next.as_mut().poll(&mut context).is_ready());
    }
}
