#include "measure/cuda/checker_drill.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/core/element.h"
#include "measure/cuda/cuda_checker.h"

namespace lehr {
namespace {

/// Number of right elements at each end of an output that is otherwise poison.
constexpr std::int64_t kRight = 64;

/// Runs one drill. Keeps the first error.
class Drill {
 public:
  Drill(const CudaChecker& checker, const CudaTensors& tensors, const DrilledOutput& output)
      : checker_(checker),
        tensors_(tensors),
        out_(output),
        is_poisoned_(is_searched(known().type) && known().role == Role::kOut) {}

  std::string run() {
    seen_nothing_written();
    write_right_ones();
    for (const std::int64_t at : {first_known(0, 1), first_known(known().elements - 1, -1)}) {
      wrong_element(at);
      if (is_searched(known().type)) not_a_number(at);
    }
    middle_element();
    for (const std::int64_t at : {first_known(0, 1), first_known(known().elements - 1, -1)})
      expected_value(at);
    for (std::size_t i = 0; i < tensors_.count(); ++i) guards_and_inputs(i);
    note(tensors_.reset_outputs());
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
  const Argument& known() const { return out_.known; }
  const Findings& of(const DeviceFindings& seen) const { return seen.outputs[out_.number]; }
  bool expects(std::int64_t element) const { return !is_nothing(known(), element); }
  std::int64_t first_known(std::int64_t from, std::int64_t step) const {
    while (from > 0 && from + 1 < known().elements && !expects(from)) from += step;
    return from;
  }
  void write(std::int64_t element, const void* bytes) {
    const std::int64_t size = size_of(known().type);
    note(tensors_.poke(out_.argument, element * size, bytes, size));
  }
  void write_value(std::int64_t element, double value) {
    unsigned char bytes[8];
    store_element(known().type, value, bytes);
    write(element, bytes);
  }
  const unsigned char* expected_bytes(std::int64_t element) const {
    return known().expected.data() + element * size_of(known().expected_as);
  }
  void write_right(std::int64_t element) {
    if (known().type == DType::kS64) return write(element, expected_bytes(element));
    write_value(element, right(element));
  }
  double right(std::int64_t element) const {
    return load_element(known().expected_as, known().expected.data(), element);
  }

  void seen_nothing_written() {
    nothing_ = look();
    demand(nothing_.inputs_whole && nothing_.expected_whole, "its own inputs and expected values whole");
    if (!is_poisoned_) return;
    demand(of(nothing_).unwritten == known().elements && of(nothing_).first_unwritten == 0, "all poison");
    demand(of(nothing_).wrong == of(nothing_).compared, "that poison is wrong");
  }

  /// Writes right elements at both ends of the output, and poison between them, so that the correct findings
  /// are known.
  void write_right_ones() {
    std::int64_t written = 0;
    for (std::int64_t i = 0; i < known().elements; ++i) {
      if (i == kRight) i = std::max(i, known().elements - kRight);
      if (!expects(i)) continue;
      write_right(i);
      ++written;
    }
    base_ = look();
    demand(of(base_).max_error <= known().absolute || !is_poisoned_ || known().relative > 0,
           "right elements right");
    if (is_poisoned_)
      demand(of(base_).unwritten == known().elements - written &&
                 of(base_).wrong == of(nothing_).wrong - written,
             "how many elements are right");
    else
      demand(of(base_).wrong <= of(nothing_).wrong, "that elements are right");
  }

  void wrong_element(std::int64_t at) {
    const double size = std::abs(right(at));
    const double off = std::max(8 * (known().absolute + known().relative * size), 0.25 * size) + 2;
    write_value(at, right(at) > 0 ? right(at) - off : right(at) + off);
    const DeviceFindings seen = look();
    demand(of(seen).wrong == of(base_).wrong + 1, fmt::format("wrong element {}", at));
    demand(of(seen).max_error > known().absolute, fmt::format("the error of element {}", at));
    demand(of(seen).first_wrong <= at, fmt::format("where element {} is wrong", at));
    write_right(at);
  }

  void not_a_number(std::int64_t at) {
    write_value(at, -std::numeric_limits<double>::quiet_NaN());
    const DeviceFindings nan = look();
    demand(of(nan).first_nan == at && of(nan).wrong == of(base_).wrong + 1,
           fmt::format("a NaN in element {}", at));
    const unsigned char poison[8] = {kPoisonByte, kPoisonByte, kPoisonByte, kPoisonByte,
                                     kPoisonByte, kPoisonByte, kPoisonByte, kPoisonByte};
    write(at, poison);
    demand(of(look()).unwritten == of(base_).unwritten + 1, fmt::format("poison in element {}", at));
    write_right(at);
  }

  /// Makes an element right that is surrounded by poison. The check must then report one wrong and one
  /// unwritten element less.
  void middle_element() {
    const std::int64_t at = known().elements / 2;
    if (!is_poisoned_ || !expects(at) || at < kRight || at >= known().elements - kRight) return;
    write_right(at);
    const DeviceFindings seen = look();
    demand(of(seen).wrong == of(base_).wrong - 1 && of(seen).unwritten == of(base_).unwritten - 1,
           fmt::format("that element {} is right", at));
  }

  void expected_value(std::int64_t at) {
    unsigned char other[8];
    std::copy_n(expected_bytes(at), size_of(known().expected_as), other);
    other[0] ^= 1;
    note(checker_.set_expected(out_.number, at, other));
    demand(!look().expected_whole, fmt::format("another expected value of element {}", at));
    note(checker_.set_expected(out_.number, at, expected_bytes(at)));
    demand(look().expected_whole, "its expected values whole again");
  }

  void guards_and_inputs(std::size_t tensor) {
    const std::int64_t bytes = tensors_.bytes(tensor);
    std::vector<std::int64_t> places = {-1, bytes, bytes + 7};
    if (!tensors_.is_output(tensor)) places.insert(places.end(), {0, bytes / 2, bytes - 1});
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
  bool is_poisoned_;  ///< whether unwritten elements are detected
  DeviceFindings nothing_, base_;
  std::string amiss_;
};

}  // namespace

std::string drill(const CudaChecker& checker, const CudaTensors& tensors, const DrilledOutput& output) {
  return Drill(checker, tensors, output).run();
}

}  // namespace lehr
