// A drawing as SVG. page.css defines the colours: each shape has one of its classes, "ink", "muted", "grid",
// "line", or "fill1" to "fill6", as `style`.
#pragma once

#include <string>
#include <string_view>

namespace lehr::report {

class Svg {
 public:
  /// Begins a drawing. Width and height are in pixels; a page with less room shrinks the drawing. Screen
  /// readers read `title`.
  Svg(double width, double height, std::string_view title);

  void line(double x1, double y1, double x2, double y2, std::string_view style);
  void box(double x, double y, double width, double height, std::string_view style,
           std::string_view title = "");
  void dot(double x, double y, std::string_view style, std::string_view title);
  /// Adds text. `anchor` states which part of the text is at the point (x, y): "start", "middle" or "end".
  void text(double x, double y, std::string_view anchor, std::string_view text,
            std::string_view style = "ink");

  /// Returns the drawing within an HTML element `figure` with this id.
  std::string figure(std::string_view id) const;

 private:
  void shape(std::string_view tag, std::string_view attributes, std::string_view style,
             std::string_view title);
  std::string body_;
};

/// A logarithmic axis that maps values to coordinates.
class LogAxis {
 public:
  /// Maps the values from `low` to `high` to the coordinates from `begin` to `end`. `low` must be above 0. A
  /// margin of 5 % is added at both ends.
  LogAxis(double low, double high, double begin, double end);
  double at(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double low_, high_, begin_, end_;
};

}  // namespace lehr::report
