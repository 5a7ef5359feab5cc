// Applies a bundle's kernels to a network.
#include "api/apply.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/sessions.h"
#include "apply/feed.h"
#include "apply/report.h"
#include "deploy/applied_folder.h"
#include "measure/host/host_backend.h"
#include "measure/worker/backends.h"

namespace lehr::api {

EngineCheck engine_check(const NetworkFile& model, const ApplyOptions& options) {
  check(options);
  check_model(model);
  EngineCheck check;
  check.threads = options.threads;
  check.seed = options.seed;
  check.tolerance = options.tolerance;
  check.bindings = bindings_of(model);
  check.original = std::filesystem::absolute(model.file).string();
  check.tools = options.tools;
  check.stop = options.stop;
  if (options.ask_engine) check.libraries = onnxruntime::find_libraries(options.tools);
  return check;
}

void feed(const OnnxModel& model, const ApplyOptions& options, EngineCheck& check) {
  if (options.feed.empty()) return;
  const auto files = std::make_shared<const TempDir>(options.tools.scratch);
  check.fed = fed_inputs(options.feed, model, check.bindings, files->path());
  check.fed_files = files;
}

namespace {

ApplyRequest request_of(const NetworkFile& model, const ApplyOptions& options) {
  ApplyRequest request;
  request.bundle = options.bundle;
  request.winograd = options.winograd;
  request.narrow = options.precision == kNarrow;
  request.compiler = host_compiler_options(options.tools);
  request.check = engine_check(model, options);
  request.ask = options.ask_engine;
  request.seconds = options.time_s;
  return request;
}

Applied face_of(const lehr::Applied& applied) {
  const EngineVerdict& verdict = applied.verdict;
  Applied result;
  result.matches = static_cast<int>(applied.matches);
  result.replaced = static_cast<int>(applied.replaced);
  result.original_us = verdict.original_us;
  result.rewritten_us = verdict.rewritten_us;
  result.speedup = verdict.speedup.value;
  if (verdict.proof == Proof::kRight) result.error = verdict.worst;
  result.covered_share = applied.covered_share;
  for (const OperatorShare& each : applied.not_covered) result.not_covered.push_back({each.name, each.share});
  return result;
}

}  // namespace

Applied applied_to(const NetworkFile& model, const ApplyOptions& options, nlohmann::json& document,
                   const std::shared_future<FolderFile>& plugin) {
  check_named("--bundle", options.bundle);
  check_named("--out", options.out);
  const auto supervisor = supervise(options.tools);
  check_out_folder(options.out, options.replace, {model.file, options.bundle, options.feed});
  ApplyRequest request = request_of(model, options);
  request.plugin = plugin;
  Reporter reporter(options.on_progress);
  const Network network = read_network(model, reporter);
  if (const std::string sizes = missing_sizes_text(network); !sizes.empty()) reporter.note(sizes);
  feed(network.model, options, request.check);
  lehr::Applied applied =
      lehr::apply(network, request, [&](const std::string& text) { reporter.step(text); });
  if (options.stop != nullptr && *options.stop)
    throw Error(Code::kInterrupted, "it was stopped; nothing is written");
  if (!options.ask_engine) applied.verdict.failure = "--no-engine";
  Applied result = face_of(applied);
  if (applied.files.empty()) {
    result.code = Code::kCheckFailed;
    result.failure = fmt::format("{}: {}; nothing is written", model.file, applied.verdict.failure);
    result.uncompared = applied.verdict.proof == Proof::kOpen;
    return result;
  }
  document = to_json(applied);
  document["model"] = model.file;
  document["folder"] = options.out;
  result.json = dumped(document);
  applied.files.push_back({kAppliedDocument, result.json + "\n"});
  write_folder(options.out, applied.files, options.replace);
  result.text = report_text(applied) + fmt::format("written to {}\n", options.out);
  return result;
}

Applied apply(const NetworkFile& model, const ApplyOptions& options) {
  nlohmann::json document;
  return guarded([&] { return applied_to(model, options, document); });
}

}  // namespace lehr::api
