// Makes inputs and expected values and compares outputs on the device. Only about a hundred bytes per check
// are copied to the host.
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
  /// Whether the expected values are unchanged, too, and all of them were compared.
  bool expected_whole = false;
};

class CudaChecker {
 public:
  /// Borrows driver and stream. Returns why the kernels of `check` cannot be used; "" if they can.
  std::string open(const CudaDriver& driver, const CudaStream& stream, const DeviceCheck& check,
                   const Problem& problem);
  /// Makes the inputs in all sets of `tensors`, which must have been placed, and the expected values. Once
  /// for each seed, it compares parts of both with values that the host computes, and checks whether planted
  /// faults are found. Returns a sentence about what is wrong; "" if nothing is wrong. Sets the problem's
  /// tolerances. Finally resets the outputs.
  std::string prepare(CudaTensors& tensors, Problem& problem, int threads);

  /// Checks set 0 of the tensors given to prepare(). If a driver call fails, returns its status.
  std::variant<DeviceFindings, CudaStatus> check() const;
  /// Returns whether inputs and guards are unchanged. Checks nothing else.
  std::variant<bool, CudaStatus> inputs_whole() const;
  /// Sets `whole` to whether this tensor of set 0 has its placed values.
  CudaStatus is_whole(std::size_t tensor, bool& whole) const;
  /// Read or write one expected value of the output at position `output`, as bytes in the type
  /// Argument::expected_as.
  CudaStatus expected_at(std::size_t output, std::int64_t element, void* bytes) const;
  CudaStatus set_expected(std::size_t output, std::int64_t element, const void* bytes) const;
  /// Reads all expected values, including nothing_expected().
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
  std::map<std::size_t, CudaMemory> tables_;                   ///< tables of values, by argument
  std::map<std::uint64_t, std::vector<CudaMemory>> expected_;  ///< expected values by seed, then by output
  std::uint64_t seed_ = 0;                                     ///< seed of the inputs that are in place
  CudaMemory bands_, partials_, jobs_, result_;
  struct Output {
    std::size_t argument = 0;
    Argument of;          ///< without values
    std::string compare;  ///< name of the comparing kernel
    std::int64_t expected_count = 0;
  };
  std::vector<Output> outputs_;
  /// Number of bands of DeviceCheck::bands that are computed; 0: not known yet.
  std::int64_t bands_made_ = 0;
  Sums sums_;
  std::map<std::uint64_t, Sums> proven_;  ///< sums over values that were compared with the host's, by seed
  mutable std::uint64_t number_ = 0;
};

}  // namespace lehr
