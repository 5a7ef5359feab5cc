// Runs kernels on input whose output is known.
#include "runtime/self_test.h"

#include <cmath>
#include <cstring>

#include "runtime/bundle.h"
#include "runtime/message.h"

namespace lehr::runtime {
namespace {

/// Memory for a call's parameters and scratch.
class Memory {
 public:
  Memory() = default;
  ~Memory() {
    for (std::uint32_t i = 0; i <= count_; ++i) std::free(pieces_[i]);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Everything that `answer` needs, all of it NaN. False where there is no memory.
  bool take(const Answer& answer) {
    count_ = static_cast<std::uint32_t>(answer.params.size());
    for (std::uint32_t i = 0; i < count_; ++i)
      if (!piece(i, answer.params[i].bytes)) return false;
    return piece(count_, answer.scratch_bytes);
  }
  void* const* params() const { return pieces_; }
  void* scratch() const { return pieces_[count_]; }
  std::byte* bytes(std::uint32_t param) const { return static_cast<std::byte*>(pieces_[param]); }

 private:
  bool piece(std::uint32_t number, std::uint64_t bytes) {
    if (bytes > std::uint64_t{1} << 62) return false;
    const std::size_t whole = (bytes + 64) / 64 * 64;
    pieces_[number] = std::aligned_alloc(64, whole);
    if (pieces_[number] != nullptr) std::memset(pieces_[number], 0xff, whole);
    return pieces_[number] != nullptr;
  }

  void* pieces_[Manifest::kMostParams + 1] = {};
  std::uint32_t count_ = 0;
};

// Elements in memory, whose lower bytes come first.
void store(const TestedType& type, float value, std::byte* to) {
  const auto whole = static_cast<std::int32_t>(type.is_integer ? value : 0);
  const auto* const bits = reinterpret_cast<const std::byte*>(&value);
  if (type.is_integer)
    std::memcpy(to, &whole, type.bytes);
  else
    std::memcpy(to, bits + (sizeof value - type.bytes), type.bytes);
}

double load(const TestedType& type, const std::byte* from) {
  std::int32_t whole = 0;
  float value = 0;
  if (!type.is_integer) {
    std::memcpy(reinterpret_cast<std::byte*>(&value) + (sizeof value - type.bytes), from, type.bytes);
    return static_cast<double>(value);
  }
  std::memcpy(&whole, from, type.bytes);
  return type.bytes == 1 && type.least < 0 ? static_cast<std::int8_t>(whole) : whole;
}

// What a test has of a parameter; of a kernel that is told its number of rows not all of them, and what is
// behind is neither to be read nor written.
std::uint64_t tested_bytes(const Answer& answer, const ManifestParam& param) {
  const std::uint64_t rows = answer.parts[0].rows;
  return rows > 0 && param.slice_bytes > 0 ? rows * param.slice_bytes : param.bytes;
}

// Of an output behind its last row: what is computed of a NaN is one, too.
constexpr std::byte kBehind{0x5a};

void fill(const Answer& answer, const Memory& memory) {
  for (std::uint32_t i = 0; i < answer.params.size(); ++i) {
    const ManifestParam& param = answer.params[i];
    const std::uint64_t tested = tested_bytes(answer, param);
    if (param.role == LEHR_OUT)
      std::memset(memory.bytes(i) + tested, static_cast<int>(kBehind), param.bytes - tested);
    if (param.role != LEHR_IN) continue;
    const TestedType& type = *tested_type(param.dtype);
    for (std::uint64_t j = 0; j < tested / type.bytes; ++j)
      store(type, self_test_value(type, i, j, param.test_mean, param.test_deviation),
            memory.bytes(i) + j * type.bytes);
  }
}

lehr_status compare(const Answer& answer, const ManifestKernel& manifest, const ManifestSample* samples,
                    const Memory& memory, lehr_error* error) {
  for (std::uint32_t i = 0; i < answer.params.size(); ++i) {
    if (answer.params[i].role != LEHR_OUT) continue;
    const TestedType& type = *tested_type(answer.params[i].dtype);
    const auto got = [&](std::uint64_t at) { return load(type, memory.bytes(i) + at * type.bytes); };
    const std::uint64_t tested = tested_bytes(answer, answer.params[i]);
    for (std::uint64_t j = tested; j < answer.params[i].bytes; ++j)
      if (memory.bytes(i)[j] != kBehind)
        return fail(error, LEHR_WRONG_RESULT, "the kernel for '%s' writes %s behind the last of %llu rows",
                    answer.workload, answer.params[i].name.data(),
                    static_cast<unsigned long long>(answer.parts[0].rows));
    for (std::uint64_t j = 0; j < tested / type.bytes; ++j)
      if (std::isnan(got(j)))
        return fail(error, LEHR_WRONG_RESULT, "the kernel for '%s' does not write %s[%llu], or writes a NaN",
                    answer.workload, answer.params[i].name.data(), static_cast<unsigned long long>(j));
    for (const ManifestSample* sample = samples; sample != samples + manifest.samples; ++sample)
      if (!(std::fabs(got(sample->index) - sample->value) <= manifest.tolerance))
        return fail(error, LEHR_WRONG_RESULT, "the kernel for '%s' computes %s[%llu] as %g, which is %g",
                    answer.workload, answer.params[i].name.data(),
                    static_cast<unsigned long long>(sample->index), got(sample->index), sample->value);
  }
  return LEHR_OK;
}

}  // namespace

lehr_status self_test(const Bundle& bundle, const LoadedKernel& kernel, lehr_error* error) {
  if (kernel.manifest->samples == 0) return LEHR_OK;
  const Owner<Answer> own = answer_of_kernel(kernel);
  Memory memory;
  if (!own || !memory.take(*own))
    return fail(error, LEHR_NO_MEMORY, "there is no memory for a test of the kernel for '%s'",
                kernel.manifest->workload.data());
  if (kernel.manifest->test_rows > 0) own->parts[0].used = own->parts[0].rows = kernel.manifest->test_rows;
  const Answer& answer = *own;
  fill(answer, memory);
  lehr_call call = {};
  call.size = sizeof call;
  call.param_count = static_cast<std::uint32_t>(answer.params.size());
  call.params = memory.params();
  call.scratch = memory.scratch();
  prepack_answer(answer, call);
  run_answer(answer, call);
  return compare(answer, *kernel.manifest, &bundle.manifest.samples[kernel.manifest->first_sample], memory,
                 error);
}

}  // namespace lehr::runtime

using namespace lehr::runtime;

lehr_status lehr_self_test(lehr_kernel kernel, lehr_error* error) {
  const Answer* const answer = answer_of(kernel);
  if (answer == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "the kernel is not one of an open bundle");
  const Bundle& bundle = *bundle_of_kernel(kernel);
  for (const Part& part : answer->parts)
    if (const lehr_status status = self_test(bundle, *part.kernel, error); status != LEHR_OK) return status;
  for (std::uint32_t i = 0; answer->is_open() && i < answer->set->manifest->members; ++i)
    if (const lehr_status status = self_test(bundle, *answer->set->members[i].kernel, error);
        status != LEHR_OK)
      return status;
  return succeed(error);
}
