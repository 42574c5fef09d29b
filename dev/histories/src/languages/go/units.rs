//! Go functions with their tests and bugs.

use super::super::draws::{
    PriceNumbers, draw_invoices, draw_limits, draw_pages, draw_retries, draw_shares, text,
};
use crate::project::BugKind::{Compile, Configuration, Exception, Logic};
use crate::unit::{FunctionUnit, UnitDice, UnitFailure, UnitFailures, equal, raised};

/// Returns every function that a Go package can have.
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
fn panics(line: usize, message: &str) -> UnitFailure {
    raised(line, "", "panic", message, &[])
}

/// Creates the error of an undeclared name.
fn undefined(line: usize, name: &str) -> UnitFailure {
    raised(line, name, "undefined", &format!("undefined: {name}"), &[])
}

trait GoUnit {
    /// Adds a test that compares a result; `verb` prints it.
    fn compares(self, name: &str, call: &str, want: &str, verb: &str) -> Self;
    /// Adds a bug with a misspelt name in the given line of the body.
    fn misspelt(self, body: &str, line: usize, name: &str, test: &str) -> Self;
}

impl GoUnit for FunctionUnit {
    fn compares(self, name: &str, call: &str, want: &str, verb: &str) -> Self {
        let body = format!(
            "if got := {call}; got != {want} {{\n\tt.Errorf(\"$f = {verb}, want {verb}\", got, {want})\n}}"
        );
        self.test_at(name, call, &body, 1)
    }

    fn misspelt(self, body: &str, line: usize, name: &str, test: &str) -> Self {
        let fails: UnitFailures<'_> = &[(test, undefined(line, name))];
        self.bug("a name is misspelt", Compile, body, fails)
    }
}

/// Returns a discount, and an order that uses it: one mistake fails tests in two packages.
fn pricing(pick: &mut UnitDice) -> Vec<FunctionUnit> {
    let f = pick.text(&["Total", "Subtotal", "GrandTotal"]);
    let g = pick.text(&["OrderTotal", "AmountDue", "InvoiceSum"]);
    let prices = PriceNumbers::draw(pick);
    let PriceNumbers { b, rate, gross, .. } = prices;
    let values = prices.values(g);
    let tests = ["$fTakesTheDiscountOff", "$fWithoutDiscount", "$gWithDiscount"];
    let fails = |got| prices.wrong_discount(tests, got);
    let without = |got| prices.wrong_sum(tests, got);
    let sum = "\tgross := 0\n\tfor _, price := range prices {\n\t\tgross += price\n\t}\n";
    let first =
        "\tgross := 0\n\tfor at := 1; at < len(prices); at++ {\n\t\tgross += prices[at]\n\t}\n";
    let discount = FunctionUnit::new("pricing", f, &values)
        .code(
            "func $f(prices []int, rate int) int {",
            &[
                "$f is the sum of the prices after a discount of rate percent.",
                "$f adds all prices up and takes a discount off, given in percent.",
            ],
            &format!("{sum}\treturn gross - gross*rate/100"),
        )
        .compares("$fTakesTheDiscountOff", "$f([]int{$a, $b}, $rate)", "$want", "%d")
        .compares("$fWithoutDiscount", "$f([]int{$a, $b}, 0)", "$gross", "%d")
        .bug(
            "the discount is added",
            Logic,
            &format!("{sum}\treturn gross + gross*rate/100"),
            &fails(gross + gross * rate / 100),
        )
        .also_as(
            &format!("{sum}\treturn gross - gross*rate/100000"),
            &fails(gross - gross * rate / 100_000),
        )
        .attempt(&format!("{sum}\treturn gross - rate"), &fails(gross - rate))
        .bug(
            "the first price is left out",
            Logic,
            &format!("{first}\treturn gross - gross*rate/100"),
            &without(b),
        );
    let order = FunctionUnit::new("orders", g, &[&values[..5], &[("used", f.to_owned())]].concat())
        .import("$module/pricing")
        .prelude("// Line is one position of an order.\ntype Line struct {\n\tPrice, Count int\n}", &[])
        .code(
            "func $f(lines []Line, discount int) int {",
            &["$f is the amount that a customer pays.", "$f computes what an order costs."],
            "\tvar prices []int\n\tfor _, line := range lines {\n\t\tprices = append(prices, line.Price*line.Count)\n\t}\n\treturn pricing.$used(prices, discount)",
        )
        .compares("$fWithDiscount", "$f([]Line{{$a, 1}, {$b, 1}}, $rate)", "$want", "%d")
        .compares("$fOfNothing", "$f(nil, 0)", "0", "%d");
    vec![discount, order]
}

fn amounts(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["ParseAmount", "ToCents", "ReadPrice"]);
    let (units, cents) = (pick.number(11, 98), pick.number(11, 98));
    let values = [("units", text(units)), ("cents", text(cents))];
    let rest = "\tunits, _ := strconv.Atoi(parts[0])\n\tcents := 0\n\tif len(parts) > 1 {\n\t\tcents, _ = strconv.Atoi(parts[1])\n\t}\n\treturn units*100 + cents";
    let hasty = "\tunits, _ := strconv.Atoi(parts[0])\n\tcents, _ := strconv.Atoi(parts[1])\n\treturn units*100 + cents";
    let range = "runtime error: index out of range [1] with length 1";
    FunctionUnit::new("amounts", f, &values)
        .import("strconv")
        .import("strings")
        .code(
            "func $f(text string) int {",
            &["$f returns the cents of an amount such as 12.50.", "$f reads an amount as cents."],
            &format!("\tparts := strings.SplitN(text, \".\", 2)\n{rest}"),
        )
        .compares("$fOfWholeUnits", "$f(\"$units\")", "$units00", "%d")
        .compares("$fWithCents", "$f(\"$units.$cents\")", "$units$cents", "%d")
        .bug(
            "whole amounts are not split",
            Exception,
            &format!("\tparts := strings.SplitN(text, \".\", 2)\n{hasty}"),
            &[("$fOfWholeUnits", panics(2, range))],
        )
        .also_as(
            &format!("\tparts := strings.Split(text, \".\")\n{hasty}"),
            &[("$fOfWholeUnits", panics(2, range))],
        )
        .attempt(
            &format!("\tparts := strings.Split(strings.TrimSpace(text), \".\")\n{hasty}"),
            &[("$fOfWholeUnits", panics(2, range))],
        )
        .bug(
            "the cents are dropped",
            Logic,
            "\tparts := strings.SplitN(text, \".\", 2)\n\tunits, _ := strconv.Atoi(parts[0])\n\treturn units * 100",
            &[("$fWithCents", equal(units * 100, units * 100 + cents))],
        )
        .bug(
            "the comma is taken for the point",
            Logic,
            &format!("\tparts := strings.SplitN(text, \",\", 2)\n{rest}"),
            &[("$fWithCents", equal(0, units * 100 + cents))],
        )
}

fn slugs(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["Slugify", "MakeSlug", "URLName"]);
    let (title, slug) = match pick.number(0, 1) {
        0 => ("Hello World", "hello-world"),
        _ => ("Blue Lamp", "blue-lamp"),
    };
    let values = [("title", title.to_owned()), ("slug", slug.to_owned())];
    let quoted = |text: &str| format!("\"{text}\"");
    FunctionUnit::new("slugs", f, &values)
        .import("strings")
        .code(
            "func $f(title string) string {",
            &["$f joins the words of a title by dashes.", "$f makes a part of a URL of a title."],
            "\twords := strings.Fields(strings.ToLower(title))\n\treturn strings.Join(words, \"-\")",
        )
        .compares("$fLowersTheCase", "$f(\"$title\")", "\"$slug\"", "%q")
        .compares("$fKeepsDigits", "$f(\"top  10\")", "\"top-10\"", "%q")
        .bug(
            "capitals are kept",
            Logic,
            "\twords := strings.Fields(title)\n\treturn strings.Join(words, \"-\")",
            &[("$fLowersTheCase", equal(quoted(&title.replace(' ', "-")), quoted(slug)))],
        )
        .bug(
            "double spaces make double dashes",
            Logic,
            "\twords := strings.Split(strings.ToLower(title), \" \")\n\treturn strings.Join(words, \"-\")",
            &[("$fKeepsDigits", equal("\"top--10\"", "\"top-10\""))],
        )
        .misspelt(
            "\twords := strings.Fields(strings.ToLower(titel))\n\treturn strings.Join(words, \"-\")",
            0,
            "titel",
            "$fKeepsDigits",
        )
}

fn stock(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["Reserve", "TakeOut", "BookPieces"]);
    let count = pick.number(2, 9);
    FunctionUnit::new("stock", f, &[("count", text(count))])
        .code(
            "func $f(left, count int) int {",
            &[
                "$f is what is left, or -1 if there is not enough.",
                "$f takes pieces out of the stock.",
            ],
            "\tif count > left {\n\t\treturn -1\n\t}\n\treturn left - count",
        )
        .compares("$fTheLastPiece", "$f($count, $count)", "0", "%d")
        .compares("$fTooMany", "$f(1, 3)", "-1", "%d")
        .bug(
            "the last piece cannot be taken",
            Logic,
            "\tif count >= left {\n\t\treturn -1\n\t}\n\treturn left - count",
            &[("$fTheLastPiece", equal(-1, 0))],
        )
        .attempt(
            "\tif left <= count {\n\t\treturn -1\n\t}\n\treturn left - count",
            &[("$fTheLastPiece", equal(-1, 0))],
        )
        .bug(
            "too many are subtracted",
            Logic,
            "\tif left <= 0 {\n\t\treturn -1\n\t}\n\treturn left - count",
            &[("$fTooMany", equal(-2, -1))],
        )
        .misspelt(
            "\tif cuont > left {\n\t\treturn -1\n\t}\n\treturn left - count",
            0,
            "cuont",
            "$fTooMany",
        )
}

fn pages(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["PageCount", "NumberOfPages", "PagesFor"]);
    let (full, values) = draw_pages(pick);
    FunctionUnit::new("pages", f, &values)
        .code(
            "func $f(items, size int) int {",
            &[
                "$f is the number of pages that so many items take.",
                "$f counts pages; the last may be short.",
            ],
            "\treturn (items + size - 1) / size",
        )
        .compares("$fRoundsUp", "$f($over, $size)", "$more", "%d")
        .compares("$fOfFullPages", "$f($items, $size)", "$full", "%d")
        .bug(
            "the last page is lost",
            Logic,
            "\treturn items / size",
            &[("$fRoundsUp", equal(full, full + 1))],
        )
        .bug(
            "there is always one page more",
            Logic,
            "\treturn items/size + 1",
            &[("$fOfFullPages", equal(full + 1, full))],
        )
        .also_as("\treturn (items + size) / size", &[("$fOfFullPages", equal(full + 1, full))])
        .bug(
            "the size is taken off once too often",
            Exception,
            "\treturn (items + size - 1) / (size - $size)",
            &[
                ("$fOfFullPages", panics(0, "runtime error: integer divide by zero")),
                ("$fRoundsUp", panics(0, "runtime error: integer divide by zero")),
            ],
        )
        .misspelt("\treturn (items + size - 1) / sise", 0, "sise", "$fRoundsUp")
}

fn calendars(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["IsLeap", "HasLeapDay", "LeapYear"]);
    let century = pick.text(&["1900", "2100", "2200"]);
    FunctionUnit::new("calendars", f, &[("century", century.to_owned())])
        .code(
            "func $f(year int) bool {",
            &[
                "$f reports whether a year has a 29th of February.",
                "$f is true for years of 366 days.",
            ],
            "\tif year%400 == 0 {\n\t\treturn true\n\t}\n\treturn year%4 == 0 && year%100 != 0",
        )
        .compares("$fEveryFourCenturies", "$f(2000)", "true", "%t")
        .compares("$fNotEveryCentury", "$f($century)", "false", "%t")
        .bug(
            "the fourth century is forgotten",
            Logic,
            "\tif year%100 == 0 {\n\t\treturn false\n\t}\n\treturn year%4 == 0",
            &[("$fEveryFourCenturies", equal("false", "true"))],
        )
        .bug(
            "centuries are leap years",
            Logic,
            "\tif year%400 == 0 {\n\t\treturn true\n\t}\n\treturn year%4 == 0",
            &[("$fNotEveryCentury", equal("true", "false"))],
        )
}

fn retries(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["Backoff", "DelayBefore", "WaitTime"]);
    let (base, cap, values) = draw_retries(pick);
    FunctionUnit::new("retries", f, &values)
        .code(
            "func $f(attempt, base, limit int) int {",
            &["$f doubles the wait each time, up to the limit.", "$f is how long to wait before an attempt."],
            "\twait := base << attempt\n\tif wait > limit {\n\t\treturn limit\n\t}\n\treturn wait",
        )
        .compares("$fIsCapped", "$f(9, $base, $cap)", "$cap", "%d")
        .compares("$fDoubles", "$f(3, $base, $cap)", "$third", "%d")
        .bug(
            "the limit is ignored",
            Logic,
            "\twait := base << attempt\n\tif wait < 0 {\n\t\treturn limit\n\t}\n\treturn wait",
            &[("$fIsCapped", equal(base * 512, cap))],
        )
        .also_as(
            "\twait := base << attempt\n\tif wait < limit {\n\t\treturn limit\n\t}\n\treturn wait",
            &[("$fIsCapped", equal(base * 512, cap)), ("$fDoubles", equal(cap, base * 8))],
        )
        .attempt(
            "\twait := base << attempt\n\tif wait > limit*10 {\n\t\treturn limit * 10\n\t}\n\treturn wait",
            &[("$fIsCapped", equal((base * 512).min(cap * 10), cap))],
        )
        .bug(
            "the wait grows by the same amount",
            Logic,
            "\twait := base * attempt\n\tif wait > limit {\n\t\treturn limit\n\t}\n\treturn wait",
            &[("$fDoubles", equal(base * 3, base * 8)), ("$fIsCapped", equal(base * 9, cap))],
        )
}

fn names(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["Initials", "FirstLetters", "ShortName"]);
    let name = pick.text(&["Ada  Lovelace", "Alan  Lee", "Anna  Lind"]);
    FunctionUnit::new("names", f, &[("name", name.to_owned())])
        .import("strings")
        .code(
            "func $f(name string) string {",
            &["$f returns the first letters of a name.", "$f shortens a name to capital letters."],
            "\tletters := \"\"\n\tfor _, word := range strings.Fields(name) {\n\t\tletters += strings.ToUpper(word[:1])\n\t}\n\treturn letters",
        )
        .compares("$fSkipsDoubleSpaces", "$f(\"$name\")", "\"AL\"", "%q")
        .compares("$fOfOneWord", "$f(\"ada\")", "\"A\"", "%q")
        .bug(
            "an empty word has no first letter",
            Exception,
            "\tletters := \"\"\n\tfor _, word := range strings.Split(name, \" \") {\n\t\tletters += strings.ToUpper(word[:1])\n\t}\n\treturn letters",
            &[(
                "$fSkipsDoubleSpaces",
                panics(2, "runtime error: slice bounds out of range [:1] with length 0"),
            )],
        )
        .bug(
            "letters keep their case",
            Logic,
            "\tletters := \"\"\n\tfor _, word := range strings.Fields(name) {\n\t\tletters += word[:1]\n\t}\n\treturn letters",
            &[("$fOfOneWord", equal("\"a\"", "\"A\""))],
        )
}

fn limits(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["LimitFor", "QuotaOf", "MostItems"]);
    let (_, limit, values) = draw_limits(pick);
    FunctionUnit::new("limits", f, &values)
        .import("_ \"embed\"")
        .import("encoding/json")
        .setting("limits.json", "{\n  \"free\": 10,", "  \"$plan\": $limit,", "  \"enterprise\": 100000\n}")
        .prelude("//go:embed limits.json\nvar limits []byte", &[])
        .code(
            "func $f(plan string) int {",
            &["$f is the most items that a plan may hold.", "$f looks up how many items a plan allows."],
            "\tknown := map[string]int{}\n\t_ = json.Unmarshal(limits, &known)\n\treturn known[plan]",
        )
        .compares("$fThePlan", "$f(\"$plan\")", "$limit", "%d")
        .compares("$fTheFreePlan", "$f(\"free\")", "10", "%d")
        .wrong_setting("the limit of a plan is wrong", Configuration, "  \"$plan\": $wrong,", &[(
            "$fThePlan",
            equal(limit / 10, limit),
        )])
        .wrong_setting("a plan is missing", Configuration, "  \"trial\": $limit,", &[(
            "$fThePlan",
            equal(0, limit),
        )])
}

/// Returns a function with a repair of two edits: it needs another parameter and has to use it.
fn shares(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["ShareOf", "Portion", "SplitEvenly"]);
    let (people, amount, values) = draw_shares(pick);
    FunctionUnit::new("shares", f, &values)
        .code(
            "func $f(amount, people int) (share int) {",
            &[
                "$f is the part of the first of several people, with the rest.",
                "$f is what the first of several people has to pay.",
            ],
            "\trest := amount % people\n\tshare = amount/people + rest\n\treturn share",
        )
        .compares("$fGivesTheRestToTheFirst", "$f($amount, $people)", "$more", "%d")
        .compares("$fOfNothing", "$f(0, $people)", "0", "%d")
        .bug(
            "the rest is lost",
            Logic,
            "\trest := amount % people\n\tshare = (amount - rest) / people\n\treturn share",
            &[("$fGivesTheRestToTheFirst", equal(amount / people, amount / people + 1))],
        )
}

/// Returns a function with a long line and the mistake at its end.
fn invoices(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["AmountPayable", "InvoiceAmount", "SumPayable"]);
    let (coupon, sure, values) = draw_invoices(pick, 0);
    let start = "\treturn basePriceInCents*count + shippingCostInCents + handlingFeeInCents*count";
    FunctionUnit::new("invoices", f, &values)
        .code(
            "func $f(basePriceInCents, count, shippingCostInCents, handlingFeeInCents, coupon int) int {",
            &["$f is the number of cents to be paid.", "$f computes the cents that an invoice asks for."],
            &format!("{start} - coupon"),
        )
        .compares("$fTakesTheCouponOff", "$f($price, $count, 490, 25, $coupon)", "$want", "%d")
        .compares("$fWithoutCoupon", "$f($price, $count, 490, 25, 0)", "$sure", "%d")
        .bug("the coupon is added", Logic, &format!("{start} + coupon"), &[(
            "$fTakesTheCouponOff",
            equal(sure + coupon, sure - coupon),
        )])
}

fn queues(pick: &mut UnitDice) -> FunctionUnit {
    let f = pick.text(&["NextJob", "PopJob", "TakeJob"]);
    let job = pick.text(&["mail", "report", "backup"]);
    FunctionUnit::new("queues", f, &[("job", job.to_owned())])
        .code(
            "func $f(jobs []string) string {",
            &["$f is the oldest job.", "$f returns the job that waits longest."],
            "\tif len(jobs) == 0 {\n\t\treturn \"idle\"\n\t}\n\treturn jobs[0]",
        )
        .compares("$fIsTheOldest", "$f([]string{\"$job\", \"index\"})", "\"$job\"", "%q")
        .compares("$fOfNothing", "$f(nil)", "\"idle\"", "%q")
        .bug(
            "an empty list is not looked at",
            Exception,
            "\treturn jobs[0]",
            &[("$fOfNothing", panics(0, "runtime error: index out of range [0] with length 0"))],
        )
        .bug(
            "the newest is taken",
            Logic,
            "\tif len(jobs) == 0 {\n\t\treturn \"idle\"\n\t}\n\treturn jobs[len(jobs)-1]",
            &[("$fIsTheOldest", equal("\"index\"", format!("\"{job}\"")))],
        )
}
