//! SVG of terminal rows: a dark window for light and dark pages, with selectable text and without external fonts,
//! scripts or style sheets.

use std::fmt::Write as _;

use super::{SpanStyle, StyledRow, escape_xml};

const FONT_SIZE: f64 = 13.0;
/// Width of a letter as a share of the font size; wider than in the widest of the usual monospaced fonts.
const LETTER_WIDTH_RATIO: f64 = 0.61;
const ROW_HEIGHT: f64 = 17.0;
/// Height of an empty row between blocks.
const GAP_HEIGHT: f64 = 11.0;
const COLUMN_COUNT: f64 = 80.0;
const MARGIN_LEFT: f64 = 24.0;
/// Bottom of the window's title bar.
const TITLE_BAR_HEIGHT: f64 = 36.0;
const MARGIN_BOTTOM: f64 = 20.0;
/// Start of a row of text that the agent reads; a vertical line marks it.
const QUOTE_PREFIX: &str = "        │";

const STYLE_SHEET: &str = "\
text{font-family:ui-monospace,SFMono-Regular,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;\
font-size:13px;fill:#c9d1d9;white-space:pre}\
.s{fill:#f0f6fc;font-weight:600}.f{fill:#8b949e}.r{fill:#56d4dd}.g{fill:#7ee787}.b{fill:#ff938a}.h{fill-opacity:0}";

const fn css_class(look: SpanStyle) -> Option<&'static str> {
    match look {
        SpanStyle::Plain => None,
        SpanStyle::Strong => Some("s"),
        SpanStyle::Faint => Some("f"),
        SpanStyle::Rutter => Some("r"),
        SpanStyle::Good => Some("g"),
        SpanStyle::Bad => Some("b"),
    }
}

/// Draws rows; empty rows separate blocks.
pub(super) fn render_svg(rows: &[StyledRow]) -> String {
    let width = (MARGIN_LEFT * 2.0 + COLUMN_COUNT * FONT_SIZE * LETTER_WIDTH_RATIO).round();
    let mut text = String::new();
    let mut marks = String::new();
    let mut top = TITLE_BAR_HEIGHT + 14.0;
    for row in rows {
        if row.is_empty() {
            top += GAP_HEIGHT;
            continue;
        }
        let line: String = row.iter().map(|span| span.text.as_str()).collect();
        // Box-drawing characters leave gaps in some fonts: keep them as invisible text and draw the lines separately.
        if line.starts_with(QUOTE_PREFIX) {
            let _ = writeln!(
                marks,
                r##"<rect x="{:.1}" y="{top:.1}" width="2" height="{ROW_HEIGHT:.1}" fill="#56d4dd" fill-opacity=".75"/>"##,
                MARGIN_LEFT + 8.4 * FONT_SIZE * LETTER_WIDTH_RATIO
            );
        }
        if line.starts_with('─') {
            let title = line.trim_matches(['─', ' ']).chars().count();
            #[expect(clippy::cast_precision_loss, reason = "a few columns")]
            let after = MARGIN_LEFT + (title as f64 + 4.0) * FONT_SIZE * LETTER_WIDTH_RATIO;
            let middle = top + ROW_HEIGHT / 2.0;
            let letter = FONT_SIZE * LETTER_WIDTH_RATIO;
            for (from, to) in
                [(MARGIN_LEFT, MARGIN_LEFT + 2.0 * letter), (after, width - MARGIN_LEFT)]
            {
                let _ = writeln!(
                    marks,
                    r##"<path d="M{from:.1} {middle:.1}H{to:.1}" stroke="#484f58"/>"##
                );
            }
        }
        let _ = write!(
            text,
            r#"<text class="row" x="{MARGIN_LEFT}" y="{:.1}" xml:space="preserve">"#,
            top + ROW_HEIGHT * 0.74
        );
        for span in row {
            push_span(&mut text, span.style, &span.text);
        }
        text.push_str("</text>\n");
        top += ROW_HEIGHT;
    }
    let height = (top + MARGIN_BOTTOM).round();
    let mut dots = String::new();
    for dot in 0..3 {
        let _ =
            write!(dots, r##"<circle cx="{}" cy="18" r="5.5" fill="#3d444d"/>"##, 22 + dot * 19);
    }
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="Part of what rutter demo prints: a lesson is learnt in one session and comes back in the next">
<style>{STYLE_SHEET}</style>
<rect x=".5" y=".5" width="{}" height="{}" rx="10" fill="#0d1117" stroke="#3d444d"/>
<path d="M1 {TITLE_BAR_HEIGHT}H{}" stroke="#21262d"/>
{dots}
<text class="f" x="{}" y="22.5" text-anchor="middle">rutter demo</text>
{marks}{text}</svg>
"##,
        width - 1.0,
        height - 1.0,
        width - 1.0,
        width / 2.0,
    )
}

/// Adds a span. Box-drawing characters are invisible, because their lines are drawn separately.
fn push_span(text: &mut String, look: SpanStyle, span: &str) {
    let is_drawn = |sign: char| matches!(sign, '─' | '│');
    let signs: Vec<char> = span.chars().collect();
    for run in signs.chunk_by(|one, next| is_drawn(*one) == is_drawn(*next)) {
        let part = escape_xml(&run.iter().collect::<String>());
        match if is_drawn(run[0]) { Some("h") } else { css_class(look) } {
            Some(class) => {
                let _ = write!(text, r#"<tspan class="{class}">{part}</tspan>"#);
            }
            None => text.push_str(&part),
        }
    }
}
