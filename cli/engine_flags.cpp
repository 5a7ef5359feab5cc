#include "cli/engine_flags.h"

#include "base/args.h"
#include "cli/help.h"

namespace lehr {

void EngineFlags::add_to(CLI::App& app, const char* threads_help) {
  value_flag(app, kMeasuringGroup, "--threads", threads_, threads_help);
  value_flag(app, kMeasuringGroup, "--tolerance", tolerance_, kToleranceHelp);
  value_flag(app, kMeasuringGroup, "--seed", seed_, "of the random inputs that both compute (0)");
  value_flag(app, kMeasuringGroup, "--feed", feed_, kFeedHelp);
}

api::ApplyOptions EngineFlags::options(const Environment& environment) const {
  constexpr std::int64_t kMostThreads = 1024;
  api::ApplyOptions options;
  if (!threads_.empty())
    options.threads = static_cast<int>(parse_number("--threads", threads_, 1, kMostThreads));
  options.seed = static_cast<std::uint64_t>(parse_number("--seed", seed_, 0, INT64_MAX));
  if (!tolerance_.empty()) options.tolerance = parse_share("--tolerance", tolerance_);
  options.feed = feed_;
  options.tools = environment;
  return options;
}

}  // namespace lehr
