// Reads PATH, CXX, LEHR_DB, CUDA_HOME, CUDA_PATH, LD_LIBRARY_PATH, LEHR_ONNXRUNTIME, LEHR_SUPERVISOR, TMPDIR,
// COLUMNS, NO_COLOR, TERM and SLURM_ARRAY_TASK_*.
#include "cli/environment.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::size_t columns_of(std::FILE* file) {
  winsize size = {};
  return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool takes_colour(std::FILE* file) {
  return isatty(fileno(file)) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

std::string shard_of_array() {
  const auto number = [](const char* name) {
    const std::string text = variable(name);
    const auto value = parse_int(text);
    if (!value)
      throw_user("--shard auto is for a task of a Slurm job array, and {} is {}: write --shard I/N", name,
                 text.empty() ? "not set" : "'" + text + "'");
    return *value;
  };
  const std::int64_t id = number("SLURM_ARRAY_TASK_ID"), least = number("SLURM_ARRAY_TASK_MIN"),
                     most = number("SLURM_ARRAY_TASK_MAX"), step = number("SLURM_ARRAY_TASK_STEP"),
                     count = number("SLURM_ARRAY_TASK_COUNT");
  if (step < 1 || id < least || id > most || (most - least) / step + 1 != count || (id - least) % step != 0)
    throw_user(
        "--shard auto: the job array has gaps (task {} of {} from {} to {} by {}): write --array=0-{}, or "
        "--shard I/N",
        id, count, least, most, step, count - 1);
  return fmt::format("{}/{}", (id - least) / step, count);
}

Environment read_environment() {
  Environment result;
  result.program = "/proc/self/exe";
  result.path.clear();                        // only the folders of PATH, in their order
  const std::string path = variable("PATH");  // kept in a variable, since views refer to it
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
  const auto columns = parse_int(variable("COLUMNS"));
  result.columns = columns && *columns > 0 ? static_cast<std::size_t>(*columns) : columns_of(stdout);
  result.colour = takes_colour(stdout);
  return result;
}

}  // namespace lehr
