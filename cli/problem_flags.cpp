#include "cli/problem_flags.h"

#include <fmt/format.h>

#include "base/error.h"

namespace lehr {

void ProblemFlags::add_to(CLI::App& app, std::string_view help) {
  apps_[0] = app.add_subcommand("gemm", fmt::format(fmt::runtime(help), "matrix product"));
  apps_[1] = app.add_subcommand("conv2d", fmt::format(fmt::runtime(help), "convolution over images"));
  gemm_.add_to(*apps_[0]);
  conv2d_.add_to(*apps_[1]);
}

std::vector<Workload> ProblemFlags::workloads() const {
  return apps_[1]->parsed() ? conv2d_.workloads() : gemm_.workloads();
}

Workload ProblemFlags::workload() const {
  const std::vector<Workload> all = workloads();
  if (all.size() != 1) throw_user("the lists of sizes name {} problems; this command takes one", all.size());
  return all[0];
}

}  // namespace lehr
