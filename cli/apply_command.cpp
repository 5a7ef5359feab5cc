#include "cli/apply_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file_kind.h"
#include "cli/args.h"
#include "cli/bundle_answers.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/standard_streams.h"
#include "cli/table.h"
#include "deploy/applied_folder.h"
#include "deploy/onnxruntime_plugin.h"
#include "measure/host/host_backend.h"
#include "measure/system/temp_dir.h"
#include "network/rewrite.h"
#include "templates/catalog.h"

namespace lehr {
namespace {

using nlohmann::json;

/// Whether a bundle's kernel, whose name is its family's and a hash, does fewer products than the sum has.
bool saves_products(const BundleAnswer& answer) {
  const std::string family = answer.name.substr(0, answer.name.rfind('_'));
  return std::ranges::any_of(
      catalog(), [&](const Template& each) { return each.name == family && each.saves_products; });
}

/// Which of a model's convolutions and products have kernels.
struct Coverage {
  std::vector<Replacement> replacements;
  std::map<const ModelPlace*, BundleAnswer> answers;  ///< of each of them
  std::map<const ModelPlace*, std::string> weights;   ///< RewrittenModel's
  std::map<std::string, std::size_t> reasons;         ///< why others stay the engine's, and how many
  std::size_t places = 0;                             ///< all
  double flops = 0;                                   ///< of all that are known
};

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
    for (const ModelPlace& place : task.places) {
      coverage.replacements.push_back({&place, task.workload, threads});
      coverage.answers[&place] = *answer;
    }
  }
  for (const ModelGap& gap : work.gaps) {
    ++coverage.places;
    coverage.flops += gap.flops;
    ++coverage.reasons[gap.reason];
  }
  return coverage;
}

/// Those that cannot be written stay the engine's.
void leave_out(const std::vector<KeptPlace>& kept, Coverage& coverage) {
  std::set<const ModelPlace*> gone;
  for (const KeptPlace& each : kept) {
    gone.insert(each.place);
    ++coverage.reasons[each.reason];
  }
  std::erase_if(coverage.replacements, [&](const Replacement& each) { return gone.contains(each.place); });
}

std::set<const ModelPlace*> saving_places(const Coverage& coverage) {
  std::set<const ModelPlace*> saving;
  for (const auto& [place, answer] : coverage.answers)
    if (saves_products(answer)) saving.insert(place);
  return saving;
}

/// What the places come to that are written as kernels.
struct Replaced {
  std::size_t places = 0;
  double share = 0;        ///< of the operations that are known
  double expected_us = 0;  ///< of the kernels
  std::uint64_t prepacked_bytes = 0;
};

Replaced sum_of(const std::vector<Replacement>& replacements, const Coverage& coverage) {
  Replaced sum;
  std::set<std::string> prepacked;
  for (const Replacement& each : replacements) {
    const BundleAnswer& answer = coverage.answers.at(each.place);
    ++sum.places;
    if (coverage.flops > 0) sum.share += flops_of(each.workload) / coverage.flops;
    sum.expected_us += answer.time_us;
    // Nodes share what is prepacked of the same weights in the same way.
    const std::string& layout = answer.prepack_layout.empty() ? answer.name : answer.prepack_layout;
    if (prepacked.insert(fmt::format("{} {}", layout, coverage.weights.at(each.place))).second)
      sum.prepacked_bytes += answer.prepacked_bytes;
  }
  return sum;
}

/// Files that hold constants of the model, at the same places below the new one.
void add_external(const ExternalFiles& external, std::vector<FolderFile>& files) {
  for (const auto& [path, source] : external) {
    const std::string first = std::filesystem::path(path).begin()->string();
    if (first == kAppliedModel || first == kPluginName || first == kAppliedKernels || first == kFileList)
      throw_user("the model's file '{}' would take the place of one of the result's", path);
    files.push_back({.path = path, .bytes = "", .source = source});
  }
}

json document_of(const std::string& file, const std::string& out, const Coverage& coverage,
                 const PlaceChoice& choice) {
  const Replaced replaced = sum_of(choice.replacements, coverage);
  return {{"model", file},
          {"folder", out},
          {"places", coverage.places},
          {"with_kernels", coverage.replacements.size()},
          {"replaced", replaced.places},
          {"share_of_flops", replaced.share},
          {"expected_us", replaced.expected_us},
          {"prepacked_bytes", replaced.prepacked_bytes},
          {"reasons", coverage.reasons},
          {"engine", choice.engine},
          {"original_us", choice.original_us},
          {"rewritten_us", choice.rewritten_us},
          {"speedup", choice.speedup},
          {"without_winograd_us", choice.without_saving_us},
          {"worst_difference", choice.worst},
          {"own_difference", choice.own},
          {"not_compared", choice.uncompared},
          {"notes", choice.notes},
          {"not_verified", choice.failure}};
}

void print_engine(const PlaceChoice& choice) {
  if (choice.proof != Proof::kRight) {
    fmt::print("not verified: {}\n", printable(choice.failure));
    return;
  }
  fmt::print("ONNX Runtime {}: {}\n", choice.engine,
             agreement_text({choice.worst, choice.own, choice.tolerance, choice.uncompared, choice.notes}));
  if (choice.speedup > 0)
    fmt::print("original {}, rewritten {}: {}\n", format_time_us(choice.original_us),
               format_time_us(choice.rewritten_us), format_ratio(choice.speedup));
  if (choice.without_saving_us > 0)
    fmt::print("without Winograd's kernels, which do fewer products and round more: {}\n",
               format_time_us(choice.without_saving_us));
}

void print_coverage(const std::string& out, const Coverage& coverage, const PlaceChoice& choice) {
  const Replaced replaced = sum_of(choice.replacements, coverage);
  fmt::print(
      "{} of {} convolutions and products by kernels, {:.1f} % of the operations that are known: {} "
      "expected\n",
      replaced.places, coverage.places, 100 * replaced.share, format_time_us(replaced.expected_us));
  if (replaced.prepacked_bytes > 0)
    fmt::print("{:.1f} MB of prepacked weights beside the model's own\n",
               static_cast<double>(replaced.prepacked_bytes) / 1e6);
  for (const auto& [reason, count] : coverage.reasons)
    fmt::print("left to the engine: {} x {}\n", count, printable(reason));
  if (const std::size_t removed = coverage.replacements.size() - replaced.places; removed > 0)
    fmt::print("left to the engine: {} x the model is faster so, though there is a kernel\n", removed);
  if (!coverage.replacements.empty()) print_engine(choice);
  if (replaced.places == 0) fmt::print("nothing gains: the model is written as it was\n");
  fmt::print("written to {}\n", out);
}

}  // namespace

ApplyCommand::ApplyCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  app_ = root.add_subcommand("apply", "Write a network that ONNX Runtime runs with a bundle's kernels");
  problem_.add_to(*app_, "FILE");
  value_flag(*app_, "Problem", "--bundle", bundle_, "the folder with kernels that `lehr export` has written");
  engine_.add_to(
      *app_, "the kernels tuned for so many (all that are allowed); right with any number of the engine's");
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
        "kernels.bundle --out faster");
  EngineCheck check = engine_.check(problem_, environment_, !no_engine_);
  const double seconds = parse_duration("--time", time_);
  check_replaceable(out_, &applied_own_files);
  if (leads_into(problem_.file(), out_))
    throw_user("{} would be replaced, and {} lies in it: name another folder", out_, problem_.file());
  const ModelProblem problem = problem_.read();
  const OnnxModel& model = problem.model;
  engine_.feed(model, check);
  const ModelShapes& shapes = problem.shapes;
  std::vector<FolderFile> files = bundle_files(bundle_);
  const BundleAnswers answers(bundle_);
  // A pool that was not tuned with its convolution stays the engine's.
  const ModelWork work = work_of(model, shapes, [&](const Workload& workload) {
    std::string reason;
    return answers.exact(to_text(workload), static_cast<std::uint32_t>(check.threads), reason).has_value();
  });
  Coverage coverage = coverage_of(work, answers, check.threads, !no_winograd_);
  if (!coverage.replacements.empty())
    files.push_back(onnxruntime_plugin(host_compiler_options(environment_)));
  RewrittenModel rewritten = rewrite(model, shapes, coverage.replacements);
  leave_out(rewritten.kept, coverage);
  // The engine tries models that read what another choice has folded.
  std::vector<FolderFile> tried = files;
  add_external(external_files(model), tried);
  PlaceChoice choice;
  choice.replacements = coverage.replacements;
  if (no_engine_) choice.failure = "--no-engine";
  if (!no_engine_ && !coverage.replacements.empty()) {
    check.saving = saving_places(coverage);
    choice = chosen(model, shapes, coverage.replacements, tried, check, seconds);
  }
  if (choice.proof == Proof::kWrong || choice.proof == Proof::kOpen) {
    tell("lehr: {}: {}; nothing is written{}", problem_.file(), choice.failure,
         choice.proof == Proof::kOpen ? " (--feed gives real inputs, --no-engine does without the check)"
                                      : "");
    return kCheckFailedCode;
  }
  rewritten = rewrite(model, shapes, choice.replacements);
  coverage.weights = std::move(rewritten.weights);
  if (choice.replacements.empty())
    std::erase_if(files, [](const FolderFile& file) { return file.path == kPluginName; });
  files.push_back({kAppliedModel, std::move(rewritten.bytes)});
  add_external(rewritten.external, files);
  write_folder(out_, files, &applied_own_files);
  if (json_)
    print_json(document_of(problem_.file(), out_, coverage, choice));
  else
    print_coverage(out_, coverage, choice);
  return 0;
}

PlaceChoice ApplyCommand::chosen(const OnnxModel& model, const ModelShapes& shapes,
                                 const std::vector<Replacement>& replacements,
                                 const std::vector<FolderFile>& files, const EngineCheck& check,
                                 double seconds) const {
  // Files in memory are quick to write; large models would take it from the engine.
  constexpr std::size_t kMostInMemory = std::size_t{64} << 20;
  std::size_t bytes = model.bytes->size();
  for (const FolderFile& file : files)
    bytes += file.source.empty() ? file.bytes.size() : std::filesystem::file_size(file.source);
  const TempDir directory(bytes > kMostInMemory && environment_.scratch.empty() ? "/tmp" : "");
  const std::string folder = directory.path() + "/draft";
  fill_folder(folder, files);
  const std::string original = std::filesystem::absolute(problem_.file()).string();
  const auto say = [](const std::string& text) { tell("{}", text); };
  return choose_places(model, shapes, original, replacements, folder, check, seconds, say);
}

}  // namespace lehr
