#include "cli/device_flags.h"

#include <CLI/CLI.hpp>

namespace lehr {

void add_device_flags(OptionFlags& flags, CLI::App& app, const std::vector<std::string_view>& members) {
  flags.add<api::DeviceOptions>(app, members);
  app.get_option("--isa")->description(isa_help());
}

void add_run_flags(OptionFlags& flags, CLI::App& app) {
  add_device_flags(flags, app, {"device", "threads", "isa", "run_timeout_s"});
}

}  // namespace lehr
