//! Numbers of functions that every language has.
//!
//! The order of the draws decides every generated history: a change makes the histories of all seeds different.

use crate::unit::{UnitDice, UnitFailure, equal};

/// Values for the `$names` in the texts of a unit.
type UnitValues<const N: usize> = [(&'static str, String); N];

/// Returns a number as a value.
pub(super) fn text(number: i64) -> String {
    number.to_string()
}

/// The numbers of a discount and of an order that uses it.
#[derive(Clone, Copy)]
pub(super) struct PriceNumbers {
    /// The two prices.
    pub(super) a: i64,
    pub(super) b: i64,
    /// The discount in percent.
    pub(super) rate: i64,
    /// The sum of the prices.
    pub(super) gross: i64,
}

impl PriceNumbers {
    pub(super) fn draw(pick: &mut UnitDice) -> Self {
        let (a, b) = (pick.number(2, 9) * 20, pick.number(10, 19) * 20);
        Self { a, b, rate: pick.number(1, 4) * 5, gross: a + b }
    }

    /// Returns a sum less the discount.
    fn discounted(self, gross: i64) -> i64 {
        gross - gross * self.rate / 100
    }

    pub(super) fn values(self, order: &str) -> UnitValues<6> {
        [
            ("a", text(self.a)),
            ("b", text(self.b)),
            ("rate", text(self.rate)),
            ("gross", text(self.gross)),
            ("want", text(self.discounted(self.gross))),
            ("g", order.to_owned()),
        ]
    }

    /// Returns the failures of the first and the last test if the discount is computed wrongly.
    pub(super) fn wrong_discount(
        self,
        [with_discount, _, order]: [&'static str; 3],
        got: i64,
    ) -> [(&'static str, UnitFailure); 2] {
        let failure = || equal(got, self.discounted(self.gross));
        [(with_discount, failure()), (order, failure())]
    }

    /// Returns the failures of all tests if the sum of the prices is wrong.
    pub(super) fn wrong_sum(
        self,
        [with_discount, without_discount, order]: [&'static str; 3],
        got: i64,
    ) -> [(&'static str, UnitFailure); 3] {
        let failure = || equal(self.discounted(got), self.discounted(self.gross));
        [(with_discount, failure()), (without_discount, equal(got, self.gross)), (order, failure())]
    }
}

/// Draws a number of full pages, and values with the size of a page.
pub(super) fn draw_pages(pick: &mut UnitDice) -> (i64, UnitValues<5>) {
    let size = pick.number(2, 9) * 5;
    let full = pick.number(3, 8);
    let values = [
        ("size", text(size)),
        ("full", text(full)),
        ("items", text(full * size)),
        ("more", text(full + 1)),
        ("over", text(full * size + 1)),
    ];
    (full, values)
}

/// Draws the first wait, the longest wait, and their values.
pub(super) fn draw_retries(pick: &mut UnitDice) -> (i64, i64, UnitValues<3>) {
    let base = pick.number(2, 5);
    let cap = pick.number(6, 9) * 10;
    (base, cap, [("base", text(base)), ("cap", text(cap)), ("third", text(base * 8))])
}

/// Draws a plan, its limit, and their values.
pub(super) fn draw_limits(pick: &mut UnitDice) -> (&'static str, i64, UnitValues<3>) {
    let plan = pick.text(&["team", "studio", "agency"]);
    let limit = pick.number(2, 9) * 50;
    let values = [("plan", plan.to_owned()), ("limit", text(limit)), ("wrong", text(limit / 10))];
    (plan, limit, values)
}

/// Draws a number of people, an amount that leaves a rest of one, and their values.
pub(super) fn draw_shares(pick: &mut UnitDice) -> (i64, i64, UnitValues<4>) {
    let people = pick.number(3, 7);
    let amount = people * pick.number(11, 29) + 1;
    let values = [
        ("people", text(people)),
        ("amount", text(amount)),
        ("share", text(amount / people)),
        ("more", text(amount / people + 1)),
    ];
    (people, amount, values)
}

/// Draws a coupon, the amount of an invoice without it and less a `rebate`, and their values.
pub(super) fn draw_invoices(pick: &mut UnitDice, rebate: i64) -> (i64, i64, UnitValues<5>) {
    let (price, count, coupon) =
        (pick.number(2, 9) * 100, pick.number(2, 6), pick.number(1, 9) * 5);
    let sure = price * count + 490 + 25 * count - rebate;
    let values = [
        ("price", text(price)),
        ("count", text(count)),
        ("coupon", text(coupon)),
        ("want", text(sure - coupon)),
        ("sure", text(sure)),
    ];
    (coupon, sure, values)
}
