// Reads PATH, CXX, LEHR_DB, CUDA_HOME, CUDA_PATH, LD_LIBRARY_PATH, LEHR_ONNXRUNTIME, LEHR_SUPERVISOR and
// TMPDIR.
#include "cli/environment.h"

#include <cstdlib>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Environment read_environment() {
  Environment result;
  result.program = "/proc/self/exe";
  result.path.clear();                        // PATH alone: what it says comes first
  const std::string path = variable("PATH");  // outlives the views into it
  for (const std::string_view directory : split(path, ':'))
    if (!directory.empty()) result.path.emplace_back(directory);
  result.compiler = variable("CXX");
  result.cuda_home = variable("CUDA_HOME");
  if (result.cuda_home.empty()) result.cuda_home = variable("CUDA_PATH");
  result.library_path = variable("LD_LIBRARY_PATH");
  result.onnxruntime = variable("LEHR_ONNXRUNTIME");
  const std::string supervisor = variable("LEHR_SUPERVISOR");
  if (!supervisor.empty() && supervisor != "none")
    throw_user("LEHR_SUPERVISOR is '{}': 'none' is all that it can be", supervisor);
  result.supervised = supervisor.empty();
  result.scratch = variable("TMPDIR");
  if (const std::string database = variable("LEHR_DB"); !database.empty()) result.database = database;
  return result;
}

}  // namespace lehr
