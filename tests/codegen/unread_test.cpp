// Tests that no text declares a name that it does not use, by sampled schedules of every family of the
// catalogue.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/rng.h"
#include "codegen/emit.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i) words.push_back(text.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

/// Returns the name that a line declares: "const int x = ...", "float* __restrict x = ...", "alignas(64)
/// float x[8];". "" for any other line.
std::string_view declared_by(std::string_view line) {
  if (const std::size_t aligned = line.find("align"); aligned != std::string_view::npos)
    line.remove_prefix(std::min(line.find(')', aligned), line.size() - 1) + 1);
  const std::size_t end =
      line.ends_with("];") && line.find('=') == std::string_view::npos ? line.find('[') : line.find(" = ");
  if (end == std::string_view::npos) return {};
  const std::string_view left = line.substr(0, end);
  const bool plain = std::ranges::all_of(left, [](char c) { return is_word(c) || c == ' ' || c == '*'; });
  const std::vector<std::string_view> words = words_of(left);
  return plain && words.size() > 1 ? words.back() : std::string_view();
}

/// Returns the names that one of the entries declares and does not use.
std::set<std::string> unread(std::string_view text) {
  std::set<std::string> names;
  for (std::size_t at = text.find("extern \"C\""); at != std::string_view::npos;) {
    const std::size_t next = text.find("extern \"C\"", at + 1);
    const std::string_view entry = text.substr(at, next - at);
    std::map<std::string_view, int> uses;
    for (const std::string_view word : words_of(entry)) ++uses[word];
    for (std::size_t line = 0; line < entry.size();) {
      const std::size_t end = std::min(entry.find('\n', line), entry.size());
      const std::string_view name = declared_by(entry.substr(line, end - line));
      if (!name.empty() && uses[name] < 2) names.insert(std::string(name));
      line = end + 1;
    }
    at = next;
  }
  return names;
}

TEST(Unread, FindsWhatATextDeclaresAndDoesNotUse) {
  EXPECT_EQ(unread("int before = 0;\nextern \"C\" void f(const float* a) {\n"
                   "  const int x = threadIdx.x;\n  const int unused = x;\n"
                   "  float* __restrict tile = lehr_shared + 0;\n  __align__(16) float acc[4];\n"
                   "  float kept[2];\n  kept[x] = a[0];\n}\n"),
            (std::set<std::string>{"unused", "tile", "acc"}));
}

/// Returns some workloads for each family, with the edges and the types that change a text.
const std::vector<std::string>& workloads() {
  static const std::vector<std::string> all = {
      "gemm m=65 n=33 k=129",
      "gemm m=256 n=256 k=512 a=f32:column b=f32:column epilogue=bias+relu",
      "gemm m=64 n=128 k=2048 batch=3 c=f32:column",
      "gemm m=3 n=500 k=700",
      "gemm m=300 n=2 k=1000 epilogue=gelu_erf+residual",
      "gemm m=16 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row epilogue=swiglu",
      "gemm m=1024 n=1024 k=1024 a=f16:column b=f16:row c=f16:row",
      "gemm m=100 n=72 k=3000 a=f16:row b=f16:column c=f32:row",
      "gemm m=100 n=70 k=130 math=3xtf32",
      "gemm m=512 n=256 k=1024 b=f32:column math=tf32",
      "gemm m=65 n=31 k=27 a=s8:row b=s8:row c=s32:row accum=s32",
      "gemm m=512 n=512 k=1024 a=s8:row b=s8:column c=s32:row accum=s32",
      "gemm m=300 n=256 k=4112 a=e4m3:row b=e4m3:column c=bf16:row math=two_level",
      "gemm m=1 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row",
      "conv2d h=30 w=29 c=3 k=24 r=7 s=7 stride=2 pad=3",
      "conv2d n=2 h=28 w=28 c=64 k=48 r=3 s=3 pad=1 epilogue=scale_shift+residual+relu",
      "conv2d n=2 h=14 w=14 c=64 k=64 r=3 s=3 pad=1 layout=nhwc epilogue=bias+relu+maxpool(2)",
      "conv2d n=2 h=14 w=15 c=32 k=40 r=1 s=1 layout=nhwc",
      "conv2d h=20 w=20 c=40 k=56 r=1 s=1",
      "conv2d n=2 h=9 w=11 c=24 k=24 r=3 s=3 pad=1 groups=24",
      "conv2d n=2 h=16 w=16 c=32 k=32 r=5 s=5 stride=2 pad=2 groups=32 layout=nhwc",
      "conv2d n=4 h=28 w=28 c=64 k=128 r=3 s=3 pad=1 layout=nhwc x=f16 f=f16 y=f16 epilogue=bias+silu",
      "conv2d n=2 h=28 w=27 c=12 k=24 r=3 s=3 pad=1 groups=3 x=bf16 f=bf16 y=bf16",
      "conv2d h=56 w=56 c=3 k=16 r=3 s=3 stride=2 pad=1 x=s8 f=s8 y=s32 accum=s32",
      "conv2d n=2 h=28 w=28 c=32 k=48 r=3 s=3 pad=1 layout=nhwc x=e4m3 f=e4m3 y=bf16",
      "rowwise m=9 n=100 in=x:f32,g:bf16:column out=y:f32,v:f32:row "
      "expr=v=var(x);y=(x-mean(x))*rsqrt(v+1e-05)*g",
      "rowwise m=40 n=10 in=x:f32 out=y:f32 expr=y=exp(x-max(x))/sum(exp(x-max(x)))",
      "rowwise m=9 n=100 in=x:f32,r:bf16 out=y:bf16 expr=y=gelu_erf(x+r)"};
  return all;
}

Limits cpu_of(int vector_bytes) {
  Limits limits;
  limits.arch = vector_bytes == 64 ? "avx512" : "avx2";
  limits.cores = 4;
  limits.vector_bytes = vector_bytes;
  limits.vector_registers = vector_bytes / 2;
  limits.l1_bytes = 32 << 10;
  limits.l2_bytes = 1 << 20;
  return limits;
}

TEST(Unread, NoSampledScheduleHasAny) {
  constexpr std::uint64_t kSeed = 20251125;
  constexpr int kSamples = 12;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Rng rng(kSeed);
  std::set<std::string> sampled;
  for (const Limits& limits : {cpu_of(32), cpu_of(64), cuda_limits("sm_80"), cuda_limits("sm_90a")}) {
    for (const std::string& text : workloads()) {
      const Workload workload = parse_workload(text);
      for (const Template& family : catalog()) {
        if (why_unserved(family, workload, limits)) continue;
        sampled.insert(family.name);
        const FamilySpace space = family.space(workload, limits);
        for (int i = 0; i < kSamples; ++i) {
          const auto config = testing::sample_config(space, rng);
          ASSERT_TRUE(config) << family.name << " " << text;
          const Source source = emit(testing::lowered(family, workload, *config, limits));
          ASSERT_EQ(unread(source.text), std::set<std::string>())
              << limits.arch << " " << text << " " << to_text(*config);
        }
      }
    }
  }
  EXPECT_EQ(sampled.size(), catalog().size());
}

}  // namespace
}  // namespace lehr
