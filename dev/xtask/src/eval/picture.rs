//! The curve over the confidence floor as a picture for the documentation.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use rutter_search::score::MIN_CONFIDENCE;

use super::{floor_curve, search_prompts};

/// Our own sets, each with its dash pattern.
const PLOTTED_SETS: [(&str, &str, &str); 2] =
    [("a", "135 lessons of a web shop", ""), ("b", "64 lessons of a storage engine", "6 4")];

const PLOT_WIDTH: f64 = 640.0;
const PLOT_HEIGHT: f64 = 300.0;
const PLOT_LEFT: f64 = 52.0;
const PLOT_TOP: f64 = 24.0;

fn floor_to_x(floor: f64) -> f64 {
    PLOT_LEFT + floor * PLOT_WIDTH
}

fn rate_to_y(rate: f64) -> f64 {
    PLOT_TOP + (1.0 - rate) * PLOT_HEIGHT
}

/// Draws the false rate and the hit rate of our own sets at each floor.
pub(crate) fn draw_injection_curve(root: &Path) -> Result<()> {
    let mut lines = String::new();
    for (name, _, dashes) in PLOTTED_SETS {
        let file = |what: &str| root.join(format!("fixtures/recall/{what}-{name}.jsonl"));
        let phrases = file("applies");
        let asked = search_prompts(&file("lessons"), &file("prompts"), Some(&phrases))?;
        let curve = floor_curve(&asked);
        let path = |rate: &dyn Fn(&(f64, f64, f64)) -> f64| {
            curve
                .iter()
                .map(|point| format!("{:.1},{:.1}", floor_to_x(point.0), rate_to_y(rate(point))))
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
            let (at, right) = (rate_to_y(part), PLOT_LEFT + PLOT_WIDTH);
            writeln!(
                grid,
                r##"<line x1="{PLOT_LEFT}" y1="{at:.1}" x2="{right}" y2="{at:.1}" stroke="#d4d4d8"/>"##
            )?;
            writeln!(
                grid,
                r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{} %</text>"#,
                PLOT_LEFT - 6.0,
                at + 4.0,
                step * 10
            )?;
        }
        writeln!(
            grid,
            r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">{part:.1}</text>"#,
            floor_to_x(part),
            PLOT_TOP + PLOT_HEIGHT + 18.0
        )?;
    }
    let (at, bottom) = (floor_to_x(MIN_CONFIDENCE), PLOT_TOP + PLOT_HEIGHT);
    writeln!(
        grid,
        r##"<line x1="{at:.1}" y1="{PLOT_TOP}" x2="{at:.1}" y2="{bottom}" stroke="#52525b" stroke-dasharray="2 3"/>"##
    )?;
    writeln!(grid, r#"<text x="{:.1}" y="{:.1}">the floor</text>"#, at + 6.0, PLOT_TOP + 12.0)?;
    let mut legend = String::new();
    let mut row = 0.0;
    for (name, what, dashes) in PLOTTED_SETS {
        for (colour, of) in
            [("#2563eb", "right lesson shown"), ("#dc2626", "shown, and nothing fits")]
        {
            let at = PLOT_TOP + PLOT_HEIGHT + 44.0 + row;
            writeln!(
                legend,
                r#"<line x1="{PLOT_LEFT}" y1="{0:.1}" x2="{1}" y2="{0:.1}" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>"#,
                at - 4.0,
                PLOT_LEFT + 30.0
            )?;
            writeln!(
                legend,
                r#"<text x="{}" y="{at:.1}">{name}, {what}: {of}</text>"#,
                PLOT_LEFT + 38.0
            )?;
            row += 18.0;
        }
    }
    let (width, height) = (PLOT_LEFT + PLOT_WIDTH + 24.0, PLOT_TOP + PLOT_HEIGHT + 52.0 + row);
    let svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12" fill="#3f3f46">
<rect width="{width}" height="{height}" fill="#ffffff"/>
{grid}{lines}{legend}</svg>
"##
    );
    let path = root.join("docs/measurements/injection.svg");
    std::fs::write(&path, svg).with_context(|| path.display().to_string())
}
