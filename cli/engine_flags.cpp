#include "cli/engine_flags.h"

#include <fmt/format.h>

#include <filesystem>

#include "apply/feed.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/help.h"
#include "measure/core/format.h"
#include "measure/system/affinity.h"

namespace lehr {

void EngineFlags::add_to(CLI::App& app, const char* threads_help) {
  value_flag(app, kMeasuringGroup, "--threads", threads_, threads_help);
  value_flag(app, kMeasuringGroup, "--tolerance", tolerance_,
             "largest difference from the original's outputs, as a share of their range (1e-4)");
  value_flag(app, kMeasuringGroup, "--seed", seed_, "of the random inputs that both compute (0)");
  value_flag(app, kMeasuringGroup, "--feed", feed_,
             "real inputs in place of random ones: a .npz file with an array for each, or for some of them");
}

EngineCheck EngineFlags::check(const ModelFlags& model, const Environment& environment, bool ask) const {
  constexpr std::int64_t kMostThreads = 1024;
  const auto cpus = static_cast<std::int64_t>(allowed_cpus().size());
  EngineCheck check;
  check.threads =
      static_cast<int>(threads_.empty() ? cpus : parse_number("--threads", threads_, 1, kMostThreads));
  check.seed = static_cast<std::uint64_t>(parse_number("--seed", seed_, 0, INT64_MAX));
  check.tolerance = parse_share("--tolerance", tolerance_);
  check.bindings = model.bindings();
  check.original = std::filesystem::absolute(model.file()).string();
  check.executable = own_executable();
  if (ask) check.libraries = onnxruntime::find_libraries(environment);
  return check;
}

void EngineFlags::feed(const OnnxModel& model, EngineCheck& check) const {
  if (feed_.empty()) return;
  const auto files = std::make_shared<const TempDir>();
  check.fed = fed_inputs(feed_, model, check.bindings, files->path());
  check.fed_files = files;
}

std::string agreement_text(const EngineVerdict& verdict) {
  std::string text = fmt::format("{} within {:.1g} of their ranges",
                                 verdict.uncompared.empty() ? "outputs" : "the other outputs", verdict.worst);
  if (verdict.own > 0) text += fmt::format("; the original itself differs by {:.1g}", verdict.own);
  for (const std::string& each : verdict.uncompared) text += "\nnot compared: output " + printable(each);
  for (const std::string& each : verdict.notes) text += "\n" + printable(each);
  return text;
}

std::string speedup_text(const EngineVerdict& verdict) {
  return fmt::format("original {}, rewritten {}: {}", format_time_us(verdict.original_us),
                     format_time_us(verdict.rewritten_us), format_ratio(verdict.speedup));
}

}  // namespace lehr
