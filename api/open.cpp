// Devices and logs, opened.
#include <chrono>
#include <utility>

#include "api/boundary.h"
#include "api/device_names.h"
#include "tune/task.h"

namespace lehr::api {

Code code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUser:
      return Code::kWrongInput;
    case ErrorKind::kEnvironment:
    case ErrorKind::kInternal:
      return Code::kMissing;
    case ErrorKind::kNotFound:
      return Code::kNothingFound;
    case ErrorKind::kDamaged:
      return Code::kCheckFailed;
  }
  return Code::kMissing;
}

namespace {

std::unique_ptr<Device::State> opened(const DeviceOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  DeviceChoice choice =
      parse_device(options.device, options.threads == 0 ? "" : std::to_string(options.threads), options.isa);
  choice.cold = options.cold;
  choice.cold_on_host = options.cold_cpu;
  choice.overlap = options.overlap;
  choice.run_timeout_s = options.run_timeout_s;
  auto state = std::make_unique<Device::State>();
  state->open = open_device(choice, parse_workload(options.workload),
                            {options.tools, options.jobs, Timings::kFull, options.stop});
  state->opening_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return state;
}

}  // namespace

Device::Device(const DeviceOptions& options) : state_(guarded([&] { return opened(options); })) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

const std::string& Device::name() const {
  return state_->open.device.name;
}

std::string Device::identity() const {
  return identity_of(state_->open.device);
}

const std::string& Device::note() const {
  return state_->open.note;
}

std::string Device::why_not_served(const std::string& workload) const {
  return guarded([&] {
    return lehr::why_not_served(parse_workload(workload), state_->open.device.limits,
                                [](const std::string&) {})
        .value_or("");
  });
}

Database& database_of(Log& log, Reporter& reporter) {
  std::optional<Database>& database = log.state().database;
  if (!database) {
    database = Database::open(log.path());
    if (!database->note().empty()) reporter.note(database->note());
  }
  return *database;
}

Log::Log(const std::string& path) : state_(std::make_unique<State>()) {
  state_->path = path;
}
Log::~Log() = default;
Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;

const std::string& Log::path() const {
  return state_->path;
}

}  // namespace lehr::api
