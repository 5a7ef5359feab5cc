#include "report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "measure/core/format.h"
#include "report/svg.h"
#include "workload/short_text.h"

namespace lehr::report {
namespace {

using nlohmann::json;

constexpr double kWidth = 900;

/// Whether an axis can show this number. A log from another machine may have any number.
bool can_be_drawn(double value) {
  return value > 1e-30 && value < 1e30;
}

/// Returns round numbers between the ends of an axis: 1, 2 and 5 times each power of ten. On a long axis it
/// returns only the powers of ten.
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

void draw_ratio(Svg& svg, const LogAxis& axis, double y, const Ratio& ratio, bool is_default) {
  if (!can_be_drawn(ratio.value)) return;
  if (can_be_drawn(ratio.interval.low) && can_be_drawn(ratio.interval.high))
    svg.line(axis.at(ratio.interval.low), y, axis.at(ratio.interval.high), y, is_default ? "line1" : "line2");
  const double x = axis.at(ratio.value);
  is_default ? svg.dot(x, y, "fill1", "over the default: " + format_ratio(ratio))
             : svg.box(x - 4, y - 4, 8, 8, "fill2", "over the library: " + format_ratio(ratio));
}

/// Draws the speedups of a log's tasks over the default, with their intervals. If there are too many tasks,
/// it draws the ones that were tuned longest.
std::string intervals_of(const Document& document, std::size_t log) {
  constexpr std::size_t kMostRows = 60;
  constexpr double kRow = 20, kLeft = 340, kTop = 30;
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
        if (can_be_drawn(value)) {
          low = std::min(low, value);
          high = std::max(high, value);
        }
  const double bottom = kTop + kRow * static_cast<double>(tasks.size());
  const LogAxis axis(low, high, kLeft, kWidth - 20);
  Svg svg(kWidth, bottom + 24, "How many times as fast as the default and the best library each winner is");
  for (const double tick : ticks_of(axis)) {
    svg.line(axis.at(tick), kTop - 10, axis.at(tick), bottom, tick == 1 ? "line" : "grid");
    svg.text(axis.at(tick), bottom + 16, "middle", fmt::format("{}x", tick), "muted");
  }
  svg.dot(kLeft + 8, 10, "fill1", "");
  svg.text(kLeft + 18, 14, "start", "over the default");
  svg.box(kLeft + 154, 6, 8, 8, "fill2");
  svg.text(kLeft + 168, 14, "start", "over the best library; lines: 95 %");
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const double y = kTop + kRow * (static_cast<double>(i) + 0.5);
    svg.text(kLeft - 10, y + 4, "end", cut_to(short_text(tasks[i]->workload), 42));
    draw_ratio(svg, axis, y - 3, tasks[i]->over_default, true);
    draw_ratio(svg, axis, y + 3, tasks[i]->over_library, false);
  }
  return svg.figure(fmt::format("intervals-{}", log));
}

double known(const json& number) {
  return number.is_number() ? number.get<double>() : 0;
}

/// Draws the grid and the roofs.
void draw_roofs(Svg& svg, const LogAxis& x, const LogAxis& y, double gflops, double gbytes_per_s) {
  for (const double tick : ticks_of(x)) {
    svg.line(x.at(tick), y.at(y.low()), x.at(tick), y.at(y.high()), "grid");
    svg.text(x.at(tick), y.at(y.low()) + 16, "middle", fmt::format("{}", tick), "muted");
  }
  for (const double tick : ticks_of(y)) {
    svg.line(x.at(x.low()), y.at(tick), x.at(x.high()), y.at(tick), "grid");
    svg.text(x.at(x.low()) - 8, y.at(tick) + 4, "end", fmt::format("{}", tick), "muted");
  }
  svg.text(x.at(x.high()), y.at(y.low()) + 34, "end", "operations per byte of memory", "muted");
  svg.text(x.at(x.low()), y.at(y.high()) - 11, "start", "GFLOP/s", "muted");
  const double ridge = gbytes_per_s > 0 ? gflops / gbytes_per_s : x.low();
  svg.line(x.at(ridge), y.at(gflops), x.at(x.high()), y.at(gflops), "line");
  svg.text(x.at(x.high()) - 4, y.at(gflops) - 6, "end", fmt::format("arithmetic: {:.0f} GFLOP/s", gflops));
  if (gbytes_per_s <= 0) return;
  const double from = std::max(x.low(), y.low() / gbytes_per_s);
  svg.line(x.at(from), y.at(from * gbytes_per_s), x.at(ridge), y.at(gflops), "line");
  svg.text(x.at(from) + 12, y.at(from * gbytes_per_s) - 4, "start",
           fmt::format("memory: {:.1f} GB/s", gbytes_per_s));
}

/// Draws a roofline chart of a task: its speeds below the roofs, over operations per byte.
std::string roofline_of(const json& roof, std::size_t task) {
  if (roof.is_null() || roof["points"].empty()) return "";
  constexpr double kLeft = 70, kBottom = 275, kTop = 25;
  const double gflops = known(roof["peak_gflops"]), gbytes = known(roof["peak_gbytes_per_s"]);
  const double intensity = known(roof["intensity"]), ridge = gbytes > 0 ? gflops / gbytes : intensity;
  double least = gflops, most = gflops;  // Winograd's algorithm does fewer operations than are counted
  for (const json& point : roof["points"])
    std::tie(least, most) = std::minmax({least, most, known(point["gflops"])});
  for (const double value : {intensity, ridge, least, most})
    if (!can_be_drawn(value)) return "";
  const LogAxis x(std::min(intensity, ridge) / 8, std::max(intensity, ridge) * 8, kLeft, kWidth - 20);
  const LogAxis y(least / 3, most * 1.6, kBottom, kTop);
  Svg svg(kWidth, kBottom + 45, "The kernels' speeds below what the device's arithmetic and memory allow");
  draw_roofs(svg, x, y, gflops, gbytes);
  double legend = kLeft + 120;
  for (std::size_t i = 0; i < roof["points"].size(); ++i, legend += 120) {
    const json& point = roof["points"][i];
    const std::string style = fmt::format("fill{}", i % 6 + 1), name = point["name"];
    svg.dot(x.at(intensity), y.at(known(point["gflops"])), style,
            fmt::format("{}: {:.1f} GFLOP/s", name, known(point["gflops"])));
    svg.dot(legend, 10, style, "");
    svg.text(legend + 10, 14, "start", cut_to(name, 14));
  }
  return svg.figure(fmt::format("roofline-{}", task));
}

/// A part of a bar: a share of seconds, or of another total.
struct Part {
  std::string name;
  double amount = 0;
};

/// Draws one bar that is divided into parts, and a legend with the amount of each part below it. `format` is
/// the format of an amount.
std::string parts_of(std::vector<Part> parts, const std::string& id, const char* title, const char* format) {
  constexpr std::size_t kMostNamed = 6;
  double whole = 0;
  for (const Part& part : parts) whole += part.amount;
  if (!can_be_drawn(whole)) return "";
  for (; parts.size() > kMostNamed + 1; parts.pop_back()) {
    parts[kMostNamed].name = "others";
    parts[kMostNamed].amount += parts.back().amount;
  }
  Svg svg(kWidth, 70, title);
  double x = 0, legend = 0;
  for (std::size_t i = 0; i < parts.size(); ++i, legend += kWidth / static_cast<double>(kMostNamed + 1)) {
    const double width = kWidth * parts[i].amount / whole;
    const std::string style = i < kMostNamed ? fmt::format("fill{}", i + 1) : "rest";
    const std::string text =
        cut_to(parts[i].name, 14) + ' ' + fmt::format(fmt::runtime(format), parts[i].amount);
    svg.box(x, 4, std::max(0.0, width - 2), 28, style, text);
    svg.box(legend, 46, 12, 12, style);
    svg.text(legend + 17, 57, "start", text);
    x += width;
  }
  return svg.figure(id);
}

std::string phases_of(const json& task, std::size_t position) {
  std::vector<Part> parts;
  for (const json& phase : task["phases"]) parts.push_back({phase["name"], phase["seconds"]});
  return parts_of(std::move(parts), fmt::format("phases-{}", position),
                  "Where the seconds of the session went", "{:.1f} s");
}

std::string coverage_of(const json& network, std::size_t position) {
  if (!network.value("covered_share", json()).is_number()) return "";
  std::vector<Part> parts = {{"by kernels", 100 * known(network["covered_share"])}};
  for (const json& each : network["not_covered"])
    parts.push_back({each["operator"], 100 * known(each["share"])});
  return parts_of(std::move(parts), fmt::format("coverage-{}", position),
                  "Shares of the original network's time", "{:.1f} %");
}

}  // namespace

std::string figures_of(const Document& document) {
  std::string figures;
  for (std::size_t log = 0; log < document.logs.size(); ++log) figures += intervals_of(document, log);
  for (std::size_t i = 0; i < document.tasks.size(); ++i)
    figures +=
        roofline_of(document.tasks[i].reported["roofline"], i) + phases_of(document.tasks[i].reported, i);
  for (std::size_t i = 0; i < document.networks.size(); ++i) figures += coverage_of(document.networks[i], i);
  return figures;
}

}  // namespace lehr::report
