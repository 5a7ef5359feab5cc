#include "report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "measure/core/format.h"
#include "report/svg.h"

namespace lehr::report {
namespace {

constexpr double kWidth = 900;

std::string cut(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

/// Whether a number is one that an axis can have: a stranger's log may hold any.
bool can_be_drawn(double value) {
  return value > 1e-30 && value < 1e30;
}

/// Round numbers between the ends of an axis: 1, 2 and 5 of each power of ten, or the powers alone where
/// these are many.
std::vector<double> ticks_of(const LogAxis& axis) {
  const bool wide = axis.high() / axis.low() > 300;
  std::vector<double> ticks;
  for (double power = std::pow(10, std::floor(std::log10(axis.low()))); power <= axis.high(); power *= 10)
    for (const double digit : {1.0, 2.0, 5.0})
      if (const double tick = power * digit;
          tick >= axis.low() && tick <= axis.high() && (!wide || digit == 1.0))
        ticks.push_back(tick);
  return ticks;
}

void draw_ratio(Svg& svg, const LogAxis& axis, double y, const Ratio& ratio, bool is_default,
                const std::string& name) {
  if (!can_be_drawn(ratio.value)) return;
  const char* const style = is_default ? "fill1" : "fill2";
  if (can_be_drawn(ratio.interval.low) && can_be_drawn(ratio.interval.high))
    svg.line(axis.at(ratio.interval.low), y, axis.at(ratio.interval.high), y, is_default ? "line1" : "line2");
  const std::string title = fmt::format("over {}: {}", name, format_ratio(ratio));
  is_default ? svg.dot(axis.at(ratio.value), y, style, title)
             : svg.diamond(axis.at(ratio.value), y, style, title);
}

/// Ratios of a log's tasks with their intervals, the tasks that took longest where they are many.
std::string intervals_of(const Document& document, std::size_t log) {
  constexpr std::size_t kMostRows = 60;
  constexpr double kRow = 20, kLeft = 330, kTop = 30;
  std::vector<const Task*> tasks;
  for (const Task& task : document.tasks)
    if (task.log == log && can_be_drawn(task.over_default.value)) tasks.push_back(&task);
  std::ranges::stable_sort(tasks, std::ranges::greater{}, &Task::seconds);
  if (tasks.size() > kMostRows) tasks.resize(kMostRows);
  if (tasks.empty()) return "";
  double low = 1, high = 1;
  for (const Task* task : tasks)
    for (const Ratio& ratio : {task->over_default, task->over_library})
      for (const double value : {ratio.value, ratio.interval.low, ratio.interval.high})
        if (can_be_drawn(value)) low = std::min(low, value), high = std::max(high, value);
  const double bottom = kTop + kRow * static_cast<double>(tasks.size());
  const LogAxis axis(low, high, kLeft, kWidth - 20);
  Svg svg(kWidth, bottom + 24, "How many times as fast as the default and the best library each winner is");
  for (const double tick : ticks_of(axis)) {
    svg.line(axis.at(tick), kTop - 10, axis.at(tick), bottom, tick == 1 ? "line" : "grid");
    svg.text(axis.at(tick), bottom + 16, Anchor::kMiddle, fmt::format("{}x", tick), "muted");
  }
  svg.dot(kLeft + 8, 10, "fill1", "");
  svg.text(kLeft + 18, 14, Anchor::kStart, "over the default");
  svg.diamond(kLeft + 158, 10, "fill2", "");
  svg.text(kLeft + 168, 14, Anchor::kStart, "over the best library; lines: 95 %");
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const double y = kTop + kRow * (static_cast<double>(i) + 0.5);
    svg.text(kLeft - 10, y + 4, Anchor::kEnd, cut(tasks[i]->short_text, 46));
    draw_ratio(svg, axis, y - 3, tasks[i]->over_default, true, "the default");
    draw_ratio(svg, axis, y + 3, tasks[i]->over_library, false, "the best library");
  }
  return svg.figure(fmt::format("intervals-{}", log));
}

/// Speeds below the roofs, over operations per byte.
std::string roofline_of(const RooflineFacts& roof, std::size_t task) {
  if (roof.points.empty()) return "";
  constexpr double kHeight = 320, kLeft = 70, kBottom = 275, kTop = 25;
  const double intensity = roof.flops / roof.bytes;
  const double ridge = roof.gbytes_per_s > 0 ? roof.gflops / roof.gbytes_per_s : intensity;
  double least = roof.gflops;
  for (const RooflinePoint& point : roof.points) least = std::min(least, point.gflops);
  for (const double value : {intensity, ridge, least, roof.gflops})
    if (!can_be_drawn(value)) return "";
  const LogAxis x(std::min(intensity, ridge) / 8, std::max(intensity, ridge) * 8, kLeft, kWidth - 20);
  const LogAxis y(least / 3, roof.gflops * 1.6, kBottom, kTop);
  Svg svg(kWidth, kHeight, "The kernels' speeds below what the device's arithmetic and memory allow");
  for (const double tick : ticks_of(x)) {
    svg.line(x.at(tick), kTop, x.at(tick), kBottom, "grid");
    svg.text(x.at(tick), kBottom + 16, Anchor::kMiddle, fmt::format("{}", tick), "muted");
  }
  for (const double tick : ticks_of(y)) {
    svg.line(kLeft, y.at(tick), kWidth - 20, y.at(tick), "grid");
    svg.text(kLeft - 8, y.at(tick) + 4, Anchor::kEnd, fmt::format("{}", tick), "muted");
  }
  svg.text(kWidth - 20, kBottom + 34, Anchor::kEnd, "operations per byte of memory", "muted");
  svg.text(kLeft, 14, Anchor::kStart, "GFLOP/s", "muted");
  svg.line(x.at(ridge), y.at(roof.gflops), kWidth - 20, y.at(roof.gflops), "line");
  svg.text(kWidth - 24, y.at(roof.gflops) - 6, Anchor::kEnd,
           fmt::format("arithmetic: {:.0f} GFLOP/s", roof.gflops));
  if (roof.gbytes_per_s > 0) {
    const double from = std::max(x.low(), y.low() / roof.gbytes_per_s);
    svg.line(x.at(from), y.at(from * roof.gbytes_per_s), x.at(ridge), y.at(roof.gflops), "line");
    svg.text(x.at(from) + 12, y.at(from * roof.gbytes_per_s) - 4, Anchor::kStart,
             fmt::format("memory: {:.1f} GB/s", roof.gbytes_per_s));
  }
  for (std::size_t i = 0; i < roof.points.size(); ++i)
    svg.dot(x.at(intensity), y.at(roof.points[i].gflops), fmt::format("fill{}", i % 6 + 1),
            fmt::format("{}: {:.1f} GFLOP/s", roof.points[i].name, roof.points[i].gflops));
  return svg.figure(fmt::format("roofline-{}", task));
}

/// One bar of parts, with what each is below it.
std::string parts_of(const std::vector<Part>& parts, const std::string& id, const char* title,
                     const auto& amount_text) {
  constexpr std::size_t kMostNamed = 5;
  double whole = 0;
  for (const Part& part : parts) whole += part.amount;
  if (!can_be_drawn(whole)) return "";
  std::vector<Part> shown(parts.begin(),
                          parts.begin() + static_cast<std::ptrdiff_t>(std::min(parts.size(), kMostNamed)));
  if (parts.size() > kMostNamed) shown.push_back({"others", 0});
  for (std::size_t i = kMostNamed; i < parts.size(); ++i) shown.back().amount += parts[i].amount;
  Svg svg(kWidth, 70, title);
  double x = 0, legend = 0;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const double width = kWidth * shown[i].amount / whole;
    const std::string style = fmt::format("fill{}", i + 1);
    const std::string text = fmt::format("{} {}", cut(shown[i].name, 20), amount_text(shown[i].amount));
    svg.box(x, 4, std::max(0.0, width - 2), 28, style, text);
    svg.box(legend, 46, 12, 12, style);
    svg.text(legend + 17, 57, Anchor::kStart, text);
    x += width;
    legend += kWidth / static_cast<double>(kMostNamed + 1);
  }
  return svg.figure(id);
}

}  // namespace

std::string figures_of(const Document& document) {
  std::string figures;
  for (std::size_t log = 0; log < document.logs.size(); ++log) figures += intervals_of(document, log);
  for (std::size_t i = 0; i < document.tasks.size(); ++i) {
    const Task& task = document.tasks[i];
    if (task.roofline) figures += roofline_of(*task.roofline, i);
    figures += parts_of(task.phases, fmt::format("phases-{}", i), "Where the seconds of the session went",
                        [](double seconds) { return fmt::format("{:.1f} s", seconds); });
  }
  for (std::size_t i = 0; i < document.networks.size(); ++i)
    figures += parts_of(document.networks[i].coverage, fmt::format("coverage-{}", i),
                        "Shares of the original network's time",
                        [](double share) { return fmt::format("{:.1f} %", 100 * share); });
  return figures;
}

}  // namespace lehr::report
