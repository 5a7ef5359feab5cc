// Layout: header length (8 bytes), header (JSON: everything but the arrays, with their lengths), indices and
// expected values. The inputs are made again from the seed.
#include "measure/core/problem_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "measure/system/process.h"
#include "measure/system/temp_dir.h"
#include "workload/reference.h"

namespace lehr {
namespace {

using nlohmann::json;

void write_all(int fd, const std::string& path, const void* bytes, std::size_t count) {
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t done = ::write(fd, from, count);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw_write_error(path, errno);
    from += done;
    count -= static_cast<std::size_t>(done);
  }
}

void read_all(int fd, const std::string& path, void* bytes, std::size_t count) {
  char* to = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t done = ::read(fd, to, count);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0)
      throw_environment("cannot read the problem file {}: {}", path,
                        done < 0 ? std::strerror(errno) : "cut short");
    to += done;
    count -= static_cast<std::size_t>(done);
  }
}

template <typename T>
void write_array(int fd, const std::string& path, const std::vector<T>& values) {
  write_all(fd, path, values.data(), values.size() * sizeof(T));
}

template <typename T>
void read_array(int fd, const std::string& path, std::vector<T>& values, std::size_t count) {
  values.resize(count);
  read_all(fd, path, values.data(), count * sizeof(T));
}

}  // namespace

void write_problem(const std::string& path, const Problem& problem) {
  const json header = {{"workload", to_text(problem.workload)}, {"seed", problem.seed},
                       {"full_flops", problem.full_flops},      {"indices", problem.indices.size()},
                       {"expected", problem.expected.size()},   {"tolerance", problem.tolerance}};
  const std::string text = header.dump();
  const std::uint64_t length = text.size();

  const std::string draft = path + ".draft";
  const Fd file(open(draft.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
  if (file.get() < 0) throw_write_error(draft, errno);
  write_all(file.get(), draft, &length, sizeof length);
  write_all(file.get(), draft, text.data(), text.size());
  write_array(file.get(), draft, problem.indices);
  write_array(file.get(), draft, problem.expected);
  if (rename(draft.c_str(), path.c_str()) != 0) throw_write_error(path, errno);
}

Problem read_problem(const std::string& path, int threads) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw_environment("cannot read the problem file {}: {}", path, std::strerror(errno));
  std::uint64_t length = 0;
  read_all(file.get(), path, &length, sizeof length);
  std::string text(length, '\0');
  read_all(file.get(), path, text.data(), length);
  const json header = json::parse(text);
  Problem problem = asked_problem(parse_workload(header["workload"].get<std::string>()), header["seed"]);
  problem.full_flops = header["full_flops"];
  if (header["expected"] == 0) return problem;
  problem.tensors = problem_tensors(problem.workload, inputs_of(problem, threads));
  read_array(file.get(), path, problem.indices, header["indices"]);
  read_array(file.get(), path, problem.expected, header["expected"]);
  problem.tolerance = header["tolerance"];
  return problem;
}

}  // namespace lehr
