//! TypeScript and JavaScript functions with their tests and bugs.
//!
//! A part between « and » is only for TypeScript.

use super::super::draws::{
    PriceNumbers, draw_invoices, draw_limits, draw_pages, draw_retries, draw_shares, text,
};
use crate::project::BugKind::{Configuration, Exception, Logic};
use crate::unit::{FunctionUnit, UnitDice, UnitFailure, equal, raised};

/// Returns every function that a package can have.
pub(super) fn units(pick: &mut UnitDice) -> Vec<FunctionUnit> {
    let mut all = pricing(pick);
    all.extend([
        amounts(pick),
        slugs(pick),
        stock(pick),
        pages(pick),
        calendars(pick),
        retries(pick),
        names(pick),
        limits(pick),
        shares(pick),
        queues(pick),
        invoices(pick),
    ]);
    for unit in &mut all {
        "}".clone_into(&mut unit.tail);
    }
    all
}

/// Creates an error that the function throws.
fn throws(line: usize, mark: &str, error: &str, message: &str) -> UnitFailure {
    raised(line, mark, error, message, &[])
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

trait ScriptUnit {
    /// Adds a test that compares a result.
    fn expects(self, name: &str, call: &str, want: &str) -> Self;
}

impl ScriptUnit for FunctionUnit {
    fn expects(self, name: &str, call: &str, want: &str) -> Self {
        self.test(name, call, &format!("expect({call}).toBe({want});"))
    }
}

/// Returns a discount, and an order that uses it: one mistake fails tests in two files.
fn pricing(pick: &mut UnitDice) -> Vec<FunctionUnit> {
    let f = pick.text(&["total", "subtotal", "grandTotal"]);
    let g = pick.text(&["orderTotal", "amountDue", "invoiceSum"]);
    let prices = PriceNumbers::draw(pick);
    let PriceNumbers { b, rate, gross, .. } = prices;
    let values = prices.values(g);
    let tests = ["$f takes the discount off", "$f without discount", "$g with discount"];
    let fails = |got| prices.wrong_discount(tests, got);
    let without = |got| prices.wrong_sum(tests, got);
    let sum = "  const gross = prices.reduce((sum, price) => sum + price, 0);\n";
    let discount = FunctionUnit::new("pricing", f, &values)
        .code(
            "«export »function $f(prices«: number[]», rate«: number»)«: number» {",
            &[
                "Sum of the prices after a discount of `rate` percent.",
                "Adds all prices up and takes a discount off, given in percent.",
            ],
            &format!("{sum}  return gross - (gross * rate) / 100;"),
        )
        .expects("$f takes the discount off", "$f([$a, $b], $rate)", "$want")
        .expects("$f without discount", "$f([$a, $b], 0)", "$gross")
        .bug(
            "the discount is added",
            Logic,
            &format!("{sum}  return gross + (gross * rate) / 100;"),
            &fails(gross + gross * rate / 100),
        )
        .also_as(&format!("{sum}  return Math.max(gross, rate);"), &fails(gross))
        .attempt(&format!("{sum}  return gross - rate;"), &fails(gross - rate))
        .bug(
            "the first price is left out",
            Logic,
            "  const gross = prices.slice(1).reduce((sum, price) => sum + price, 0);\n  return gross - (gross * rate) / 100;",
            &without(b),
        );
    let order = FunctionUnit::new("orders", g, &[&values[..5], &[("used", f.to_owned())]].concat())
        .import("$used ./pricing")
        .code(
            "«export »function $f(lines«: number[][]», discount«: number»)«: number» {",
            &["Amount that a customer pays for an order.", "Computes what an order costs."],
            "  const prices = lines.map(([price, count]) => price * count);\n  return $used(prices, discount);",
        )
        .expects("$f with discount", "$f([[$a, 1], [$b, 1]], $rate)", "$want")
        .expects("$f of nothing", "$f([], 0)", "0");
    vec![discount, order]
}

fn amounts(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["parseAmount", "toCents", "readPrice"]);
    let (units, cents) = (pick.number(11, 98), pick.number(11, 98));
    let values = [("units", text(units)), ("cents", text(cents))];
    let undefined = "Cannot read properties of undefined (reading 'padEnd')";
    FunctionUnit::new("amounts", f, &values)
        .code(
            "«export »function $f(text«: string»)«: number» {",
            &["Cents of an amount such as `12.50`.", "Reads an amount as cents."],
            "  const [units, cents = \"0\"] = text.split(\".\");\n  return Number(units) * 100 + Number(cents.padEnd(2, \"0\"));",
        )
        .expects("$f of whole units", "$f(\"$units\")", "$units00")
        .expects("$f with cents", "$f(\"$units.$cents\")", "$units$cents")
        .bug(
            "whole amounts have no cents",
            Exception,
            "  const [units, cents] = text.split(\".\");\n  return Number(units) * 100 + Number(cents.padEnd(2, \"0\"));",
            &[("$f of whole units", throws(1, "padEnd", "TypeError", undefined))],
        )
        .also_as(
            "  const [units, cents] = text.split(\".\", 2);\n  return Number(units) * 100 + Number(cents.padEnd(2, \"0\"));",
            &[("$f of whole units", throws(1, "padEnd", "TypeError", undefined))],
        )
        .attempt(
            "  const [units, cents] = text.trim().split(\".\");\n  return Number(units) * 100 + Number(cents.padEnd(2, \"0\"));",
            &[("$f of whole units", throws(1, "padEnd", "TypeError", undefined))],
        )
        .bug(
            "the cents are dropped",
            Logic,
            "  const [units] = text.split(\".\");\n  return Number(units) * 100;",
            &[("$f with cents", equal(units * 100, units * 100 + cents))],
        )
        .bug(
            "one cent is added",
            Logic,
            "  const [units, cents = \"0\"] = text.split(\".\");\n  return Number(units) * 100 + Number(cents.padEnd(2, \"0\")) + 1;",
            &[
                ("$f with cents", equal(units * 100 + cents + 1, units * 100 + cents)),
                ("$f of whole units", equal(units * 100 + 1, units * 100)),
            ],
        )
}

fn slugs(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["slugify", "makeSlug", "urlName"]);
    let (title, slug) = match pick.number(0, 1) {
        0 => ("Hello World", "hello-world"),
        _ => ("Blue Lamp", "blue-lamp"),
    };
    let values = [("title", title.to_owned()), ("slug", slug.to_owned())];
    FunctionUnit::new("slugs", f, &values)
        .code(
            "«export »function $f(title«: string»)«: string» {",
            &[
                "Lower-case words of a title, joined by dashes.",
                "Makes a part of a URL of a title.",
            ],
            "  const words = title.toLowerCase().split(/\\s+/);\n  return words.join(\"-\");",
        )
        .expects("$f lowers the case", "$f(\"$title\")", "\"$slug\"")
        .expects("$f keeps digits", "$f(\"top  10\")", "\"top-10\"")
        .bug(
            "capitals are kept",
            Logic,
            "  const words = title.split(/\\s+/);\n  return words.join(\"-\");",
            &[("$f lowers the case", equal(quoted(&title.replace(' ', "-")), quoted(slug)))],
        )
        .bug(
            "double spaces make double dashes",
            Logic,
            "  const words = title.toLowerCase().split(\" \");\n  return words.join(\"-\");",
            &[("$f keeps digits", equal("\"top--10\"", "\"top-10\""))],
        )
        .bug(
            "a name is misspelt",
            Exception,
            "  const words = titel.toLowerCase().split(/\\s+/);\n  return words.join(\"-\");",
            &[
                (
                    "$f lowers the case",
                    throws(0, "titel", "ReferenceError", "titel is not defined"),
                ),
                ("$f keeps digits", throws(0, "titel", "ReferenceError", "titel is not defined")),
            ],
        )
}

fn stock(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["reserve", "takeOut", "bookPieces"]);
    let count = pick.number(2, 9);
    let message = format!("cannot take {count} of {count}");
    FunctionUnit::new("stock", f, &[("count", text(count))])
        .code(
            "«export »function $f(left«: number», count«: number»)«: number» {",
            &[
                "Pieces that are left after `count` of them were taken out.",
                "Takes pieces out of the stock.",
            ],
            "  if (count > left) {\n    throw new RangeError(`cannot take ${count} of ${left}`);\n  }\n  return left - count;",
        )
        .expects("$f the last piece", "$f($count, $count)", "0")
        .expects("$f some pieces", "$f(10, $count)", &text(10 - count))
        .bug(
            "the last piece cannot be taken",
            Exception,
            "  if (count >= left) {\n    throw new RangeError(`cannot take ${count} of ${left}`);\n  }\n  return left - count;",
            &[("$f the last piece", throws(1, "new RangeError", "RangeError", &message))],
        )
        .attempt(
            "  if (!(left > count)) {\n    throw new RangeError(`cannot take ${count} of ${left}`);\n  }\n  return left - count;",
            &[("$f the last piece", throws(1, "new RangeError", "RangeError", &message))],
        )
        .bug(
            "pieces are added",
            Logic,
            "  if (count > left) {\n    throw new RangeError(`cannot take ${count} of ${left}`);\n  }\n  return left + count;",
            &[
                ("$f the last piece", equal(2 * count, 0)),
                ("$f some pieces", equal(10 + count, 10 - count)),
            ],
        )
}

fn pages(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["pageCount", "numberOfPages", "pagesFor"]);
    let (full, values) = draw_pages(pick);
    let missing = throws(0, "sise", "ReferenceError", "sise is not defined");
    FunctionUnit::new("pages", f, &values)
        .code(
            "«export »function $f(items«: number», size«: number»)«: number» {",
            &["Pages that so many items take.", "Counts pages; the last one may be short."],
            "  return Math.ceil(items / size);",
        )
        .expects("$f rounds up", "$f($over, $size)", "$more")
        .expects("$f of full pages", "$f($items, $size)", "$full")
        .bug(
            "the last page is lost",
            Logic,
            "  return Math.floor(items / size);",
            &[("$f rounds up", equal(full, full + 1))],
        )
        .also_as("  return Math.round(items / size);", &[("$f rounds up", equal(full, full + 1))])
        .attempt("  return Math.trunc(items / size);", &[("$f rounds up", equal(full, full + 1))])
        .bug(
            "there is always one page more",
            Logic,
            "  return Math.floor(items / size) + 1;",
            &[("$f of full pages", equal(full + 1, full))],
        )
        .bug(
            "a name is misspelt",
            Exception,
            "  return Math.ceil(items / sise);",
            &[("$f rounds up", missing.clone()), ("$f of full pages", missing)],
        )
}

fn calendars(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["isLeap", "hasLeapDay", "leapYear"]);
    let century = pick.text(&["1900", "2100", "2200"]);
    FunctionUnit::new("calendars", f, &[("century", century.to_owned())])
        .code(
            "«export »function $f(year«: number»)«: boolean» {",
            &["Whether a year has a 29th of February.", "Returns true for years of 366 days."],
            "  if (year % 400 === 0) {\n    return true;\n  }\n  return year % 4 === 0 && year % 100 !== 0;",
        )
        .expects("$f every four centuries", "$f(2000)", "true")
        .expects("$f not every century", "$f($century)", "false")
        .bug(
            "the fourth century is forgotten",
            Logic,
            "  if (year % 100 === 0) {\n    return false;\n  }\n  return year % 4 === 0;",
            &[("$f every four centuries", equal("false", "true"))],
        )
        .bug(
            "centuries are leap years",
            Logic,
            "  if (year % 400 === 0) {\n    return true;\n  }\n  return year % 4 === 0;",
            &[("$f not every century", equal("true", "false"))],
        )
}

fn retries(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["backoff", "delayBefore", "waitTime"]);
    let (base, cap, values) = draw_retries(pick);
    FunctionUnit::new("retries", f, &values)
        .code(
            "«export »function $f(attempt«: number», base«: number», cap«: number»)«: number» {",
            &[
                "Seconds before an attempt: doubled each time, never more than `cap`.",
                "Computes how long to wait before the next attempt.",
            ],
            "  const wait = base * 2 ** attempt;\n  return Math.min(wait, cap);",
        )
        .expects("$f is capped", "$f(9, $base, $cap)", "$cap")
        .expects("$f doubles", "$f(3, $base, $cap)", "$third")
        .bug(
            "the cap is ignored",
            Logic,
            "  const wait = base * 2 ** attempt;\n  return Math.max(wait, cap / 100);",
            &[("$f is capped", equal(base * 512, cap))],
        )
        .also_as(
            "  const wait = base * 2 ** attempt;\n  return Math.max(wait, cap);",
            &[("$f is capped", equal(base * 512, cap)), ("$f doubles", equal(cap, base * 8))],
        )
        .attempt(
            "  const wait = base * 2 ** attempt;\n  return Math.min(wait, cap * 10);",
            &[("$f is capped", equal((base * 512).min(cap * 10), cap))],
        )
        .bug(
            "the wait grows by the same amount",
            Logic,
            "  const wait = base * attempt;\n  return Math.min(wait, cap);",
            &[("$f doubles", equal(base * 3, base * 8)), ("$f is capped", equal(base * 9, cap))],
        )
}

fn names(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["initials", "firstLetters", "shortName"]);
    let name = pick.text(&["Ada  Lovelace", "Alan  Lee", "Anna  Lind"]);
    let undefined = "Cannot read properties of undefined (reading 'toUpperCase')";
    let head = "  let letters = \"\";\n";
    let tail = "  }\n  return letters;";
    FunctionUnit::new("names", f, &[("name", name.to_owned())])
        .code(
            "«export »function $f(name«: string»)«: string» {",
            &["First letters of the words of a name.", "Shortens a name to capital letters."],
            &format!("{head}  for (const word of name.split(/\\s+/)) {{\n    letters += word[0].toUpperCase();\n{tail}"),
        )
        .expects("$f skips double spaces", "$f(\"$name\")", "\"AL\"")
        .expects("$f of one word", "$f(\"ada\")", "\"A\"")
        .bug(
            "an empty word has no first letter",
            Exception,
            &format!("{head}  for (const word of name.split(\" \")) {{\n    letters += word[0].toUpperCase();\n{tail}"),
            &[("$f skips double spaces", throws(2, "toUpperCase", "TypeError", undefined))],
        )
        .bug(
            "letters keep their case",
            Logic,
            &format!("{head}  for (const word of name.split(/\\s+/)) {{\n    letters += word[0];\n{tail}"),
            &[("$f of one word", equal("\"a\"", "\"A\""))],
        )
}

fn limits(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["limitFor", "quotaOf", "mostItems"]);
    let (plan, limit, values) = draw_limits(pick);
    let message = format!("no limit for {plan}");
    FunctionUnit::new("limits", f, &values)
        .import("limits ./limits.json")
        .setting("limits.json", "{\n  \"free\": 10,", "  \"$plan\": $limit,", "  \"enterprise\": 100000\n}")
        .code(
            "«export »function $f(plan«: string»)«: number» {",
            &["Most items that a plan may hold.", "Looks up how many items a plan allows."],
            "  const known«: Record<string, number>» = limits;\n  if (!(plan in known)) {\n    throw new Error(`no limit for ${plan}`);\n  }\n  return known[plan];",
        )
        .expects("$f the $plan plan", "$f(\"$plan\")", "$limit")
        .expects("$f the free plan", "$f(\"free\")", "10")
        .wrong_setting("the limit of a plan is wrong", Configuration, "  \"$plan\": $wrong,", &[(
            "$f the $plan plan",
            equal(limit / 10, limit),
        )])
        .wrong_setting("a plan is missing", Exception, "  \"trial\": $limit,", &[(
            "$f the $plan plan",
            throws(2, "new Error", "Error", &message),
        )])
}

/// Returns a function with a repair of two edits: it needs another parameter and has to use it.
fn shares(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["shareOf", "portion", "splitEvenly"]);
    let (people, amount, values) = draw_shares(pick);
    let wrong = &[("$f gives the rest to the first", equal(amount / people, amount / people + 1))];
    FunctionUnit::new("shares", f, &values)
        .code(
            "«export »function $f(amount«: number», people«: number», place = 0)«: number» {",
            &[
                "Part of an amount for one of several people; the first gets the rest as well.",
                "Computes what one of several people has to pay.",
            ],
            "  const rest = place === 0 ? amount % people : 0;\n  return Math.floor(amount / people) + rest;",
        )
        .expects("$f gives the rest to the first", "$f($amount, $people)", "$more")
        .expects("$f of nothing", "$f(0, $people)", "0")
        .bug("the rest is lost", Logic, "  return Math.floor(amount / people);", wrong)
        .with_head("«export »function $f(amount«: number», people«: number»)«: number» {")
}

/// Returns a function with a long line and the mistake at its end.
fn invoices(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["amountPayable", "invoiceAmount", "sumPayable"]);
    let (coupon, sure, values) = draw_invoices(pick, 0);
    let start =
        "  return basePriceInCents * count + shippingCostInCents + handlingFeeInCents * count";
    FunctionUnit::new("invoices", f, &values)
        .code(
            "«export »function $f(basePriceInCents«: number», count«: number», shippingCostInCents«: number», handlingFeeInCents«: number», coupon«: number»)«: number» {",
            &["Cents that are to be paid.", "Computes the cents that an invoice asks for."],
            &format!("{start} - coupon;"),
        )
        .expects("$f takes the coupon off", "$f($price, $count, 490, 25, $coupon)", "$want")
        .expects("$f without coupon", "$f($price, $count, 490, 25, 0)", "$sure")
        .bug("the coupon is added", Logic, &format!("{start} + coupon;"), &[(
            "$f takes the coupon off",
            equal(sure + coupon, sure - coupon),
        )])
}

fn queues(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["nextJob", "popJob", "takeJob"]);
    let job = pick.text(&["mail", "report", "backup"]);
    let undefined = "Cannot read properties of undefined (reading 'trim')";
    FunctionUnit::new("queues", f, &[("job", job.to_owned())])
        .code(
            "«export »function $f(jobs«: string[]»)«: string» {",
            &["Oldest job of a list.", "Returns the job that waits longest."],
            "  if (jobs.length === 0) {\n    return \"idle\";\n  }\n  return jobs[0].trim();",
        )
        .expects("$f is the oldest", "$f([\"$job\", \"index\"])", "\"$job\"")
        .expects("$f of nothing", "$f([])", "\"idle\"")
        .bug("an empty list is not looked at", Exception, "  return jobs[0].trim();", &[(
            "$f of nothing",
            throws(0, "trim", "TypeError", undefined),
        )])
        .bug(
            "the newest is taken",
            Logic,
            "  if (jobs.length === 0) {\n    return \"idle\";\n  }\n  return jobs[jobs.length - 1].trim();",
            &[("$f is the oldest", equal("\"index\"", format!("\"{job}\"")))],
        )
}
