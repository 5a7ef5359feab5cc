// Tests of the driver's arguments for tensor maps of images; for tiled ones: cuda_runner_test.cpp.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "measure/cuda/cuda_driver.h"

namespace lehr {
namespace {

TEST(CudaTensorMap, OfImagesHasCornersAlongWAndHAndAStepAlongEachDimension) {
  std::string why_not;
  const std::unique_ptr<CudaDriver> driver = CudaDriver::open(LEHR_FAKE_CUDA_DRIVER, why_not);
  ASSERT_NE(driver, nullptr) << why_not;
  ir::TensorMap map;
  map.rank = 4;
  map.dims = {8, 5, 3, 2};
  map.strides = {1, 8, 40, 120};
  map.box = {8, 0, 0, 0};
  map.im2col = {64, {-1, -2}, {-3, 4}, {2, 3}};
  map.swizzle = 32;
  CudaTensorMap result;
  ASSERT_TRUE(encode_tensor_map(*driver, map, DType::kF32, 4096, result).ok());
  void* const fake = dlopen(LEHR_FAKE_CUDA_DRIVER, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(fake, nullptr) << dlerror();
  // CUDA Driver API: FLOAT32 = 7; strides in bytes, without the innermost; steps (elementStrides) of 1 for
  // channels and images; no interleave, SWIZZLE_32B = 1, L2_256B = 3, zeros outside.
  EXPECT_STREQ(
      reinterpret_cast<const char* (*)()>(dlsym(fake, "fake_cuda_tensor_map"))(),
      "im2col type 7 rank 4 dims 8 5 3 2 strides 32 160 480 corners -1 -2 -3 4 column 8 64 steps 1 2 "
      "3 1 0 1 3 0");
  dlclose(fake);
  EXPECT_FALSE(encode_tensor_map(*driver, map, DType::kF32, 4104, result).ok());  // its address
}

}  // namespace
}  // namespace lehr
