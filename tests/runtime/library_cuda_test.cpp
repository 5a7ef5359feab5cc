// Tests of a library's kernels for CUDA on a driver that is a stand-in: which of them a context chooses, how
// they are launched, what is allocated and freed, and every way of getting it wrong.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/driver.h"
#include "runtime/table.h"

namespace lehr::testing {
namespace {

runtime::Table the_table;

}  // namespace
}  // namespace lehr::testing

const lehr::runtime::Table& lehr::runtime::library_table() {
  return testing::the_table;
}

namespace lehr::testing {
namespace {

using runtime::CudaKernel;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr kernels_tensor tensor(const char* name, std::uint32_t role, std::uint64_t rows,
                                std::uint64_t columns) {
  kernels_tensor tensor = {name, "f32", role, 0, 16, 2, {rows, columns}, {columns, 1}, 0, 0};
  tensor.bytes = 4 * rows * columns;
  return tensor;
}
constexpr kernels_tensor kOfProduct[] = {tensor("a", KERNELS_IN, 4, 4), tensor("b", KERNELS_IN, 4, 8),
                                         tensor("c", KERNELS_OUT, 4, 8)};
constexpr kernels_tensor kOfDouble[] = {tensor("a", KERNELS_IN, 4, 4), tensor("c", KERNELS_OUT, 4, 4)};

constexpr CudaTensorMapArguments map_of_floats() {
  CudaTensorMapArguments map;
  map.type = 7;
  map.rank = 2;
  map.dims = {4, 4};
  map.stride_bytes = {16};
  map.box = {4, 2};
  map.steps = {1, 1};
  return map;
}
constexpr CudaTensorMapArguments kMap = map_of_floats();
constexpr const CudaTensorMapArguments* kMapsOfProduct[] = {&kMap, nullptr, &kMap};
constexpr std::uint64_t kWorkspaces[] = {300, 4};

// Returns C = A B of 4 x 4 by 4 x 8, as the stand-in computes it for a kernel of that name.
CudaKernel product(double time_us = 1) {
  CudaKernel kernel;
  kernel.name = "gemm_4_8_4";
  kernel.device = "H200";
  kernel.arch = "sm_90a";
  kernel.arch_number = 90;
  kernel.this_arch_alone = true;
  kernel.multiprocessors = 132;
  kernel.compiler = 13000;
  kernel.ptx = runtime::kNoImage;
  kernel.grid = {2, 3, 4};
  kernel.block = {32, 2, 1};
  kernel.shared_bytes = 1024;
  kernel.programmatic = true;
  kernel.time_us = time_us;
  kernel.max_error = 1e-6;
  return kernel;
}

// Returns C = 2 A of 16 elements, with a workspace that has to be zero when it begins.
CudaKernel with_workspaces(const char* name, std::uint32_t count = 1) {
  CudaKernel kernel = product();
  kernel.name = name;
  kernel.grid = {1, 1, 1};
  kernel.block = {16, 1, 1};
  kernel.workspaces = kWorkspaces;
  kernel.workspace_count = count;
  return kernel;
}

template <typename Value>
CudaKernel with(Value CudaKernel::* member, Value value, CudaKernel kernel = product()) {
  kernel.*member = value;
  return kernel;
}

// Returns the kernel as if it were for that architecture.
CudaKernel for_arch(const char* arch, std::uint32_t number, CudaKernel kernel = product()) {
  kernel.arch = arch;
  kernel.arch_number = number;
  return kernel;
}

/// The program's library while it lives: each function has some kernels.
class Library {
 public:
  explicit Library(std::vector<std::vector<CudaKernel>> kernels,
                   std::vector<std::string> images = {"FAKE CUBIN"})
      : kernels_(std::move(kernels)), images_(std::move(images)), names_(kernels_.size()) {
    for (const std::string& image : images_)
      shown_images_.push_back({reinterpret_cast<const unsigned char*>(image.c_str()), image.size()});
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      names_[i] = fmt::format("function {}", i);
      runtime::Function function;
      const bool doubles = std::string_view(kernels_[i][0].name).starts_with("workspace_");
      function.shown = {names_[i].c_str(),
                        names_[i].c_str(),
                        doubles ? kOfDouble : kOfProduct,
                        doubles ? 2U : 3U,
                        KERNELS_CUDA,
                        0,
                        0};
      function.cuda = kernels_[i].data();
      function.variant_count = static_cast<std::uint32_t>(kernels_[i].size());
      functions_.push_back(function);
    }
    the_table = {.interface = 7,
                 .functions = functions_.data(),
                 .function_count = static_cast<std::uint32_t>(functions_.size()),
                 .images = shown_images_.data(),
                 .image_count = static_cast<std::uint32_t>(images_.size())};
  }
  ~Library() { the_table = {}; }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  std::vector<runtime::Function>& functions() { return functions_; }

 private:
  std::vector<std::vector<CudaKernel>> kernels_;
  std::vector<std::string> images_, names_;
  std::vector<runtime::Image> shown_images_;
  std::vector<runtime::Function> functions_;
};

/// A context, or the reason why it was not made.
class Context {
 public:
  explicit Context(void* stream = nullptr, int device = 0) {
    kernels_options options = {};
    options.cuda = 1;
    options.cuda_device = device;
    char said[600] = "";
    context_ = kernels_create_for(7, &options, said, sizeof said);
    said_ = said;
    if (context_ != nullptr) kernels_stream(context_, stream);
  }
  ~Context() { kernels_destroy(context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  kernels_context* get() const { return context_; }
  std::string said() const { return context_ != nullptr ? kernels_message(context_) : said_; }
  kernels_status call(const std::vector<void*>& arguments, std::uint32_t function = 0) const {
    return kernels_call(context_, kernels_at(function), arguments.data(), 0);
  }
  kernels_variant row(std::uint32_t function = 0) const {
    kernels_variant row = {};
    EXPECT_EQ(kernels_describe(context_, kernels_at(function), 0, &row), KERNELS_OK) << said();
    return row;
  }

 private:
  kernels_context* context_ = nullptr;
  std::string said_;
};

struct alignas(256) Floats {
  std::array<float, 64> values{};
};

/// A product whose result is known: A is the row's number, B is the column's.
struct Product {
  Floats a, b, c;
  Product() {
    for (std::size_t i = 0; i < 16; ++i) a.values[i] = static_cast<float>(i / 4);
    for (std::size_t i = 0; i < 32; ++i) b.values[i] = static_cast<float>(i % 8);
    c.values.fill(-1);
  }
  std::vector<void*> arguments() { return {&a, &b, &c}; }
  bool written() const {
    return std::any_of(c.values.begin(), c.values.end(), [](float value) { return value != -1; });
  }
  bool right() const {
    for (std::size_t i = 0; i < 64; ++i) {
      const float wanted = i < 32 ? 4.0F * static_cast<float>(i / 8) * static_cast<float>(i % 8) : -1;
      if (c.values[i] != wanted) return false;
    }
    return true;
  }
};

/// C = 2 A.
struct Double {
  Floats a, c;
  Double() {
    a.values.fill(3);
    c.values.fill(-1);
  }
  std::vector<void*> arguments() { return {&a, &c}; }
  bool right() const {
    for (std::size_t i = 0; i < 64; ++i)
      if (c.values[i] != (i < 16 ? 6 : -1)) return false;
    return true;
  }
};

// This test comes first: nothing has loaded the stand-in yet, and the library keeps what it has loaded.
TEST(LibraryCudaAlone, NeedsADriver) {
  if (void* const real = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    dlclose(real);
    GTEST_SKIP() << "this machine has a driver";
  }
  const Library library({{product()}});
  const Context context;
  EXPECT_EQ(context.get(), nullptr);
  EXPECT_EQ(context.said(),
            "the library's kernels for CUDA need the CUDA driver (libcuda.so.1), which is not installed");
}

TEST(LibraryCudaAlone, FindsWhatAnOldDriverLacks) {
  void* const old = dlopen(LEHR_FAKE_CUDA_DRIVER_BEFORE_11_8, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(old, nullptr) << dlerror();
  runtime::CudaFunctions functions;
  EXPECT_STREQ(functions.find(old), "cuOccupancyMaxActiveClusters");
}

class LibraryCuda : public ::testing::Test {
 protected:
  LibraryCuda() : fake_(dlopen(LEHR_FAKE_LIBCUDA, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(fake_, nullptr) << dlerror();
    reset();
  }

  template <typename Signature>
  Signature* fake(const char* name) const {
    return reinterpret_cast<Signature*>(dlsym(fake_, name));
  }
  void reset(std::size_t memory = std::size_t{1} << 20) {
    fake<void(std::size_t)>("fake_cuda_reset")(memory);
    fake<int(void**, unsigned)>("cuStreamCreate")(&stream_, 0);
  }
  std::string calls() const { return fake<const char*()>("fake_cuda_calls")(); }
  // Returns the calls since `before`, which was calls().
  std::string calls_since(const std::string& before) const { return calls().substr(before.size()); }
  int count(const std::string& call) const {
    int count = 0;
    const std::string all = calls();
    for (std::size_t at = 0; (at = all.find(call + " ", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  std::string last_launch() const { return fake<const char*()>("fake_cuda_launch")(); }
  std::size_t argument(std::size_t number) const {
    return fake<std::size_t(std::size_t)>("fake_cuda_argument")(number);
  }
  void set_attribute(int attribute, int value) const {
    fake<void(int, int)>("fake_cuda_set_attribute")(attribute, value);
  }
  void refuse(const char* call, int code) const {
    fake<void(const char*, int)>("fake_cuda_refuse")(call, code);
  }
  // Returns what the driver has lent: modules, pieces of memory, primary contexts.
  std::vector<int> taken() const {
    return {fake<int()>("fake_cuda_modules")(), fake<int()>("fake_cuda_allocations")(),
            fake<int()>("fake_cuda_retained")()};
  }

  void* fake_;
  void* stream_ = nullptr;
};

TEST_F(LibraryCuda, LaunchesAsItWasTimed) {
  const Library library({{product()}});
  const Context context(stream_);
  ASSERT_NE(context.get(), nullptr) << context.said();
  Product product;
  ASSERT_EQ(context.call(product.arguments()), KERNELS_OK) << context.said();
  EXPECT_TRUE(product.right());
  EXPECT_EQ(last_launch(), "gemm_4_8_4 grid 2 3 4 block 32 2 1 shared 1024, programmatic");
  // Its context was current while it was launched, and is no longer.
  EXPECT_THAT(calls(), HasSubstr("cuCtxPushCurrent cuLaunchKernelEx, programmatic cuCtxPopCurrent"));
  EXPECT_EQ(context.said(), "");
  const kernels_variant row = context.row();
  EXPECT_STREQ(row.kernel, "gemm_4_8_4");
  EXPECT_STREQ(row.device, "H200");
  EXPECT_STREQ(row.arch, "sm_90a");
  EXPECT_EQ(row.threads, 0u);
  EXPECT_EQ(row.cold, 0u);
  EXPECT_EQ(row.time_us, 1);
  EXPECT_EQ(row.max_error, 1e-6);
  EXPECT_EQ(row.other_device + row.from_ptx, 0u);
}

TEST_F(LibraryCuda, CallsGoToTheStreamThatWasSetLast) {
  const Library library({{with(&CudaKernel::programmatic, false)}});
  const Context context(stream_);
  Product product, later;
  kernels_stream(context.get(), this);  // the stand-in knows one stream and the default one
  EXPECT_EQ(context.call(product.arguments()), KERNELS_DRIVER_ERROR);
  EXPECT_EQ(context.said(), "the CUDA driver does not launch the kernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  kernels_stream(context.get(), nullptr);
  EXPECT_EQ(context.call(product.arguments()), KERNELS_OK);
  EXPECT_EQ(last_launch(), "gemm_4_8_4 grid 2 3 4 block 32 2 1 shared 1024");
  kernels_stream(context.get(), stream_);
  EXPECT_EQ(context.call(later.arguments()), KERNELS_OK);
  EXPECT_TRUE(product.right() && later.right());
}

TEST_F(LibraryCuda, IsTakenIntoAGraph) {
  const Library library({{with(&CudaKernel::maps, &kMapsOfProduct[0])}, {with_workspaces("workspace_ok")}});
  const Context context(stream_);
  Product product;
  Double twice;
  fake<int(void*, int)>("cuStreamBeginCapture_v2")(stream_, 0);
  const std::string before = calls();
  ASSERT_EQ(context.call(product.arguments()), KERNELS_OK);
  ASSERT_EQ(context.call(twice.arguments(), 1), KERNELS_OK);
  EXPECT_EQ(calls_since(before),
            "cuCtxPushCurrent cuTensorMapEncodeTiled cuTensorMapEncodeTiled cuLaunchKernelEx, programmatic "
            "cuCtxPopCurrent cuCtxPushCurrent cuLaunchKernelEx, programmatic cuCtxPopCurrent ");
  EXPECT_FALSE(product.written());
  void *graph = nullptr, *executable = nullptr;
  fake<int(void*, void**)>("cuStreamEndCapture")(stream_, &graph);
  fake<int(void**, void*, unsigned long long)>("cuGraphInstantiateWithFlags")(&executable, graph, 0);
  fake<int(void*, void*)>("cuGraphLaunch")(executable, stream_);
  EXPECT_TRUE(product.right());
  EXPECT_TRUE(twice.right());
}

TEST_F(LibraryCuda, TakesTheFastestOfThoseThatWereTunedOnThisGpu) {
  const auto taken = [](std::vector<CudaKernel> kernels,
                        std::vector<std::string> images = {"FAKE CUBIN", ".version 7.8"}) {
    for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i].max_error = static_cast<double>(i);
    const Library library({std::move(kernels)}, std::move(images));
    const Context context;
    if (context.get() == nullptr) return context.said();
    const kernels_variant row = context.row();
    return fmt::format("{}{}{}", row.max_error, row.other_device != 0 ? " other device" : "",
                       row.from_ptx != 0 ? " from PTX" : "");
  };
  const auto on = [](std::uint32_t multiprocessors, double us) {
    return with(&CudaKernel::multiprocessors, multiprocessors, product(us));
  };
  EXPECT_EQ(taken({on(132, 3), on(132, 2), on(132, 4)}), "1");
  EXPECT_EQ(taken({on(132, 2), on(132, 2)}), "0") << "the first of those that take as long";
  EXPECT_EQ(taken({on(114, 1), on(132, 2)}), "1");
  EXPECT_EQ(taken({on(114, 3), on(78, 2)}), "1 other device");
  CudaKernel none = on(132, 1), ptx = on(132, 1);
  none.block = {512, 1, 1};
  EXPECT_EQ(taken({none, on(132, 2), on(114, 1)}), "1") << "the next one where the fastest has no room";
  EXPECT_EQ(taken({none, on(132, 1)}), "1") << "that takes as long";
  EXPECT_EQ(taken({none, on(114, 2)}), "1 other device");
  EXPECT_EQ(taken({for_arch("sm_100a", 100, on(132, 0.5)), none}),
            "the kernel for 'function 0' needs blocks of 512 threads, and this GPU allows it 256");
  ptx.cubin = 2;
  ptx.ptx = 1;
  const std::vector<std::string> images = {"FAKE CUBIN", ".version 7.8", "FAKE CUBIN OF ANOTHER GPU"};
  EXPECT_EQ(taken({ptx}, images), "0 other device from PTX");
  EXPECT_EQ(taken({ptx, on(132, 2)}, images), "1");
  EXPECT_EQ(taken({ptx, on(114, 2)}, images), "0 other device from PTX");
}

TEST_F(LibraryCuda, SaysWhatAKernelNeeds) {
  const auto said = [](const CudaKernel& kernel, const std::string& image = "FAKE CUBIN") {
    const Library library({{kernel}}, {image, ".version 7.8"});
    const Context context;
    return context.get() == nullptr ? context.said() : context.row().from_ptx != 0 ? "from PTX" : "";
  };
  const std::string needs = "the kernel for 'function 0' needs ";
  EXPECT_EQ(said(for_arch("sm_100a", 100)), needs + "sm_100a, and this GPU is sm_90: tune on one like it");
  CudaKernel other = with(&CudaKernel::this_arch_alone, false, for_arch("sm_80", 80));
  EXPECT_EQ(said(other), needs + "sm_80, and this GPU is sm_90: tune on one like it");
  other.ptx = 1;
  EXPECT_EQ(said(other), "from PTX");
  other.compiler = 13010;
  EXPECT_EQ(said(other), needs + "sm_80, and this GPU is sm_90: tune on one like it")
      << "PTX that is newer than the driver";
  EXPECT_EQ(said(product(), "FAKE CUBIN OF ANOTHER GPU"),
            needs + "another GPU or driver: this one says an unknown error");
  EXPECT_EQ(said(with(&CudaKernel::compiler, 13010u)), "") << "machine code of a newer minor version";
  EXPECT_EQ(said(with(&CudaKernel::compiler, 14000u)),
            needs + "a driver of CUDA 14, and this one is of 13.0");
  EXPECT_EQ(said(with(&CudaKernel::block, {512, 1, 1})),
            needs + "blocks of 512 threads, and this GPU allows it 256");
  EXPECT_EQ(said(with(&CudaKernel::shared_bytes, 232448u)), "");
  EXPECT_EQ(said(with(&CudaKernel::shared_bytes, 232449u)),
            needs + "232449 bytes of shared memory for each block");
  EXPECT_EQ(said(with(&CudaKernel::cluster, 2u)), "");
  EXPECT_EQ(said(with(&CudaKernel::cluster, 16u)),
            needs + "clusters of 16 blocks, which this GPU or its part cannot hold");
  set_attribute(75, 8);
  EXPECT_EQ(said(product()), needs + "sm_90a, and this GPU is sm_80: tune on one like it");
  EXPECT_EQ(count("cuModuleLoadData"), count("cuModuleUnload"));
  EXPECT_EQ(taken(), (std::vector{0, 0, 0}));
}

TEST_F(LibraryCuda, SharedMemoryIsAskedForAboveTheDefault) {
  const auto asked = [&](unsigned bytes) {
    const Library library({{with(&CudaKernel::shared_bytes, bytes)}});
    const Context context;
    return fake<int(const char*)>("fake_cuda_dynamic_shared")("gemm_4_8_4");
  };
  EXPECT_EQ(asked(49152 - 64), 0) << "with the 64 that the kernel has itself";
  EXPECT_EQ(asked(49152), 49152);
}

TEST_F(LibraryCuda, OthersRunWhereOneDoesNot) {
  const Library library({{for_arch("sm_100a", 100)}, {product()}});
  const Context context(stream_);
  ASSERT_NE(context.get(), nullptr) << context.said();
  Product one, other;
  EXPECT_EQ(context.call(one.arguments(), 0), KERNELS_NO_KERNEL);
  EXPECT_EQ(context.said(),
            "the kernel for 'function 0' needs sm_100a, and this GPU is sm_90: tune on one like it");
  EXPECT_EQ(context.call(other.arguments(), 1), KERNELS_OK);
  EXPECT_TRUE(!one.written() && other.right());
  kernels_variant row = {};
  EXPECT_EQ(kernels_describe(context.get(), kernels_at(0), 0, &row), KERNELS_NO_KERNEL);
}

TEST_F(LibraryCuda, ALibraryForProcessorsHasNone) {
  Library library({{product()}});
  library.functions()[0].shown.target = KERNELS_CPU;
  const Context context;
  EXPECT_EQ(context.get(), nullptr);
  EXPECT_EQ(context.said(), "the library has no kernels for CUDA");
}

TEST_F(LibraryCuda, WorkspacesAreZeroAndApart) {
  const Library library(
      {{with_workspaces("workspace_left_dirty", 2)}, {with_workspaces("workspace_two", 2)}});
  const Context context(stream_);
  ASSERT_NE(context.get(), nullptr) << context.said();
  // The wait is for streams that do not wait for the default one.
  EXPECT_THAT(calls(), HasSubstr("cuMemAlloc cuMemsetD8 cuStreamSynchronize cuCtxPopCurrent"));
  EXPECT_EQ(count("cuMemAlloc"), 1);
  Double first, again, other;
  EXPECT_EQ(context.call(first.arguments(), 0), KERNELS_OK);
  const std::size_t dirty = argument(2);
  EXPECT_TRUE(first.right());
  EXPECT_EQ(context.call(again.arguments(), 0), KERNELS_OK);
  EXPECT_EQ(argument(2), dirty);
  EXPECT_FALSE(again.right()) << "its workspace is what it left there";
  EXPECT_EQ(context.call(other.arguments(), 1), KERNELS_OK);
  EXPECT_TRUE(other.right());
  EXPECT_EQ(argument(2), dirty + 512 + 256);
  EXPECT_EQ(argument(3), dirty + 512 + 256 + 512);
  EXPECT_EQ(dirty % 256, 0u);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(argument(2));
  EXPECT_EQ(std::count(bytes, bytes + 512 + 256, 0), 512 + 256);
}

TEST_F(LibraryCuda, TensorMapsAreKeptUntilAnAddressIsAnother) {
  const Library library({{with(&CudaKernel::maps, &kMapsOfProduct[0])},
                         {product()},
                         {with(&CudaKernel::maps, &kMapsOfProduct[0])}});
  const Context context(stream_);
  Product product, other;
  const auto made = [&](const std::vector<void*>& arguments, std::uint32_t function = 0) {
    const int before = count("cuTensorMapEncodeTiled");
    EXPECT_EQ(context.call(arguments, function), KERNELS_OK) << context.said();
    return count("cuTensorMapEncodeTiled") - before;
  };
  EXPECT_EQ(made(product.arguments()), 2);
  EXPECT_STREQ(fake<const char*()>("fake_cuda_tensor_map")(),
               "type 7 rank 2 dims 4 4 strides 16 box 4 2 0 0 3 0");
  EXPECT_TRUE(product.right());
  product.c.values.fill(-1);
  EXPECT_EQ(made(product.arguments()), 0);
  EXPECT_TRUE(product.right());
  EXPECT_EQ(made({&product.a, &product.b, &other.c}), 1);
  EXPECT_EQ(made({&product.a, &other.b, &other.c}), 0) << "it is no map's";
  EXPECT_TRUE(other.right());
  EXPECT_EQ(made(other.arguments(), 1), 0);
  EXPECT_EQ(made(other.arguments(), 2), 2) << "each function has its own";
  EXPECT_EQ(made({&product.a, &product.b, &other.c}), 0);
  // When the driver has refused a call, neither its address nor the one before is known any more.
  const auto refused = [&](const std::vector<void*>& arguments) {
    refuse("cuTensorMapEncodeTiled", 1);
    EXPECT_EQ(context.call(arguments), KERNELS_DRIVER_ERROR);
    EXPECT_EQ(context.said(), "the CUDA driver does not make a tensor map: an unknown error");
    refuse("cuTensorMapEncodeTiled", 0);
  };
  refused(other.arguments());
  EXPECT_EQ(made(other.arguments()), 1);
  refused({&product.a, &product.b, &other.c});
  product.a.values.fill(9);
  other.c.values.fill(-1);
  EXPECT_EQ(made(other.arguments()), 1);
  EXPECT_TRUE(other.right());
}

TEST_F(LibraryCuda, ContextsShareNothing) {
  const Library library({{with_workspaces("workspace_left_dirty")}});
  const Context first(stream_);
  {
    const Context second(stream_);
    EXPECT_EQ(taken(), (std::vector{2, 2, 2}));
    Double here, there;
    EXPECT_EQ(first.call(here.arguments()), KERNELS_OK);
    const std::size_t workspace = argument(2);
    EXPECT_EQ(second.call(there.arguments()), KERNELS_OK);
    EXPECT_TRUE(here.right() && there.right());
    EXPECT_NE(argument(2), workspace);
  }
  EXPECT_EQ(taken(), (std::vector{1, 1, 1}));
  EXPECT_EQ(first.row().time_us, 1);
}

TEST_F(LibraryCuda, AnImageIsLoadedOnce) {
  const Library library({{product()}, {with_workspaces("workspace_ok")}, {with(&CudaKernel::cubin, 1u)}},
                        {"FAKE CUBIN", "FAKE CUBIN, another one"});
  const Context context;
  EXPECT_EQ(taken(), (std::vector{2, 1, 1}));
  EXPECT_EQ(count("cuModuleGetFunction"), 3);
}

TEST_F(LibraryCuda, TheCallersContextIsTaken) {
  const Library library({{product()}});
  int theirs = 0, others = 0;
  const auto push = [&](void* context) { fake<int(void*)>("cuCtxPushCurrent_v2")(context); };
  const auto pop = [&] {
    void* popped = nullptr;
    fake<int(void**)>("cuCtxPopCurrent_v2")(&popped);
    return popped;
  };
  Product here, elsewhere, nowhere;
  push(&theirs);
  {
    const Context context(stream_, 7);
    ASSERT_NE(context.get(), nullptr) << "the device is that of the context: " << context.said();
    EXPECT_EQ(taken(), (std::vector{1, 0, 0})) << "no primary one";
    std::string before = calls();
    EXPECT_EQ(context.call(here.arguments()), KERNELS_OK);
    EXPECT_EQ(calls_since(before), "cuLaunchKernelEx, programmatic ") << "it is current";
    push(&others);
    before = calls();
    EXPECT_EQ(context.call(elsewhere.arguments()), KERNELS_OK);
    EXPECT_EQ(calls_since(before), "cuCtxPushCurrent cuLaunchKernelEx, programmatic cuCtxPopCurrent ");
    EXPECT_EQ(pop(), &others) << "as it was";
    EXPECT_EQ(pop(), &theirs);
    EXPECT_EQ(context.call(nowhere.arguments()), KERNELS_OK);
    EXPECT_TRUE(here.right() && elsewhere.right() && nowhere.right());
  }
  EXPECT_THAT(calls(), HasSubstr("cuCtxPushCurrent cuModuleUnload cuCtxPopCurrent"));
  EXPECT_THAT(calls(), Not(HasSubstr("cuDevicePrimaryCtx")));
}

TEST_F(LibraryCuda, GivesBackWhatItTook) {
  const Library library({{with(&CudaKernel::maps, &kMapsOfProduct[0])}, {with_workspaces("workspace_ok")}});
  std::string before;
  {
    const Context context;
    EXPECT_EQ(taken(), (std::vector{1, 1, 1}));
    before = calls();
  }
  EXPECT_EQ(calls_since(before),
            "cuCtxPushCurrent cuMemFree cuModuleUnload cuCtxPopCurrent cuDevicePrimaryCtxRelease ");
  EXPECT_EQ(taken(), (std::vector{0, 0, 0}));
}

TEST_F(LibraryCuda, WhatTheDriverRefusesIsSaidByItsName) {
  const auto said = [&](const char* call, int code, const CudaKernel& kernel,
                        const char* image = "FAKE CUBIN", int device = 0) {
    const Library library({{with_workspaces("workspace_ok")}, {kernel}}, {"FAKE CUBIN", image});
    if (call != nullptr) refuse(call, code);
    const Context context(nullptr, device);
    EXPECT_EQ(context.get(), nullptr) << call;
    if (call != nullptr) refuse(call, 0);
    EXPECT_EQ(taken(), (std::vector{0, 0, 0})) << call;
    return context.said();
  };
  const CudaKernel sound = product(), second = with(&CudaKernel::cubin, 1u);
  EXPECT_EQ(said("cuInit", 701, sound),
            "the library's kernels for CUDA need a CUDA driver that starts: this one says "
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  EXPECT_EQ(said(nullptr, 0, sound, "FAKE CUBIN", 7),
            "the library's kernels for CUDA need CUDA device 7: the driver says CUDA_ERROR_INVALID_DEVICE");
  EXPECT_EQ(said("cuDevicePrimaryCtxRetain", 2, sound),
            "the library's kernels for CUDA need CUDA device 0: the driver says CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(said("cuCtxPushCurrent", 700, sound),
            "the CUDA driver does not make its context current: CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(said(nullptr, 0, second, "no image at all"),
            "the CUDA driver does not load gemm_4_8_4: CUDA_ERROR_INVALID_IMAGE");
  EXPECT_EQ(said(nullptr, 0, with(&CudaKernel::name, "absent")),
            "the CUDA driver does not find absent in its image: CUDA_ERROR_NOT_FOUND");
  EXPECT_EQ(said("cuMemsetD8", 700, sound),
            "the CUDA driver does not zero the workspaces: CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(said("cuStreamSynchronize", 700, sound),
            "the CUDA driver does not zero the workspaces: CUDA_ERROR_ILLEGAL_ADDRESS");
  reset(256);
  EXPECT_EQ(said(nullptr, 0, sound),
            "the CUDA driver does not give 512 bytes for workspaces: CUDA_ERROR_OUT_OF_MEMORY");
}

TEST_F(LibraryCuda, ACallSaysWhatTheDriverRefuses) {
  const Library library({{product()}});
  const Context context(stream_);
  Product product;
  refuse("cuCtxPushCurrent", 700);
  EXPECT_EQ(context.call(product.arguments()), KERNELS_DRIVER_ERROR);
  EXPECT_EQ(context.said(), "the CUDA driver does not make its context current: CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_FALSE(product.written());
  refuse("cuCtxPushCurrent", 0);
  EXPECT_EQ(context.call(product.arguments()), KERNELS_OK);
  EXPECT_TRUE(product.right());
}

}  // namespace
}  // namespace lehr::testing
