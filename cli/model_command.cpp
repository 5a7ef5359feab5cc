// File -> table of workloads.
#include "cli/model_command.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/help.h"
#include "cli/isa_flag.h"
#include "cli/measure_setup.h"
#include "cli/standard_streams.h"
#include "cli/table.h"
#include "network/tasks.h"
#include "templates/catalog.h"

namespace lehr {
namespace {

using nlohmann::json;

/// What the table has of a task.
struct TaskRow {
  const ModelTask* task;
  double share = 0;  ///< of the operations that are known
  std::vector<std::string> families;
  std::string unserved;  ///< why, where there is no family
};

double known_flops(const ModelWork& work) {
  double flops = 0;
  for (const ModelTask& task : work.tasks) flops += flops_of(task);
  for (const ModelGap& gap : work.gaps) flops += gap.flops;
  return flops;
}

std::vector<TaskRow> rows_of(const ModelWork& work, const Limits& limits) {
  const double all = known_flops(work);
  std::vector<TaskRow> rows;
  for (const ModelTask& task : work.tasks) {
    TaskRow& row = rows.emplace_back();
    row.task = &task;
    row.share = all > 0 ? flops_of(task) / all : 0;
    for (const Template& entry : catalog()) {
      const auto reason = why_unserved(entry, task.workload, limits);
      if (!reason) row.families.emplace_back(entry.name);
      if (reason && row.unserved.empty()) row.unserved = *reason;
    }
    if (!row.families.empty()) row.unserved.clear();
  }
  return rows;
}

/// Reasons, with how many nodes have them and the first of these.
std::map<std::string, std::pair<std::size_t, std::string>> grouped(const OnnxModel& model,
                                                                   const ModelWork& work) {
  std::map<std::string, std::pair<std::size_t, std::string>> groups;
  for (const ModelGap& gap : work.gaps) {
    const OnnxNode& node = model.nodes[gap.node];
    auto& [count, first] = groups[fmt::format("{}: {}", node.op, gap.reason)];
    if (count++ == 0) first = called(node, gap.node);
  }
  return groups;
}

void print_table(const OnnxModel& model, const ModelShapes& shapes, const ModelWork& work,
                 const std::vector<TaskRow>& rows) {
  std::size_t places = 0;
  double covered = 0;
  std::vector<std::vector<std::string>> cells;
  for (const TaskRow& row : rows) {
    places += row.task->places.size();
    if (!row.families.empty()) covered += row.share;
    cells.push_back(
        {std::to_string(row.task->places.size()), fmt::format("{:.1f} %", 100 * row.share),
         fmt::format("{:.3f}", flops_of(row.task->workload) / 1e9), to_text(row.task->workload),
         row.families.empty() ? "none: " + row.unserved : fmt::format("{}", fmt::join(row.families, ", "))});
  }
  fmt::print("{} nodes, opset {}, by {}\n", model.nodes.size(), model.opset(), printable(model.producer));
  fmt::print("{} workloads in {} places, {:.1f} % of the operations that are known\n\n", rows.size(), places,
             100 * covered);
  if (!rows.empty())
    fmt::print("{}", format_table({"places", "share", "GFLOP", "<workload", "<families"}, cells));
  for (const auto& [reason, group] : grouped(model, work))
    fmt::print("not covered: {} x {}, the first {}\n", group.first, printable(reason),
               printable(group.second));
  for (const std::string& unknown : shapes.unknown) fmt::print("not known: {}\n", printable(unknown));
}

json document_of(const std::string& file, const OnnxModel& model, const ModelShapes& shapes,
                 const ModelWork& work, const std::vector<TaskRow>& rows) {
  json tasks = json::array(), gaps = json::array();
  for (const TaskRow& row : rows) {
    json places = json::array();
    for (const ModelPlace& place : row.task->places) {
      json nodes = json::array();
      for (const std::size_t node : place.nodes) nodes.push_back(called(model.nodes[node], node));
      places.push_back({{"nodes", std::move(nodes)}, {"output", place.output}});
    }
    tasks.push_back({{"workload", to_text(row.task->workload)},
                     {"flops", flops_of(row.task->workload)},
                     {"share", row.share},
                     {"families", row.families},
                     {"unserved", row.unserved},
                     {"places", std::move(places)}});
  }
  for (const ModelGap& gap : work.gaps)
    gaps.push_back(
        {{"node", called(model.nodes[gap.node], gap.node)}, {"reason", gap.reason}, {"flops", gap.flops}});
  return {{"model", file},           {"producer", model.producer},  {"ir_version", model.ir_version},
          {"opset", model.opset()},  {"nodes", model.nodes.size()}, {"tasks", std::move(tasks)},
          {"gaps", std::move(gaps)}, {"unknown", shapes.unknown},   {"warnings", model.warnings}};
}

}  // namespace

ModelCommand::ModelCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  app_ = root.add_subcommand("model", "List the workloads of a network in an ONNX file");
  problem_.add_to(*app_, "FILE");
  value_flag(*app_, kMeasuringGroup, "--device", device_,
             "whose families serve it: auto | cpu | cuda:N (auto)");
  value_flag(*app_, kMeasuringGroup, "--threads", threads_,
             "CPU threads that a kernel may use (all that are allowed)");
  value_flag(*app_, kMeasuringGroup, "--isa", isa_, isa_help().c_str());
  switch_flag(*app_, kOutputGroup, "--json", json_, "one JSON document on stdout");
  app_->footer(examples({{"problem", "lehr model resnet18.onnx --dim batch=1"},
                         {"measuring", "lehr model resnet18.onnx --device cpu"},
                         {"output", "lehr model resnet18.onnx --json"}}));
}

bool ModelCommand::chosen() const {
  return app_->parsed();
}

int ModelCommand::run() {
  if (!problem_.given()) throw_user("lehr model needs a file, as lehr model resnet18.onnx");
  const DeviceChoice choice = parse_device(device_, threads_, isa_);
  ModelProblem problem = problem_.read();
  std::string note;
  std::vector<TaskRow> rows;
  if (!problem.work.tasks.empty()) {
    const Workload& first = problem.work.tasks[0].workload;
    const Limits limits = choose_device(choice, first, environment_, false, note).limits;
    take_served(problem, limits);
    rows = rows_of(problem.work, limits);
  }
  const auto& [model, shapes, work] = problem;
  if (!note.empty()) tell("note: {}", note);
  if (json_)
    print_json(document_of(problem_.file(), model, shapes, work, rows));
  else
    print_table(model, shapes, work, rows);
  return 0;
}

}  // namespace lehr
