#include "cli/device_flags.h"

#include "base/args.h"
#include "cli/help.h"

namespace lehr {

void MeasureFlags::add(CLI::App& app) {
  const auto flag = [&](const char* name, std::string& value, const std::string& help) {
    value_flag(app, kMeasuringGroup, name, value, help.c_str());
  };
  flag("--device", device_, "auto | cpu | cuda:N (auto: the GPU where there is one)");
  flag("--threads", threads_, "CPU threads that a kernel may use (all that are allowed)");
  flag("--isa", isa_, isa_help());
  flag("--run-timeout", run_timeout_,
       "of a candidate's check and timing, on top of what the fastest so far takes for as many calls (10s)");
}

DeviceChoice MeasureFlags::choice() const {
  DeviceChoice choice = parse_device(device_, threads_, isa_);
  if (!run_timeout_.empty()) choice.run_timeout_s = parse_duration("--run-timeout", run_timeout_);
  return choice;
}

api::DeviceOptions MeasureFlags::options(const Environment& environment) const {
  api::DeviceOptions options;
  options.device = device_;
  options.threads = parse_device(device_, threads_, isa_).threads;
  options.isa = isa_;
  if (!run_timeout_.empty()) options.run_timeout_s = parse_duration("--run-timeout", run_timeout_);
  options.tools = environment;
  return options;
}

}  // namespace lehr
