// Runs a library's kernels on input whose output is known.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "runtime/context.h"
#include "runtime/self_test.h"

namespace lehr::runtime {
namespace {

// Byte with which an output's memory after its last row is filled.
constexpr unsigned char kBehind = 0x5a;

/// Memory for a call of one kernel. It is filled with NaN, so that a result that is computed from unwritten
/// memory is NaN, too.
class TestMemory {
 public:
  TestMemory() = default;
  ~TestMemory() {
    for (void* piece : pieces_) std::free(piece);
  }
  TestMemory(const TestMemory&) = delete;
  TestMemory& operator=(const TestMemory&) = delete;

  /// Returns false if there is no memory.
  bool take(std::uint32_t number, std::uint64_t bytes) {
    if (bytes > std::uint64_t{1} << 62) return false;
    const std::size_t whole = (bytes + 64) / 64 * 64;
    pieces_[number] = std::aligned_alloc(64, whole);
    if (pieces_[number] != nullptr) std::memset(pieces_[number], 0xff, whole);
    return pieces_[number] != nullptr;
  }
  void* const* pieces() const { return pieces_; }
  unsigned char* operator[](std::uint32_t number) const {
    return static_cast<unsigned char*>(pieces_[number]);
  }

 private:
  void* pieces_[kMostParams + 1] = {};  ///< memory of each tensor; the last piece is packed memory
};

// Stores an element in memory, low bytes first.
void store(const TestedType& type, float value, unsigned char* to) {
  const auto whole = static_cast<std::int32_t>(type.is_integer ? value : 0);
  unsigned char bits[sizeof value];
  std::memcpy(bits, &value, sizeof value);
  if (type.is_integer)
    std::memcpy(to, &whole, type.bytes);
  else
    std::memcpy(to, bits + (sizeof value - type.bytes), type.bytes);
}

double load(const TestedType& type, const unsigned char* from) {
  std::int32_t whole = 0;
  unsigned char bits[sizeof(float)] = {};
  if (!type.is_integer) {
    float value = 0;
    std::memcpy(bits + (sizeof value - type.bytes), from, type.bytes);
    std::memcpy(&value, bits, sizeof value);
    return static_cast<double>(value);
  }
  std::memcpy(&whole, from, type.bytes);
  return type.bytes == 1 && type.least < 0 ? static_cast<std::int8_t>(whole) : whole;
}

/// The test of one kernel: for each tensor, the bytes that exist and the bytes that are tested.
struct Tested {
  const Function& function;
  const Kernel& kernel;

  const kernels_tensor& tensor(std::uint32_t i) const { return function.shown.tensors[i]; }
  std::uint32_t count() const { return function.shown.tensor_count; }
  std::uint64_t bytes(std::uint32_t i) const {
    return tensor(i).row_bytes > 0 ? kernel.rows * tensor(i).row_bytes : tensor(i).bytes;
  }
  std::uint64_t tested(std::uint32_t i) const {
    return kernel.takes_rows && tensor(i).row_bytes > 0 ? kernel.test->rows * tensor(i).row_bytes : bytes(i);
  }
  std::uint64_t rows() const { return kernel.takes_rows ? kernel.test->rows : kernel.rows; }
};

void fill(const Tested& test, const TestMemory& memory) {
  for (std::uint32_t i = 0; i < test.count(); ++i) {
    const std::uint64_t tested = test.tested(i);
    if (test.tensor(i).role == KERNELS_OUT) {
      std::memset(memory[i] + tested, kBehind, test.bytes(i) - tested);
      continue;
    }
    const TestedType& type = *tested_type(test.tensor(i).type);
    const double* const inputs = test.kernel.test->inputs;
    const double mean = inputs != nullptr ? inputs[2 * i] : 0,
                 deviation = inputs != nullptr ? inputs[2 * i + 1] : 1;
    for (std::uint64_t j = 0; j < tested / type.bytes; ++j)
      store(type, self_test_value(type, i, j, mean, deviation), memory[i] + j * type.bytes);
  }
}

kernels_status compare(kernels_context* context, const Tested& test, const TestMemory& memory) {
  const char* const workload = test.function.shown.workload;
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  const Test* output = test.kernel.test;
  for (std::uint32_t i = 0; i < test.count(); ++i) {
    const kernels_tensor& tensor = test.tensor(i);
    if (tensor.role != KERNELS_OUT) continue;
    const TestedType& type = *tested_type(tensor.type);
    const auto got = [&](std::uint64_t at) { return load(type, memory[i] + at * type.bytes); };
    const std::uint64_t tested = test.tested(i);
    for (std::uint64_t j = tested; j < test.bytes(i); ++j)
      if (memory[i][j] != kBehind)
        return fail(context, KERNELS_WRONG_RESULT,
                    "the kernel for '%s' writes %s behind the last of %llu rows", workload, tensor.name,
                    number(test.rows()));
    for (std::uint64_t j = 0; j < tested / type.bytes; ++j)
      if (std::isnan(got(j)))
        return fail(context, KERNELS_WRONG_RESULT,
                    "the kernel for '%s' does not write %s[%llu], or writes a NaN", workload, tensor.name,
                    number(j));
    for (std::uint32_t j = 0; j < output->sample_count; ++j) {
      const Sample& sample = output->samples[j];
      if (!(std::fabs(got(sample.index) - sample.value) <= output->tolerance))
        return fail(context, KERNELS_WRONG_RESULT, "the kernel for '%s' computes %s[%llu] as %g, which is %g",
                    workload, tensor.name, number(sample.index), got(sample.index), sample.value);
    }
    output = output->next;
  }
  return KERNELS_OK;
}

kernels_status test_kernel(kernels_context* context, const Function& function, const Variant& variant,
                           const Kernel& kernel) {
  const Tested test = {function, kernel};
  TestMemory memory;
  bool whole = reserve_scratch(*context, kernel);
  for (std::uint32_t i = 0; whole && i < test.count(); ++i) whole = memory.take(i, test.bytes(i));
  if (whole && function.packed != kNoTensor)
    whole = memory.take(test.count(), packed_bytes(function, variant));
  if (!whole)
    return fail(context, KERNELS_NO_MEMORY, "there is no memory for a test of the kernel for '%s'",
                function.shown.workload);
  fill(test, memory);
  void* arguments[kMostParams];
  std::memcpy(arguments, memory.pieces(), test.count() * sizeof *arguments);
  if (function.packed != kNoTensor) {
    arguments[function.packed] = memory[test.count()];
    pack(*context, function, variant, memory[function.packed], memory[test.count()]);
  }
  Params params;
  fill_params(*context, function, variant, kernel, arguments, test.rows(), params);
  for (long task = 0; task < kernel.tasks * kernel.steps; ++task)
    kernel.entry(params.of, context->scratch, task);
  return compare(context, test, memory);
}

}  // namespace

kernels_status self_test(kernels_context* context, const Function& function, const Variant& variant) {
  for (std::uint32_t i = 0; i < variant.member_count; ++i) {
    const Kernel& kernel = *variant.members[i].kernel;
    if (kernel.test == nullptr) continue;
    if (const kernels_status status = test_kernel(context, function, variant, kernel); status != KERNELS_OK)
      return status;
  }
  return KERNELS_OK;
}

}  // namespace lehr::runtime

using namespace lehr::runtime;

kernels_status kernels_self_test(kernels_context* context, const kernels_function* shown) {
  const Table& table = library_table();
  if (context == nullptr) return KERNELS_BAD_ARGUMENT;
  const Function* const one = shown != nullptr ? function_of(context, shown) : nullptr;
  if (shown != nullptr && one == nullptr) return KERNELS_BAD_ARGUMENT;
  for (std::uint32_t i = 0; i < table.function_count; ++i) {
    const Variant* const variant = context->variants[i];
    if (variant == nullptr || (one != nullptr && one != &table.functions[i])) continue;
    if (const kernels_status status = self_test(context, table.functions[i], *variant); status != KERNELS_OK)
      return status;
  }
  return KERNELS_OK;
}
