#include "tests/deploy/exported.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "codegen/emit.h"
#include "measure/host/cpu_device.h"
#include "templates/catalog.h"
#include "tests/support/isa_limits.h"
#include "tune/stored_kernel.h"

namespace lehr::testing {
namespace {

RebuiltKernel exported_for(const Device& device, const Workload& workload, double time_us,
                           const Config& config) {
  Winner winner;
  winner.record.config = config;
  winner.record.workload = to_text(workload);
  winner.record.target = "cpu";
  winner.record.arch = device.limits.arch;
  Timing timing;
  timing.time_us = time_us;
  winner.record.outcome = timing;
  winner.verdict.best.us = time_us;
  winner.device = stored_device(device);
  ir::Kernel kernel = lower(workload, config, device.limits);
  Source source = emit(kernel);
  return {winner, of_any_call(workload), std::move(kernel), std::move(source)};
}

Device device_of(const Isa& isa) {
  Device device;
  device.name = "this";
  device.limits = isa.level == nullptr ? cpu_device(2, false).limits : limits_of(isa, 2);
  device.compiler = fmt::format("a compiler -O2 {}", fmt::join(flags_of(isa), " "));
  return device;
}

}  // namespace

RebuiltKernel exported(const std::string& text, double time_us, const char* family, const Isa& isa) {
  const Workload workload = parse_workload(text);
  const Device device = device_of(isa);
  Config chosen;
  for (const Config& config : families_for(catalog(), workload, device.limits).defaults)
    if (family == nullptr || config.family == family) chosen = config;
  EXPECT_FALSE(chosen.family.empty()) << text;
  return exported_for(device, workload, time_us, chosen);
}

RebuiltKernel exported(const std::string& text, double time_us, const Config& config) {
  return exported_for(device_of({}), parse_workload(text), time_us, config);
}

TwoTiles two_tiles(const std::string& text) {
  const Workload workload = parse_workload(text);
  const Limits limits = device_of({}).limits;
  const Space space = kernel_space(workload, limits).space;
  TwoTiles found;
  for (const Config& config : families_for(catalog(), workload, limits).defaults)
    if (config.family == "gemm_cpu") found.usual = found.other = config;
  for (std::int64_t height = 16; height > 0; --height)
    for (KnobValue& knob : found.other.knobs) {
      if (knob.name != "mr") continue;
      knob.value = height;
      if (found.other != found.usual && !space.why_invalid(found.other)) return found;
    }
  ADD_FAILURE() << text << " has tiles of one height";
  return found;
}

FolderOptions options() {
  FolderOptions result;
  result.tool_version = "test";
  return result;
}

std::vector<FolderFile> files_of(std::span<const RebuiltKernel> kernels, const FolderOptions& given,
                                 std::vector<RebuiltSet> sets) {
  std::vector<bool> in_set(kernels.size(), false);
  for (const RebuiltSet& set : sets)
    for (const RebuiltSet::Member& member : set.members) in_set[member.kernel] = true;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].source.most_rows > 0 && !in_set[i]) sets.push_back(set_of_one(kernels[i], i));
  HostCompilerOptions patient;  // the library takes long on a machine that runs other tests beside this one
  patient.time_limit_s = 600;
  FolderCompilers compilers({patient, {}});
  return export_folder(kernels, sets, compilers, given);
}

Folder::Folder(std::span<const RebuiltKernel> kernels, const FolderOptions& given,
               std::vector<RebuiltSet> sets) {
  write_folder(path, files_of(kernels, given, std::move(sets)));
}

Opened::Opened(const std::string& path) {
  lehr_error error = {sizeof error, ""};
  const lehr_open_options tested = {sizeof tested, nullptr, 1, 0};
  EXPECT_EQ(lehr_open(path.c_str(), &tested, &handle, &error), LEHR_OK) << error.text;
}
Opened::~Opened() {
  lehr_close(handle, nullptr);
}

}  // namespace lehr::testing
