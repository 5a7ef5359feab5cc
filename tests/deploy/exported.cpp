#include "tests/deploy/exported.h"

#include <dlfcn.h>
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

std::vector<RebuiltSet> sets_of(std::span<const RebuiltKernel> kernels, std::vector<RebuiltSet> sets) {
  std::vector<bool> in_set(kernels.size(), false);
  for (const RebuiltSet& set : sets)
    for (const RebuiltSet::Member& member : set.members) in_set[member.kernel] = true;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].source.most_rows > 0 && !in_set[i]) sets.push_back(set_of_one(kernels[i], i));
  return sets;
}

std::vector<FolderFile> files_of(std::span<const RebuiltKernel> kernels, std::vector<RebuiltSet> sets,
                                 const std::string& name) {
  HostCompilerOptions patient;  // the library takes long on a machine that runs other tests beside this one
  patient.time_limit_s = 600;
  FolderCompilers compilers({patient, {}});
  return library_files(
      library_of(prepared(kernels, compilers), sets_of(kernels, std::move(sets)), {name, "test"}), compilers);
}

LoadedLibrary::LoadedLibrary(std::span<const RebuiltKernel> kernels, std::vector<RebuiltSet> sets,
                             const std::string& name)
    : LoadedLibrary(files_of(kernels, std::move(sets), name), name) {}

LoadedLibrary::LoadedLibrary(std::span<const FolderFile> files, const std::string& name) : name_(name) {
  write_folder(folder_, files);
  const std::string path = fmt::format("{}/lib{}.so", folder_, name);
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library_, nullptr) << dlerror();
  const auto find_one = [&](auto& to, const char* name) {
    to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(symbol(name));
  };
  find_one(destroy, "destroy");
  find_one(message, "message");
  find_one(find, "find");
  find_one(describe, "describe");
  find_one(call, "call");
  find_one(pack_bytes, "pack_bytes");
  find_one(pack, "pack");
  find_one(self_test, "self_test");
  find_one(use, "use");
  find_one(count, "count");
  find_one(at, "at");
}

kernels_context* LoadedLibrary::create(const kernels_options& options, std::string* message) const {
  char said[500] = "";
  kernels_context* const context = function<decltype(kernels_create_for)>("create_for")(
      function<decltype(kernels_interface)>("interface")(), &options, said, sizeof said);
  if (message != nullptr)
    *message = said;
  else
    EXPECT_NE(context, nullptr) << said;
  return context;
}

void* LoadedLibrary::symbol(const std::string& function) const {
  void* const found = dlsym(library_, fmt::format("{}_{}", name_, function).c_str());
  EXPECT_NE(found, nullptr) << function;
  return found;
}

}  // namespace lehr::testing
