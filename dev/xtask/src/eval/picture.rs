//! The curve over the confidence floor as a picture for the documentation.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use rutter_search::score::FLOOR;

use super::{ask_all, curve_of};

/// Our own sets, each with its dash pattern.
const SETS: [(&str, &str, &str); 2] =
    [("a", "135 lessons of a web shop", ""), ("b", "64 lessons of a storage engine", "6 4")];

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 24.0;

fn x(floor: f64) -> f64 {
    LEFT + floor * WIDTH
}

fn y(rate: f64) -> f64 {
    TOP + (1.0 - rate) * HEIGHT
}

/// Draws the false rate and the hit rate of our own sets at each floor.
pub(crate) fn draw(root: &Path) -> Result<()> {
    let mut lines = String::new();
    for (name, _, dashes) in SETS {
        let file = |what: &str| root.join(format!("fixtures/recall/{what}-{name}.jsonl"));
        let curve = curve_of(&ask_all(&file("lessons"), &file("prompts"))?);
        let path = |rate: &dyn Fn(&(f64, f64, f64)) -> f64| {
            curve
                .iter()
                .map(|point| format!("{:.1},{:.1}", x(point.0), y(rate(point))))
                .collect::<Vec<_>>()
                .join(" ")
        };
        for (points, colour) in
            [(path(&|point| point.2), "#2563eb"), (path(&|point| point.1), "#dc2626")]
        {
            writeln!(
                lines,
                r#"<polyline fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}" points="{points}"/>"#
            )?;
        }
    }
    let mut grid = String::new();
    for step in 0..=10 {
        let part = f64::from(step) / 10.0;
        if step % 2 == 0 {
            let (at, right) = (y(part), LEFT + WIDTH);
            writeln!(
                grid,
                r##"<line x1="{LEFT}" y1="{at:.1}" x2="{right}" y2="{at:.1}" stroke="#d4d4d8"/>"##
            )?;
            writeln!(
                grid,
                r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{} %</text>"#,
                LEFT - 6.0,
                at + 4.0,
                step * 10
            )?;
        }
        writeln!(
            grid,
            r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">{part:.1}</text>"#,
            x(part),
            TOP + HEIGHT + 18.0
        )?;
    }
    let (at, bottom) = (x(FLOOR), TOP + HEIGHT);
    writeln!(
        grid,
        r##"<line x1="{at:.1}" y1="{TOP}" x2="{at:.1}" y2="{bottom}" stroke="#52525b" stroke-dasharray="2 3"/>"##
    )?;
    writeln!(grid, r#"<text x="{:.1}" y="{:.1}">the floor</text>"#, at + 6.0, TOP + 12.0)?;
    let mut legend = String::new();
    let mut row = 0.0;
    for (name, what, dashes) in SETS {
        for (colour, of) in
            [("#2563eb", "right lesson shown"), ("#dc2626", "shown, and nothing fits")]
        {
            let at = TOP + HEIGHT + 44.0 + row;
            writeln!(
                legend,
                r#"<line x1="{LEFT}" y1="{0:.1}" x2="{1}" y2="{0:.1}" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>"#,
                at - 4.0,
                LEFT + 30.0
            )?;
            writeln!(
                legend,
                r#"<text x="{}" y="{at:.1}">{name}, {what}: {of}</text>"#,
                LEFT + 38.0
            )?;
            row += 18.0;
        }
    }
    let (width, height) = (LEFT + WIDTH + 24.0, TOP + HEIGHT + 52.0 + row);
    let svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12" fill="#3f3f46">
<rect width="{width}" height="{height}" fill="#ffffff"/>
{grid}{lines}{legend}</svg>
"##
    );
    let path = root.join("docs/reference/injection.svg");
    std::fs::write(&path, svg).with_context(|| path.display().to_string())
}
