// Broken kernels: each way of losing a barrier, a wait, a fence or a bound must be found by the emulator, or
// show in the result.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "codegen/source.h"
#include "tests/emulator/program.h"
#include "tests/support/make_reference.h"

namespace lehr::testing {

class Mutants {
 public:
  /// Adds a mutant for each occurrence of `what` in the text behind `after`, replaced by `instead`. Some
  /// kernels have no occurrence.
  void add(const Source& source, const Workload& workload, const std::string& after, const std::string& what,
           const std::string& instead) {
    for (std::size_t at = source.text.find(what, source.text.find(after)); at != std::string::npos;
         at = source.text.find(what, at + 1)) {
      Source mutant = source;
      mutant.text.replace(at, what.size(), instead);
      add(std::move(mutant), workload);
    }
  }
  void add(Source mutant, const Workload& workload) {
    sources_.push_back(std::move(mutant));
    workloads_.push_back(workload);
  }
  /// Adds mutants of the steps that blocks which split k need (templates/shared/split_k.h).
  void add_those_of_split_k(const Source& source, const Workload& workload) {
    const std::size_t before = size();
    add(source, workload, "", "lehr_device_fence();", "");
    add(source, workload, "", "atomicInc(counter, static_cast<unsigned>(last))", "atomicAdd(counter, 1u)");
    add(source, workload, "", "from_split + 1", "from_split");
    add(source, workload, "", "split * ", "0 * ");
    EXPECT_GE(size(), before + 5);
  }

  std::size_t size() const { return sources_.size(); }

  void expect_each_to_be_found(std::uint64_t seed) const {
    const emulator::Program program(sources_);
    std::vector<std::vector<float>> inputs;
    Reference reference;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (i == 0 || workloads_[i] != workloads_[i - 1]) {
        inputs = make_inputs(workloads_[i], seed);
        reference = make_reference(workloads_[i], inputs);
      }
      // One order finds most mutants; an asynchronous one may need another.
      bool found = false;
      for (const emulator::Schedule& schedule :
           {emulator::Schedule(emulator::Order::kWarpAhead), emulator::rotated(0), emulator::rotated(1),
            emulator::rotated(2)}) {
        const emulator::Result run = program.run(i, {inputs[0], inputs[1]}, schedule);
        found = found || run.fault || is_wrong(reference, run.outputs.at(0));
        if (found) break;
      }
      EXPECT_TRUE(found) << "nothing found in\n" << sources_[i].text;
    }
  }

 private:
  static bool is_wrong(const Reference& reference, const std::vector<float>& got) {
    for (std::size_t i = 0; i < reference.values.size(); ++i) {
      const double error = std::abs(static_cast<double>(reference.values[i]) - got[i]);
      if (!(error <= reference.tolerance)) return true;
    }
    return false;
  }

  std::vector<Source> sources_;
  std::vector<Workload> workloads_;
};

}  // namespace lehr::testing
