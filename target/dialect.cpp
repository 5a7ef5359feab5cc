#include "target/dialect.h"

#include "base/error.h"

namespace lehr {

std::string scalar_name(DType type) {
  switch (type) {
    case DType::kF64:
      return "double";
    case DType::kF32:
      return "float";
    case DType::kS32:
      return "int";
    case DType::kS8:
    case DType::kS7:
      return "signed char";
    case DType::kU8:
    case DType::kE4M3:
    case DType::kE5M2:  // raw bits
      return "unsigned char";
    case DType::kS16:
      return "short";
    case DType::kU32:
      return "unsigned";
    case DType::kS64:
      return "long long";
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return "unsigned short";  // raw bits
  }
  CHECK(false, "no scalar");
  return "";
}

std::string number_name(const ir::Kernel& kernel, const ir::Param& param) {
  return kernel.buffer(param.buffer).name + "_0";
}

}  // namespace lehr
