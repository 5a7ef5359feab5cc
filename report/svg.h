// A drawing as SVG. Colours are the page's: each shape has a class of page.css, "ink", "muted", "grid",
// "line", "fill1" to "fill6".
#pragma once

#include <string>
#include <string_view>

namespace lehr::report {

class Svg {
 public:
  /// Begins a drawing. The sizes are pixels if the page has room. A screen reader reads `title`.
  Svg(double width, double height, std::string_view title);

  void line(double x1, double y1, double x2, double y2, std::string_view style);
  void box(double x, double y, double width, double height, std::string_view style,
           std::string_view title = "");
  void dot(double x, double y, std::string_view style, std::string_view title);
  /// `anchor` is the end of the text that is at this point: "start", "middle" or "end".
  void text(double x, double y, std::string_view anchor, std::string_view text,
            std::string_view style = "ink");

  /// Returns the drawing in a figure with this id.
  std::string figure(std::string_view id) const;

 private:
  void shape(std::string_view tag, std::string_view attributes, std::string_view style,
             std::string_view title);
  std::string body_;
};

/// A logarithmic axis that maps values to coordinates.
class LogAxis {
 public:
  /// Maps `low` to `high`, above 0, to `begin` to `end` of the drawing. The range is widened if it is a
  /// point.
  LogAxis(double low, double high, double begin, double end);
  double at(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double low_, high_, begin_, end_;
};

}  // namespace lehr::report
