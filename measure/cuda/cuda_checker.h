// Makes inputs and expected values and compares outputs on the device itself: a check returns a hundred
// bytes.
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

/// The findings of a check on the device.
struct DeviceFindings {
  std::vector<Findings> outputs;  ///< in the order of CudaTensors::outputs()
  bool inputs_whole = false;      ///< whether inputs and guards are unchanged
  bool expected_whole = false;    ///< whether the expected values are, too, and all of them were compared
};

class CudaChecker {
 public:
  /// Borrows driver and stream. Returns why these kernels cannot be used; "" if they can.
  std::string open(const CudaDriver& driver, const CudaStream& stream, const DeviceCheck& check,
                   const Problem& problem);
  /// Makes the inputs in all sets of `tensors`, which were placed before, and the expected values. Compares
  /// parts of both with the host's own, once for each seed, and checks whether planted faults are found.
  /// Returns what is wrong; "" if nothing is. Sets the problem's tolerances. The outputs are reset at the
  /// end.
  std::string prepare(CudaTensors& tensors, Problem& problem, int threads);

  /// Checks set 0 of the tensors of prepare(). Returns the first bad status instead, if there is one.
  std::variant<DeviceFindings, CudaStatus> check() const;
  /// Whether inputs and guards are unchanged; checks nothing else.
  std::variant<bool, CudaStatus> inputs_whole() const;
  /// Whether this tensor of set 0 holds what was placed.
  CudaStatus is_whole(std::size_t tensor, bool& whole) const;
  /// Reads or writes one expected value of output number `output`: its bytes, in Argument::expected_as.
  CudaStatus expected_at(std::size_t output, std::int64_t element, void* bytes) const;
  CudaStatus set_expected(std::size_t output, std::int64_t element, const void* bytes) const;
  /// Reads all of them, including nothing_expected().
  CudaStatus read_expected(std::size_t output, std::vector<unsigned char>& bytes) const;

 private:
  struct Sums {
    std::vector<std::uint64_t> tensors, expected;
    std::uint64_t set = 0;
    friend bool operator==(const Sums&, const Sums&) = default;
  };

  CudaStatus launch(const std::string& entry, int blocks, std::vector<CudaAddress> arguments) const;
  CudaStatus write_job(int place, const void* job, std::size_t bytes) const;
  CudaStatus sum(CudaAddress from, const SumJob& job, std::uint64_t& sum) const;
  CudaStatus total(bool compares, bool sums, CheckResult& result) const;
  CudaStatus run_compare(std::vector<CheckResult>& results) const;
  CudaStatus make_inputs_on_device(const Problem& problem);
  CudaStatus make_expected();
  CudaStatus place_expected(bool& there);
  CudaStatus allocate_expected(std::vector<CudaMemory>& memory) const;
  std::vector<CudaAddress> plain_addresses() const;
  const CudaMemory& expected(std::size_t output) const { return expected_.at(seed_)[output]; }
  std::string first_time(const CudaTensors& tensors, const Problem& problem, int threads);
  CudaStatus take_sums();
  CudaStatus sum_of_tensor(std::size_t tensor, std::uint64_t& found) const;
  std::string other_inputs(const Problem& problem) const;
  std::string other_values(const Problem& problem, std::size_t output, const Argument& known,
                           int threads) const;
  std::string text_of(CudaStatus status) const;
  SumJob set_job() const;

  const CudaDriver* driver_ = nullptr;
  const CudaStream* stream_ = nullptr;
  const CudaTensors* tensors_ = nullptr;
  DeviceCheck check_;
  std::map<std::string, CudaKernel> kernels_;
  CudaKernel plain_;
  std::map<std::size_t, CudaMemory> tables_;                   ///< of values, by argument
  std::map<std::uint64_t, std::vector<CudaMemory>> expected_;  ///< by seed, then by output
  std::uint64_t seed_ = 0;                                     ///< of the inputs that are in place
  CudaMemory bands_, partials_, jobs_, result_;
  struct Output {
    std::size_t argument = 0;
    Argument of;          ///< without values
    std::string compare;  ///< the kernel's name
    std::int64_t expected_count = 0;
  };
  std::vector<Output> outputs_;
  std::int64_t bands_made_ = 0;  ///< of DeviceCheck::bands; 0: not known yet
  Sums sums_;
  std::map<std::uint64_t, Sums> proven_;  ///< sums of values that were compared with the host's, by seed
  mutable std::uint64_t number_ = 0;
};

}  // namespace lehr
