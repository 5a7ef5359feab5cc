// Tests of the code that the system's compiler makes of the kernels for processors with instructions for bf16
// and 8-bit integers, which need not be this one. The innermost loops multiply by these instructions, as many
// as the tile has accumulators, and keep the accumulators in registers.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/text.h"
#include "codegen/emit.h"
#include "target/archs.h"
#include "target/isa.h"
#include "templates/catalog.h"
#include "tests/support/isa_limits.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

struct Instruction {
  std::uint64_t at = 0;
  std::string text;
  std::uint64_t jumps_to = 0;  ///< 0: it does not jump to an address
};

/// Returns the instructions of an object by function.
std::map<std::string, std::vector<Instruction>> disassembled(const std::string& object) {
  std::map<std::string, std::vector<Instruction>> functions;
  FILE* const pipe = ::popen(("objdump -d --no-show-raw-insn " + object).c_str(), "r");
  std::string name;
  char line[512];
  while (pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr) {
    char symbol[256] = {};
    unsigned long at = 0, target = 0;
    if (std::sscanf(line, "%lx <%255[^>]>:", &at, symbol) == 2) {
      name = symbol;
    } else if (std::sscanf(line, " %lx:", &at) == 1) {
      Instruction instruction = {at, std::string(line).substr(std::string(line).find(':') + 1), 0};
      char word[32] = {};
      if (std::sscanf(instruction.text.c_str(), " %31s %lx <", word, &target) == 2 && word[0] == 'j')
        instruction.jumps_to = target;
      functions[name].push_back(std::move(instruction));
    }
  }
  EXPECT_TRUE(pipe != nullptr && ::pclose(pipe) == 0) << "objdump";
  return functions;
}

bool is_dot(const Instruction& instruction, const std::string& dot) {
  return instruction.text.find(dot) != std::string::npos;
}

/// Returns the instructions of innermost loops that have such a dot.
std::vector<std::vector<Instruction>> loops_with(const std::vector<Instruction>& function,
                                                 const std::string& dot) {
  std::vector<std::vector<Instruction>> loops;
  for (std::size_t end = 0; end < function.size(); ++end) {
    const std::uint64_t target = function[end].jumps_to;
    if (target == 0 || target > function[end].at) continue;
    std::vector<Instruction> loop;
    bool is_inner = true;
    for (std::size_t i = 0; i < end; ++i) {
      if (function[i].at < target) continue;
      loop.push_back(function[i]);
      is_inner = is_inner && !(function[i].jumps_to >= target && function[i].jumps_to <= function[i].at);
    }
    if (is_inner && std::ranges::any_of(loop, [&](const Instruction& each) { return is_dot(each, dot); }))
      loops.push_back(std::move(loop));
  }
  return loops;
}

bool is_vector_in_stack(const Instruction& instruction) {
  const auto has = [&](std::string_view what) { return instruction.text.find(what) != std::string::npos; };
  return has("(%rsp)") && (has("%zmm") || has("%ymm"));
}

struct Asked {
  std::string config;
  std::int64_t accumulators = 0;
  bool is_default = false;
};

struct Kind {
  const char* types;  ///< of a workload
  const char* isa;
  const char* dot;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.types << " for " << kind.isa;
}

/// Returns the compiler's instructions of a text for a processor, by function.
std::map<std::string, std::vector<Instruction>> compiled(const std::string& text, const Isa& target) {
  char dir_name[] = "/tmp/lehr_narrow_code_XXXXXX";
  const std::filesystem::path dir = ::mkdtemp(dir_name);
  std::ofstream(dir / "all.cpp") << text;
  const std::string object = (dir / "all.so").string();
  const std::string command =
      fmt::format("g++ -O2 {} -ffp-contract=fast -fno-math-errno -nostdlib -shared -fPIC -w -o {} {}",
                  fmt::join(flags_of(target), " "), object, (dir / "all.cpp").string());
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  auto functions = disassembled(object);
  std::filesystem::remove_all(dir);
  return functions;
}

class NarrowCode : public ::testing::TestWithParam<Kind> {};

TEST_P(NarrowCode, MultipliesByTheInstructionAndKeepsItsSums) {
  const auto [types, isa, dot] = GetParam();
  const Isa target = isa_named(isa);
  const Limits limits = limits_of(target, 1);
  const std::uint64_t seed = 5;
  Rng rng(seed);
  std::map<std::string, Asked> asked;  // by entry
  std::string text;
  const bool gemm = std::string_view(types).starts_with(" a=");
  const std::vector<std::string> shapes =
      gemm ? std::vector<std::string>{"gemm m=512 n=512 k=512", "gemm m=64 n=1000 k=510"}
           : std::vector<std::string>{"conv2d h=28 w=28 c=64 k=96 r=3 s=3 pad=1 layout=nhwc",
                                      "conv2d h=56 w=56 c=64 k=64 r=3 s=3 pad=1 layout=nchw"};
  for (const std::string& shape : shapes) {
    const Workload workload = parse_workload(shape + types);
    const KernelSpace kernels = kernel_space(workload, limits);
    std::vector<Config> configs;
    for (const Point& point : kernels.defaults) configs.push_back(kernels.space.config_of(point));
    for (int draw = 0; draw < 4; ++draw) configs.push_back(testing::sample_config(kernels.space, rng));
    for (std::size_t number = 0; number < configs.size(); ++number) {
      const Config& config = configs[number];
      ir::Kernel kernel = lower(workload, config, limits);
      kernel.name = fmt::format("kernel{}", asked.size());
      asked[kernel.name] = {to_text(config), config.at("mr") * config.at("nv"),
                            number < kernels.defaults.size()};
      text += "namespace " + kernel.name + "_space {\n" + emit(kernel).text + "}\n";
    }
  }
  const auto functions = compiled(text, target);
  for (const auto& [entry, of_entry] : asked) {
    SCOPED_TRACE(fmt::format("{} seed {}: {}", types, seed, of_entry.config));
    const auto loops = loops_with(functions.at(entry), dot);
    ASSERT_FALSE(loops.empty());
    // The loop of a whole tile has the most dots. A sampled schedule may need too many registers.
    const auto dots_in = [&](const std::vector<Instruction>& loop) {
      return std::ranges::count_if(loop, [&](const auto& each) { return is_dot(each, dot); });
    };
    const std::vector<Instruction>& loop = *std::ranges::max_element(loops, {}, dots_in);
    EXPECT_GE(dots_in(loop), of_entry.accumulators);
    for (const Instruction& each : loop)
      EXPECT_FALSE(of_entry.is_default && is_vector_in_stack(each)) << each.text;
  }
}

// The tile that may reach over the last row multiplies as the whole ones do.
TEST(AnyRowsCode, TheLastTileKeepsItsSums) {
  const Isa target = isa_named("x86-64-v3");
  const Limits limits = limits_of(target, 1);
  const Workload workload = parse_workload("gemm m=..512 n=512 k=512 b=f32:row:constant");
  const KernelSpace kernels = kernel_space(workload, limits);
  const Config config = kernels.space.config_of(kernels.defaults.front());
  ASSERT_EQ(config.family, "gemm_cpu");
  const auto functions = compiled(emit(lower(workload, config, limits)).text, target);
  const auto loops = loops_with(functions.at("gemm_cpu"), "vfmadd");
  ASSERT_EQ(loops.size(), 2u) << "of a whole tile, and of the last one";
  for (const std::vector<Instruction>& loop : loops) {
    EXPECT_EQ(std::ranges::count_if(loop, [](const auto& each) { return is_dot(each, "vfmadd"); }),
              config.at("mr") * config.at("nv") * config.at("ku"));
    for (const Instruction& each : loop) EXPECT_FALSE(is_vector_in_stack(each)) << each.text;
  }
}

// Inner tiles and those at the margins have a dot product for each of three columns and each sum.
TEST(DepthwiseCode, FourLinesAreMultipliedAtOnce) {
  const Isa target = isa_named("x86-64-v4+avx512vnni");
  const Limits limits = limits_of(target, 1);
  for (const char* types : {"x=u8 f=s8 y=u8", "x=s8 f=s7 y=s8"}) {
    const Workload workload = parse_workload(fmt::format(
        "conv2d h=28 w=28 c=192 k=192 r=3 s=3 pad=1 groups=192 layout=nhwc {} accum=s32 zero=input "
        "epilogue=dequant+bias+relu+quant",
        types));
    const KernelSpace kernels = kernel_space(workload, limits);
    const Config config = kernels.space.config_of(kernels.defaults.front());
    EXPECT_EQ(config.at("taps"), 2);
    const auto functions = compiled(emit(lower(workload, config, limits)).text, target);
    const auto dots = std::ranges::count_if(functions.at("conv2d_depthwise_cpu"),
                                            [](const auto& each) { return is_dot(each, "vpdpbusd"); });
    EXPECT_GE(dots, 2 * 3 * config.at("rows") * config.at("cols"));
  }
}

constexpr const char* kFull = "x86-64-v4+avx512vnni+avx512bf16";
INSTANTIATE_TEST_SUITE_P(
    Kinds, NarrowCode,
    ::testing::Values(
        Kind{" a=bf16 b=bf16:row:constant c=f32", kFull, "vdpbf16ps"},
        Kind{" a=u8 b=s8:row:constant c=s32 accum=s32", kFull, "vpdpbusd"},
        Kind{" a=s8 b=s8:column c=u8 accum=s32 epilogue=bias+dequant+relu+quant", kFull, "vpdpbusd"},
        Kind{" x=bf16 f=bf16 y=bf16 epilogue=bias+relu", kFull, "vdpbf16ps"},
        Kind{" x=u8 f=s8 y=u8 accum=s32 zero=input epilogue=bias+dequant+relu+quant", kFull, "vpdpbusd"},
        Kind{" a=u8 b=s8:row:constant c=s32 accum=s32", "x86-64-v3", "vpmaddwd"},
        Kind{" a=u8 b=s7:row:constant c=s32 accum=s32", kFull, "vpdpbusd"},
        Kind{" a=u8 b=s7:row:constant c=s32 accum=s32", "x86-64-v3", "vpmaddubsw"},
        Kind{" x=u8 f=s7 y=u8 accum=s32 zero=input epilogue=bias+dequant+relu+quant", "x86-64-v3",
             "vpmaddubsw"}));

}  // namespace
}  // namespace lehr
