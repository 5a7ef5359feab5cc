#include "api/verify.h"

#include <fmt/format.h>

#include "api/apply.h"
#include "api/sessions.h"
#include "apply/report.h"
#include "apply/verify.h"
#include "base/describe_json.h"
#include "base/error.h"
#include "deploy/applied_folder.h"
#include "measure/system/affinity.h"

namespace lehr::api {
namespace {

ApplyOptions engine_options(const VerifyOptions& options) {
  ApplyOptions engine;
  engine.threads = options.threads;
  engine.tolerance = options.tolerance;
  engine.seed = options.seed;
  engine.feed = options.feed;
  engine.tools = options.tools;
  return engine;
}

EngineCheck check_of(const NetworkFile& model, const VerifyOptions& options) {
  EngineCheck check = engine_check(model, engine_options(options));
  if (!is_applied_folder(options.out))
    throw_user("{} is no folder that `lehr apply` has written", options.out);
  if (check.threads == 0)
    check.threads = threads_of_folder(options.out).value_or(static_cast<int>(allowed_cpus().size()));
  return check;
}

nlohmann::json document_of(const EngineVerdict& verdict, const NetworkFile& model,
                           const VerifyOptions& options, int threads) {
  return Fields{[&](auto& field) {
    describe_agreement(field, verdict);
    field("model", model.file);
    field("folder", options.out);
    field("threads", threads);
    field("right", verdict.proof == Proof::kRight);
    field("failure", verdict.failure);
    field("worst_output", verdict.worst_output);
    field("worst_kernel", verdict.matches.worst_output);
  }};
}

Verified verified(const NetworkFile& model, const VerifyOptions& options) {
  check(options);
  EngineCheck check = check_of(model, options);
  Reporter reporter(options.on_progress);
  const Network network = read_network(model, reporter);
  feed(network.model, engine_options(options), check);
  const bool states_tolerance = take_stated_tolerance(options.out, check);
  const EngineVerdict verdict = try_folder(network, options.out, check, options.time_s);
  if (verdict.proof == Proof::kNone) throw_environment("{}", verdict.failure);
  Verified result;
  result.right = verdict.proof == Proof::kRight;
  result.failure = verdict.failure;
  result.json = dumped(document_of(verdict, model, options, check.threads));
  if (!result.right) return result;
  result.text = fmt::format("ONNX Runtime {}, {} thread{}: {}\n", verdict.engine, check.threads,
                            check.threads == 1 ? "" : "s", agreement_text(verdict));
  if (states_tolerance) result.text += outputs_text(verdict);
  if (options.time_s > 0) result.text += speedup_text(verdict) + "\n";
  return result;
}

}  // namespace

Verified verify(const NetworkFile& model, const VerifyOptions& options) {
  return guarded([&] {
    NetworkFile at_least = model;
    bool has_range = false;
    for (auto& [name, size] : at_least.dims) {
      has_range = has_range || size.least < size.most;
      size = size.least;
    }
    VerifyOptions unfed = options;
    unfed.feed.clear();  // inputs from a file have the largest size, not the least
    if (has_range)
      if (Verified least = verified(at_least, unfed); !least.right) return least;
    return verified(model, options);
  });
}

}  // namespace lehr::api
