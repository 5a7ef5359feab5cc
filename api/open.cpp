// Opens devices and logs.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
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

std::string sentence_of(const std::exception& error) {
  const auto* const of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  if (of_file == nullptr) return fmt::format("unexpected: {}", error.what());
  return fmt::format("'{}': {}", of_file->path1().string(), of_file->code().message());
}

void check_named(std::string_view flag, const std::string& path) {
  if (path.empty()) throw_user("{} is missing: it must be a path", flag);
}

void check_model(const NetworkFile& model) {
  check_named("file", model.file);
  int ranges = 0;
  for (const auto& [name, size] : model.dims) {
    if (size.least < 1) throw_user("--dim {}={}: a size is at least 1", name, size.least);
    if (size.most < size.least)
      throw_user("--dim {}={}..{}: the range ends before it begins", name, size.least, size.most);
    ranges += size.least < size.most;
  }
  if (ranges > 1) throw_user("--dim: {} dimensions have a range of sizes, and one may", ranges);
  for (const auto& [name, shape] : model.inputs)
    if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 1; }))
      throw_user("inputs: each size of '{}' must be at least 1", name);
}

namespace {

std::unique_ptr<Device::State> opened(const DeviceOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  check(options);
  const DeviceChoice choice = choice_of(options);
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

Database& database_of(Log& log) {
  std::optional<Database>& database = log.state().database;
  if (!database) database = Database::open(log.path());
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
