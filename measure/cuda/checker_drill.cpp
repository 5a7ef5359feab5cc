#include "measure/cuda/checker_drill.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "measure/core/element.h"
#include "measure/cuda/cuda_checker.h"

namespace lehr {
namespace {

/// Elements that are right, at each end of an output that else is poison.
constexpr std::int64_t kRight = 64;

/// One drill; the first thing that is amiss stays.
class Drill {
 public:
  Drill(const CudaChecker& checker, const CudaTensors& tensors, const DrilledOutput& output)
      : checker_(checker),
        tensors_(tensors),
        out_(output),
        elements_(static_cast<std::int64_t>(output.expected.size())),
        size_(size_of(output.type)) {}

  std::string run() {
    seen_nothing_written();
    write_right_ones();
    for (const std::int64_t at : {first_known(0, 1), first_known(elements_ - 1, -1)}) {
      wrong_element(at);
      if (is_searched(out_.type)) not_a_number(at);
    }
    middle_element();
    for (const std::int64_t at : {first_known(0, 1), first_known(elements_ - 1, -1)}) expected_value(at);
    for (std::size_t i = 0; i < tensors_.count(); ++i) guards_and_inputs(i);
    note(tensors_.poison_output());
    return amiss_;
  }

 private:
  void note(CudaStatus status) {
    if (!status.ok() && amiss_.empty()) amiss_ = fmt::format("{} failed in its drill", status.call);
  }
  void demand(bool found, const std::string& what) {
    if (!found && amiss_.empty()) amiss_ = "its check does not find " + what;
  }
  DeviceFindings look() {
    const std::variant<DeviceFindings, CudaStatus> seen = checker_.check();
    if (const auto* status = std::get_if<CudaStatus>(&seen)) {
      note(*status);
      return {};
    }
    return std::get<DeviceFindings>(seen);
  }
  bool known(std::int64_t element) const {
    return std::bit_cast<std::uint32_t>(out_.expected[static_cast<std::size_t>(element)]) != kNothingExpected;
  }
  std::int64_t first_known(std::int64_t from, std::int64_t step) const {
    while (from > 0 && from + 1 < elements_ && !known(from)) from += step;
    return from;
  }
  void write(std::int64_t element, const void* bytes) {
    note(tensors_.poke(tensors_.output(), element * size_, bytes, size_));
  }
  void write_value(std::int64_t element, float value) {
    unsigned char bytes[8];
    store_elements(out_.type, {&value, 1}, bytes);
    write(element, bytes);
  }
  float right(std::int64_t element) const { return out_.expected[static_cast<std::size_t>(element)]; }

  void seen_nothing_written() {
    nothing_ = look();
    demand(nothing_.inputs_whole && nothing_.expected_whole, "its own inputs and expected values whole");
    if (!is_searched(out_.type)) return;
    demand(nothing_.output.unwritten == elements_ && nothing_.output.first_unwritten == 0, "all poison");
    demand(nothing_.output.wrong == nothing_.output.compared, "that poison is wrong");
  }

  /// Behind it, what is wrong is known: all poison but for right elements at both ends.
  void write_right_ones() {
    std::int64_t written = 0;
    for (std::int64_t i = 0; i < elements_; ++i) {
      if (i == kRight) i = std::max(i, elements_ - kRight);
      if (!known(i)) continue;
      write_value(i, right(i));
      ++written;
    }
    base_ = look();
    demand(base_.output.max_error <= out_.tolerance || !is_searched(out_.type), "right elements right");
    if (is_searched(out_.type))
      demand(base_.output.unwritten == elements_ - written &&
                 base_.output.wrong == nothing_.output.wrong - written,
             "how many elements are right");
    else
      demand(base_.output.wrong <= nothing_.output.wrong, "that elements are right");
  }

  void wrong_element(std::int64_t at) {
    const double off = std::max(8 * out_.tolerance, 0.25 * std::abs(static_cast<double>(right(at)))) + 2;
    const float value = static_cast<float>(right(at) > 0 ? right(at) - off : right(at) + off);
    write_value(at, value);
    const DeviceFindings seen = look();
    demand(seen.output.wrong == base_.output.wrong + 1, fmt::format("wrong element {}", at));
    demand(seen.output.max_error > out_.tolerance, fmt::format("the error of element {}", at));
    demand(seen.output.first_wrong <= at, fmt::format("where element {} is wrong", at));
    write_value(at, right(at));
  }

  void not_a_number(std::int64_t at) {
    write_value(at, -std::numeric_limits<float>::quiet_NaN());
    const DeviceFindings nan = look();
    demand(nan.output.first_nan == at && nan.output.wrong == base_.output.wrong + 1,
           fmt::format("a NaN in element {}", at));
    const unsigned char poison[8] = {kPoisonByte, kPoisonByte, kPoisonByte, kPoisonByte,
                                     kPoisonByte, kPoisonByte, kPoisonByte, kPoisonByte};
    write(at, poison);
    demand(look().output.unwritten == base_.output.unwritten + 1, fmt::format("poison in element {}", at));
    write_value(at, right(at));
  }

  /// Poison around it: here a right element makes the difference.
  void middle_element() {
    const std::int64_t at = elements_ / 2;
    if (!is_searched(out_.type) || !known(at) || at < kRight || at >= elements_ - kRight) return;
    write_value(at, right(at));
    const DeviceFindings seen = look();
    demand(seen.output.wrong == base_.output.wrong - 1 && seen.output.unwritten == base_.output.unwritten - 1,
           fmt::format("that element {} is right", at));
  }

  void expected_value(std::int64_t at) {
    note(checker_.set_expected(at, std::bit_cast<float>(std::bit_cast<std::uint32_t>(right(at)) ^ 1)));
    demand(!look().expected_whole, fmt::format("another expected value of element {}", at));
    note(checker_.set_expected(at, right(at)));
    demand(look().expected_whole, "its expected values whole again");
  }

  void guards_and_inputs(std::size_t tensor) {
    const std::int64_t bytes = tensors_.bytes(tensor);
    std::vector<std::int64_t> places = {-1, bytes, bytes + 7};
    if (tensor != tensors_.output()) places.insert(places.end(), {0, bytes / 2, bytes - 1});
    for (const std::int64_t at : places) {
      unsigned char byte = 0;
      note(tensors_.peek(tensor, at, &byte, 1));
      byte ^= 0x10;
      note(tensors_.poke(tensor, at, &byte, 1));
      demand(!look().inputs_whole, fmt::format("a changed bit at byte {} of argument {}", at, tensor));
      byte ^= 0x10;
      note(tensors_.poke(tensor, at, &byte, 1));
    }
    demand(look().inputs_whole, "its inputs whole again");
  }

  const CudaChecker& checker_;
  const CudaTensors& tensors_;
  const DrilledOutput& out_;
  std::int64_t elements_, size_;
  DeviceFindings nothing_, base_;
  std::string amiss_;
};

}  // namespace

std::string drill(const CudaChecker& checker, const CudaTensors& tensors, const DrilledOutput& output) {
  return Drill(checker, tensors, output).run();
}

}  // namespace lehr
