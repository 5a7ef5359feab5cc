// The toy's space, kernels and times.
#include "toy_task.h"

#include <fmt/format.h>

#include <cmath>

#include "base/hash.h"
#include "base/text.h"

namespace lehr::testing {
namespace {

using namespace lehr::ir;

Candidates candidates_of(FamilySpace family, const Config& base, int version) {
  std::vector<FamilySpace> families;
  families.push_back(family);
  Candidates candidates = {.space = Space(std::move(families))};
  candidates.defaults = {candidates.space.point_of(base)};
  lower_by([family](const Point& point) { return toy_kernel(family.config_of(point)); },
           toy_task().device.limits, candidates);
  candidates.version_of = [version](std::string_view) { return version; };
  return candidates;
}

}  // namespace

Kernel toy_kernel(const Config& config) {
  const std::int64_t rows = config.find("rows").value_or(1), columns = config.find("columns").value_or(1);
  const std::int64_t unroll = config.at("unroll"), pack = config.find("pack").value_or(0);
  KernelBuilder builder;
  builder.kernel.name = fmt::format("toy_{}_{}_{}_{}", rows, columns, unroll, pack);
  builder.kernel.target = Target::kCpu;
  const BufferId a = builder.param("a", DType::kF32, 64, Direction::kIn);
  const BufferId b = builder.param("b", DType::kF32, 64, Direction::kIn);
  const BufferId c = builder.param("c", DType::kF32, 64, Direction::kOut);
  const VarId i = builder.var("i"), j = builder.var("j"), u = builder.var("u");
  const Expr at = (var(i) * columns + var(j) * unroll + var(u)) % std::int64_t{64};
  const Expr value = fma(load(a, at), load(b, var(j) * (1 + pack)), zero(DType::kF32));
  builder.kernel.body = block(loop(
      i, rows, LoopKind::kParallel,
      block(loop(
          j, columns, LoopKind::kSerial,
          block(loop(u, unroll, LoopKind::kUnrolled,
                     block(Store{.buffer = c, .index = at, .value = value, .lanes = 1, .active = {}})))))));
  return std::move(builder.kernel);
}

Task toy_task() {
  Task task = task_of(parse_workload("gemm m=8 n=8 k=8"), {});
  task.device.name = "Toy CPU";
  task.device.compiler = "toycc 1.0";
  task.device.limits = {.target = Target::kCpu,
                        .arch = "avx2",
                        .cores = 2,
                        .vector_bytes = 32,
                        .vector_registers = 16,
                        .l1_bytes = 32768};
  task.device.limits.l2_bytes = 1 << 20;
  task.device.limits.peak_gflops_f32 = 100;
  task.device.limits.dram_gbytes_per_s = 10;
  return task;
}

Candidates toy_candidates(int version) {
  FamilySpace family("toy");
  family.add("rows", "rows of a tile", powers_of_two(1, 32));
  family.add("columns", "columns of a tile", {1, 2, 3, 4, 5, 6, 7, 8});
  family.add("unroll", "unrolled iterations", {1, 2, 4, 8});
  family.add("pack", "whether b is packed", {0, 1});
  return candidates_of(std::move(family), toy_config(1, 1, 1, 0), version);
}

Candidates tiny_candidates() {
  FamilySpace family("tiny");
  family.add("unroll", "unrolled iterations", {1, 2, 4, 8});
  return candidates_of(std::move(family), Config{.family = "tiny", .knobs = {{"unroll", 1}}}, 1);
}

Config toy_config(std::int64_t rows, std::int64_t columns, std::int64_t unroll, std::int64_t pack) {
  return {.family = "toy",
          .knobs = {{"rows", rows}, {"columns", columns}, {"unroll", unroll}, {"pack", pack}}};
}

Config config_of(const Source& source) {
  const std::vector<std::string_view> parts = split(source.entry, '_');
  return toy_config(*parse_int(parts.at(1)), *parse_int(parts.at(2)), *parse_int(parts.at(3)),
                    *parse_int(parts.at(4)));
}

double toy_time_us(const Config& config) {
  const double work = static_cast<double>(config.at("rows") * config.at("columns") * config.at("unroll"));
  const double slowed = work <= 64 ? 1000 / work : 1000.0 / 64 * (work / 64);
  return slowed * (config.at("pack") != 0 ? 0.9 : 1.0);
}

Outcome toy_outcome(const Source& source, double noise, std::uint64_t seed) {
  const double draw = static_cast<double>(hash_combine(stable_hash(source.entry), seed) >> 11) * 0x1p-53;
  const double time = toy_time_us(config_of(source)) * (1 + noise * draw);
  return Timing{.time_us = time,
                .samples_us = {time, time, time},
                .spread = noise / 2,
                .reference_us = 0,
                .max_error = 0,
                .run_s = 0,
                .resources = {}};
}

}  // namespace lehr::testing
