// Tests of the plug-in on an engine that is a stand-in, and for CUDA on a driver that is one, beside a
// library whose kernels can be read (tests/deploy/by_hand): what it asks of both, and every node that is
// wrong.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fake_engine.h"

namespace lehr::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using Ints = std::vector<std::int64_t>;

constexpr const char* kFile = "liblehr_onnxruntime.so";

/// A copy of the plug-in in a folder of its own, beside libraries; it loads each there once.
class Plugin {
 public:
  /// `path_in` returns the path by which the plug-in is loaded, given its folder.
  explicit Plugin(
      std::initializer_list<const char*> folders = {LEHR_BY_HAND},
      fs::path (*path_in)(const fs::path& folder) = +[](const fs::path& folder) { return folder / kFile; }) {
    static int count = 0;
    folder_ = fs::temp_directory_path() / fmt::format("lehr-plugin-{}-{}", getpid(), count++);
    fs::create_directory(folder_);
    fs::copy(LEHR_ONNXRUNTIME_PLUGIN, folder_ / kFile);
    for (const char* folder : folders)
      for (const fs::directory_entry& library : fs::directory_iterator(folder))
        if (library.path().extension() == ".so") fs::copy(library, folder_ / library.path().filename());
    library_ = dlopen(path_in(folder_).c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << dlerror();
    reset_engine();
  }
  ~Plugin() {
    EXPECT_EQ(engine().live, 0);
    EXPECT_EQ(told("prepacked_bytes"), 0u);
    fs::remove_all(folder_);
  }

  fs::path kernels() const { return folder_ / "libkernels.so"; }
  OrtStatus* enter(const OrtApiBase* base) const {
    OrtSessionOptions options;
    using Register = OrtStatus*(OrtSessionOptions*, const OrtApiBase*);
    return reinterpret_cast<Register*>(dlsym(library_, "RegisterCustomOps"))(&options, base);
  }
  const OrtCustomOp& op(bool cuda = false, std::string_view name = "Fused") const {
    EXPECT_EQ(enter(engine_base()), nullptr);
    EXPECT_EQ(engine().domain->name, "ai.lehr");
    for (const OrtCustomOp* one : engine().domain->ops)
      if (one->get_name(one) == name && (one->get_execution_provider_type(one) != nullptr) == cuda)
        return *one;
    throw std::logic_error("no such operator");
  }
  std::uint64_t told(const char* name) const {
    return reinterpret_cast<std::uint64_t (*)()>(
        dlsym(library_, fmt::format("lehr_onnxruntime_{}", name).c_str()))();
  }

 private:
  fs::path folder_;
  void* library_ = nullptr;
};

std::string text_of(OrtStatus* status) {
  if (status == nullptr) return "";
  const std::string text = status->text;
  ort::ReleaseStatus(engine_base()->get_api(17), status);
  return text;
}

/// A node and its kernel.
class Node {
 public:
  Node(const OrtCustomOp& op, const std::string& workload, Ints shapes, Ints output,
       std::vector<OrtValue*> inputs)
      : op_(op) {
    info.texts = {{"library", "kernels"}, {"workload", workload}};
    info.ints = {{"version", 4}, {"threads", 2}};
    output.insert(output.begin(), static_cast<std::int64_t>(output.size()));
    info.lists = {{"shapes", std::move(shapes)}, {"output_shapes", std::move(output)}};
    info.inputs = std::move(inputs);
  }
  ~Node() {
    if (kernel_ != nullptr) op_.kernel_destroy(kernel_);
  }
  std::string create() {
    return text_of(op_.create_kernel_v2(&op_, engine_base()->get_api(17), &info, &kernel_));
  }
  std::string run(OrtKernelContext& context) { return text_of(op_.kernel_compute_v2(kernel_, &context)); }

  OrtKernelInfo info;

 private:
  const OrtCustomOp& op_;
  void* kernel_ = nullptr;
};

constexpr const char* kOfRange = "gemm m=1..16 n=8 k=4 b=f32:row:constant";
constexpr const char* kOfFour = "gemm m=4 n=8 k=4";

OrtValue counted(std::int64_t rows, std::int64_t columns, std::int64_t period = 7) {
  OrtValue value{{rows, columns}, {}};
  for (std::int64_t i = 0; i < rows * columns; ++i) value.values.push_back(static_cast<float>(i % period));
  return value;
}

class PluginOnFakes : public ::testing::Test {
 protected:
  /// Returns a product of any number of rows with a constant B, which is packed.
  static std::unique_ptr<Node> product(const OrtCustomOp& op, OrtValue& b) {
    return std::make_unique<Node>(op, kOfRange, Ints{2, 0, 4, 2, 4, 8}, Ints{0, 8},
                                  std::vector<OrtValue*>{nullptr, &b});
  }
  static std::string run(Node& node, OrtValue& b, std::int64_t rows) {
    OrtValue a = counted(rows, 4);
    OrtKernelContext context{{&a, &b}, {}};
    return node.run(context);
  }
  static void expect_right(Node& node, OrtValue& b, std::int64_t rows) {
    OrtValue a = counted(rows, 4), wanted = b;
    OrtKernelContext context{{&a, &b}, {}};
    EXPECT_EQ(node.run(context), "");
    EXPECT_EQ(context.output.dims, (Ints{rows, 8}));
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows) * 8; ++i) {
      float sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += a.values[i / 8 * 4 + k] * wanted.values[k * 8 + i % 8];
      EXPECT_EQ(context.output.values[i], sum) << i;
    }
  }

  OrtValue b_ = counted(4, 8, 5);
};

TEST_F(PluginOnFakes, ASetComputesAsManyRowsAsComeAndNoOthers) {
  const Plugin plugin;
  const auto node = product(plugin.op(), b_);
  ASSERT_EQ(node->create(), "");
  EXPECT_GE(plugin.told("prepacked_bytes"), 128u);
  for (const std::int64_t rows : {1, 5, 16}) expect_right(*node, b_, rows);
  EXPECT_EQ(plugin.told("kernel_calls"), 3u);
  EXPECT_EQ(run(*node, b_, 17), "node 'a_node': its input has 17 rows, and its kernels are for 1 to 16");
  EXPECT_EQ(run(*node, b_, 0), "node 'a_node': its input has 0 rows, and its kernels are for 1 to 16");
  OrtValue wide = counted(4, 5);
  OrtKernelContext context{{&wide, &b_}, {}};
  EXPECT_EQ(node->run(context), "node 'a_node': its input 0 has another shape than its kernel is for");
  EXPECT_EQ(plugin.told("kernel_calls"), 3u);
}

// Its rows are two dimensions of the input, one of which may vary.
TEST_F(PluginOnFakes, RowsMayBeSeveralDimensions) {
  const Plugin plugin;
  Node node(plugin.op(), kOfRange, {3, 0, 2, 4, 2, 4, 8}, {0, 2, 8}, {nullptr, &b_});
  ASSERT_EQ(node.create(), "");
  OrtValue a = counted(6, 4), flat = a;
  a.dims = {3, 2, 4};
  OrtKernelContext context{{&a, &b_}, {}}, of_rows{{&flat, &b_}, {}};
  EXPECT_EQ(node.run(context), "");
  EXPECT_EQ(context.output.dims, (Ints{3, 2, 8}));
  const auto same = product(plugin.op(), b_);
  ASSERT_EQ(same->create(), "");
  EXPECT_EQ(same->run(of_rows), "");
  EXPECT_EQ(context.output.values, of_rows.output.values);
}

TEST_F(PluginOnFakes, ASizeOfASetIsFoundByItsWorkloadToo) {
  const Plugin plugin;
  Node node(plugin.op(), "gemm m=5 n=8 k=4 b=f32:row:constant", {2, 5, 4, 2, 4, 8}, {5, 8}, {nullptr, &b_});
  ASSERT_EQ(node.create(), "");
  expect_right(node, b_, 5);
  EXPECT_THAT(run(node, b_, 4), HasSubstr("its input 0 has another shape"));
}

TEST_F(PluginOnFakes, RowsMayBeAnInitializersWhereAllSizesAreSaid) {
  const Plugin plugin;
  OrtValue a = counted(5, 4);
  Node node(plugin.op(), kOfRange, {2, 5, 4, 2, 4, 8}, {5, 8}, {&a, &b_});
  ASSERT_EQ(node.create(), "");
  expect_right(node, b_, 5);
}

TEST_F(PluginOnFakes, TasksRunOnTheEnginesThreadsOrOnTheCallers) {
  const Plugin plugin;
  Node node(plugin.op(false, "FusedBf16"), "copied m=2 n=3", {2, 2, 3}, {2, 3}, {nullptr});
  node.info.types[0] = OrtElementType::kBfloat16;
  ASSERT_EQ(node.create(), "");
  for (const bool refuses : {false, true}) {
    engine().refuses_parallel_calls = refuses;
    alignas(16) std::array<std::uint16_t, 8> from = {1, 2, 3, 4, 5, 6}, to = {};
    OrtValue a{{2, 3}, {}, reinterpret_cast<float*>(from.data())};
    OrtKernelContext context{{&a}, {{}, {}, reinterpret_cast<float*>(to.data())}};
    EXPECT_EQ(node.run(context), "");
    EXPECT_EQ(to, from);
  }
  EXPECT_EQ(engine().parallel_calls, 2);
}

TEST_F(PluginOnFakes, CallsMayRunAtTheSameTime) {
  const Plugin plugin;
  const auto node = product(plugin.op(), b_);
  ASSERT_EQ(node->create(), "");
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int times = 0; times < 50; ++times) expect_right(*node, b_, 1 + (times + 3 * thread) % 16);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plugin.told("kernel_calls"), 200u);
}

TEST_F(PluginOnFakes, NodesWithTheSameWeightsPackThemOnce) {
  const Plugin plugin;
  const OrtCustomOp& op = plugin.op();
  OrtValue equal = b_, other = counted(4, 8, 3);
  const auto first = product(op, b_), second = product(op, b_), elsewhere = product(op, equal),
             different = product(op, other);
  for (Node* node : {first.get(), second.get(), elsewhere.get()}) ASSERT_EQ(node->create(), "");
  const std::uint64_t of_one = plugin.told("prepacked_bytes");
  ASSERT_EQ(different->create(), "");
  EXPECT_EQ(plugin.told("prepacked_bytes"), 2 * of_one);
  for (Node* node : {first.get(), second.get(), elsewhere.get()}) expect_right(*node, b_, 8);
  expect_right(*different, other, 8);
}

// An engine frees a closed session's weights before its nodes. Weights of another session may lie there then.
TEST_F(PluginOnFakes, OtherWeightsInTheSamePlaceAreOthers) {
  const Plugin plugin;
  OrtValue old = b_;
  auto closing = product(plugin.op(), b_);
  ASSERT_EQ(closing->create(), "");
  const std::uint64_t of_one = plugin.told("prepacked_bytes");
  for (float& one : b_.values) one += 1;
  const auto opened = product(plugin.op(), b_);
  ASSERT_EQ(opened->create(), "");
  EXPECT_EQ(plugin.told("prepacked_bytes"), 2 * of_one);
  expect_right(*opened, b_, 4);
  expect_right(*closing, old, 4);
  closing.reset();
  EXPECT_EQ(plugin.told("prepacked_bytes"), of_one);
  expect_right(*opened, b_, 4);
}

// Sessions are opened and closed in any order, by several threads.
TEST_F(PluginOnFakes, SharedWeightsLiveAsLongAsAnybodyUsesThem) {
  const Plugin plugin;
  const OrtCustomOp& op = plugin.op();
  OrtValue other = counted(4, 8, 3);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      std::vector<std::unique_ptr<Node>> nodes(6);
      for (std::size_t times = 0; times < 200; ++times) {
        std::unique_ptr<Node>& node = nodes[times * 7 % nodes.size()];
        OrtValue& b = (times + static_cast<std::size_t>(thread)) % 3 == 0 ? other : b_;
        node = product(op, b);
        EXPECT_EQ(node->create(), "");
        expect_right(*node, b, 4 * (1 + static_cast<std::int64_t>(times % 3)));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(PluginOnFakes, AnOlderEngineIsToldSo) {
  const Plugin plugin;
  EXPECT_EQ(text_of(plugin.enter(old_engine_base())),
            "the domain ai.lehr needs ONNX Runtime 1.17 or newer, this is 1.16.3");
}

TEST_F(PluginOnFakes, ALibraryThatIsNotThereOrNotOursIsNamed) {
  const Plugin plugin({LEHR_BY_HAND, LEHR_NEWER});
  const auto refusal = [&](const char* library) {
    const auto node = product(plugin.op(), b_);
    node->info.texts["library"] = library;
    return node->create();
  };
  EXPECT_THAT(refusal("others"), HasSubstr("node 'a_node': its kernels cannot be loaded: "));
  EXPECT_THAT(refusal("others"), HasSubstr("libothers.so: "));
  EXPECT_THAT(refusal("newer"),
              HasSubstr("libnewer.so is a library of format 99, and this plug-in reads format 1: apply it "));
  EXPECT_THAT(refusal("lehr_onnxruntime"),
              HasSubstr("liblehr_onnxruntime.so has no function lehr_onnxruntime_format"));
  for (const char* name : {"", "../kernels", "7", "Kernels", "a/b"})
    EXPECT_EQ(refusal(name), fmt::format("node 'a_node': '{}' is no name of a library", name));
}

TEST_F(PluginOnFakes, ALibraryThatWasCutIsRefusedBeforeItIsLoaded) {
  const Plugin plugin;
  fs::resize_file(plugin.kernels(), fs::file_size(plugin.kernels()) / 2);
  EXPECT_THAT(product(plugin.op(), b_)->create(), HasSubstr("libkernels.so is cut: it has "));
}

// The loader returns the same library for the same path as long as the process lives.
TEST_F(PluginOnFakes, ALibraryThatWasReplacedIsNamedWhereAFunctionIsMissing) {
  const Plugin plugin;
  const auto with = [&](const char* workload) {
    const auto node = product(plugin.op(), b_);
    node->info.texts["workload"] = workload;
    return node->create();
  };
  EXPECT_EQ(with(kOfRange), "");
  const fs::path made = plugin.kernels().string() + ".new";
  fs::copy(plugin.kernels(), made);
  EXPECT_THAT(with("gemm m=4 n=9 k=4"),
              HasSubstr("libkernels.so: the library has no kernel for 'gemm m=4 n=9 k=4'"));
  fs::rename(made, plugin.kernels());
  EXPECT_EQ(with(kOfRange), "");
  EXPECT_THAT(with("gemm m=4 n=9 k=4"),
              HasSubstr("libkernels.so was replaced after this process loaded it: start a new process"));
}

TEST_F(PluginOnFakes, TheFolderOfARelativePathIsKnownBehindAChangeOfFolders) {
  const fs::path before = fs::current_path();
  const Plugin plugin(
      {LEHR_BY_HAND}, +[](const fs::path& folder) {
        fs::current_path(folder);
        return fs::path(".") / kFile;
      });
  const OrtCustomOp& op = plugin.op();
  fs::current_path(before);
  EXPECT_EQ(product(op, b_)->create(), "");
}

TEST_F(PluginOnFakes, AnyFileMayBeALink) {
  const Plugin alone(
      {LEHR_BY_HAND}, +[](const fs::path& folder) {
        fs::create_directory(folder / "links");
        fs::create_symlink(folder / kFile, folder / "links" / kFile);
        return folder / "links" / kFile;
      });
  EXPECT_EQ(product(alone.op(), b_)->create(), "");
  const Plugin all(
      {LEHR_BY_HAND}, +[](const fs::path& folder) {
        fs::create_directory(folder / "files");
        for (const char* name : {kFile, "libkernels.so"}) {
          fs::rename(folder / name, folder / "files" / fmt::format("{}.0", name));
          fs::create_symlink(folder / "files" / fmt::format("{}.0", name), folder / name);
        }
        return folder / kFile;
      });
  EXPECT_EQ(product(all.op(), b_)->create(), "");
}

TEST_F(PluginOnFakes, WrongNodesAreRefusedInASentence) {
  const Plugin plugin;
  const OrtCustomOp& op = plugin.op();
  OrtValue narrow = counted(4, 7);
  const auto refusal = [&](const auto& change) {
    const auto node = product(op, b_);
    change(node->info);
    const std::string said = node->create();
    EXPECT_EQ(said.substr(0, 15), "node 'a_node': ");
    return said.substr(std::min<std::size_t>(15, said.size()));
  };
  const auto with = [&](const char* name, const Ints& list) {
    return refusal([&](OrtKernelInfo& info) { info.lists[name] = list; });
  };
  EXPECT_EQ(refusal([](OrtKernelInfo& info) { info.ints["version"] = 2; }),
            "it is of version 2, and this plug-in knows 4: take that of the lehr that wrote the model");
  EXPECT_EQ(refusal([](OrtKernelInfo& info) { info.ints["threads"] = 0; }), "its threads are 0");
  EXPECT_EQ(refusal([](OrtKernelInfo& info) { info.ints["threads"] = 5000; }),
            "a context has 1 to 4096 threads, not 5000");
  for (const char* name : {"version", "threads", "library", "workload", "shapes", "output_shapes"})
    EXPECT_EQ(refusal([&](OrtKernelInfo& info) {
                info.ints.erase(name);
                info.texts.erase(name);
                info.lists.erase(name);
              }),
              "no attribute of that name");
  const std::string no_shapes = "its attribute 'shapes' has no rank before so many dimensions, 8 at most";
  for (const Ints& list : {Ints{2, 0, 4, 2, 4}, Ints{2, 0, -4, 2, 4, 8}, Ints{-1}, Ints{1L << 40},
                           Ints{9, 1, 1, 1, 1, 1, 1, 1, 1, 1}})
    EXPECT_EQ(with("shapes", list), no_shapes);
  EXPECT_EQ(with("shapes", {}), "it has 2 inputs, and shapes of 0");
  EXPECT_EQ(with("shapes", {2, 0, 4, 2, 4, 8, 0}), "it has 2 inputs, and shapes of 3");
  for (const Ints& list : {Ints{9, 1, 1, 1, 1, 1, 1, 1, 1, 1}, Ints{2, 4}, Ints{-1}, Ints{2, 4, -8}})
    EXPECT_EQ(with("output_shapes", list),
              "its attribute 'output_shapes' has no rank before so many dimensions, 8 at most");
  EXPECT_EQ(with("output_shapes", {}), "it has shapes of 0 outputs");
  EXPECT_EQ(with("output_shapes", {0, 0, 0, 0, 0}), "it has shapes of 5 outputs");
  EXPECT_EQ(with("output_shapes", {2, 0, 8, 1, 4}),
            "it has 2 inputs and 2 outputs, and its kernel takes 2 and makes 1");
  EXPECT_EQ(with("output_shapes", {3, 4, 8, 0}),
            "its output follows a dimension that its first input has not");
  EXPECT_EQ(with("shapes", {2, 17, 4, 2, 4, 8}), "its input has 17 rows, and its kernels are for 1 to 16");
  EXPECT_EQ(with("shapes", {2, 0, 4, 2, 4, 7}), "its initializer 1 has another shape than it says");
  EXPECT_EQ(with("shapes", {2, 4, 4, 2, 4, 7}), "its b has 112 bytes, and its kernel's 128");
  EXPECT_EQ(refusal([](OrtKernelInfo& info) {
              info.lists = {{"shapes", {2, 4, 4, 2, 4, 8}}, {"output_shapes", {2, 4, 7}}};
            }),
            "its c has 112 bytes, and its kernel's 128");
  EXPECT_EQ(with("shapes", {2, 1L << 40, 1L << 40, 2, 4, 8}),
            "its input has 0 rows, and its kernels are for 1 to 16");
  EXPECT_EQ(refusal([](OrtKernelInfo& info) { info.types[0] = OrtElementType::kInt32; }),
            "its input 0 is of s32, and its kernel's a of f32");
  EXPECT_EQ(refusal([](OrtKernelInfo& info) { info.inputs[1] = nullptr; }),
            "its kernel packs b, which is no initializer");
  EXPECT_EQ(refusal([&](OrtKernelInfo& info) { info.inputs[1] = &narrow; }),
            "its initializer 1 has another shape than it says");
  EXPECT_EQ(refusal([](OrtKernelInfo& info) {
              info.inputs.push_back(nullptr);
              info.lists["shapes"].push_back(0);
            }),
            "it has 3 inputs and 1 outputs, and its kernel takes 2 and makes 1");
  EXPECT_THAT(refusal([](OrtKernelInfo& info) { info.texts["workload"] = "gemm m=4 n=9 k=4"; }),
              EndsWith("/libkernels.so: the library has no kernel for 'gemm m=4 n=9 k=4': `echo 'gemm m=4 "
                       "n=9 k=4' | lehr tune --problems "
                       "-` and `lehr export` make one"));
  EXPECT_EQ(refusal([](OrtKernelInfo& info) { info.texts["workload"] = kOfFour; }),
            "its shapes leave a dimension open, and its kernel has a fixed number of rows");
  OrtValue row = counted(1, 4);
  EXPECT_EQ(refusal([&](OrtKernelInfo& info) { info.inputs[0] = &row; }),
            "its a has rows that vary, and is an initializer");
  const OrtCustomOp& bytes = plugin.op(false, "FusedU8");
  EXPECT_EQ(bytes.get_output_type(&bytes, 0), OrtElementType::kUint8);
  EXPECT_EQ(product(bytes, b_)->create(), "node 'a_node': its operator makes u8, and its kernel f32");
}

TEST_F(PluginOnFakes, WhatComesOtherwiseThanItWasToldIsRefused) {
  const Plugin plugin;
  Node node(plugin.op(), kOfFour, {2, 4, 4, 2, 4, 8}, {4, 8}, {nullptr, nullptr});
  ASSERT_EQ(node.create(), "");
  expect_right(node, b_, 4);
  OrtValue a = counted(4, 4), turned = counted(8, 4);
  OrtKernelContext lacks{{&a, nullptr}, {}}, other{{&a, &turned}, {}};
  EXPECT_EQ(node.run(lacks), "node 'a_node': its input 1 is left out");
  EXPECT_EQ(node.run(other), "node 'a_node': its input 1 has another shape than its kernel is for");
  alignas(16) std::array<float, 17> unaligned{};
  OrtValue shifted{{4, 4}, {}, unaligned.data() + 1};
  OrtKernelContext context{{&shifted, &b_}, {}};
  EXPECT_EQ(node.run(context), "node 'a_node': kernels_four: a is not aligned to 16 bytes");
}

// ---- CUDA ----

class PluginOnFakeCuda : public ::testing::Test {
 protected:
  PluginOnFakeCuda() : fake_(dlopen(LEHR_FAKE_LIBCUDA, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(fake_, nullptr) << dlerror();
    call<void(std::size_t)>("fake_cuda_reset")(std::size_t{1} << 30);
    call<int(void**, unsigned)>("cuStreamCreate")(&stream_, 0);
  }
  template <typename Signature>
  Signature* call(const char* name) const {
    return reinterpret_cast<Signature*>(dlsym(fake_, name));
  }
  int modules() const { return call<int()>("fake_cuda_modules")(); }
  // Computes C = A B on a stream.
  std::string run(Node& node, void* stream) {
    OrtValue a{{4, 4}, {}, a_.data()}, b{{4, 8}, {}, b_.data()};
    for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = static_cast<float>(i % 7);
    for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = static_cast<float>(i % 5);
    c_.fill(-1);
    OrtKernelContext context{{&a, &b}, {{}, {}, c_.data()}, stream};
    return node.run(context);
  }
  void expect_right(Node& node, void* stream) {
    EXPECT_EQ(run(node, stream), "");
    for (std::size_t i = 0; i < 32; ++i) {
      float sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += a_[i / 8 * 4 + k] * b_[k * 8 + i % 8];
      EXPECT_EQ(c_[i], sum) << i;
    }
  }
  static Node product(const OrtCustomOp& op) {
    return {op, kOfFour, {2, 4, 4, 2, 4, 8}, {4, 8}, {nullptr, nullptr}};
  }

  void* fake_;
  void* stream_ = nullptr;
  alignas(256) std::array<float, 16> a_{};
  alignas(256) std::array<float, 32> b_{};
  alignas(256) std::array<float, 32> c_{};
};

TEST_F(PluginOnFakeCuda, EachStreamHasAContextAndTheLastNodeEndsThem) {
  const Plugin plugin;
  const OrtCustomOp& op = plugin.op(true);
  {
    Node node = product(op), other = product(op);
    ASSERT_EQ(node.create(), "");
    const int of_one = modules();
    EXPECT_GT(of_one, 0);
    ASSERT_EQ(other.create(), "");
    expect_right(node, stream_);
    expect_right(other, stream_);
    EXPECT_EQ(modules(), of_one) << "the one that was made with the nodes is the first stream's";
    expect_right(node, nullptr);
    expect_right(node, stream_);
    EXPECT_EQ(modules(), 2 * of_one);
    EXPECT_EQ(plugin.told("kernel_calls"), 4u);
    EXPECT_THAT(run(node, this), HasSubstr("node 'a_node': the CUDA driver does not launch the kernel: "));
  }
  EXPECT_EQ(modules(), 0);
  Node again = product(op);
  ASSERT_EQ(again.create(), "");
  expect_right(again, stream_);
}

TEST_F(PluginOnFakeCuda, AGpuThatNoKernelIsForIsNamed) {
  call<void(int, int)>("fake_cuda_set_attribute")(75, 8);
  const Plugin plugin;
  Node node = product(plugin.op(true));
  EXPECT_THAT(node.create(), HasSubstr("needs sm_90a, and this GPU is sm_80"));
}

TEST_F(PluginOnFakes, AFunctionMayMakeSeveralTensorsOfOneType) {
  const Plugin plugin;
  Node node(plugin.op(), "sums m=4 n=8", Ints{2, 4, 8}, Ints{4}, {nullptr});
  node.info.lists["output_shapes"] = {1, 4, 2, 4, 8};
  ASSERT_EQ(node.create(), "");
  OrtValue x = counted(4, 8);
  OrtKernelContext context{{&x}, {}};
  EXPECT_EQ(node.run(context), "");
  EXPECT_EQ(context.output.dims, Ints{4});
  EXPECT_EQ(context.second.dims, (Ints{4, 8}));
  for (std::size_t i = 0; i < 4; ++i) {
    float sum = 0;
    for (std::size_t j = 8 * i; j < 8 * (i + 1); ++j) {
      EXPECT_EQ(context.second.values[j], 2 * x.values[j]);
      sum += x.values[j];
    }
    EXPECT_EQ(context.output.values[i], sum);
  }
  Node other(plugin.op(), "sums m=4 n=8", Ints{2, 4, 8}, Ints{4}, {nullptr});
  EXPECT_EQ(other.create(),
            "node 'a_node': it has 1 inputs and 1 outputs, and its kernel takes 1 and makes 2");
  // The first output is of f32, and the operator declares both as f32.
  Node mixed(plugin.op(), "means m=1..16 n=8", Ints{2, 4, 8}, Ints{4}, {nullptr});
  mixed.info.lists["output_shapes"] = {1, 4, 2, 4, 8};
  EXPECT_EQ(mixed.create(), "node 'a_node': its operator makes f32, and its kernel bf16");
}

}  // namespace
}  // namespace lehr::testing
