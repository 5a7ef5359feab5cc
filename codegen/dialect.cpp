#include "codegen/dialect.h"

#include <fmt/core.h>

#include <cmath>

#include "base/error.h"

namespace lehr {

Dialect cpp_dialect() {
  Dialect d;
  d.index_type = "long";
  d.restrict_word = "__restrict";
  d.unroll_prefix = "#pragma GCC unroll ";
  d.unroll_counted = true;
  d.no_unroll = "#pragma GCC unroll 1";
  d.value_vectors = true;
  d.register_align = "";
  return d;
}

Dialect cuda_dialect() {
  Dialect d;
  d.index_type = "int";
  d.restrict_word = "__restrict__";
  d.unroll_prefix = "#pragma unroll";
  d.unroll_counted = false;
  d.no_unroll = "#pragma unroll 1";
  d.block_barrier = "__syncthreads();";
  d.warp_barrier = "__syncwarp();";
  d.cluster_barrier = "lehr_cluster_barrier();";
  d.value_vectors = false;
  d.register_align = "alignas(16) ";
  return d;
}

Dialect dialect_for(Target target) {
  return target == Target::kCpu ? cpp_dialect() : cuda_dialect();
}

std::string type_name(Target target, DType type, int lanes) {
  if (lanes == 1) {
    switch (type) {
      case DType::kF64:
        return "double";
      case DType::kF32:
        return "float";
      case DType::kS32:
        return "int";
      case DType::kS8:
        return "signed char";
      case DType::kU8:
      case DType::kE4M3:
      case DType::kE5M2:  // raw bits
        return "unsigned char";
      case DType::kU32:
        return "unsigned";
      case DType::kF16:
      case DType::kBF16:
        return "unsigned short";  // raw bits
    }
  }
  if (target == Target::kCpu) return fmt::format("{}x{}", name_of(type), lanes);
  const int bytes = lanes * size_of(type);
  CHECK(bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16, "CUDA moves no vector {} x {}", name_of(type),
        lanes);
  if (type == DType::kF32) return fmt::format("float{}", lanes);
  return bytes == 2 ? "unsigned short" : bytes == 4 ? "unsigned" : fmt::format("uint{}", bytes / 4);
}

std::string_view hardware_index(ir::LoopKind kind) {
  switch (kind) {
    case ir::LoopKind::kBlockX:
      return "blockIdx.x";
    case ir::LoopKind::kBlockY:
      return "blockIdx.y";
    case ir::LoopKind::kBlockZ:
      return "blockIdx.z";
    case ir::LoopKind::kThreadX:
      return "threadIdx.x";
    case ir::LoopKind::kThreadY:
      return "threadIdx.y";
    case ir::LoopKind::kThreadZ:
      return "threadIdx.z";
    case ir::LoopKind::kSerial:
    case ir::LoopKind::kUnrolled:
    case ir::LoopKind::kRolled:
    case ir::LoopKind::kParallel:
      break;
  }
  CHECK(false, "not a hardware index");
  return "";
}

std::string float_literal(double value, DType type) {
  const bool single = type != DType::kF64;
  const std::string_view suffix = single ? "f" : "";
  if (std::isnan(value)) return fmt::format("__builtin_nan{}(\"\")", suffix);
  if (std::isinf(value)) return fmt::format("({}__builtin_inf{}())", value < 0 ? "-" : "", suffix);
  std::string digits = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return value < 0 ? fmt::format("({}{})", digits, suffix) : fmt::format("{}{}", digits, suffix);
}

}  // namespace lehr
