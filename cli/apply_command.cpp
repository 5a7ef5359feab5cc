#include "cli/apply_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "cli/args.h"
#include "cli/bundle_answers.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/table.h"
#include "deploy/applied_folder.h"
#include "deploy/onnxruntime_plugin.h"
#include "measure/host/host_backend.h"
#include "measure/system/affinity.h"
#include "measure/system/temp_dir.h"
#include "model/rewrite.h"
#include "templates/catalog.h"

namespace lehr {
namespace {

using nlohmann::json;

/// What becomes of a model's convolutions and products.
struct Coverage {
  std::vector<Replacement> replacements;
  std::map<std::string, std::size_t> reasons;  ///< why places stay the engine's, and how many
  std::size_t places = 0;
  double flops = 0, replaced_flops = 0;
  double expected_us = 0;              ///< of those that are replaced
  std::uint64_t prepacked_bytes = 0;   ///< that they need while the model is loaded
  std::set<const ModelPlace*> saving;  ///< EngineCheck::saving
};

/// Whether a bundle's kernel, whose name is its family's and a hash, does fewer products than the sum has.
bool saves_products(const BundleAnswer& answer) {
  const std::string family = answer.name.substr(0, answer.name.rfind('_'));
  return std::ranges::any_of(
      catalog(), [&](const Template& each) { return each.name == family && each.saves_products; });
}

Coverage coverage_of(const ModelWork& work, const BundleAnswers& bundle, int threads, bool winograd) {
  Coverage coverage;
  for (const ModelTask& task : work.tasks) {
    coverage.places += task.places.size();
    coverage.flops += flops_of(task);
    std::string reason;
    const auto answer = bundle.exact(to_text(task.workload), static_cast<std::uint32_t>(threads), reason);
    if (answer && !winograd && saves_products(*answer)) reason = "its kernel is one of Winograd's";
    if (!reason.empty()) {
      coverage.reasons[reason] += task.places.size();
      continue;
    }
    coverage.replaced_flops += flops_of(task);
    const auto count = static_cast<double>(task.places.size());
    coverage.expected_us += count * answer->time_us;
    coverage.prepacked_bytes += task.places.size() * answer->prepacked_bytes;
    for (const ModelPlace& place : task.places) {
      coverage.replacements.push_back({&place, task.workload, threads});
      if (saves_products(*answer)) coverage.saving.insert(&place);
    }
  }
  for (const ModelGap& gap : work.gaps) {
    ++coverage.places;
    coverage.flops += gap.flops;
    ++coverage.reasons[gap.reason];
  }
  return coverage;
}

/// Files that hold constants of the model, at the same places below the new one.
void add_external(const OnnxModel& model, std::vector<std::string> paths, std::vector<FolderFile>& files) {
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  for (const std::string& path : paths) {
    if (path == kAppliedModel || path == kPluginName || path.starts_with(std::string(kAppliedKernels) + "/"))
      throw_user("the model's file '{}' would take the place of one of the result's", path);
    files.push_back({path, read_bytes(std::filesystem::path(model.folder) / path)});
  }
}

json document_of(const std::string& file, const std::string& out, const Coverage& coverage,
                 std::size_t replaced, const PlaceChoice& choice) {
  return {{"model", file},
          {"folder", out},
          {"places", coverage.places},
          {"replaced", replaced},
          {"share_of_flops", coverage.flops > 0 ? coverage.replaced_flops / coverage.flops : 0},
          {"expected_us", coverage.expected_us},
          {"prepacked_bytes", coverage.prepacked_bytes},
          {"reasons", coverage.reasons},
          {"engine", choice.engine},
          {"removed", choice.removed},
          {"original_us", choice.original_us},
          {"rewritten_us", choice.rewritten_us},
          {"speedup", choice.speedup},
          {"without_winograd_us", choice.without_saving_us},
          {"worst_difference", choice.worst},
          {"not_verified", choice.failure}};
}

void print_engine(const PlaceChoice& choice) {
  if (!choice.failure.empty()) {
    fmt::print("not verified: {}\n", printable(choice.failure));
    return;
  }
  if (choice.removed > 0)
    fmt::print("{} of them left to the engine after all: the model is faster so\n", choice.removed);
  fmt::print("ONNX Runtime {}: outputs within {:.1g} of their ranges\n", choice.engine, choice.worst);
  if (choice.speedup > 0)
    fmt::print("original {}, rewritten {}: {}\n", format_time_us(choice.original_us),
               format_time_us(choice.rewritten_us), format_ratio(choice.speedup));
  if (choice.without_saving_us > 0)
    fmt::print("without Winograd's kernels, which do fewer products and round more: {}\n",
               format_time_us(choice.without_saving_us));
}

void print_coverage(const std::string& out, const Coverage& coverage, std::size_t replaced,
                    const PlaceChoice& choice) {
  fmt::print(
      "{} of {} convolutions and products have kernels, {:.1f} % of the operations that are known: {} "
      "expected\n",
      coverage.replacements.size(), coverage.places,
      coverage.flops > 0 ? 100 * coverage.replaced_flops / coverage.flops : 0,
      format_time_us(coverage.expected_us));
  if (coverage.prepacked_bytes > 0)
    fmt::print("{:.1f} MB of prepacked weights beside the model's own\n",
               static_cast<double>(coverage.prepacked_bytes) / 1e6);
  for (const auto& [reason, count] : coverage.reasons)
    fmt::print("left to the engine: {} x {}\n", count, printable(reason));
  if (!coverage.replacements.empty()) print_engine(choice);
  if (replaced == 0) fmt::print("nothing gains: the model is written as it was\n");
  fmt::print("written to {}\n", out);
}

}  // namespace

ApplyCommand::ApplyCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  app_ = root.add_subcommand("apply", "Write a network that ONNX Runtime runs with a bundle's kernels");
  problem_.add_to(*app_, "FILE");
  value_flag(*app_, "Problem", "--bundle", bundle_, "the folder with kernels that `lehr export` has written");
  value_flag(*app_, kMeasuringGroup, "--threads", threads_,
             "the kernels tuned for so many (all that are allowed); right with any number of the engine's");
  value_flag(*app_, kMeasuringGroup, "--tolerance", tolerance_,
             "largest difference from the original's outputs, as a share of their range (1e-4)");
  value_flag(*app_, kMeasuringGroup, "--seed", seed_, "of the random inputs that both compute (0)");
  value_flag(*app_, kMeasuringGroup, "--time", time_,
             "in which ONNX Runtime tries which places pay, at most: 30s, 2m (60s)");
  switch_flag(*app_, "Problem", "--no-winograd", no_winograd_,
              "leave to the engine what only a kernel computes that does fewer products, and rounds more");
  switch_flag(*app_, kMeasuringGroup, "--no-engine", no_engine_,
              "do not ask ONNX Runtime whether outputs agree and what pays, though it is here");
  value_flag(*app_, kOutputGroup, "--out", out_, "the folder to write: model.onnx, the plug-in, the kernels");
  switch_flag(*app_, kOutputGroup, "--json", json_, "one JSON document on stdout");
  app_->footer(
      examples({{"problem", "lehr apply resnet18.onnx --dim batch=1 --bundle kernels.bundle --out faster"},
                {"measuring", "lehr apply resnet18.onnx --bundle kernels.bundle --threads 1 --out faster"},
                {"output", "lehr apply resnet18.onnx --bundle kernels.bundle --out faster --json"}}));
}

bool ApplyCommand::chosen() const {
  return app_->parsed();
}

int ApplyCommand::run() {
  if (!problem_.given() || bundle_.empty() || out_.empty())
    throw_user(
        "lehr apply needs a file, a bundle and a folder to write: lehr apply net.onnx --bundle "
        "kernels.bundle "
        "--out faster");
  const auto cpus = static_cast<std::int64_t>(allowed_cpus().size());
  const int threads = threads_.empty() ? static_cast<int>(cpus)
                                       : static_cast<int>(parse_number("--threads", threads_, 1, 1024));
  const auto [model, shapes, work] = problem_.read();
  std::vector<FolderFile> files = bundle_files(bundle_);
  Coverage coverage = coverage_of(work, BundleAnswers(bundle_), threads, !no_winograd_);
  if (!coverage.replacements.empty())
    files.push_back(onnxruntime_plugin(host_compiler_options(environment_)));
  // Those that cannot be written are known before the engine is asked.
  RewrittenModel rewritten = rewrite(model, shapes, coverage.replacements);
  add_external(model, rewritten.external, files);
  for (const KeptPlace& kept : rewritten.kept) {
    ++coverage.reasons[kept.reason];
    std::erase_if(coverage.replacements, [&](const Replacement& each) { return each.place == kept.place; });
  }
  const EngineCheck check = {
      .libraries = no_engine_ ? std::vector<std::string>() : onnxruntime::find_libraries(environment_),
      .threads = threads,
      .seed = static_cast<std::uint64_t>(parse_number("--seed", seed_, 0, INT64_MAX)),
      .bindings = problem_.bindings(),
      .tolerance = parse_share("--tolerance", tolerance_),
      .saving = coverage.saving};
  const PlaceChoice choice = chosen(model, shapes, coverage.replacements, files, check);
  if (choice.wrong) {
    fmt::print(stderr, "lehr: {}: {}; nothing is written\n", problem_.file(), printable(choice.failure));
    return kCheckFailedCode;
  }
  rewritten = rewrite(model, shapes, choice.replacements);
  if (choice.replacements.empty())
    std::erase_if(files, [](const FolderFile& file) { return file.path == kPluginName; });
  files.push_back({kAppliedModel, std::move(rewritten.bytes)});
  write_folder(out_, files, &is_applied_folder);
  if (json_)
    print_json(document_of(problem_.file(), out_, coverage, rewritten.replaced, choice));
  else
    print_coverage(out_, coverage, rewritten.replaced, choice);
  return 0;
}

PlaceChoice ApplyCommand::chosen(const OnnxModel& model, const ModelShapes& shapes,
                                 const std::vector<Replacement>& replacements,
                                 const std::vector<FolderFile>& files, const EngineCheck& check) const {
  PlaceChoice choice;
  choice.replacements = replacements;
  if (replacements.empty()) return choice;
  if (check.libraries.empty()) {
    choice.failure = "--no-engine";
    return choice;
  }
  const TempDir directory;
  const std::string folder = directory.path() + "/draft";
  write_folder(folder, files, &is_applied_folder);
  const std::string original = std::filesystem::absolute(problem_.file()).string();
  const double seconds = parse_duration("--time", time_);
  const auto tell = [](const std::string& text) { fmt::print(stderr, "{}\n", text); };
  return choose_places(model, shapes, original, replacements, folder, check, seconds, tell);
}

}  // namespace lehr
