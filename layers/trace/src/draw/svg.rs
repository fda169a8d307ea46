//! Output of a drawing as SVG, without scripts and without references to other files.

use std::fmt::{self, Write};

use super::layout::{BoxGeometry, Layout, compute_layout};
use super::{Arrow, BoxRole, Drawing, NodeBox};
use crate::graph::Graph;

impl Graph {
    /// Returns the graph as an SVG image: inputs and constants at the top, results at the bottom, calls with effects in a different colour.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// # use dispatch_runtime::prelude::*;
    /// # fn main() -> Result<()> {
    /// let graph = dispatch_trace::trace(|x| Ok([aten::relu(&x[0])?]), &[Tensor::from([1.0_f32, -2.0])])?;
    /// let drawing = graph.to_svg();
    /// assert!(drawing.starts_with("<svg ") && drawing.contains(">aten::relu</text>"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn to_svg(&self) -> String {
        let drawing = Drawing::from_graph(self);
        let mut text = String::new();
        // Writing to a `String` does not fail.
        let _ = write_svg(&mut text, &drawing, &compute_layout(&drawing));
        text
    }
}

const SVG_STYLE: &str = "text { font: 12px monospace; text-anchor: middle; fill: #202020 } .detail { fill: #606060; font-size: 11px } \
                     .kind { fill: #404040; font-size: 10px; stroke: white; stroke-width: 3px; paint-order: stroke } \
                     path { fill: none; stroke: #707070 } .order { stroke-dasharray: 4 3 } .effect { stroke-width: 2px }";

fn write_svg(text: &mut String, drawing: &Drawing, layout: &Layout) -> fmt::Result {
    let (width, height) = layout.size;
    writeln!(
        text,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}">"#
    )?;
    write!(text, "<style>{SVG_STYLE}")?;
    for role in BoxRole::ALL {
        let (fill, line) = role.fill_and_border_colours();
        write!(text, " .{} {{ fill: {fill}; stroke: {line} }}", role.class_name())?;
    }
    text.push_str("</style>\n");
    text.push_str(
        "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" style=\"fill: #707070; stroke: none\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
    );
    for (arrow, points) in drawing.arrows.iter().zip(&layout.arrows) {
        draw_arrow(text, arrow, points)?;
    }
    for (block, geometry) in drawing.boxes.iter().zip(&layout.boxes) {
        draw_box(text, block, geometry)?;
    }
    // Labels come last, so that lines and boxes do not cover them.
    for (arrow, points) in drawing.arrows.iter().zip(&layout.arrows) {
        if let (Some(label), [from, to, ..]) = (&arrow.label, &points[..]) {
            let (x, y) = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1) + 3.0);
            writeln!(text, r#"<text class="kind" x="{x:.1}" y="{y:.1}">{}</text>"#, XmlEscaped(label))?;
        }
    }
    text.push_str("</svg>\n");
    Ok(())
}

/// Draws an arrow that is vertical at both ends.
fn draw_arrow(text: &mut String, arrow: &Arrow, points: &[(f64, f64)]) -> fmt::Result {
    let Some((first, rest)) = points.split_first() else { return Ok(()) };
    let order = if arrow.label.is_none() { r#" class="order""# } else { "" };
    write!(text, r#"<path{order} marker-end="url(#head)" d="M{:.1} {:.1}"#, first.0, first.1)?;
    let mut from = *first;
    for &to in rest {
        let middle = f64::midpoint(from.1, to.1);
        write!(text, "C{:.1} {middle:.1} {:.1} {middle:.1} {:.1} {:.1}", from.0, to.0, to.0, to.1)?;
        from = to;
    }
    text.push_str("\"/>\n");
    Ok(())
}

fn draw_box(text: &mut String, block: &NodeBox, geometry: &BoxGeometry) -> fmt::Result {
    let BoxGeometry { x, y, width, height } = *geometry;
    let left = x - width / 2.0;
    let (class, title) = (block.role.class_name(), XmlEscaped(&block.title));
    write!(
        text,
        r#"<rect class="{class}" x="{left:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="5"/><text x="{x:.1}" y="{:.1}">{title}</text>"#,
        y + 17.0
    )?;
    if !block.detail.is_empty() {
        let detail = XmlEscaped(&block.detail);
        write!(text, r#"<text class="detail" x="{x:.1}" y="{:.1}">{detail}</text>"#, y + 33.0)?;
    }
    text.push('\n');
    Ok(())
}

struct XmlEscaped<'a>(&'a str);

impl fmt::Display for XmlEscaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
