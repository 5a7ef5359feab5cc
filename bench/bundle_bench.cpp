// Measures the cost of an exported library beside its kernels: a call of a function instead of the kernel's
// own one, loading it with a context, and compiling it. Its kernels are matrix products of 1 to 60 rows on
// one thread, by 256 columns, 256 deep. The product of one row, which is called, is 16 by 16.
//   bundle_bench [KERNELS [ROUNDS of compiling]]
#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "codegen/emit.h"
#include "deploy/library.h"
#include "deploy/runtime_library.h"
#include "measure/host/cpu_device.h"
#include "measure/system/temp_dir.h"
#include "measure/vendor/bundle/exported_library.h"
#include "templates/catalog.h"
#include "tune/stored_kernel.h"

namespace {

using namespace lehr;

RebuiltKernel product_of(int rows, const Device& device) {
  const int size = rows == 1 ? 16 : 256;
  const Workload workload = parse_workload(fmt::format("gemm m={} n={} k={}", rows, size, size));
  Winner winner;
  winner.record.workload = to_text(workload);
  winner.record.config = families_for(catalog(), workload, device.limits).defaults.front();
  winner.record.target = name_of(device.limits.target);
  winner.record.arch = device.limits.arch;
  Timing timing;
  timing.time_us = winner.verdict.best.us = rows;
  winner.record.outcome = timing;
  winner.device = stored_device(device);
  ir::Kernel kernel = lower(workload, winner.record.config, device.limits);
  Source source = emit(kernel);
  return {winner, workload, std::move(kernel), std::move(source)};
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

std::string write(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << bytes).flush()) throw std::runtime_error(path + " cannot be written");
  return path;
}

void* symbol(void* library, const std::string& name) {
  void* const address = library == nullptr ? nullptr : dlsym(library, name.c_str());
  if (address == nullptr) throw std::runtime_error(name + " is not there");
  return address;
}

/// Compiles the kernels as they are measured, each to a shared object. Returns their paths, by position.
Texts alone(const std::vector<RebuiltKernel>& kernels) {
  Texts texts;
  for (std::size_t i = 0; i < kernels.size(); ++i) texts[std::to_string(i)] = kernels[i].source.text;
  HostCompiler compiler;
  return compiled(texts, compiler);
}

std::vector<FolderFile> files_of(const std::vector<RebuiltKernel>& kernels) {
  FolderCompilers compilers({});
  return library_files(library_of(prepared(kernels, compilers), {}, {}), compilers);
}

/// Returns the seconds to load a file that this process has not loaded before, but that lies in memory.
double loading_s(const TempDir& directory, const std::string& library) {
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    const std::string folder = fmt::format("{}/{}", directory.path(), i);
    std::filesystem::create_directory(folder);
    const std::string path = write(folder + "/libkernels.so", library);
    times.push_back(seconds_of([&] {
      void* const loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      const auto interface =
          reinterpret_cast<decltype(&kernels_interface)>(symbol(loaded, "kernels_interface"));
      const auto create =
          reinterpret_cast<decltype(&kernels_create_for)>(symbol(loaded, "kernels_create_for"));
      const kernels_options options = {};
      if (create(interface(), &options, nullptr, 0) == nullptr) throw std::runtime_error("no context");
    }));
  }
  return median(times);
}

/// Returns medians of blocks that take turns, in nanoseconds a call.
std::vector<double> nanoseconds_of(const std::vector<std::function<void(int calls)>>& sides) {
  constexpr int kCalls = 20000, kBlocks = 101;
  std::vector<std::vector<double>> times(sides.size());
  for (int block = 0; block < kBlocks; ++block)
    for (std::size_t i = 0; i < sides.size(); ++i)
      times[i].push_back(1e9 * seconds_of([&] { sides[i](kCalls); }) / kCalls);
  std::vector<double> medians;
  for (std::vector<double>& one : times) medians.push_back(median(std::move(one)));
  return medians;
}

/// Returns the times of the product of one row: of its kernel's function, the library's, and kernels_call().
std::vector<double> call_ns(const TempDir& directory, const RebuiltKernel& product, const std::string& kernel,
                            const std::string& library) {
  const std::string kernel_path = write(directory.path() + "/kernel.so", kernel),
                    library_path = write(directory.path() + "/libkernels.so", library);
  const auto entry = reinterpret_cast<void (*)(void* const*, void*, long)>(
      symbol(dlopen(kernel_path.c_str(), RTLD_NOW), product.source.entry));
  const ExportedLibrary loaded(library_path);
  const ExportedLibrary::Answer answer = loaded.answer(product.workload, {});
  kernels_context* const context = answer.context.get();
  const auto typed =
      reinterpret_cast<kernels_status (*)(kernels_context*, const float*, const float*, float*)>(
          symbol(dlopen(library_path.c_str(), RTLD_NOW), answer.function->name));
  const decltype(&kernels_call) call = loaded.functions().call;
  alignas(64) static float a[16], b[256], c[16];
  alignas(64) static unsigned char scratch[1 << 16];
  void* const arguments[] = {a, b, c};
  if (product.source.scratch_bytes > static_cast<std::int64_t>(sizeof scratch) ||
      product.source.launch.work_items != 1)
    throw std::runtime_error("the kernel is another one");
  bool right = true;
  const std::vector<double> ns =
      nanoseconds_of({[&](int calls) {
                        for (int i = 0; i < calls; ++i) entry(arguments, scratch, 0);
                      },
                      [&](int calls) {
                        for (int i = 0; i < calls; ++i) right &= typed(context, a, b, c) == KERNELS_OK;
                      },
                      [&](int calls) {
                        for (int i = 0; i < calls; ++i)
                          right &= call(context, answer.function, arguments, 0) == KERNELS_OK;
                      }});
  if (!right) throw std::runtime_error(loaded.functions().message(context));
  return ns;
}

void print_tables(const std::vector<RebuiltKernel>& kernels, int rounds) {
  Texts objects;
  std::vector<FolderFile> files;
  std::vector<double> alone_s, library_s;
  for (int round = 0; round < rounds; ++round) {
    alone_s.push_back(seconds_of([&] { objects = alone(kernels); }));
    library_s.push_back(seconds_of([&] { files = files_of(kernels); }));
  }
  const std::string& library = files.at(0).bytes;
  const TempDir directory;
  const std::vector<double> ns = call_ns(directory, kernels[0], objects.at("0"), library);
  const double compiled_s = median(alone_s), exported_s = median(library_s);
  fmt::print("one call, the kernel's own function     {:8.1f} ns\n", ns[0]);
  fmt::print("  a function of the library             {:8.1f} ns, {:.1f} more (goal: 20)\n", ns[1],
             ns[1] - ns[0]);
  fmt::print("  kernels_call()                        {:8.1f} ns, {:.1f} more\n", ns[2], ns[2] - ns[0]);
  fmt::print("{:2} kernels, {:4} kB: loaded, a context  {:8.3f} ms (goal: 1)\n", kernels.size(),
             library.size() / 1000, 1e3 * loading_s(directory, library));
  fmt::print("  compiled one by one                   {:8.2f} s\n", compiled_s);
  fmt::print("  exported as a library                 {:8.2f} s, {:.2f} times that (goal: 1.3)\n", exported_s,
             exported_s / compiled_s);
}

}  // namespace

int main(int argc, char** argv) try {
  const int kernels = argc > 1 ? std::atoi(argv[1]) : 60;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  Device device;
  device.name = "this";
  device.limits = cpu_device(1, false).limits;
  device.compiler = HostCompiler().identity();
  std::vector<RebuiltKernel> rebuilt;
  for (int rows = 1; rows <= kernels; ++rows) rebuilt.push_back(product_of(rows, device));
  print_tables(rebuilt, rounds);
} catch (const std::exception& error) {
  fmt::print(stderr, "bundle_bench: {}\n", error.what());
  return 1;
}
