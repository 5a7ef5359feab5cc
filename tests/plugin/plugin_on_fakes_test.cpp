// The plug-in on an engine that is a stand-in, and for CUDA on a driver that is one: what it asks of both,
// and every plan that is wrong.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fake_engine.h"
#include "tests/runtime/folder_support.h"

namespace lehr::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A copy of the plug-in in a folder of its own, beside `kernels`; it opens the bundle there once.
class Plugin {
 public:
  explicit Plugin(const std::string& kernels) {
    static int count = 0;
    folder_ = fs::temp_directory_path() / fmt::format("lehr-plugin-{}-{}", getpid(), count++);
    fs::create_directory(folder_);
    fs::copy(LEHR_ONNXRUNTIME_PLUGIN, folder_ / "liblehr_onnxruntime.so");
    if (!kernels.empty()) fs::create_symlink(kernels, folder_ / "kernels");
    library_ = dlopen((folder_ / "liblehr_onnxruntime.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << dlerror();
    reset_engine();
  }
  ~Plugin() { fs::remove_all(folder_); }

  OrtStatus* enter(const OrtApiBase* base) const {
    OrtSessionOptions options;
    using Register = OrtStatus*(OrtSessionOptions*, const OrtApiBase*);
    return reinterpret_cast<Register*>(dlsym(library_, "RegisterCustomOps"))(&options, base);
  }
  const OrtCustomOp& op(bool cuda, std::string_view name = "Fused") const {
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
  std::string folder() const { return folder_.string(); }

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
  Node(const OrtCustomOp& op, const std::string& workload, const json& plan, std::vector<OrtValue*> inputs)
      : op_(op) {
    info.texts = {{"workload", workload}, {"plan", plan.dump()}};
    info.ints = {{"version", 1}};
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

json node_of(const char* op, const json& inputs) {
  return {{"op", op},
          {"domain", ""},
          {"version", 17},
          {"inputs", inputs},
          {"types", {{"T", "f32"}}},
          {"attributes", json::object()}};
}

/// C = A times the diagonal 2 W: the engine's operators do it in two steps.
json scale_plan() {
  return {{"shapes", {{4, 4}, {4}}},
          {"output", {4, 4}},
          {"vary", {{"m", {{0, 0}}}}},
          {"constant", {1}},
          {"nodes", {node_of("Mul", {0, 1}), node_of("Add", {2, 2})}}};
}
constexpr const char* kScale = "scale m=4 width=4";

OrtValue rows(std::int64_t count) {
  OrtValue value{{count, 4}, {}};
  for (std::int64_t i = 0; i < count * 4; ++i) value.values.push_back(static_cast<float>(i));
  return value;
}

class PluginOnFakes : public ::testing::Test {
 protected:
  PluginOnFakes() {
    add_scale(folder_, 4, 1, 2);
    folder_.seal();
  }
  // What answers for so many rows, and that it is right.
  static void expect_right(Node& node, OrtValue& w, std::int64_t count) {
    OrtValue a = rows(count);
    OrtKernelContext context{{&a, &w}, {}};
    EXPECT_EQ(node.run(context), "");
    EXPECT_EQ(context.output.dims, (std::vector<std::int64_t>{count, 4}));
    for (std::size_t i = 0; i < a.values.size(); ++i)
      EXPECT_EQ(context.output.values[i], a.values[i] * 2 * w.values[i % 4]) << i;
  }

  BundleFolder folder_;
  OrtValue w_{{4}, {1, 2, 3, 4}};
};

TEST_F(PluginOnFakes, KernelsAndTheEngineShareTheWork) {
  const Plugin plugin(folder_.path());
  {
    Node node(plugin.op(false), kScale, scale_plan(), {nullptr, &w_});
    ASSERT_EQ(node.create(), "");
    EXPECT_THAT(engine().created, ElementsAre("Mul 13", "Add 13"));
    expect_right(node, w_, 4);
    EXPECT_EQ(engine().parallel_calls, 2) << "two steps on the engine's threads";
    // Two parts of one layout share what is prepacked.
    const std::uint64_t prepacked = plugin.told("prepacked_bytes");
    EXPECT_EQ(prepacked, 64u);
    expect_right(node, w_, 8);
    EXPECT_EQ(plugin.told("prepacked_bytes"), prepacked);
    EXPECT_EQ(plugin.told("kernel_calls"), 2u);
    EXPECT_THAT(engine().invoked, IsEmpty());
    for (int times = 0; times < 2; ++times) expect_right(node, w_, 3);
    EXPECT_THAT(engine().invoked, ElementsAre("Mul", "Add", "Mul", "Add"));
    EXPECT_EQ(plugin.told("engine_calls"), 2u);
    ASSERT_EQ(engine().log.size(), 1u) << "it is said once";
    EXPECT_THAT(engine().log[0],
                HasSubstr("node 'a_node' (for some of its shapes at least): the bundle has no "
                          "kernel for 'scale m=3 width=4'"));
  }
  EXPECT_EQ(plugin.told("prepacked_bytes"), 0u);
  EXPECT_EQ(engine().live, 0);
}

// Shapes that no call has had yet, and some that others have, from several threads.
TEST_F(PluginOnFakes, CallsMayRunAtTheSameTime) {
  const Plugin plugin(folder_.path());
  Node node(plugin.op(false), kScale, scale_plan(), {nullptr, &w_});
  ASSERT_EQ(node.create(), "");
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int times = 0; times < 50; ++times) expect_right(node, w_, 4 * (1 + (times + 3 * thread) % 12));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plugin.told("kernel_calls"), 200u);
  EXPECT_EQ(plugin.told("prepacked_bytes"), 64u);
}

TEST_F(PluginOnFakes, NodesWithTheSameWeightsPrepackThemOnce) {
  const Plugin plugin(folder_.path());
  const OrtCustomOp& op = plugin.op(false);
  OrtValue equal = w_, other{{4}, {1, 2, 3, 5}};
  {
    Node first(op, kScale, scale_plan(), {nullptr, &w_}), second(op, kScale, scale_plan(), {nullptr, &w_}),
        elsewhere(op, kScale, scale_plan(), {nullptr, &equal}),
        different(op, kScale, scale_plan(), {nullptr, &other});
    for (Node* node : {&first, &second, &elsewhere}) ASSERT_EQ(node->create(), "");
    EXPECT_EQ(plugin.told("prepacked_bytes"), 64u);
    ASSERT_EQ(different.create(), "");
    EXPECT_EQ(plugin.told("prepacked_bytes"), 128u);
    for (Node* node : {&first, &second, &elsewhere}) expect_right(*node, w_, 8);
    expect_right(different, other, 8);
    EXPECT_EQ(plugin.told("prepacked_bytes"), 128u) << "another shape has the same";
    EXPECT_EQ(plugin.told("engine_calls"), 0u);
  }
  EXPECT_EQ(plugin.told("prepacked_bytes"), 0u);
}

// An engine frees a closed session's weights before its nodes; those of another one may lie there then.
TEST_F(PluginOnFakes, OtherWeightsInTheSamePlaceAreOthers) {
  const Plugin plugin(folder_.path());
  const OrtCustomOp& op = plugin.op(false);
  OrtValue old = w_;
  auto closing = std::make_unique<Node>(op, kScale, scale_plan(), std::vector<OrtValue*>{nullptr, &w_});
  ASSERT_EQ(closing->create(), "");
  w_.values = {5, 6, 7, 8};
  Node opened(op, kScale, scale_plan(), {nullptr, &w_});
  ASSERT_EQ(opened.create(), "");
  EXPECT_EQ(plugin.told("prepacked_bytes"), 128u);
  expect_right(opened, w_, 4);
  expect_right(*closing, old, 4);
  closing.reset();
  EXPECT_EQ(plugin.told("prepacked_bytes"), 64u);
  expect_right(opened, w_, 4);
}

// Sessions are opened and closed in any order, by several threads.
TEST_F(PluginOnFakes, SharedWeightsLiveAsLongAsAnybodyUsesThem) {
  const Plugin plugin(folder_.path());
  const OrtCustomOp& op = plugin.op(false);
  OrtValue other{{4}, {1, 2, 3, 5}};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      std::vector<std::unique_ptr<Node>> nodes(6);
      for (std::size_t times = 0; times < 200; ++times) {
        std::unique_ptr<Node>& node = nodes[times * 7 % nodes.size()];
        OrtValue& w = (times + static_cast<std::size_t>(thread)) % 3 == 0 ? other : w_;
        node.reset();
        node = std::make_unique<Node>(op, kScale, scale_plan(), std::vector<OrtValue*>{nullptr, &w});
        EXPECT_EQ(node->create(), "");
        expect_right(*node, w, 4 * (1 + static_cast<std::int64_t>(times % 3)));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plugin.told("prepacked_bytes"), 0u);
}

TEST_F(PluginOnFakes, KernelsOfOtherProcessorsAreTheEngines) {
  folder_.manifest["kernels"][0]["features"] = {"amx-of-tomorrow"};
  folder_.seal();
  const Plugin plugin(folder_.path());
  Node node(plugin.op(false), kScale, scale_plan(), {nullptr, &w_});
  ASSERT_EQ(node.create(), "");
  EXPECT_THAT(engine().log, ElementsAre(HasSubstr("compute all fused nodes: ")));
  EXPECT_THAT(engine().log, ElementsAre(HasSubstr("amx-of-tomorrow")));
  expect_right(node, w_, 4);
}

TEST_F(PluginOnFakes, MoreShapesThanAreKeptAreTheEngines) {
  const Plugin plugin(folder_.path());
  Node node(plugin.op(false), kScale, scale_plan(), {nullptr, &w_});
  ASSERT_EQ(node.create(), "");
  for (std::int64_t count = 1; count <= 80; ++count) expect_right(node, w_, count);
  EXPECT_EQ(plugin.told("kernel_calls"), 61u) << "4 and more, among the first 64";
  expect_right(node, w_, 4);
  EXPECT_EQ(plugin.told("kernel_calls"), 62u);
}

TEST_F(PluginOnFakes, WithoutItsFilterAsAnInitializerNothingIsPrepacked) {
  const Plugin plugin(folder_.path());
  Node node(plugin.op(false), kScale, scale_plan(), {nullptr, nullptr});
  ASSERT_EQ(node.create(), "");
  EXPECT_THAT(engine().log, ElementsAre(HasSubstr("its kernel prepacks an input that is no initializer")));
  expect_right(node, w_, 4);
  EXPECT_THAT(engine().invoked, ElementsAre("Mul", "Add"));
}

TEST_F(PluginOnFakes, WithoutABundleTheEngineDoesIt) {
  const Plugin plugin("");
  const OrtCustomOp& op = plugin.op(false);
  Node node(op, kScale, scale_plan(), {nullptr, &w_}), other(op, kScale, scale_plan(), {nullptr, &w_});
  ASSERT_EQ(node.create(), "");
  ASSERT_EQ(other.create(), "");
  expect_right(node, w_, 4);
  expect_right(other, w_, 7);
  EXPECT_THAT(engine().log,
              ElementsAre(HasSubstr(fmt::format("compute all fused nodes: {}/kernels cannot be opened",
                                                fs::canonical(plugin.folder()).string()))));
}

TEST_F(PluginOnFakes, WhatTheEngineRefusesIsSaidWhereItIsNeeded) {
  const Plugin plugin(folder_.path());
  json plan = scale_plan();
  plan["nodes"][1] = node_of("Div", {2, 2});
  Node node(plugin.op(false), kScale, plan, {nullptr, &w_});
  ASSERT_EQ(node.create(), "");
  expect_right(node, w_, 4);
  OrtValue a = rows(3);
  OrtKernelContext context{{&a, &w_}, {}};
  EXPECT_EQ(node.run(context), "node 'a_node': the engine has no Div of version 17: Div is out of order");
}

// Integers of as many bytes: the kernel's numbers would be none.
TEST_F(PluginOnFakes, AKernelOfOtherTypesIsNotCalled) {
  const Plugin plugin(folder_.path());
  json plan = scale_plan();
  plan["types"] = {"f32", "s32"};
  Node node(plugin.op(false), kScale, plan, {nullptr, &w_});
  node.info.types[1] = OrtElementType::kInt32;
  ASSERT_EQ(node.create(), "");
  EXPECT_THAT(engine().log, ElementsAre(HasSubstr("its kernel's tensors are not those of the plan")));
  expect_right(node, w_, 4);
  EXPECT_EQ(plugin.told("kernel_calls"), 0u);
}

TEST_F(PluginOnFakes, TheOperatorSaysWhatIsMade) {
  const Plugin plugin(folder_.path());
  const OrtCustomOp& op = plugin.op(false, "FusedU8");
  EXPECT_EQ(op.get_output_type(&op, 0), OrtElementType::kUint8);
  EXPECT_EQ(Node(op, kScale, scale_plan(), {nullptr, &w_}).create(),
            "node 'a_node': its operator makes u8, and its plan f32");
}

TEST_F(PluginOnFakes, AnOlderEngineIsToldSo) {
  const Plugin plugin(folder_.path());
  EXPECT_EQ(text_of(plugin.enter(old_engine_base())),
            "the domain ai.lehr needs ONNX Runtime 1.17 or newer, this is 1.16.3");
}

TEST_F(PluginOnFakes, WrongPlansAreRefusedInASentence) {
  const Plugin plugin(folder_.path());
  const OrtCustomOp& op = plugin.op(false);
  const auto refusal = [&](const char* pointer, const json& value) {
    json plan = scale_plan();
    plan[json::json_pointer(pointer)] = value;
    return Node(op, kScale, plan, {nullptr, &w_}).create();
  };
  EXPECT_EQ(refusal("/shapes", json::object()), "node 'a_node': its plan is none: it has no 'shapes'");
  EXPECT_THAT(refusal("/shapes/0/0", 0), HasSubstr("a dimension is no positive whole number"));
  EXPECT_THAT(refusal("/shapes/0", json::array({1e9, 1e9, 1e9})), HasSubstr("too many elements"));
  EXPECT_THAT(refusal("/shapes/0", json(std::vector<int>(9, 1))), HasSubstr("more than 8 dimensions"));
  EXPECT_THAT(refusal("/shapes/2", json::array({1})), HasSubstr("it has 2 inputs, and its plan 3"));
  EXPECT_THAT(refusal("/constant/0", 2), HasSubstr("a number is of no input"));
  EXPECT_THAT(refusal("/vary/m/0/1", 2), HasSubstr("a dimension in 'vary' is none of its input's"));
  EXPECT_THAT(refusal("/vary/m", json::array()), HasSubstr("a field in 'vary' follows no dimension"));
  EXPECT_THAT(refusal("/nodes", json::array()), HasSubstr("it has no 'nodes'"));
  EXPECT_THAT(refusal("/nodes/0/inputs/0", 2), HasSubstr("neither the fused node's nor computed before it"));
  EXPECT_THAT(refusal("/nodes/0/types/T", "f33"), HasSubstr("a tensor has an unknown type"));
  EXPECT_THAT(refusal("/nodes/0/makes", "f33"), HasSubstr("a tensor has an unknown type"));
  EXPECT_THAT(refusal("/types", json::array({"f32", 7})), HasSubstr("a tensor has an unknown type"));
  EXPECT_THAT(refusal("/types", json::array({"f32"})), HasSubstr("not as many as its 'shapes'"));
  EXPECT_THAT(refusal("/types", json::array({"f32", "u8"})),
              HasSubstr("its input 1 is of f32, and its plan says u8"));
  EXPECT_THAT(refusal("/makes", "u8"), HasSubstr("its last node makes another type than it"));
  const auto constant = [&](const json& value) {
    return refusal("/nodes/1/inputs/1", {{"constant", value}});
  };
  EXPECT_THAT(constant({{"u8", -1}}), HasSubstr("a constant is out of its type's range"));
  EXPECT_THAT(constant({{"s32", {0, 2147483648}}}), HasSubstr("a constant is out of its type's range"));
  EXPECT_THAT(constant({{"s8", json::array()}}), HasSubstr("a list of a node is empty"));
  EXPECT_THAT(constant({{"floats", 1}}), HasSubstr("a list of a node is none"));
  EXPECT_THAT(constant({{"f", {1, 2}}}), HasSubstr("a number of a node is none"));
  EXPECT_THAT(constant({{"bf16", 1}}), HasSubstr("a constant's type is none of "));
  const auto shaped = [&](const json& shape) {
    return refusal("/nodes/1/inputs/1", {{"constant", {{"floats", {1, 2}}}}, {"shape", shape}});
  };
  EXPECT_THAT(shaped({2, 2}), HasSubstr("a constant has another number of elements than its shape"));
  EXPECT_THAT(shaped({1e15, 1e15}), HasSubstr("a constant has another number of elements than its shape"));
  EXPECT_THAT(shaped(2), HasSubstr("a shape is no array"));
  EXPECT_THAT(refusal("/nodes/0/attributes/p", 2), HasSubstr("a value has no type"));
  // Only a kernel may compute what the nodes do not: here neither does.
  EXPECT_EQ(
      refusal("/output/0", 5),
      "node 'a_node': no kernel computes it (its kernel's tensors are not those of the plan), nor do its "
      "nodes: the plan's nodes do not compute the plan's output");
  EXPECT_EQ(refusal("/nodes/0/op", "Unheard"), "") << "its kernel computes it";
  Node newer(op, kScale, scale_plan(), {nullptr, &w_});
  newer.info.ints["version"] = 3;
  EXPECT_THAT(newer.create(), HasSubstr("it is of version 3, and this plug-in knows 1 and 2"));
  Node truncated(op, kScale, scale_plan(), {nullptr, &w_});
  truncated.info.texts["plan"].resize(20);
  EXPECT_THAT(truncated.create(), HasSubstr("its plan is none: "));
  EXPECT_EQ(engine().live, 0);
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
  std::string calls() const { return call<const char*()>("fake_cuda_calls")(); }
  // C = A B of `count` rows on the node's stream.
  void expect_right(Node& node, std::int64_t count) {
    OrtValue a{{count, 4}, {}, a_.data()}, b{{4, 8}, {}, b_.data()};
    for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = static_cast<float>(i % 7);
    for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = static_cast<float>(i % 5);
    OrtKernelContext context{{&a, &b}, {{}, {}, c_.data()}, stream_};
    EXPECT_EQ(node.run(context), "");
    EXPECT_EQ(context.output.dims, (std::vector<std::int64_t>{count, 8}));
    for (std::size_t i = 0; i < static_cast<std::size_t>(count) * 8; ++i) {
      float sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += a_[i / 8 * 4 + k] * b_[k * 8 + i % 8];
      EXPECT_EQ(c_[i], sum) << i;
    }
  }
  static json plan() {
    return {{"shapes", {{4, 4}, {4, 8}}},
            {"output", {4, 8}},
            {"vary", {{"m", {{0, 0}}}}},
            {"constant", json::array()},
            {"nodes", {node_of("MatMul", {0, 1})}}};
  }

  void* fake_;
  void* stream_ = nullptr;
  alignas(256) std::array<float, 256> a_{};
  alignas(256) std::array<float, 32> b_{};
  alignas(256) std::array<float, 512> c_{};
};

TEST_F(PluginOnFakeCuda, KernelsAreLaunchedOnTheEnginesStream) {
  BundleFolder folder;
  add_product(folder, product_kernel(4, 1));
  folder.seal();
  const Plugin plugin(folder.path());
  {
    Node node(plugin.op(true), "gemm m=4 n=8 k=4", plan(), {nullptr, nullptr});
    ASSERT_EQ(node.create(), "");
    expect_right(node, 4);
    EXPECT_THAT(calls(), HasSubstr("cuLaunchKernelEx"));
    expect_right(node, 8);
    EXPECT_EQ(plugin.told("kernel_calls"), 2u) << ::testing::PrintToString(engine().log);
    expect_right(node, 3);
    EXPECT_THAT(engine().invoked, ElementsAre("MatMul"));
  }
  EXPECT_EQ(engine().live, 0);
}

TEST_F(PluginOnFakeCuda, AWorkspaceIsZeroedOnceForEachStream) {
  BundleFolder folder;
  json kernel = product_kernel(4, 1);
  kernel["name"] = "workspace_ok";
  kernel["file"] = "kernels/workspace_ok.cubin";
  kernel["params"].push_back({{"name", "counters"},
                              {"dtype", "u32"},
                              {"role", "workspace"},
                              {"bytes", 64},
                              {"alignment", 256},
                              {"slice_bytes", 0}});
  add_product(folder, kernel);
  folder.seal();
  const Plugin plugin(folder.path());
  {
    Node node(plugin.op(true), "gemm m=4 n=8 k=4", plan(), {nullptr, nullptr});
    ASSERT_EQ(node.create(), "");
    const auto zeroed = [&] {
      int count = 0;
      const std::string all = calls();
      for (std::size_t at = all.find("cuMemsetD8Async"); at != std::string::npos;
           at = all.find("cuMemsetD8Async", at + 1))
        ++count;
      return count;
    };
    OrtValue a{{4, 4}, {}, a_.data()}, b{{4, 8}, {}, b_.data()};
    const auto run = [&](void* stream) {
      OrtKernelContext context{{&a, &b}, {{}, {}, c_.data()}, stream};
      EXPECT_EQ(node.run(context), "");
    };
    run(stream_);
    run(stream_);
    EXPECT_EQ(zeroed(), 1);
    EXPECT_EQ(plugin.told("kernel_calls"), 2u);
    // The stand-in knows its own stream and the default one: on another the engine's operator computes.
    run(this);
    EXPECT_EQ(zeroed(), 2);
    EXPECT_THAT(engine().invoked, ElementsAre("MatMul"));
    EXPECT_THAT(engine().log, ElementsAre(HasSubstr("the CUDA driver does not launch the kernel")));
  }
  EXPECT_EQ(engine().live, 0);
}

}  // namespace
}  // namespace lehr::testing
