// Scalar types: their spellings are part of every canonical text.
#include "base/dtype.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace lehr {
namespace {

constexpr DType kAll[] = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kS32,
                          DType::kS8,  DType::kU8,  DType::kU32, DType::kS16,  DType::kS7};
constexpr DType k8BitFloats[] = {DType::kE4M3, DType::kE5M2};  // their names tell no size

TEST(DType, ReadsBackEverySpelling) {
  std::set<std::string> names;
  for (const DType type : kAll) {
    EXPECT_EQ(parse_dtype(name_of(type)), type) << name_of(type);
    EXPECT_TRUE(names.insert(std::string(name_of(type))).second);
  }
  for (const DType type : k8BitFloats) EXPECT_EQ(parse_dtype(name_of(type)), type);
}

TEST(DType, HasTheSizeOfItsName) {
  for (const DType type : k8BitFloats) EXPECT_EQ(size_of(type), 1);
  for (const DType type : kAll) {
    const std::string name(name_of(type) == "s7" ? "s8" : name_of(type));  // in a byte each
    EXPECT_EQ(size_of(type) * 8, std::stoi(name.substr(name.find_first_of("0123456789")))) << name;
  }
}

TEST(DType, RefusesOtherSpellings) {
  for (const char* name : {"", "F32", "f31", "f32 ", "float", "bf1", "s"})
    EXPECT_FALSE(parse_dtype(name)) << name;
}

}  // namespace
}  // namespace lehr
