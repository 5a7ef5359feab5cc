// Layout: length of the header (8 bytes), header (JSON with everything but the arrays, and the arrays'
// lengths), then the indices and the expected values of each argument. The values are made again from the
// seed.
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
  json header = {{"text", problem.text}, {"seed", problem.seed}, {"full_flops", problem.full_flops}};
  for (const Argument& each : problem.arguments)
    header["arguments"].push_back({{"absolute", each.absolute},
                                   {"relative", each.relative},
                                   {"bounds", each.bounds.size()},
                                   {"indices", each.indices.size()},
                                   {"expected", each.expected.size()}});
  const std::string text = header.dump();
  const std::uint64_t length = text.size();

  const std::string draft = path + ".draft";
  const Fd file(open(draft.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
  if (file.get() < 0) throw_write_error(draft, errno);
  write_all(file.get(), draft, &length, sizeof length);
  write_all(file.get(), draft, text.data(), text.size());
  for (const Argument& each : problem.arguments) {
    write_array(file.get(), draft, each.bounds);
    write_array(file.get(), draft, each.indices);
    write_array(file.get(), draft, each.expected);
  }
  if (rename(draft.c_str(), path.c_str()) != 0) throw_write_error(path, errno);
}

Problem read_problem(const std::string& path, std::span<const ProblemKind> kinds, int threads) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw_environment("cannot read the problem file {}: {}", path, std::strerror(errno));
  std::uint64_t length = 0;
  read_all(file.get(), path, &length, sizeof length);
  std::string text(length, '\0');
  read_all(file.get(), path, text.data(), length);
  const json header = json::parse(text);
  Problem problem = asked_problem(kinds, header["text"].get<std::string>(), header["seed"]);
  problem.full_flops = header["full_flops"];
  const json& stored = header["arguments"];
  CHECK(stored.size() == problem.arguments.size(), "'{}' has {} arguments", problem.text, stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    Argument& argument = problem.arguments[i];
    argument.absolute = stored[i]["absolute"];
    argument.relative = stored[i]["relative"];
    read_array(file.get(), path, argument.bounds, stored[i]["bounds"]);
    read_array(file.get(), path, argument.indices, stored[i]["indices"]);
    read_array(file.get(), path, argument.expected, stored[i]["expected"]);
  }
  if (problem.made()) problem.kind->make_values(problem, threads);
  return problem;
}

}  // namespace lehr
