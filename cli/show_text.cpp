// Shows a kernel's AST, source, features and compile log.
#include "cli/show_text.h"

#include <fmt/core.h>

#include "base/describe_json.h"
#include "costmodel/features.h"
#include "costmodel/roofline_model.h"
#include "deploy/kernel_json.h"
#include "ir/print.h"
#include "measure/core/format.h"
#include "target/dialect.h"

namespace lehr {
using nlohmann::json;

void show_ast(const ir::Kernel& kernel, json& document, std::string& text) {
  document["ast"] = ir::to_text(kernel);
  text += "\n" + ir::to_text(kernel);
}

void show_source(const Source& source, json& document, std::string& text) {
  document["source"] = to_json(source);
  text += fmt::format("// entry: {}\n", source.entry);
  for (const SourceParam& param : source.params)
    text += fmt::format("// {}: {} {}[{}]{}\n", ir::name_of(param.direction), param.name, name_of(param.type),
                        param.elements, param.map ? " as tensor map " + to_json(*param.map).dump() : "");
  text += dialect_of(source.target).launch_text(source.launch, source.scratch_bytes);
  if (source.launch.prepack_work_items > 0)
    text += fmt::format("// before: {} for tasks: {}\n", prepack_entry(source.entry),
                        source.launch.prepack_work_items);
  text += "\n" + source.text;
}

void show_features(const ir::Kernel& kernel, const Limits& limits, json& document, std::string& text) {
  const std::vector<float> values = featurize(kernel, limits);
  const auto columns = feature_table();
  json features = json::array();
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    features.push_back({{"name", std::string(columns[i].name)},
                        {"value", values[i]},
                        {"unit", std::string(columns[i].unit)},
                        {"meaning", std::string(columns[i].meaning)}});
    rows.push_back({std::string(columns[i].name), fmt::format("{:g}", values[i]),
                    std::string(columns[i].unit), std::string(columns[i].meaning)});
  }
  document["feature_version"] = kFeatureVersion;
  document["features"] = std::move(features);
  text += "\n" + format_table({"<feature", "value", "<unit", "<meaning"}, rows);

  const RooflineModel prior(limits);
  json terms = json::array();
  rows.clear();
  for (const TimeTerm& term : prior.terms(values)) {
    terms.push_back({{"name", std::string(term.name)},
                     {"us", term.us},
                     {"overlaps", term.overlaps},
                     {"meaning", std::string(term.meaning)}});
    rows.push_back({std::string(term.name), fmt::format("{:.2f}", term.us),
                    std::string(term.overlaps ? "overlaps" : "is added"), std::string(term.meaning)});
  }
  const double estimate = prior.time_us(values);
  document["prior"] = {{"time_us", estimate}, {"terms", std::move(terms)}};
  text += fmt::format(
      "\nThe analytic prior, which picks the first candidates of a task without any trial, makes {:.2f} us "
      "of these "
      "features:\nthe longest of what overlaps, a tenth of the others, and what is added.\n\n",
      estimate);
  text += format_table({"<term", "us", "<with the others", "<meaning"}, rows);
}

int show_log(const Source& source, Compiler& compiler, json& document, std::string& text) {
  const Compiled compiled = compiler.compile({&source, 1}).at(0);
  const auto* failure = std::get_if<Failure>(&compiled);
  const std::string& log = failure ? failure->text : std::get<Binary>(compiled).log;
  const Resources& resources = failure ? failure->resources : std::get<Binary>(compiled).resources;
  document["compiler"] = compiler.identity();
  document["failure"] = failure ? json(std::string(name_of(failure->kind))) : json(nullptr);
  document["log"] = log;
  document["resources"] = resources;
  text += fmt::format("// compiler: {}\n// result: {}\n// compile time: {:.3f} s\n", compiler.identity(),
                      failure ? name_of(failure->kind) : "ok", resources.compile_s);
  const auto add = [&](const char* name, const std::optional<int>& value) {
    if (value) text += fmt::format("// {}: {}\n", name, *value);
  };
  add("registers per thread", resources.registers);
  add("spilled bytes per thread", resources.spill_bytes);
  add("shared bytes per block", resources.shared_bytes);
  add("stack bytes", resources.stack_bytes);
  text += log.empty() ? "\nthe compiler said nothing\n" : "\n" + log + (log.ends_with('\n') ? "" : "\n");
  return failure ? 1 : 0;
}

}  // namespace lehr
