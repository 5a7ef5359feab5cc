// Runs the built program as its users do.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tune/summary.h"

namespace lehr::testing {

struct Ran {
  int code = -1;  ///< exit code, or 1000 + signal
  std::string out, err;
};

/// Starts `lehr` with `arguments` in `directory`, as the leader of a process group, with `environment`
/// ("NAME=value") on top of ours. `while_running(pid, err so far)` is called every 20 ms.
Ran run_lehr(const std::vector<std::string>& arguments, const std::filesystem::path& directory,
             const std::function<void(int pid, const std::string& err)>& while_running = {},
             const std::vector<std::string>& environment = {});

/// Returns the document on stdout. A command that failed is a failed expectation.
nlohmann::json parsed(const Ran& ran);

/// Writes the log of a tuning on this CPU with made-up times, in a hundredth of its time: `trials` of
/// `workload`, the finals and the verdict.
Summary record_log(const std::filesystem::path& log, const std::string& workload, int trials,
                   int threads = 1);

/// Returns an environment in which `lehr export` compiles only once for all tests what is the same for every
/// log.
std::vector<std::string> kept_compiler();

/// A directory of its own for each test, removed at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Splits "tune gemm --m 24 ..." at blanks.
std::vector<std::string> words(const std::string& line);

}  // namespace lehr::testing
