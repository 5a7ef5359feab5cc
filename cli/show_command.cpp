// Chooses a config, lowers it, and prints what is asked for.
#include "cli/show_command.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/args.h"
#include "cli/rig.h"
#include "cli/show_text.h"
#include "cli/table.h"
#include "codegen/emit.h"
#include "deploy/winners.h"
#include "ir/print.h"
#include "templates/catalog.h"

namespace lehr {
namespace {

const std::vector<std::string> kForms = {"ast", "source", "features", "log"};

}  // namespace

ShowCommand::ShowCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  app_ = root.add_subcommand("show", "Print a config's AST, source, features or compile log");
  gemm_app_ = app_->add_subcommand("gemm", "The workload as problem flags");
  gemm_app_->fallthrough();
  gemm_.add_to(*gemm_app_);
  const auto add = [&](const char* name, std::string& value, const char* help) {
    app_->add_option(name, value, help)->option_text(" ");
  };
  add("--workload", workload_, "the workload as text: \"gemm m=512 n=512 k=512\"");
  add("--as", as_, "ast | source | features | log (ast); log compiles it");
  add("--config", config_, "the config as text; otherwise the best one in the log, or the default");
  add("--sample", sample_, "a random config of the space, by seed");
  add("--arch", arch_, "a CUDA architecture, which need not be present: sm_80, sm_90a, ...");
  add("--device", device_, "auto | cpu | cuda:N");
  add("--threads", threads_, "CPU threads that a kernel may use (all that are allowed)");
  add("--db", database_, "the trial log (./lehr.db, or LEHR_DB)");
  app_->add_flag("--json", json_, "one JSON document on stdout");
  app_->footer(
      "Examples:\n"
      "  lehr show gemm --m 512 --n 512 --k 512 --as source\n"
      "  lehr show gemm --m 512 --n 512 --k 512 --arch sm_90a --sample 1 --as log\n"
      "  lehr show --workload \"gemm m=512 n=512 k=512\" --as source --json");
}

Workload ShowCommand::workload() const {
  if (gemm_app_->parsed() && !workload_.empty())
    throw_user("--workload and the problem flags exclude each other");
  if (gemm_app_->parsed()) return gemm_.workload();
  if (workload_.empty())
    throw_user("--workload is missing: write lehr show gemm --m --n --k, or --workload \"TEXT\"");
  try {
    return parse_workload(workload_);
  } catch (const Error& error) {
    throw_user("--workload: {}", error.what());
  }
}

Device ShowCommand::device(const Workload& workload) const {
  const DeviceChoice choice = parse_device(device_, threads_);
  if (arch_.empty()) {
    std::string note;
    return choose_device(choice, workload, environment_, false, note);
  }
  if (!choice.automatic && choice.target == Target::kCpu)
    throw_user("--arch {} is for CUDA; leave out --device cpu", arch_);
  parse_choice("--arch", arch_, known_cuda_archs());
  Device device;
  device.limits = cuda_limits(arch_);
  device.name = "any " + arch_;
  return device;
}

ShowCommand::Choice ShowCommand::choose(const Workload& workload, const Limits& limits) const {
  const Space space = space_for(workload, limits);
  if (!config_.empty() && !sample_.empty()) throw_user("--config and --sample exclude each other");
  if (!config_.empty()) {
    Config config;
    try {
      config = parse_config(config_);
    } catch (const Error& error) {
      throw_user("--config: {}", error.what());
    }
    if (const auto reason = space.why_invalid(config))
      throw_user("--config {} is not valid: {}", config_, *reason);
    return {std::move(config), "as given"};
  }
  if (!sample_.empty()) {
    Rng rng(static_cast<std::uint64_t>(parse_number("--sample", sample_, 0, INT64_MAX)));
    return {space.sample(rng), "sample " + sample_};
  }
  if (std::filesystem::exists(database_)) {
    RecordFilter filter;
    filter.workload = to_text(workload);
    filter.target = name_of(limits.target);
    for (const Winner& winner : winners(Database::open_read_only(database_), filter)) {
      if (winner.record.arch != limits.arch || space.why_invalid(winner.record.config)) continue;
      return {winner.record.config,
              fmt::format("the best in {}, {}", database_, format_time_us(winner.time_us))};
    }
  }
  return {default_configs(workload, limits)[0],
          fmt::format("the default; {} knows none of this workload", database_)};
}

int ShowCommand::run() {
  parse_choice("--as", as_, kForms);
  const Workload problem = workload();
  const Device target = device(problem);
  const Choice choice = choose(problem, target.limits);
  const ir::Kernel kernel = lower(problem, choice.config, target.limits);
  nlohmann::json document = {{"workload", to_text(problem)},
                             {"arch", target.limits.arch},
                             {"config", to_text(choice.config)},
                             {"chosen", choice.origin}};
  // A comment in C++, so that the printed source still compiles.
  std::string text = fmt::format("// workload: {}\n// arch: {}\n// config: {}\n// chosen: {}\n",
                                 to_text(problem), target.limits.arch, to_text(choice.config), choice.origin);
  int code = 0;
  if (as_ == "ast")
    show_ast(kernel, document, text);
  else if (as_ == "source")
    show_source(emit(kernel), document, text);
  else if (as_ == "features")
    show_features(kernel, target.limits, document, text);
  else
    code = show_log(emit(kernel), *make_compiler(target.limits, environment_), document, text);
  fmt::print("{}", json_ ? document.dump(2) + "\n" : text);
  return code;
}

}  // namespace lehr
