//! Rust functions with their tests and bugs.

use super::super::draws::{
    PriceNumbers, draw_invoices, draw_limits, draw_pages, draw_retries, draw_shares, text,
};
use crate::project::BugKind::{Compile, Configuration, Exception, Logic};
use crate::unit::{FunctionUnit, UnitDice, UnitFailure, equal, message, raised};

/// Returns every function that a Rust package can have.
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

/// Creates a panic in the function.
fn panics(line: usize, mark: &str, message: &str) -> UnitFailure {
    raised(line, mark, "", message, &[])
}

/// Creates the error of an undeclared name, with rustc's suggestion.
fn undeclared(line: usize, name: &str, meant: &str) -> UnitFailure {
    raised(
        line,
        name,
        "E0425",
        &format!("cannot find value `{name}` in this scope"),
        &[("meant", meant)],
    )
}

/// Returns a discount, and an order that uses it: one mistake fails tests in two files.
fn pricing(pick: &mut UnitDice) -> Vec<FunctionUnit> {
    let f = pick.text(&["total", "subtotal", "grand_total"]);
    let g = pick.text(&["order_total", "amount_due", "invoice_sum"]);
    let prices = PriceNumbers::draw(pick);
    let PriceNumbers { b, rate, gross, .. } = prices;
    let values = prices.values(g);
    let tests = ["$f_takes_the_discount_off", "$f_without_discount", "$g_with_discount"];
    let fails = |got| prices.wrong_discount(tests, got);
    let without = |got| prices.wrong_sum(tests, got);
    let discount = FunctionUnit::new("pricing", f, &values)
        .code(
            "pub fn $f(prices: &[i64], rate: i64) -> i64 {",
            &[
                "Sum of the prices after a discount of `rate` percent.",
                "Adds all prices up and takes a discount off, given in percent.",
            ],
            "    let gross: i64 = prices.iter().sum();\n    gross - gross * rate / 100",
        )
        .test(
            "$f_takes_the_discount_off",
            "$f(&[$a, $b], $rate)",
            "assert_eq!($f(&[$a, $b], $rate), $want);",
        )
        .test("$f_without_discount", "$f(&[$a, $b], 0)", "assert_eq!($f(&[$a, $b], 0), $gross);")
        .bug(
            "the discount is added",
            Logic,
            "    let gross: i64 = prices.iter().sum();\n    gross + gross * rate / 100",
            &fails(gross + gross * rate / 100),
        )
        .also_as("    let gross: i64 = prices.iter().sum();\n    gross.max(rate)", &fails(gross))
        .attempt(
            "    let gross: i64 = prices.iter().sum();\n    gross - rate",
            &fails(gross - rate),
        )
        .bug(
            "the first price is left out",
            Logic,
            "    let gross: i64 = prices.iter().skip(1).sum();\n    gross - gross * rate / 100",
            &without(b),
        );
    let order = FunctionUnit::new("orders", g, &[&values[..5], &[("used", f.to_owned())]].concat())
        .import("use crate::pricing::$used;")
        .code(
            "pub fn $f(lines: &[(i64, i64)], discount: i64) -> i64 {",
            &["Amount that a customer pays for an order.", "Computes what an order costs."],
            "    let prices: Vec<i64> = lines.iter().map(|(price, count)| price * count).collect();\n    $used(&prices, discount)",
        )
        .test(
            "$f_with_discount",
            "$f(&[($a, 1), ($b, 1)], $rate)",
            "assert_eq!($f(&[($a, 1), ($b, 1)], $rate), $want);",
        )
        .test("$f_of_nothing", "$f(&[], 0)", "assert_eq!($f(&[], 0), 0);");
    vec![discount, order]
}

fn amounts(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["parse_amount", "to_cents", "read_price"]);
    let (units, cents) = (pick.number(11, 98), pick.number(11, 98));
    let values = [("units", text(units)), ("cents", text(cents))];
    let unwrap_none = "called `Option::unwrap()` on a `None` value";
    FunctionUnit::new("amounts", f, &values)
        .code(
            "pub fn $f(text: &str) -> i64 {",
            &["Cents of an amount such as `12.50`.", "Reads an amount as cents."],
            "    let (units, cents) = text.split_once('.').unwrap_or((text, \"0\"));\n    units.parse::<i64>().unwrap() * 100 + cents.parse::<i64>().unwrap()",
        )
        .test("$f_of_whole_units", "$f(\"$units\")", "assert_eq!($f(\"$units\"), $units00);")
        .test(
            "$f_with_cents",
            "$f(\"$units.$cents\")",
            "assert_eq!($f(\"$units.$cents\"), $units$cents);",
        )
        .bug(
            "whole amounts are not split",
            Exception,
            "    let (units, cents) = text.split_once('.').unwrap();\n    units.parse::<i64>().unwrap() * 100 + cents.parse::<i64>().unwrap()",
            &[("$f_of_whole_units", panics(0, "unwrap()", unwrap_none))],
        )
        .also_as(
            "    let (units, cents) = text.rsplit_once('.').unwrap();\n    units.parse::<i64>().unwrap() * 100 + cents.parse::<i64>().unwrap()",
            &[("$f_of_whole_units", panics(0, "unwrap()", unwrap_none))],
        )
        .attempt(
            "    let (units, cents) = text.trim().split_once('.').unwrap();\n    units.parse::<i64>().unwrap() * 100 + cents.parse::<i64>().unwrap()",
            &[("$f_of_whole_units", panics(0, "unwrap()", unwrap_none))],
        )
        .bug(
            "the cents are dropped",
            Logic,
            "    let (units, _) = text.split_once('.').unwrap_or((text, \"0\"));\n    units.parse::<i64>().unwrap() * 100",
            &[("$f_with_cents", equal(units * 100, units * 100 + cents))],
        )
        .bug(
            "the point is left in the number",
            Exception,
            "    let number = text.trim_end_matches('.');\n    number.parse::<i64>().unwrap() * 100",
            &[(
                "$f_with_cents",
                panics(
                    1,
                    "unwrap()",
                    "called `Result::unwrap()` on an `Err` value: ParseIntError { kind: InvalidDigit }",
                ),
            )],
        )
}

fn slugs(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["slugify", "make_slug", "url_name"]);
    let (title, slug) = match pick.number(0, 1) {
        0 => ("Hello World", "hello-world"),
        _ => ("Blue Lamp", "blue-lamp"),
    };
    let values = [("title", title.to_owned()), ("slug", slug.to_owned())];
    let quoted = |text: &str| format!("\"{text}\"");
    FunctionUnit::new("slugs", f, &values)
        .code(
            "pub fn $f(title: &str) -> String {",
            &["Lower-case words of a title, joined by dashes.", "Makes a part of a URL of a title."],
            "    let words: Vec<String> = title.split_whitespace().map(str::to_lowercase).collect();\n    words.join(\"-\")",
        )
        .test("$f_lowers_the_case", "$f(\"$title\")", "assert_eq!($f(\"$title\"), \"$slug\");")
        .test("$f_keeps_digits", "$f(\"top  10\")", "assert_eq!($f(\"top  10\"), \"top-10\");")
        .bug(
            "capitals are kept",
            Logic,
            "    let words: Vec<String> = title.split_whitespace().map(str::to_owned).collect();\n    words.join(\"-\")",
            &[(
                "$f_lowers_the_case",
                equal(quoted(&title.replace(' ', "-")), quoted(slug)),
            )],
        )
        .bug(
            "double spaces make double dashes",
            Logic,
            "    let words: Vec<String> = title.split(' ').map(str::to_lowercase).collect();\n    words.join(\"-\")",
            &[("$f_keeps_digits", equal("\"top--10\"", "\"top-10\""))],
        )
}

fn stock(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["reserve", "take_out", "book_pieces"]);
    let count = pick.number(2, 9);
    let values = [("count", text(count))];
    FunctionUnit::new("stock", f, &values)
        .code(
            "pub fn $f(left: u32, count: u32) -> Result<u32, String> {",
            &[
                "Pieces that are left after `count` of them were taken out.",
                "Returns what is left once some pieces are gone.",
            ],
            "    if count > left {\n        return Err(format!(\"cannot take {count} of {left}\"));\n    }\n    Ok(left - count)",
        )
        .test("$f_the_last_piece", "$f($count, $count)", "assert_eq!($f($count, $count), Ok(0));")
        .test(
            "$f_too_many",
            "$f(1, 2)",
            "assert_eq!($f(1, 2), Err(\"cannot take 2 of 1\".to_owned()));",
        )
        .bug(
            "the last piece cannot be taken",
            Logic,
            "    if count >= left {\n        return Err(format!(\"cannot take {count} of {left}\"));\n    }\n    Ok(left - count)",
            &[(
                "$f_the_last_piece",
                equal(format!("Err(\"cannot take {count} of {count}\")"), "Ok(0)"),
            )],
        )
        .attempt(
            "    if left <= count {\n        return Err(format!(\"cannot take {count} of {left}\"));\n    }\n    Ok(left - count)",
            &[(
                "$f_the_last_piece",
                equal(format!("Err(\"cannot take {count} of {count}\")"), "Ok(0)"),
            )],
        )
        .bug(
            "too many are subtracted",
            Exception,
            "    if left == 0 {\n        return Err(format!(\"cannot take {count} of {left}\"));\n    }\n    Ok(left - count)",
            &[("$f_too_many", panics(3, "left - count", "attempt to subtract with overflow"))],
        )
        .bug(
            "a name is misspelt",
            Compile,
            "    if cuont > left {\n        return Err(format!(\"cannot take {count} of {left}\"));\n    }\n    Ok(left - count)",
            &[("$f_too_many", undeclared(0, "cuont", "count"))],
        )
        .bug(
            "the message is another",
            Logic,
            "    if count > left {\n        return Err(format!(\"only {left} left\"));\n    }\n    Ok(left - count)",
            &[("$f_too_many", equal("Err(\"only 1 left\")", "Err(\"cannot take 2 of 1\")"))],
        )
}

fn pages(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["page_count", "number_of_pages", "pages_for"]);
    let (full, values) = draw_pages(pick);
    FunctionUnit::new("pages", f, &values)
        .code(
            "pub fn $f(items: u32, size: u32) -> u32 {",
            &["Pages that so many items take.", "Counts pages; the last one may be short."],
            "    (items + size - 1) / size",
        )
        .test("$f_rounds_up", "$f($over, $size)", "assert_eq!($f($over, $size), $more);")
        .test("$f_of_full_pages", "$f($items, $size)", "assert_eq!($f($items, $size), $full);")
        .bug(
            "the last page is lost",
            Logic,
            "    items / size",
            &[("$f_rounds_up", equal(full, full + 1))],
        )
        .attempt("    (items + size / size - 1) / size", &[("$f_rounds_up", equal(full, full + 1))])
        .bug(
            "there is always one page more",
            Logic,
            "    items / size + 1",
            &[("$f_of_full_pages", equal(full + 1, full))],
        )
        .also_as("    (items + size) / size", &[("$f_of_full_pages", equal(full + 1, full))])
        .bug(
            "a name is misspelt",
            Compile,
            "    (items + size - 1) / sise",
            &[("$f_rounds_up", undeclared(0, "sise", "size"))],
        )
}

fn calendars(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["is_leap", "has_leap_day", "leap_year"]);
    let century = pick.text(&["1900", "2100", "2200"]);
    let values = [("century", century.to_owned())];
    let found = |text: &str| message(&[&format!("assertion failed: {text}")]);
    FunctionUnit::new("calendars", f, &values)
        .code(
            "pub fn $f(year: u32) -> bool {",
            &["Whether a year has a 29th of February.", "Returns true for years of 366 days."],
            "    if year % 400 == 0 {\n        return true;\n    }\n    year % 4 == 0 && year % 100 != 0",
        )
        .test("$f_every_four_centuries", "$f(2000)", "assert!($f(2000));")
        .test("$f_not_every_century", "$f($century)", "assert!(!$f($century));")
        .bug(
            "the fourth century is forgotten",
            Logic,
            "    if year % 100 == 0 {\n        return false;\n    }\n    year % 4 == 0",
            &[("$f_every_four_centuries", found(&format!("{f}(2000)")))],
        )
        .bug(
            "centuries are leap years",
            Logic,
            "    if year % 400 == 0 {\n        return true;\n    }\n    year % 4 == 0",
            &[("$f_not_every_century", found(&format!("!{f}({century})")))],
        )
        .bug(
            "a name is misspelt",
            Compile,
            "    if year % 400 == 0 {\n        return true;\n    }\n    yaer % 4 == 0 && year % 100 != 0",
            &[("$f_every_four_centuries", undeclared(3, "yaer", "year"))],
        )
}

fn retries(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["backoff", "delay_before", "wait_time"]);
    let (base, cap, values) = draw_retries(pick);
    FunctionUnit::new("retries", f, &values)
        .code(
            "pub fn $f(attempt: u32, base: u64, cap: u64) -> u64 {",
            &[
                "Seconds before an attempt: doubled each time, never more than `cap`.",
                "Computes how long to wait before the next attempt.",
            ],
            "    let wait = base << attempt;\n    wait.min(cap)",
        )
        .test("$f_is_capped", "$f(9, $base, $cap)", "assert_eq!($f(9, $base, $cap), $cap);")
        .test("$f_doubles", "$f(3, $base, $cap)", "assert_eq!($f(3, $base, $cap), $third);")
        .bug(
            "the cap is ignored",
            Logic,
            "    let wait = base << attempt;\n    wait.max(base.min(cap))",
            &[("$f_is_capped", equal(base * 512, cap))],
        )
        .also_as(
            "    let wait = base << attempt;\n    wait.max(cap)",
            &[("$f_is_capped", equal(base * 512, cap)), ("$f_doubles", equal(cap, base * 8))],
        )
        .attempt(
            "    let wait = base << attempt;\n    wait.min(cap * 10)",
            &[("$f_is_capped", equal((base * 512).min(cap * 10), cap))],
        )
        .bug(
            "a name is misspelt",
            Compile,
            "    let wait = base << atempt;\n    wait.min(cap)",
            &[("$f_doubles", undeclared(0, "atempt", "attempt"))],
        )
        .bug(
            "the wait grows by the same amount",
            Logic,
            "    let wait = base * u64::from(attempt);\n    wait.min(cap)",
            &[("$f_doubles", equal(base * 3, base * 8)), ("$f_is_capped", equal(base * 9, cap))],
        )
}

fn names(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["initials", "first_letters", "short_name"]);
    let name = pick.text(&["Ada  Lovelace", "Alan  Lee", "Anna  Lind"]);
    FunctionUnit::new("names", f, &[("name", name.to_owned())])
        .code(
            "pub fn $f(name: &str) -> String {",
            &["First letters of the words of a name.", "Shortens a name to capital letters."],
            "    let mut letters = String::new();\n    for word in name.split_whitespace() {\n        letters.push(word.chars().next().unwrap().to_ascii_uppercase());\n    }\n    letters",
        )
        .test("$f_skips_double_spaces", "$f(\"$name\")", "assert_eq!($f(\"$name\"), \"AL\");")
        .test("$f_of_one_word", "$f(\"ada\")", "assert_eq!($f(\"ada\"), \"A\");")
        .bug(
            "an empty word has no first letter",
            Exception,
            "    let mut letters = String::new();\n    for word in name.split(' ') {\n        letters.push(word.chars().next().unwrap().to_ascii_uppercase());\n    }\n    letters",
            &[(
                "$f_skips_double_spaces",
                panics(2, "unwrap()", "called `Option::unwrap()` on a `None` value"),
            )],
        )
        .bug(
            "letters keep their case",
            Logic,
            "    let mut letters = String::new();\n    for word in name.split_whitespace() {\n        letters.push(word.chars().next().unwrap());\n    }\n    letters",
            &[("$f_of_one_word", equal("\"a\"", "\"A\""))],
        )
}

fn limits(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["limit_for", "quota_of", "most_items"]);
    let (_, limit, values) = draw_limits(pick);
    FunctionUnit::new("limits", f, &values)
        .setting("limits.txt", "free 10", "$plan $limit", "enterprise 100000")
        .code(
            "pub fn $f(plan: &str) -> u32 {",
            &["Most items that a plan may hold.", "Looks up how many items a plan allows."],
            "    let lines = include_str!(\"limits.txt\").lines();\n    let mut plans = lines.filter_map(|line| line.split_once(' '));\n    let (_, limit) = plans.find(|(name, _)| *name == plan).expect(\"no such plan in limits.txt\");\n    limit.parse().unwrap()",
        )
        .test("$f_the_$plan_plan", "$f(\"$plan\")", "assert_eq!($f(\"$plan\"), $limit);")
        .test("$f_the_free_plan", "$f(\"free\")", "assert_eq!($f(\"free\"), 10);")
        .wrong_setting(
            "the limit of a plan is wrong",
            Configuration,
            "$plan $wrong",
            &[("$f_the_$plan_plan", equal(limit / 10, limit))],
        )
        .wrong_setting(
            "a plan is missing",
            Exception,
            "trial $limit",
            &[("$f_the_$plan_plan", panics(2, "expect(", "no such plan in limits.txt"))],
        )
}

/// Returns a function with a repair of two edits: the error type has to change in the signature and in the body.
fn shares(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["share_of", "portion", "split_evenly"]);
    let (people, amount, values) = draw_shares(pick);
    let wrong = &[("$f_gives_the_rest_to_the_first", equal(amount / people, amount / people + 1))];
    FunctionUnit::new("shares", f, &values)
        .code(
            "pub fn $f(amount: u32, people: u32) -> u32 {",
            &[
                "Part of an amount for the first of several people, who gets the rest as well.",
                "Computes what the first of several people has to pay.",
            ],
            "    let rest = amount % people;\n    amount / people + rest",
        )
        .test(
            "$f_gives_the_rest_to_the_first",
            "$f($amount, $people)",
            "assert_eq!($f($amount, $people), $more);",
        )
        .test("$f_of_nothing", "$f(0, $people)", "assert_eq!($f(0, $people), 0);")
        .bug(
            "the rest is lost",
            Logic,
            "    let rest = amount % people;\n    (amount - rest) / people",
            wrong,
        )
        .also_as("    let rest = amount % people;\n    amount / people + rest / people", wrong)
}

/// Returns a function with a long line and the mistake at its end.
fn invoices(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["amount_payable", "invoice_amount", "sum_payable"]);
    let (coupon, sure, values) = draw_invoices(pick, 0);
    let start =
        "    base_price_in_cents * count + shipping_cost_in_cents + handling_fee_in_cents * count";
    FunctionUnit::new("invoices", f, &values)
        .code(
            "pub fn $f(base_price_in_cents: i64, count: i64, shipping_cost_in_cents: i64, handling_fee_in_cents: i64, coupon: i64) -> i64 {",
            &["Cents that are to be paid.", "Computes the cents that an invoice asks for."],
            &format!("{start} - coupon"),
        )
        .test(
            "$f_takes_the_coupon_off",
            "$f($price, $count, 490, 25, $coupon)",
            "assert_eq!($f($price, $count, 490, 25, $coupon), $want);",
        )
        .test(
            "$f_without_coupon",
            "$f($price, $count, 490, 25, 0)",
            "assert_eq!($f($price, $count, 490, 25, 0), $sure);",
        )
        .bug("the coupon is added", Logic, &format!("{start} + coupon"), &[(
            "$f_takes_the_coupon_off",
            equal(sure + coupon, sure - coupon),
        )])
}

fn queues(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["next_job", "pop_job", "take_job"]);
    let job = pick.text(&["mail", "report", "backup"]);
    FunctionUnit::new("queues", f, &[("job", job.to_owned())])
        .code(
            "pub fn $f(jobs: &mut Vec<String>) -> String {",
            &["Oldest job, which is taken out of the list.", "Takes the oldest job out of the list."],
            "    if jobs.is_empty() {\n        return \"idle\".to_owned();\n    }\n    jobs.remove(0)",
        )
        .test_at(
            "$f_is_the_oldest",
            "$f(&mut jobs)",
            "let mut jobs = vec![\"$job\".to_owned(), \"index\".to_owned()];\nassert_eq!($f(&mut jobs), \"$job\");",
            1,
        )
        .test("$f_of_nothing", "$f(&mut Vec::new())", "assert_eq!($f(&mut Vec::new()), \"idle\");")
        .bug(
            "an empty list is not looked at",
            Exception,
            "    let oldest = jobs[0].clone();\n    jobs.retain(|job| *job != oldest);\n    oldest",
            &[(
                "$f_of_nothing",
                panics(0, "jobs[0]", "index out of bounds: the len is 0 but the index is 0"),
            )],
        )
        .bug(
            "the newest is taken",
            Logic,
            "    if jobs.is_empty() {\n        return \"idle\".to_owned();\n    }\n    jobs.remove(jobs.len() - 1)",
            &[("$f_is_the_oldest", equal("\"index\"", format!("\"{job}\"")))],
        )
        .also_as(
            "    let job = jobs.pop();\n    job.unwrap_or_else(|| \"idle\".to_owned())",
            &[("$f_is_the_oldest", equal("\"index\"", format!("\"{job}\"")))],
        )
}
