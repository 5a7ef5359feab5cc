// Inputs, expected values and comparisons on the device itself: a check brings back a hundred bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "measure/core/problem.h"
#include "measure/core/runner.h"
#include "measure/cuda/check_kernels.h"
#include "measure/cuda/cuda_driver.h"
#include "measure/cuda/cuda_tensors.h"

namespace lehr {

/// What a check on the device has seen.
struct DeviceFindings {
  Findings output;
  bool inputs_whole = false;    ///< inputs and guards hold what was placed
  bool expected_whole = false;  ///< so do the expected values, and all of them were compared
};

class CudaChecker {
 public:
  /// Borrows driver and stream. Returns why these kernels cannot be used; "" where they can.
  std::string open(const CudaDriver& driver, const CudaStream& stream, const DeviceCheck& check,
                   const Problem& problem);
  /// Makes the inputs in all sets of `tensors`, placed before, and what is expected of them; holds parts of
  /// both against the host's own, once for each seed; and looks whether planted faults are found. Returns
  /// what is amiss, "" where nothing is. Sets the problem's tolerance. The output is poison in the end.
  std::string prepare(const CudaTensors& tensors, Problem& problem, int threads);

  /// Looks at set 0 of the tensors of prepare(). The first bad status instead, where there is one.
  std::variant<DeviceFindings, CudaStatus> check() const;
  /// Whether inputs and guards are whole, and nothing else.
  std::variant<bool, CudaStatus> inputs_whole() const;
  /// Whether this tensor of set 0 holds what was placed.
  CudaStatus is_whole(std::size_t tensor, bool& whole) const;
  CudaStatus expected_at(std::int64_t element, float& value) const;
  CudaStatus set_expected(std::int64_t element, float value) const;
  /// Of all elements, NaNs of kNothingExpected among them.
  CudaStatus read_expected(std::vector<float>& values) const;

 private:
  struct Sums {
    std::vector<std::uint64_t> tensors;
    std::uint64_t set = 0, expected = 0;
    friend bool operator==(const Sums&, const Sums&) = default;
  };

  CudaStatus launch(const std::string& entry, int blocks, std::vector<CudaAddress> arguments) const;
  CudaStatus write_job(int place, const void* job, std::size_t bytes) const;
  CudaStatus sum(CudaAddress from, const SumJob& job, std::uint64_t& sum) const;
  CudaStatus total(bool compares, CheckResult& result) const;
  CudaStatus run_compare(CheckResult& result) const;
  CudaStatus make_inputs_on_device(const Problem& problem);
  CudaStatus make_expected();
  CudaStatus place_expected(bool& there);
  const CudaMemory& expected() const { return expected_.at(seed_); }
  CudaStatus take_sums();
  CudaStatus sum_of_tensor(std::size_t tensor, std::uint64_t& found) const;
  std::string other_inputs(const Problem& problem) const;
  std::string other_values(const Problem& problem, const std::vector<float>& values, int threads) const;
  std::string text_of(CudaStatus status) const;
  SumJob set_job() const;

  const CudaDriver* driver_ = nullptr;
  const CudaStream* stream_ = nullptr;
  const CudaTensors* tensors_ = nullptr;
  DeviceCheck check_;
  std::map<std::string, CudaKernel> kernels_;
  CudaKernel plain_;
  std::map<int, CudaMemory> tables_;              ///< of inputs, by type
  std::map<std::uint64_t, CudaMemory> expected_;  ///< by seed
  std::uint64_t seed_ = 0;                        ///< of the inputs that lie there now
  CudaMemory bands_, partials_, jobs_, result_;
  std::string compare_;  ///< the entry
  std::size_t output_ = 0;
  std::int64_t elements_ = 0;    ///< of the output
  std::int64_t bands_made_ = 0;  ///< of DeviceCheck::bands; 0: not known yet
  std::int64_t expected_count_ = 0;
  double tolerance_ = 0;
  Sums sums_;
  std::map<std::uint64_t, Sums> proven_;  ///< what was held against the host, by seed
  mutable std::uint64_t number_ = 0;
};

}  // namespace lehr
