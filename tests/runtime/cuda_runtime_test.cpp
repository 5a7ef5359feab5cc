// Kernels for CUDA of bundles made by hand, on a driver that is a stand-in: opening, finding, launching, and
// every way of getting it wrong.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "folder_support.h"
#include "runtime/lehr_bundle.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

lehr_status try_open(const BundleFolder& folder, lehr_bundle& bundle, std::string& said,
                     const lehr_open_options* options = nullptr) {
  lehr_error error = {sizeof error, ""};
  const lehr_status status = lehr_open(folder.path().c_str(), options, &bundle, &error);
  said = error.text;
  return status;
}

// First: nothing has loaded the stand-in yet, and the library keeps what it has loaded.
TEST(CudaRuntimeAlone, WithoutADriverItsOtherKernelsRun) {
  if (void* const real = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    dlclose(real);
    GTEST_SKIP() << "this machine has a driver";
  }
  BundleFolder folder, both;
  add_product(folder, product_kernel(4, 1));
  folder.seal();
  add_product(both, product_kernel(4, 1));
  add_scale(both, 4, 1);
  both.seal();
  lehr_bundle bundle = 0;
  std::string said;
  EXPECT_EQ(try_open(folder, bundle, said), LEHR_WRONG_DEVICE);
  EXPECT_THAT(said, HasSubstr("they need the CUDA driver (libcuda.so.1), which is not installed"));
  ASSERT_EQ(try_open(both, bundle, said), LEHR_OK) << said;
  std::uint32_t count = 0;
  EXPECT_EQ(lehr_count(bundle, &count, nullptr), LEHR_OK);
  EXPECT_EQ(count, 1u);
  lehr_kernel kernel = 0;
  lehr_error error = {sizeof error, ""};
  EXPECT_EQ(lehr_find(bundle, "gemm m=4 n=8 k=4", nullptr, &kernel, &error), LEHR_NO_KERNEL);
  EXPECT_THAT(std::string(error.text),
              HasSubstr("the bundle's kernel for 'gemm m=4 n=8 k=4' needs the CUDA driver"));
  EXPECT_EQ(lehr_close(bundle, nullptr), LEHR_OK);
}

class CudaRuntime : public ::testing::Test {
 protected:
  CudaRuntime() : fake_(dlopen(LEHR_FAKE_LIBCUDA, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(fake_, nullptr) << dlerror();
    call<void(std::size_t)>("fake_cuda_reset")(std::size_t{1} << 30);
    call<int(void**, unsigned)>("cuStreamCreate")(&stream_, 0);
  }
  ~CudaRuntime() override {
    if (bundle_ != 0) {
      EXPECT_EQ(lehr_close(bundle_, nullptr), LEHR_OK);
    }
  }

  template <typename Signature>
  Signature* call(const char* name) const {
    return reinterpret_cast<Signature*>(dlsym(fake_, name));
  }
  std::string calls() const { return call<const char*()>("fake_cuda_calls")(); }
  std::string last_launch() const { return call<const char*()>("fake_cuda_launch")(); }
  void set_attribute(int attribute, int value) {
    call<void(int, int)>("fake_cuda_set_attribute")(attribute, value);
  }

  void open(const BundleFolder& folder) {
    std::string said;
    ASSERT_EQ(try_open(folder, bundle_, said), LEHR_OK) << said;
  }
  lehr_kernel find(const char* workload, std::uint32_t target = LEHR_ANY_TARGET) {
    const lehr_find_options options = {sizeof options, 3, 0, target};
    lehr_kernel kernel = 0;
    lehr_error error = {sizeof error, ""};
    EXPECT_EQ(lehr_find(bundle_, workload, &options, &kernel, &error), LEHR_OK) << error.text;
    return kernel;
  }
  static lehr_kernel_info info_of(lehr_kernel kernel) {
    lehr_kernel_info info = {};
    info.size = sizeof info;
    EXPECT_EQ(lehr_info(kernel, &info, nullptr), LEHR_OK);
    return info;
  }
  std::string refusal(lehr_status status, lehr_kernel kernel, const lehr_launch_call& call) const {
    lehr_error error = {sizeof error, "nothing was said"};
    EXPECT_EQ(lehr_launch(kernel, &call, &error), status) << error.text;
    return error.text;
  }

  void* fake_;
  void* stream_ = nullptr;
  lehr_bundle bundle_ = 0;
};

struct alignas(256) Rows {
  std::array<float, 64 * 8> values{};
};

/// A product of `rows` rows, whose result is known: A is the row's number, B is the column's.
struct Product {
  Rows a, b, c;
  std::vector<void*> params = {&a, &b, &c};
  explicit Product(int rows) {
    for (int i = 0; i < rows * 4; ++i) a.values[static_cast<std::size_t>(i)] = static_cast<float>(i / 4);
    for (int i = 0; i < 32; ++i) b.values[static_cast<std::size_t>(i)] = static_cast<float>(i % 8);
    c.values.fill(-1);
  }
  bool right(int rows) const {
    for (int i = 0; i < 64 * 8; ++i) {
      const float wanted = i < rows * 8 ? 4.0F * static_cast<float>(i / 8) * static_cast<float>(i % 8) : -1;
      if (c.values[static_cast<std::size_t>(i)] != wanted) return false;
    }
    return true;
  }
  lehr_launch_call call(void* stream) const {
    return {sizeof(lehr_launch_call),
            static_cast<std::uint32_t>(params.size()),
            params.data(),
            stream,
            nullptr,
            0};
  }
};

TEST_F(CudaRuntime, LaunchesAsItWasTimed) {
  BundleFolder folder;
  add_product(folder, product_kernel(4, 1));
  folder.seal();
  open(folder);
  const lehr_kernel kernel = find("gemm m=4 n=8 k=4");
  EXPECT_EQ(info_of(kernel).answer, static_cast<std::uint32_t>(LEHR_EXACT));
  EXPECT_STREQ(info_of(kernel).target, "cuda");
  Product product(4);
  const lehr_launch_call call = product.call(stream_);
  lehr_error error = {sizeof error, ""};
  ASSERT_EQ(lehr_launch(kernel, &call, &error), LEHR_OK) << error.text;
  EXPECT_TRUE(product.right(4));
  EXPECT_EQ(last_launch(), "gemm_4_8_4 grid 2 3 4 block 32 2 1 shared 1024, programmatic");
  EXPECT_EQ(this->call<int()>("fake_cuda_allocations")(), 0);
  // Its context was current while it was launched, and is no longer.
  EXPECT_THAT(calls(), HasSubstr("cuCtxPushCurrent cuLaunchKernelEx, programmatic cuCtxPopCurrent"));
}

TEST_F(CudaRuntime, IsTakenIntoAGraph) {
  BundleFolder folder;
  add_product(folder, product_kernel(4, 1));
  folder.seal();
  open(folder);
  Product product(4);
  const lehr_launch_call launch = product.call(stream_);
  call<int(void*, int)>("cuStreamBeginCapture_v2")(stream_, 0);
  ASSERT_EQ(lehr_launch(find("gemm m=4 n=8 k=4"), &launch, nullptr), LEHR_OK);
  EXPECT_TRUE(product.right(0)) << "nothing has run";
  void *graph = nullptr, *executable = nullptr;
  call<int(void*, void**)>("cuStreamEndCapture")(stream_, &graph);
  call<int(void**, void*, unsigned long long)>("cuGraphInstantiateWithFlags")(&executable, graph, 0);
  call<int(void*, void*)>("cuGraphLaunch")(executable, stream_);
  EXPECT_TRUE(product.right(4));
}

TEST_F(CudaRuntime, PutsRowsTogetherAndPads) {
  BundleFolder folder;
  add_product(folder, product_kernel(4, 1));
  add_product(folder, product_kernel(16, 2, true));
  folder.seal();
  open(folder);
  const lehr_kernel split = find("gemm m=24 n=8 k=4");
  EXPECT_EQ(info_of(split).answer, static_cast<std::uint32_t>(LEHR_SPLIT));
  EXPECT_EQ(info_of(split).parts, 2u) << "16 rows at 0 and 16 at 8";
  EXPECT_DOUBLE_EQ(info_of(split).wasted, 8.0 / 32);
  EXPECT_DOUBLE_EQ(info_of(split).time_us, 2 + 2 + 2.5) << "with what a launch takes";
  EXPECT_EQ(info_of(split).params, 3u);
  Product product(24);
  const lehr_launch_call call = product.call(stream_);
  ASSERT_EQ(lehr_launch(split, &call, nullptr), LEHR_OK);
  EXPECT_TRUE(product.right(24));

  const lehr_kernel padded = find("gemm m=14 n=8 k=4");
  EXPECT_EQ(info_of(padded).answer, static_cast<std::uint32_t>(LEHR_PADDED));
  ASSERT_EQ(info_of(padded).params, 4u);
  lehr_param_info padding = {};
  padding.size = sizeof padding;
  EXPECT_EQ(lehr_param(padded, 3, &padding, nullptr), LEHR_OK);
  EXPECT_EQ(padding.role, static_cast<std::uint32_t>(LEHR_WORKSPACE));
  EXPECT_EQ(padding.bytes, 16u * 16 + 16 * 32);
  Product smaller(14);
  Rows copies;
  copies.values.fill(77);
  smaller.params.push_back(&copies);
  const lehr_launch_call fewer = smaller.call(stream_);
  lehr_error error = {sizeof error, ""};
  ASSERT_EQ(lehr_launch(padded, &fewer, &error), LEHR_OK) << error.text;
  EXPECT_TRUE(smaller.right(14));
}

TEST_F(CudaRuntime, WorkspacesAreTheCallers) {
  BundleFolder folder;
  json kernel = product_kernel(4, 1);
  kernel["name"] = "workspace_ok";
  kernel["params"] = {kernel["params"][0],
                      kernel["params"][2],
                      {{"name", "counters"},
                       {"dtype", "u32"},
                       {"role", "workspace"},
                       {"bytes", 512},
                       {"alignment", 256},
                       {"slice_bytes", 0}}};
  kernel["params"][1].update({{"bytes", 64}, {"slice_bytes", 16}});
  kernel["launch"]["grid"] = {1, 1, 1};
  kernel["launch"]["block"] = {16, 1, 1};
  add_product(folder, kernel);
  folder.seal();
  open(folder);
  Product product(4);
  Rows counters;
  product.params = {&product.a, &product.c, &counters};
  const lehr_kernel found = find("gemm m=4 n=8 k=4");
  const lehr_launch_call call = product.call(stream_);
  ASSERT_EQ(lehr_launch(found, &call, nullptr), LEHR_OK);
  EXPECT_EQ(product.c.values[15], 6);
  // Four rows, and four from the second on, by the same kernel: they take turns with one workspace.
  const lehr_kernel split = find("gemm m=6 n=8 k=4");
  EXPECT_EQ(info_of(split).parts, 2u);
  ASSERT_EQ(info_of(split).params, 3u);
  Product taller(6);
  taller.params = {&taller.a, &taller.c, &counters};
  const lehr_launch_call rows = taller.call(stream_);
  ASSERT_EQ(lehr_launch(split, &rows, nullptr), LEHR_OK);
  EXPECT_EQ(taller.c.values[15], 6);
  EXPECT_EQ(taller.c.values[23], 10);
  EXPECT_EQ(taller.c.values[24], -1);
  product.params[2] = reinterpret_cast<char*>(&counters) + 16;
  EXPECT_THAT(refusal(LEHR_BAD_ARGUMENT, found, call),
              HasSubstr("parameter 2, counters, is not aligned to 256 bytes"));
}

TEST_F(CudaRuntime, TensorMapsAreMadeOncePerSetOfArguments) {
  BundleFolder folder;
  json kernel = product_kernel(4, 1);
  kernel["params"][0]["tensor_map"] = {{"type", 7},     {"dims", {4, 4}},  {"stride_bytes", {16}},
                                       {"box", {4, 2}}, {"steps", {1, 1}}, {"swizzle", 0}};
  add_product(folder, kernel);
  folder.seal();
  open(folder);
  const lehr_kernel found = find("gemm m=4 n=8 k=4");
  std::uint64_t bytes = 0;
  ASSERT_EQ(lehr_tensor_map_bytes(found, &bytes, nullptr), LEHR_OK);
  EXPECT_EQ(bytes, 128u);
  Product product(4);
  Rows maps;
  lehr_launch_call call = product.call(stream_);
  call.tensor_maps = &maps, call.tensor_map_bytes = sizeof maps;
  ASSERT_EQ(lehr_encode(found, &call, nullptr), LEHR_OK);
  EXPECT_STREQ(this->call<const char*()>("fake_cuda_tensor_map")(),
               "type 7 rank 2 dims 4 4 strides 16 box 4 2 0 0 3 0");
  for (int i = 0; i < 3; ++i) ASSERT_EQ(lehr_launch(found, &call, nullptr), LEHR_OK);
  EXPECT_TRUE(product.right(4));
  const std::string once = calls();
  EXPECT_EQ(once.find("cuTensorMapEncodeTiled"), once.rfind("cuTensorMapEncodeTiled"));
  call.tensor_maps = nullptr, call.tensor_map_bytes = 0;
  ASSERT_EQ(lehr_launch(found, &call, nullptr), LEHR_OK);
  EXPECT_NE(calls().rfind("cuTensorMapEncodeTiled"), once.rfind("cuTensorMapEncodeTiled"));
  call.tensor_maps = &maps, call.tensor_map_bytes = 64;
  EXPECT_THAT(refusal(LEHR_BAD_ARGUMENT, found, call),
              HasSubstr("64 bytes for tensor maps are too few: the kernel needs 128"));
  call.tensor_maps = reinterpret_cast<char*>(&maps) + 8, call.tensor_map_bytes = 256;
  EXPECT_THAT(refusal(LEHR_BAD_ARGUMENT, found, call), HasSubstr("not aligned to 64 bytes"));
}

TEST_F(CudaRuntime, WrongArgumentsGetACodeAndASentence) {
  BundleFolder folder;
  add_product(folder, product_kernel(4, 1));
  add_scale(folder, 4, 1);
  folder.seal();
  open(folder);
  const lehr_kernel kernel = find("gemm m=4 n=8 k=4"), other = find("scale m=4 width=4");
  Product product(4);
  const lehr_launch_call right = product.call(stream_);
  lehr_launch_call call = right;
  EXPECT_THAT(refusal(LEHR_BAD_ARGUMENT, 0, call), HasSubstr("not one of an open bundle"));
  EXPECT_THAT(refusal(LEHR_BAD_ARGUMENT, other, call), HasSubstr("the kernel is for cpu: lehr_run runs it"));
  call.size = 8;
  EXPECT_THAT(refusal(LEHR_BAD_ARGUMENT, kernel, call), HasSubstr("lehr_launch_call::size is 8"));
  call = right;
  call.param_count = 2;
  EXPECT_THAT(refusal(LEHR_BAD_ARGUMENT, kernel, call), HasSubstr("takes 3 parameters, not 2"));
  call = right;
  product.params[1] = nullptr;
  EXPECT_THAT(refusal(LEHR_BAD_ARGUMENT, kernel, call), HasSubstr("parameter 1, b, is a null pointer"));
  product.params[1] = &product.b.values[1];
  EXPECT_THAT(refusal(LEHR_BAD_ARGUMENT, kernel, call),
              HasSubstr("parameter 1, b, is not aligned to 16 bytes"));
  product.params[1] = &product.b;
  call.stream = this;  // the stand-in knows one stream alone
  EXPECT_EQ(refusal(LEHR_DRIVER_ERROR, kernel, call),
            "the CUDA driver does not launch the kernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  lehr_error error = {sizeof error, ""};
  EXPECT_EQ(lehr_launch(kernel, nullptr, &error), LEHR_BAD_ARGUMENT);
  const lehr_call host = {sizeof host, 3, product.params.data(), nullptr, 0, 1, nullptr, nullptr, 0};
  EXPECT_EQ(lehr_run(kernel, &host, &error), LEHR_BAD_ARGUMENT);
  EXPECT_THAT(std::string(error.text), HasSubstr("the kernel is for cuda: lehr_launch puts it on a stream"));
  EXPECT_EQ(lehr_prepack(kernel, &host, &error), LEHR_OK) << "it prepacks nothing";
  EXPECT_EQ(lehr_self_test(kernel, &error), LEHR_OK) << "it has none";
}

TEST_F(CudaRuntime, TakesWhatTheGpuRunsAndSaysWhichItWasTunedOn) {
  const auto opened = [&](const json& kernel, const std::string& image = "FAKE CUBIN") {
    BundleFolder folder;
    add_product(folder, kernel, image);
    folder.write_file("kernels/it.ptx", ".version 7.8");
    folder.seal();
    lehr_bundle bundle = 0;
    std::string said;
    if (try_open(folder, bundle, said) != LEHR_OK) return said;
    lehr_kernel found = 0;
    EXPECT_EQ(lehr_at(bundle, 0, &found, nullptr), LEHR_OK);
    const lehr_kernel_info info = info_of(found);
    EXPECT_EQ(lehr_close(bundle, nullptr), LEHR_OK);
    return fmt::format("{}{}",
                       info.answer == LEHR_EXACT          ? "exact"
                       : info.answer == LEHR_OTHER_DEVICE ? "other device"
                                                          : "?",
                       info.from_ptx ? " from PTX" : "");
  };
  json kernel = product_kernel(4, 1);
  EXPECT_EQ(opened(kernel), "exact");
  kernel["launch"]["multiprocessors"] = 114;
  EXPECT_EQ(opened(kernel), "other device");
  kernel["arch"] = "sm_100a";
  EXPECT_THAT(opened(kernel), HasSubstr("they need sm_100a, and this GPU is sm_90: tune on one like it"));
  kernel["arch"] = "sm_80";
  EXPECT_THAT(opened(kernel), HasSubstr("they need sm_80, and this GPU is sm_90: tune on one like it"));
  kernel["launch"]["ptx"] = "kernels/it.ptx";
  EXPECT_EQ(opened(kernel), "other device from PTX");
  kernel = product_kernel(4, 1);
  EXPECT_THAT(opened(kernel, "FAKE CUBIN OF ANOTHER GPU"), HasSubstr("another GPU or driver"));
  EXPECT_THAT(opened(kernel, "no image at all"),
              HasSubstr("does not load kernels/gemm_4_8_4.cubin: CUDA_ERROR_INVALID_IMAGE"));
  kernel["launch"]["compiler"] = {14, 0};
  EXPECT_THAT(opened(kernel), HasSubstr("a driver of CUDA 14, and this one is of 13.0"));
  kernel = product_kernel(4, 1);
  kernel["launch"]["block"] = {512, 1, 1};
  EXPECT_THAT(opened(kernel), HasSubstr("blocks of 512 threads, and this GPU allows it 256"));
  set_attribute(75, 8);
  EXPECT_THAT(opened(product_kernel(4, 1)),
              HasSubstr("they need sm_90a, and this GPU is sm_80: tune on one like it"));
}

TEST_F(CudaRuntime, AManifestThatMakesNoSenseIsRefused) {
  const auto refused = [&](auto change) {
    BundleFolder folder;
    json kernel = product_kernel(4, 1);
    kernel["params"][0]["tensor_map"] = {{"type", 7},     {"dims", {4, 4}},  {"stride_bytes", {16}},
                                         {"box", {4, 2}}, {"steps", {1, 1}}, {"swizzle", 0}};
    change(kernel);
    add_product(folder, kernel);
    folder.seal();
    lehr_bundle bundle = 0;
    std::string said;
    EXPECT_EQ(try_open(folder, bundle, said), LEHR_BAD_BUNDLE) << said;
    return said;
  };
  const auto map = [](auto change) {
    return [change](json& kernel) { change(kernel["params"][0]["tensor_map"]); };
  };
  EXPECT_THAT(refused([](json& k) { k["launch"]["grid"] = {0, 1, 1}; }),
              HasSubstr("whose grid no GPU takes"));
  EXPECT_THAT(refused([](json& k) { k["launch"]["grid"] = {1, 70000, 1}; }),
              HasSubstr("whose grid no GPU takes"));
  EXPECT_THAT(refused([](json& k) { k["launch"]["block"] = {1024, 2, 1}; }),
              HasSubstr("whose blocks no GPU takes"));
  EXPECT_THAT(refused([](json& k) { k["launch"]["cluster"] = 3; }), HasSubstr("whose clusters no GPU takes"));
  EXPECT_THAT(refused([](json& k) { k["launch"].erase("programmatic"); }),
              HasSubstr("missing or of the wrong kind"));
  EXPECT_THAT(refused([](json& k) { k["arch"] = "gfx90a"; }), HasSubstr("an unknown GPU"));
  EXPECT_THAT(refused([](json& k) { k["threads"] = 1; }), HasSubstr("impossible number of threads"));
  EXPECT_THAT(refused([](json& k) { k["launch"]["ptx"] = "kernels/other.ptx"; }),
              HasSubstr("PTX in a file whose hash"));
  EXPECT_THAT(refused([](json& k) {
                k["params"].push_back(k["params"][1]);
                k["params"][3].update({{"name", "u"}, {"role", "prepacked"}});
              }),
              HasSubstr("with a prepacked parameter"));
  for (const auto& [name, value] : {std::pair<const char*, json>{"dims", {4, 5}},
                                    {"dims", json::array()},
                                    {"stride_bytes", {8}},
                                    {"box", {4, 300}},
                                    {"box", {3, 2}},
                                    {"steps", {1, 9}},
                                    {"swizzle", 4},
                                    {"type", 13}})
    EXPECT_THAT(refused(map([&](json& m) { m[name] = value; })),
                HasSubstr("a tensor map that no driver takes"))
        << name;
}

TEST_F(CudaRuntime, SaysOfEachKernelWhatItNeeds) {
  BundleFolder folder;
  json newer = product_kernel(4, 1), larger = product_kernel(16, 1);
  newer["arch"] = "sm_100a";
  larger["launch"]["block"] = {512, 1, 1};
  add_product(folder, newer);
  add_product(folder, product_kernel(8, 1));
  add_product(folder, larger);
  folder.seal();
  open(folder);
  const auto said = [&](const char* workload, std::uint32_t target) -> std::string {
    const lehr_find_options options = {sizeof options, 0, 1, target};
    lehr_kernel kernel = 0;
    lehr_error error = {sizeof error, ""};
    lehr_find(bundle_, workload, &options, &kernel, &error);
    return error.text;
  };
  EXPECT_EQ(
      said("gemm m=4 n=8 k=4", LEHR_ANY_TARGET),
      "the bundle's kernel for 'gemm m=4 n=8 k=4' needs sm_100a, and this GPU is sm_90: tune on one like it");
  EXPECT_THAT(said("gemm m=16 n=8 k=4", LEHR_CUDA), HasSubstr("needs blocks of 512 threads"));
  EXPECT_EQ(said("gemm m=8 n=8 k=4", LEHR_CUDA), "");
  EXPECT_EQ(said("gemm m=8 n=8 k=4", LEHR_CPU),
            "the bundle's kernel for 'gemm m=8 n=8 k=4' is for cuda alone");
  EXPECT_EQ(said("gemm m=9 n=8 k=4", LEHR_CUDA), "the bundle has no kernel for 'gemm m=9 n=8 k=4'");
}

TEST_F(CudaRuntime, ATamperedImageIsNotLoaded) {
  BundleFolder folder;
  add_product(folder, product_kernel(4, 1), "FAKE CUBIN and more of it");
  folder.seal();
  folder.write_file("kernels/gemm_4_8_4.cubin", "FAKE CUBIN and MORE of it");
  lehr_bundle bundle = 0;
  std::string said;
  EXPECT_EQ(try_open(folder, bundle, said), LEHR_BAD_BUNDLE);
  EXPECT_THAT(said, HasSubstr("kernels/gemm_4_8_4.cubin is not the file that was exported"));
  EXPECT_THAT(calls(), Not(HasSubstr("cuModuleLoadData")));
}

TEST_F(CudaRuntime, NoCorruptionLoads) {
  BundleFolder folder;
  json kernel = product_kernel(4, 1);
  kernel["launch"]["ptx"] = "kernels/gemm_4_8_4.ptx";
  folder.write_file("kernels/gemm_4_8_4.ptx", ".version 7.8 and so on");
  add_product(folder, kernel, "FAKE CUBIN of so many bytes that most of them can be changed");
  add_product(folder, product_kernel(16, 2), "FAKE CUBIN of another kernel");
  folder.seal();
  expect_no_corruption_loads(folder, 500);
  EXPECT_THAT(calls(), Not(HasSubstr("cuModuleLoadData")));
  open(folder);
}

TEST_F(CudaRuntime, TheProcessorComesFirstUnlessATargetIsNamed) {
  BundleFolder folder;
  json kernel = product_kernel(4, 1);
  kernel["workload"] = "scale m=4 width=4 kind=double";
  kernel["defaults"] = "kind=double";
  add_product(folder, kernel);
  add_scale(folder, 4, 100);
  folder.seal();
  open(folder);
  EXPECT_STREQ(info_of(find("scale m=4 width=4")).target, "cpu");
  EXPECT_STREQ(info_of(find("scale m=4 width=4", LEHR_CUDA)).target, "cuda");
  EXPECT_STREQ(info_of(find("scale m=4 width=4", LEHR_CPU)).target, "cpu");
  const lehr_find_options wrong = {sizeof wrong, 0, 0, 9};
  lehr_kernel none;
  EXPECT_EQ(lehr_find(bundle_, "scale m=4 width=4", &wrong, &none, nullptr), LEHR_BAD_ARGUMENT);
}

}  // namespace
}  // namespace lehr::testing
