// Layout: header length (8 bytes), header (JSON: everything but the arrays, with their lengths), arrays back
// to back.
#include "measure/problem_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "measure/process.h"
#include "measure/temp_dir.h"

namespace lehr {
namespace {

using nlohmann::json;

void write_all(int fd, const std::string& path, const void* bytes, std::size_t count) {
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t done = write(fd, from, count);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw_write_error(path, errno);
    from += done;
    count -= static_cast<std::size_t>(done);
  }
}

void read_all(int fd, const std::string& path, void* bytes, std::size_t count) {
  char* to = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t done = read(fd, to, count);
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
  json header;
  if (problem.gemm) {
    const BaselineGemm& g = *problem.gemm;
    header["gemm"] = {g.m,
                      g.n,
                      g.k,
                      g.batch,
                      g.transpose_a,
                      g.transpose_b,
                      g.c_column_major,
                      name_of(g.accum),
                      g.tf32,
                      g.fast_accumulation};
  }
  if (problem.conv2d) {
    const BaselineConv2d& v = *problem.conv2d;
    header["conv2d"] = {v.n,          v.c,          v.h,       v.w,          v.k,
                        v.r,          v.s,          v.groups,  v.stride_h,   v.stride_w,
                        v.dilation_h, v.dilation_w, v.pad_top, v.pad_bottom, v.pad_left,
                        v.pad_right,  v.out_h,      v.out_w,   v.nhwc,       name_of(v.accum),
                        v.tf32};
  }
  for (const BaselineStep& step : problem.steps)
    header["steps"].push_back(
        {static_cast<int>(step.op), step.tensor, step.per_channel, step.low, step.high});
  for (const ProblemTensor& tensor : problem.tensors) {
    header["tensors"].push_back({name_of(tensor.type), tensor.elements, tensor.output, tensor.values.size()});
  }
  header["indices"] = problem.indices.size();
  header["expected"] = problem.expected.size();
  header["tolerance"] = problem.tolerance;
  const std::string text = header.dump();
  const std::uint64_t length = text.size();

  const Fd file(open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
  if (file.get() < 0) throw_write_error(path, errno);
  write_all(file.get(), path, &length, sizeof length);
  write_all(file.get(), path, text.data(), text.size());
  for (const ProblemTensor& tensor : problem.tensors) write_array(file.get(), path, tensor.values);
  write_array(file.get(), path, problem.indices);
  write_array(file.get(), path, problem.expected);
}

Problem read_problem(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw_environment("cannot read the problem file {}: {}", path, std::strerror(errno));
  std::uint64_t length = 0;
  read_all(file.get(), path, &length, sizeof length);
  std::string text(length, '\0');
  read_all(file.get(), path, text.data(), length);
  const json header = json::parse(text);
  Problem problem;
  if (header.contains("gemm")) {
    const json& g = header["gemm"];
    problem.gemm = BaselineGemm{
        g[0], g[1], g[2], g[3], g[4], g[5], g[6], parse_dtype(g[7].get<std::string>()).value(), g[8], g[9]};
  }
  if (header.contains("conv2d")) {
    const json& v = header["conv2d"];
    problem.conv2d = BaselineConv2d{v[0],  v[1],  v[2],  v[3],  v[4],
                                    v[5],  v[6],  v[7],  v[8],  v[9],
                                    v[10], v[11], v[12], v[13], v[14],
                                    v[15], v[16], v[17], v[18], parse_dtype(v[19].get<std::string>()).value(),
                                    v[20]};
  }
  if (header.contains("steps")) {
    for (const json& s : header["steps"])
      problem.steps.push_back({static_cast<BaselineStep::Op>(s[0].get<int>()), s[1], s[2], s[3], s[4]});
  }
  for (const json& entry : header["tensors"]) {
    ProblemTensor tensor;
    tensor.type = parse_dtype(entry[0].get<std::string>()).value();
    tensor.elements = entry[1];
    tensor.output = entry[2];
    read_array(file.get(), path, tensor.values, entry[3]);
    problem.tensors.push_back(std::move(tensor));
  }
  read_array(file.get(), path, problem.indices, header["indices"]);
  read_array(file.get(), path, problem.expected, header["expected"]);
  problem.tolerance = header["tolerance"];
  return problem;
}

}  // namespace lehr
