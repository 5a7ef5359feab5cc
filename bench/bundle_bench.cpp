// What a bundle costs beside its kernels: opening one of 50 kernels, and a call through lehr_run instead of
// the kernel's own function. Matrix products of 1 to 50 rows by 16 columns, 16 deep, on one thread.
//   bundle_bench [KERNELS]
#include <dlfcn.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "deploy/export_folder.h"
#include "measure/host/cpu_device.h"
#include "measure/system/temp_dir.h"
#include "runtime/lehr_bundle.h"
#include "templates/catalog.h"
#include "tune/stored_kernel.h"

namespace {

using namespace lehr;

RebuiltKernel product_of(int rows, const Device& device) {
  const Workload workload = parse_workload(fmt::format("gemm m={} n=16 k=16", rows));
  Winner winner;
  winner.record.workload = to_text(workload);
  winner.record.config = families_for(catalog(), workload, device.limits).defaults.front();
  winner.record.target = "cpu";
  winner.record.arch = device.limits.arch;
  Timing timing;
  timing.time_us = winner.verdict.best.us = rows;
  winner.record.outcome = timing;
  winner.device = stored_device(device);
  ir::Kernel kernel = lower(workload, winner.record.config, device.limits);
  Source source = emit(kernel);
  return {winner, workload, std::move(kernel), std::move(source)};
}

void check(lehr_status status, const lehr_error& error) {
  if (status != LEHR_OK) throw std::runtime_error(error.text);
}

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// The library is closed and loaded again each time, as a new process does it, but from files in memory.
double opening_us(const std::string& folder) {
  lehr_error error = {sizeof error, ""};
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    const auto start = std::chrono::steady_clock::now();
    lehr_bundle bundle = 0;
    check(lehr_open(folder.c_str(), nullptr, &bundle, &error), error);
    times.push_back(microseconds_since(start));
    check(lehr_close(bundle, &error), error);
  }
  return median(times);
}

// Medians of blocks that take turns, in nanoseconds a call: the kernel's function alone, and through
// lehr_run.
std::array<double, 2> call_ns(const std::string& folder) {
  constexpr int kCalls = 20000, kBlocks = 41;
  lehr_error error = {sizeof error, ""};
  lehr_bundle bundle = 0;
  lehr_kernel kernel = 0;
  check(lehr_open(folder.c_str(), nullptr, &bundle, &error), error);
  check(lehr_find(bundle, "gemm m=1 n=16 k=16", nullptr, &kernel, &error), error);
  lehr_kernel_info info = {};
  info.size = sizeof info;
  check(lehr_info(kernel, &info, &error), error);
  void* const library = dlopen(fmt::format("{}/kernels/{}.so", folder, info.name).c_str(), RTLD_NOW);
  const auto entry = reinterpret_cast<void (*)(void* const*, void*, long)>(dlsym(library, info.name));
  alignas(64) static float a[16], b[256], c[16];
  alignas(64) static unsigned char scratch[1 << 16];
  void* const params[] = {a, b, c};
  std::uint64_t bytes = 0;
  check(lehr_scratch_bytes(kernel, 1, &bytes, &error), error);
  if (entry == nullptr || bytes > sizeof scratch) throw std::runtime_error("the kernel is another one");
  const lehr_call call = {sizeof call, 3, params, scratch, sizeof scratch, 1, nullptr, nullptr, 0};
  std::array<std::vector<double>, 2> times;
  for (int block = 0; block < kBlocks; ++block) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) entry(params, scratch, 0);
    times[0].push_back(1000 * microseconds_since(start) / kCalls);
    start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) check(lehr_run(kernel, &call, &error), error);
    times[1].push_back(1000 * microseconds_since(start) / kCalls);
  }
  check(lehr_close(bundle, &error), error);
  return {median(times[0]), median(times[1])};
}

}  // namespace

int main(int argc, char** argv) try {
  const int kernels = argc > 1 ? std::atoi(argv[1]) : 50;
  Device device;
  device.name = "this";
  device.limits = cpu_device(1, false).limits;
  std::vector<RebuiltKernel> rebuilt;
  for (int rows = 1; rows <= kernels; ++rows) rebuilt.push_back(product_of(rows, device));
  lehr::FolderCompilers compilers({});
  const std::vector<FolderFile> files = export_folder(rebuilt, {}, compilers, {});
  const TempDir directory;
  const std::string folder = directory.path() + "/bundle";
  write_folder(folder, files);
  std::size_t loaded = 0, manifest = 0;
  for (const FolderFile& file : files) {
    if (file.path.ends_with(".so")) loaded += file.bytes.size();
    if (file.path == "manifest.json") manifest = file.bytes.size();
  }
  const std::array<double, 2> ns = call_ns(folder);
  fmt::print("{} kernels: {:.0f} kB of libraries and {:.0f} kB of manifest, opened in {:.2f} ms\n", kernels,
             static_cast<double>(loaded) / 1e3, static_cast<double>(manifest) / 1e3,
             opening_us(folder) / 1e3);
  fmt::print("one call: {:.1f} ns directly, {:.1f} ns through lehr_run, {:.1f} ns between\n", ns[0], ns[1],
             ns[1] - ns[0]);
} catch (const std::exception& error) {
  fmt::print(stderr, "bundle_bench: {}\n", error.what());
  return 1;
}
