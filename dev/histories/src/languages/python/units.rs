//! Python functions with their tests and bugs.

use super::super::draws::{
    PriceNumbers, draw_invoices, draw_limits, draw_pages, draw_retries, draw_shares, text,
};
use crate::project::BugKind::{Configuration, Exception, Logic};
use crate::unit::{FunctionUnit, UnitDice, equal, equal_with, message, raised};

/// Returns every function that a Python package can have.
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
        cards(pick),
        invoices(pick),
    ]);
    all
}

/// Returns a discount, and an order that uses it: one mistake fails tests in two files.
fn pricing(pick: &mut UnitDice) -> Vec<FunctionUnit> {
    let f = pick.text(&["total", "subtotal", "grand_total"]);
    let g = pick.text(&["order_total", "amount_due", "invoice_sum"]);
    let prices = PriceNumbers::draw(pick);
    let PriceNumbers { a, b, rate, gross } = prices;
    let values = prices.values(g);
    let tests = ["$f_takes_the_discount_off", "$f_without_discount", "$g_with_discount"];
    let fails = |got| prices.wrong_discount(tests, got);
    let without = |got| prices.wrong_sum(tests, got);
    let discount = FunctionUnit::new("pricing", f, &values)
        .code(
            "def $f(prices, rate):",
            &[
                "Sum of the prices after a discount of `rate` percent.",
                "Return the sum of all prices, less a discount given in percent.",
            ],
            "    gross = sum(prices)\n    return gross - gross * rate // 100",
        )
        .test(
            "$f_takes_the_discount_off",
            "$f([$a, $b], $rate)",
            "    assert $f([$a, $b], $rate) == $want",
        )
        .test("$f_without_discount", "$f([$a, $b], 0)", "    assert $f([$a, $b], 0) == $gross")
        .bug(
            "the discount is added",
            Logic,
            "    gross = sum(prices)\n    return gross + gross * rate // 100",
            &fails(gross + gross * rate / 100),
        )
        .also_as("    gross = sum(prices)\n    return gross", &fails(gross))
        .attempt("    gross = sum(prices)\n    return gross - rate", &fails(gross - rate))
        .bug(
            "the first price is left out",
            Logic,
            "    gross = sum(prices[1:])\n    return gross - gross * rate // 100",
            &without(b),
        )
        .also_as(
            "    gross = sum(prices[:-1])\n    return gross - gross * rate // 100",
            &without(a),
        );
    let order = FunctionUnit::new("orders", g, &[&values[..5], &[("used", f.to_owned())]].concat())
        .import("from $package.pricing import $used")
        .code(
            "def $f(order):",
            &["Amount that a customer pays for an order.", "Return what an order costs."],
            "    prices = [line[\"price\"] * line[\"count\"] for line in order[\"lines\"]]\n    return $used(prices, order[\"discount\"])",
        )
        .test_at(
            "$f_with_discount",
            "$f({'discount': $rate, 'lines': [{'count': 1, 'price': $a}, {'count': 1, 'price': $b}]})",
            "    lines = [{\"count\": 1, \"price\": $a}, {\"count\": 1, \"price\": $b}]\n    assert $f({\"discount\": $rate, \"lines\": lines}) == $want",
            1,
        )
        .test(
            "$f_of_nothing",
            "$f({'discount': 0, 'lines': []})",
            "    assert $f({\"discount\": 0, \"lines\": []}) == 0",
        );
    vec![discount, order]
}

fn amounts(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["parse_amount", "to_cents", "read_price"]);
    let units = pick.number(11, 98);
    let cents = pick.number(11, 98);
    let values = [("units", text(units)), ("cents", text(cents))];
    let whole = format!("'{units}'");
    let both = format!("'{units}.{cents}'");
    FunctionUnit::new("amounts", f, &values)
        .code(
            "def $f(text):",
            &["Cents of an amount such as `12.50`.", "Return an amount in cents."],
            "    units, _, cents = text.partition(\".\")\n    return int(units) * 100 + int(cents or 0)",
        )
        .test("$f_of_whole_units", "$f(\"$units\")", "    assert $f(\"$units\") == $units00")
        .test(
            "$f_with_cents",
            "$f(\"$units.$cents\")",
            "    assert $f(\"$units.$cents\") == $units$cents",
        )
        .bug(
            "whole amounts are not split",
            Exception,
            "    units, cents = text.split(\".\")\n    return int(units) * 100 + int(cents)",
            &[(
                "$f_of_whole_units",
                raised(
                    0,
                    "units, cents",
                    "ValueError",
                    "not enough values to unpack (expected 2, got 1)",
                    &[("text", &whole)],
                ),
            )],
        )
        .also_as(
            "    units, cents = text.split(\".\", 1)\n    return int(units) * 100 + int(cents)",
            &[(
                "$f_of_whole_units",
                raised(
                    0,
                    "units, cents",
                    "ValueError",
                    "not enough values to unpack (expected 2, got 1)",
                    &[("text", &whole)],
                ),
            )],
        )
        .attempt(
            "    units, cents = text.rsplit(\".\")\n    return int(units) * 100 + int(cents)",
            &[(
                "$f_of_whole_units",
                raised(
                    0,
                    "units, cents",
                    "ValueError",
                    "not enough values to unpack (expected 2, got 1)",
                    &[("text", &whole)],
                ),
            )],
        )
        .bug(
            "the cents are dropped",
            Logic,
            "    units, _, _ = text.partition(\".\")\n    return int(units) * 100",
            &[("$f_with_cents", equal(units * 100, units * 100 + cents))],
        )
        .bug(
            "the point is read as a comma",
            Exception,
            "    at = text.index(\",\") if \".\" in text else len(text)\n    return int(text[:at]) * 100 + int(text[at + 1 :] or 0)",
            &[(
                "$f_with_cents",
                raised(
                    0,
                    "text.index(\",\")",
                    "ValueError",
                    "substring not found",
                    &[("text", &both)],
                ),
            )],
        )
}

fn slugs(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["slugify", "make_slug", "url_name"]);
    let (title, slug, lost, hint) = match pick.number(0, 1) {
        0 => ("Hello World", "hello-world", "ello-orld", "? -     -"),
        _ => ("Blue Lamp", "blue-lamp", "lue-amp", "? -    -"),
    };
    let values = [("title", title.to_owned()), ("slug", slug.to_owned())];
    let quoted = |text: &str| format!("'{text}'");
    FunctionUnit::new("slugs", f, &values)
        .import("import re")
        .code(
            "def $f(title):",
            &["Lower-case words of a title, joined by dashes.", "Return a title as part of a URL."],
            "    words = re.findall(r\"[a-z0-9]+\", title.lower())\n    return \"-\".join(words)",
        )
        .test("$f_lowers_the_case", "$f(\"$title\")", "    assert $f(\"$title\") == \"$slug\"")
        .test("$f_keeps_digits", "$f(\"top 10\")", "    assert $f(\"top 10\") == \"top-10\"")
        .bug(
            "capitals are lost",
            Logic,
            "    words = re.findall(r\"[a-z0-9]+\", title)\n    return \"-\".join(words)",
            &[(
                "$f_lowers_the_case",
                equal_with(
                    &quoted(lost),
                    &quoted(slug),
                    &[&format!("- {slug}"), hint, &format!("+ {lost}")],
                ),
            )],
        )
        .bug(
            "digits are lost",
            Logic,
            "    words = re.findall(r\"[a-z]+\", title.lower())\n    return \"-\".join(words)",
            &[("$f_keeps_digits", equal_with("'top'", "'top-10'", &["- top-10", "+ top"]))],
        )
}

fn stock(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["reserve", "take_out", "book_pieces"]);
    let name = pick.text(&["lamp", "chair", "vase"]);
    let count = pick.number(2, 9);
    let values = [("name", name.to_owned()), ("count", text(count))];
    let last = [
        ("stock", format!("{{'{name}': {count}}}")),
        ("name", format!("'{name}'")),
        ("count", text(count)),
    ];
    let missing = [
        ("stock", format!("{{'{name}': {count}}}")),
        ("name", "'shelf'".to_owned()),
        ("count", text(1)),
    ];
    let [last, missing] = [&last, &missing]
        .map(|all| all.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>());
    FunctionUnit::new("stock", f, &values)
        .prelude(
            "class OutOfStock(Exception):\n    \"\"\"There is not enough of something.\"\"\"",
            &["OutOfStock"],
        )
        .code(
            "def $f(stock, name, count):",
            &[
                "Pieces that are left after `count` of them were taken out.",
                "Return what is left of a thing once some pieces are gone.",
            ],
            "    left = stock.get(name, 0) - count\n    if left < 0:\n        raise OutOfStock(f\"cannot take {count} of {name}\")\n    return left",
        )
        .test(
            "$f_the_last_piece",
            "$f({\"$name\": $count}, \"$name\", $count)",
            "    assert $f({\"$name\": $count}, \"$name\", $count) == 0",
        )
        .test_at(
            "$f_of_an_unknown_name",
            "$f({\"$name\": $count}, \"shelf\", 1)",
            "    with pytest.raises(OutOfStock):\n        $f({\"$name\": $count}, \"shelf\", 1)",
            1,
        )
        .bug(
            "the last piece cannot be taken",
            Exception,
            "    left = stock.get(name, 0) - count\n    if left <= 0:\n        raise OutOfStock(f\"cannot take {count} of {name}\")\n    return left",
            &[(
                "$f_the_last_piece",
                raised(
                    2,
                    "",
                    "$module.OutOfStock",
                    &format!("cannot take {count} of {name}"),
                    &last,
                ),
            )],
        )
        .attempt(
            "    left = stock.get(name, 0) - count\n    if not left > 0:\n        raise OutOfStock(f\"cannot take {count} of {name}\")\n    return left",
            &[(
                "$f_the_last_piece",
                raised(
                    2,
                    "",
                    "$module.OutOfStock",
                    &format!("cannot take {count} of {name}"),
                    &last,
                ),
            )],
        )
        .bug(
            "an unknown name is looked up",
            Exception,
            "    left = stock[name] - count\n    if left < 0:\n        raise OutOfStock(f\"cannot take {count} of {name}\")\n    return left",
            &[(
                "$f_of_an_unknown_name",
                raised(0, "stock[name]", "KeyError", "'shelf'", &missing),
            )],
        )
}

fn pages(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["page_count", "number_of_pages", "pages_for"]);
    let (full, values) = draw_pages(pick);
    FunctionUnit::new("pages", f, &values)
        .code(
            "def $f(items, size):",
            &[
                "Pages that so many items take.",
                "Return the number of pages, the last one may be short.",
            ],
            "    return (items + size - 1) // size",
        )
        .test("$f_rounds_up", "$f($over, $size)", "    assert $f($over, $size) == $more")
        .test("$f_of_full_pages", "$f($items, $size)", "    assert $f($items, $size) == $full")
        .bug(
            "the last page is lost",
            Logic,
            "    return items // size",
            &[("$f_rounds_up", equal(full, full + 1))],
        )
        .also_as("    return round(items / size)", &[("$f_rounds_up", equal(full, full + 1))])
        .attempt("    return int(items / size)", &[("$f_rounds_up", equal(full, full + 1))])
        .bug(
            "there is always one page more",
            Logic,
            "    return items // size + 1",
            &[("$f_of_full_pages", equal(full + 1, full))],
        )
        .also_as(
            "    return (items + size) // size",
            &[("$f_of_full_pages", equal(full + 1, full))],
        )
}

fn calendars(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["is_leap", "has_leap_day", "leap_year"]);
    let century = pick.text(&["1900", "2100", "2200"]);
    let values = [("century", century.to_owned())];
    let found = |value: &str, year: &str| {
        message(&[
            &format!("assert {}{value}", if value == "True" { "not " } else { "" }),
            &format!(" +  where {value} = {f}({year})"),
        ])
    };
    FunctionUnit::new("calendars", f, &values)
        .code(
            "def $f(year):",
            &["Whether a year has a 29th of February.", "Return True for years of 366 days."],
            "    if year % 400 == 0:\n        return True\n    return year % 4 == 0 and year % 100 != 0",
        )
        .test("$f_every_four_centuries", "$f(2000)", "    assert $f(2000)")
        .test("$f_not_every_century", "$f($century)", "    assert not $f($century)")
        .bug(
            "the fourth century is forgotten",
            Logic,
            "    if year % 100 == 0:\n        return False\n    return year % 4 == 0",
            &[("$f_every_four_centuries", found("False", "2000"))],
        )
        .attempt(
            "    if year % 100 == 0:\n        return year % 1000 == 0 and year % 3 == 0\n    return year % 4 == 0",
            &[("$f_every_four_centuries", found("False", "2000"))],
        )
        .bug(
            "centuries are leap years",
            Logic,
            "    if year % 400 == 0:\n        return True\n    return year % 4 == 0",
            &[("$f_not_every_century", found("True", century))],
        )
}

fn retries(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["backoff", "delay_before", "wait_time"]);
    let (base, cap, values) = draw_retries(pick);
    FunctionUnit::new("retries", f, &values)
        .code(
            "def $f(attempt, base, cap):",
            &[
                "Seconds before an attempt: doubled each time, never more than `cap`.",
                "Return how long to wait before the next attempt.",
            ],
            "    wait = base * 2**attempt\n    return min(wait, cap)",
        )
        .test("$f_is_capped", "$f(9, $base, $cap)", "    assert $f(9, $base, $cap) == $cap")
        .test("$f_doubles", "$f(3, $base, $cap)", "    assert $f(3, $base, $cap) == $third")
        .bug(
            "the cap is ignored",
            Logic,
            "    wait = base * 2**attempt\n    return wait",
            &[("$f_is_capped", equal(base * 512, cap))],
        )
        .also_as(
            "    wait = base * 2**attempt\n    return max(wait, cap)",
            &[("$f_is_capped", equal(base * 512, cap)), ("$f_doubles", equal(cap, base * 8))],
        )
        .attempt(
            "    wait = base * 2**attempt\n    return min(wait, cap * 10)",
            &[("$f_is_capped", equal((base * 512).min(cap * 10), cap))],
        )
        .bug(
            "the wait grows by the same amount",
            Logic,
            "    wait = base * attempt\n    return min(wait, cap)",
            &[("$f_doubles", equal(base * 3, base * 8)), ("$f_is_capped", equal(base * 9, cap))],
        )
}

fn names(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["initials", "first_letters", "short_name"]);
    let name = pick.text(&["Ada  Lovelace", "Alan  Lee", "Anna  Lind"]);
    let values = [("name", name.to_owned())];
    let argument = format!("'{name}'");
    FunctionUnit::new("names", f, &values)
        .code(
            "def $f(name):",
            &["First letters of the words of a name.", "Return a name as capital letters."],
            "    letters = []\n    for word in name.split():\n        letters.append(word[0].upper())\n    return \"\".join(letters)",
        )
        .test("$f_skips_double_spaces", "$f(\"$name\")", "    assert $f(\"$name\") == \"AL\"")
        .test("$f_of_one_word", "$f(\"ada\")", "    assert $f(\"ada\") == \"A\"")
        .bug(
            "an empty word has no first letter",
            Exception,
            "    letters = []\n    for word in name.split(\" \"):\n        letters.append(word[0].upper())\n    return \"\".join(letters)",
            &[(
                "$f_skips_double_spaces",
                raised(
                    2,
                    "word[0]",
                    "IndexError",
                    "string index out of range",
                    &[("name", &argument)],
                ),
            )],
        )
        .bug(
            "letters keep their case",
            Logic,
            "    letters = []\n    for word in name.split():\n        letters.append(word[0])\n    return \"\".join(letters)",
            &[("$f_of_one_word", equal_with("'a'", "'A'", &["- A", "+ a"]))],
        )
}

fn limits(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["limit_for", "quota_of", "most_items"]);
    let (plan, limit, values) = draw_limits(pick);
    FunctionUnit::new("limits", f, &values)
        .import("import json")
        .import("from pathlib import Path")
        .setting("limits.json", "{\n  \"free\": 10,", "  \"$plan\": $limit,", "  \"enterprise\": 100000\n}")
        .code(
            "def $f(plan):",
            &["Most items that a plan may hold.", "Return how many items a plan allows."],
            "    limits = json.loads(Path(__file__).with_name(\"limits.json\").read_text())\n    return limits[plan]",
        )
        .test("$f_the_$plan_plan", "$f(\"$plan\")", "    assert $f(\"$plan\") == $limit")
        .test("$f_the_free_plan", "$f(\"free\")", "    assert $f(\"free\") == 10")
        .wrong_setting(
            "the limit of a plan is wrong",
            Configuration,
            "  \"$plan\": $wrong,",
            &[("$f_the_$plan_plan", equal(limit / 10, limit))],
        )
        .wrong_setting(
            "a plan is missing",
            Exception,
            "  \"trial\": $limit,",
            &[(
                "$f_the_$plan_plan",
                raised(
                    1,
                    "limits[plan]",
                    "KeyError",
                    &format!("'{plan}'"),
                    &[("plan", &format!("'{plan}'"))],
                ),
            )],
        )
}

/// Returns a function with a repair of two edits: it needs a new parameter and has to use it.
fn shares(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["share_of", "portion", "split_evenly"]);
    let (people, amount, values) = draw_shares(pick);
    let wrong = &[("$f_gives_the_rest_to_the_first", equal(amount / people, amount / people + 1))];
    FunctionUnit::new("shares", f, &values)
        .code(
            "def $f(amount, people, place=0):",
            &[
                "Part of an amount for one of several people; the first gets the rest as well.",
                "Return what one of several people has to pay.",
            ],
            "    rest = amount % people if place == 0 else 0\n    return amount // people + rest",
        )
        .test(
            "$f_gives_the_rest_to_the_first",
            "$f($amount, $people)",
            "    assert $f($amount, $people) == $more",
        )
        .test("$f_of_nothing", "$f(0, $people)", "    assert $f(0, $people) == 0")
        .bug("the rest is lost", Logic, "    return amount // people", wrong)
        .with_head("def $f(amount, people):")
}

/// Returns a function with a long line and the mistake at its end.
fn invoices(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["amount_payable", "invoice_amount", "sum_payable"]);
    let (coupon, sure, values) = draw_invoices(pick, 12);
    let start = "    return base_price * count + shipping_cost + handling_fee * count - loyalty_points // 10";
    FunctionUnit::new("invoices", f, &values)
        .code(
            "def $f(base_price, count, shipping_cost, handling_fee, loyalty_points, coupon):",
            &["Cents that are to be paid.", "Return the cents that an invoice asks for."],
            &format!("{start} - coupon"),
        )
        .test(
            "$f_takes_the_coupon_off",
            "$f($price, $count, 490, 25, 120, $coupon)",
            "    assert $f($price, $count, 490, 25, 120, $coupon) == $want",
        )
        .test(
            "$f_without_coupon",
            "$f($price, $count, 490, 25, 120, 0)",
            "    assert $f($price, $count, 490, 25, 120, 0) == $sure",
        )
        .bug(
            "the coupon is added",
            Logic,
            &format!("{start} + coupon"),
            &[("$f_takes_the_coupon_off", equal(sure + coupon, sure - coupon))],
        )
}

fn cards(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["mask", "hide_digits", "redacted_number"]);
    FunctionUnit::new("cards", f, &[])
        .code(
            "def $f(number):",
            &[
                "Card number with all but its last four digits hidden.",
                "Return a card number that may be shown.",
            ],
            "    hidden = len(number) - 4\n    return \"*\" * hidden + number[hidden:]",
        )
        .test(
            "$f_leaves_four_digits",
            "$f(\"4111222233\")",
            "    assert $f(\"4111222233\") == \"******2233\"",
        )
        .test("$f_of_four_digits", "$f(\"2233\")", "    assert $f(\"2233\") == \"2233\"")
        .bug(
            "three digits are left",
            Logic,
            "    hidden = len(number) - 3\n    return \"*\" * hidden + number[hidden:]",
            &[
                (
                    "$f_leaves_four_digits",
                    equal_with(
                        "'*******233'",
                        "'******2233'",
                        &["- ******2233", "?        -", "+ *******233", "? +"],
                    ),
                ),
                (
                    "$f_of_four_digits",
                    equal_with("'*233'", "'2233'", &["- 2233", "? ^", "+ *233", "? ^"]),
                ),
            ],
        )
}
