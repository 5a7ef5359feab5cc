#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/encode.h"

namespace lehr::report {

Svg::Svg(double width, double height, std::string_view title)
    : body_(
          fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" role=\"img\"><title>{}</title>\n",
                      width, height, width, html_escaped(title))) {}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  shape("line", fmt::format("x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"", x1, y1, x2, y2), style,
        "");
}

void Svg::box(double x, double y, double width, double height, std::string_view style,
              std::string_view title) {
  shape("rect",
        fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", x, y, width, height),
        style, title);
}

void Svg::dot(double x, double y, std::string_view style, std::string_view title) {
  shape("circle", fmt::format("cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"", x, y), style, title);
}

void Svg::text(double x, double y, std::string_view anchor, std::string_view text, std::string_view style) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y,
                       anchor, style, html_escaped(text));
}

std::string Svg::figure(std::string_view id) const {
  return fmt::format("<figure id=\"{}\">{}</svg></figure>\n", id, body_);
}

void Svg::shape(std::string_view tag, std::string_view attributes, std::string_view style,
                std::string_view title) {
  const std::string content = title.empty() ? "" : "<title>" + html_escaped(title) + "</title>";
  body_ += fmt::format("<{0} {1} class=\"{2}\">{3}</{0}>\n", tag, attributes, style, content);
}

LogAxis::LogAxis(double low, double high, double begin, double end)
    : low_(low / 1.05), high_(std::max(high, low) * 1.05), begin_(begin), end_(end) {}

double LogAxis::at(double value) const {
  return begin_ + (end_ - begin_) * std::log(value / low_) / std::log(high_ / low_);
}

}  // namespace lehr::report
