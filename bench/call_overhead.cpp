// Measures how much the harness adds to a CPU kernel's time: an empty kernel of one work item, and of one
// work item a thread, as tune times them. The rest shows in kernels of some tenths of a microsecond.
//   call_overhead [CXX]
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "measure/host/host_runner.h"
#include "measure/system/affinity.h"

namespace {

using namespace lehr;

std::string empty_kernel(const std::string& folder, const std::string& compiler) {
  const std::string text = folder + "/empty.cpp", object = folder + "/empty.so";
  std::ofstream(text) << "extern \"C\" void empty(void* const*, void*, long) {}\n";
  const std::string command = fmt::format("{} -O2 -shared -fPIC -o {} {}", compiler, object, text);
  if (std::system(command.c_str()) != 0) throw_environment("'{}' failed", command);
  return object;
}

double nanoseconds(const std::string& object, int threads, long tasks) {
  Problem problem;
  problem.arguments = {{.name = "y", .elements = 1, .role = Role::kOut, .expected = {0, 0, 0, 0}}};
  HostRunner runner;
  runner.prepare(problem, {.threads = threads});
  Candidate candidate;
  candidate.path = object;
  candidate.entry = "empty";
  candidate.launch.work_items = tasks;
  const auto loaded = runner.load(1, candidate);
  if (const auto* fault = std::get_if<Fault>(&loaded)) throw_environment("{}", fault->failure.text);
  std::vector<double> us = std::get<Samples>(runner.time(1, {})).us;
  std::nth_element(us.begin(), us.begin() + static_cast<std::ptrdiff_t>(us.size() / 2), us.end());
  return 1000 * us[us.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = (std::filesystem::temp_directory_path() / "lehr-call-overhead-XXXXXX").string();
  std::vector<char> name(folder.begin(), folder.end());
  name.push_back('\0');
  if (::mkdtemp(name.data()) == nullptr) return 1;
  const std::string object = empty_kernel(name.data(), argc > 1 ? argv[1] : "c++");
  const auto cpus = static_cast<int>(allowed_cpus().size());
  fmt::print("one thread, one task: {:.1f} ns a call\n", nanoseconds(object, 1, 1));
  if (cpus > 1) {
    fmt::print("{} threads, one task: {:.1f} ns\n", cpus, nanoseconds(object, cpus, 1));
    fmt::print("{} threads, a task each: {:.1f} ns\n", cpus, nanoseconds(object, cpus, cpus));
  }
  std::filesystem::remove_all(name.data());
}
