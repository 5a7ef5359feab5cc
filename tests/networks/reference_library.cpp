// libkernels.so, a library as `lehr export` writes them (runtime/kernels.h), whose function for every
// workload is the reference. With it a network has kernels although no workload was tuned.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/small_float.h"
#include "runtime/kernels.h"
#include "workload/reference.h"

namespace lehr {
namespace {

float value_at(DType type, const char* at) {
  const auto as = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case DType::kF32:
      return as(0.0F);
    case DType::kBF16:
      return from_bf16(as(std::uint16_t{}));
    case DType::kU8:
      return as(std::uint8_t{});
    case DType::kS32:
      return static_cast<float>(as(std::int32_t{}));
    default:
      return as(std::int8_t{});
  }
}

void store(DType type, float value, char* at) {
  const auto put = [&](auto stored) { std::memcpy(at, &stored, sizeof stored); };
  switch (type) {
    case DType::kF32:
      return put(value);
    case DType::kBF16:
      return put(to_bf16(value));
    case DType::kU8:
      return put(static_cast<std::uint8_t>(rounded_to(type, value)));
    default:
      return put(static_cast<std::int8_t>(rounded_to(type, value)));
  }
}

/// A workload with its row of the library's table.
struct Function {
  Workload workload;
  std::string text;
  std::vector<TensorSpec> specs;
  std::vector<std::string> types;
  std::vector<kernels_tensor> tensors;
  kernels_function row = {};

  explicit Function(const std::string& said) : workload(parse_workload(said)), text(said) {
    specs = tensors_of(workload);
    for (const TensorSpec& spec : specs)
      types.emplace_back(spec.type == DType::kS7 ? "s8" : name_of(spec.type));
    for (std::size_t i = 0; i < specs.size(); ++i) {
      kernels_tensor tensor = {};
      tensor.name = specs[i].name.c_str();
      tensor.type = types[i].c_str();
      tensor.role = specs[i].is_output() ? KERNELS_OUT : KERNELS_IN;
      tensor.packed = specs[i].constant ? 1 : 0;
      tensor.bytes = bytes(i);
      tensors.push_back(tensor);
    }
    row.name = row.workload = text.c_str();
    row.tensors = tensors.data();
    row.tensor_count = static_cast<std::uint32_t>(tensors.size());
    row.target = KERNELS_CPU;
  }
  std::uint64_t bytes(std::size_t i) const {
    return static_cast<std::uint64_t>(specs[i].elements) * static_cast<std::uint64_t>(size_of(specs[i].type));
  }
  void call(void* const* arguments) const {
    constexpr double kAll = 1e18;  // operations: every element is computed
    std::vector<std::vector<float>> inputs(specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const auto* const elements = static_cast<const char*>(arguments[i]);
      for (std::int64_t e = 0; !specs[i].is_output() && e < specs[i].elements; ++e)
        inputs[i].push_back(value_at(specs[i].type, elements + e * size_of(specs[i].type)));
    }
    const std::vector<Reference> references = make_references(workload, inputs, kAll);
    auto reference = references.begin();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (!specs[i].is_output()) continue;
      char* to = static_cast<char*>(arguments[i]);
      for (const float value : (reference++)->values) {
        store(specs[i].type, value, to);
        to += size_of(specs[i].type);
      }
    }
  }
};

std::map<std::string, std::unique_ptr<Function>> functions;
std::mutex lock;

const Function& function_of(const kernels_function* row) {
  return *functions.at(row->workload);
}

}  // namespace
}  // namespace lehr

struct kernels_context {
  std::string message;
};

extern "C" {

uint32_t kernels_format(void) {
  return KERNELS_FORMAT;
}
uint64_t kernels_interface(void) {
  return 1;
}
kernels_context* kernels_create_for(uint64_t, const kernels_options*, char*, size_t) {
  return new kernels_context;
}
void kernels_destroy(kernels_context* context) {
  delete context;
}
const char* kernels_message(const kernels_context* context) {
  return context->message.c_str();
}
void kernels_use(kernels_context*, kernels_parallel_for, void*) {}
void kernels_stream(kernels_context*, void*) {}

const kernels_function* kernels_find(kernels_context* context, const char* workload) {
  const std::lock_guard<std::mutex> locked(lehr::lock);
  auto& function = lehr::functions[workload];
  try {
    if (!function) function = std::make_unique<lehr::Function>(workload);
  } catch (const lehr::Error& error) {
    context->message = error.what();
    return nullptr;
  }
  return &function->row;
}

kernels_status kernels_call(kernels_context*, const kernels_function* function, void* const* arguments,
                            uint64_t) {
  lehr::function_of(function).call(arguments);
  return KERNELS_OK;
}

uint64_t kernels_pack_bytes(kernels_context*, const kernels_function* function) {
  for (uint32_t i = 0; i < function->tensor_count; ++i)
    if (function->tensors[i].packed) return function->tensors[i].bytes;
  return 0;
}

kernels_status kernels_pack(kernels_context* context, const kernels_function* function, const void* operand,
                            void* packed) {
  std::memcpy(packed, operand, kernels_pack_bytes(context, function));
  return KERNELS_OK;
}
}
