//! CPU and heap over time as SVG, one picture per engine and workload, one line per step.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::step::Outcome;

const WIDTH: f64 = 860.0;
const PANEL: f64 = 220.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 190.0;
const GAP: f64 = 56.0;
const COLOURS: [&str; 6] = [
    "#0b6e99", "#d9730d", "#0f7b6c", "#ad1a72", "#6940a5", "#64473a",
];

struct Line {
    label: String,
    points: Vec<(f64, f64)>,
}

/// (file name, text) of every picture.
pub fn plots(outcomes: &[Outcome]) -> Vec<(String, String)> {
    let mut groups: BTreeMap<String, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        let step = &outcome.step;
        let name = format!("{}-{}", step.engine.name, step.spec.workload.id());
        groups.entry(name).or_default().push(outcome);
    }
    groups
        .into_iter()
        .map(|(name, list)| (format!("{name}.svg"), picture(&name, &list)))
        .collect()
}

/// What the pictures are called, without the ending.
pub fn names(outcomes: &[&Outcome]) -> Vec<String> {
    let name = |o: &&Outcome| format!("{}-{}", o.step.engine.name, o.step.spec.workload.id());
    let mut list: Vec<String> = outcomes.iter().map(name).collect();
    list.sort();
    list.dedup();
    list
}

fn picture(name: &str, outcomes: &[&Outcome]) -> String {
    let series = |value: fn(&crate::sample::Second) -> f64| -> Vec<Line> {
        outcomes
            .iter()
            .map(|o| Line {
                label: format!("{} {:.0}/s", o.step.mode.name(), o.rate_reached()),
                points: o.seconds.iter().map(|s| (s.second, value(s))).collect(),
            })
            .collect()
    };
    let height = 2.0 * (PANEL + GAP) + 10.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let cpu = series(|s| s.engine_cpu_pct);
    panel(
        &mut svg,
        30.0,
        &format!("{name}: engine CPU, % of a core"),
        &cpu,
    );
    let heap = series(|s| s.engine_anon_kib as f64 / 1024.0);
    let title = format!("{name}: anonymous heap, MiB");
    panel(&mut svg, 30.0 + PANEL + GAP, &title, &heap);
    svg.push_str("</svg>\n");
    svg
}

fn panel(svg: &mut String, top: f64, title: &str, lines: &[Line]) {
    let points = || lines.iter().flat_map(|line| &line.points);
    let x_max = ceiling(points().fold(1.0, |most, p| p.0.max(most)));
    let y_max = ceiling(points().fold(1.0, |most, p| p.1.max(most)));
    let width = WIDTH - LEFT - RIGHT;
    let x = |value: f64| LEFT + value / x_max * width;
    let y = |value: f64| top + PANEL - value / y_max * PANEL;
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{}\" font-weight=\"bold\">{title}</text>",
        top - 10.0
    );
    for k in 0..=4 {
        let (part_x, part_y) = (x_max * f64::from(k) / 4.0, y_max * f64::from(k) / 4.0);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{1:.1}\" y2=\"{1:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{2:.1}\" y=\"{3:.1}\" text-anchor=\"end\">{part_y}</text>\
             <text x=\"{4:.1}\" y=\"{5:.1}\" text-anchor=\"middle\">{part_x} s</text>",
            LEFT + width,
            y(part_y),
            LEFT - 6.0,
            y(part_y) + 4.0,
            x(part_x),
            top + PANEL + 16.0
        );
    }
    for (i, line) in lines.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let list: Vec<String> = line
            .points
            .iter()
            .map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1)))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" points=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
            list.join(" "),
            LEFT + width + 10.0,
            top + 12.0 + 16.0 * i as f64,
            line.label
        );
    }
}

/// The next of 1, 2, 4, 6, 8 times a power of ten, so that quarters are round numbers.
fn ceiling(value: f64) -> f64 {
    let unit = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0];
    steps
        .iter()
        .map(|step| step * unit)
        .find(|top| *top >= value)
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_ends_above_the_data() {
        assert_eq!(ceiling(1.0), 1.0);
        assert_eq!(ceiling(101.0), 200.0);
        assert_eq!(ceiling(45.0), 60.0);
        assert_eq!(ceiling(9.5), 10.0);
    }

    #[test]
    fn a_panel_draws_each_line_inside_its_frame() {
        let line = Line {
            label: "a".to_string(),
            points: vec![(0.0, 0.0), (10.0, 50.0)],
        };
        let mut svg = String::new();
        panel(&mut svg, 30.0, "t", &[line]);
        assert!(svg.contains(&format!("points=\"{LEFT:.1},{:.1} ", 30.0 + PANEL)));
        assert_eq!(svg.matches("<polyline").count(), 1);
    }
}
