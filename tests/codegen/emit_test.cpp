// Spellings: literals, precedence, guards, intrinsics, entries of both dialects.
#include "codegen/emit.h"
#include "codegen/expr_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

#include "base/error.h"
#include "target/dialect.h"
#include "target/prelude.h"

namespace lehr {
namespace {

using namespace ir;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(FloatLiteral, ReadsBackExactly) {
  for (const float value : {0.0f, 1.0f, -2.5f, 0.1f, 3.4028235e38f, 1e-45f, 16777216.0f}) {
    std::string text = float_literal(value, DType::kF32);
    std::erase_if(text, [](char c) { return c == '(' || c == ')'; });
    EXPECT_EQ(text.back(), 'f') << text;
    EXPECT_EQ(std::strtof(text.c_str(), nullptr), value) << text;
  }
  EXPECT_EQ(float_literal(0.1, DType::kF64), "0.1");
}

TEST(FloatLiteral, SpellsInfinityAndNan) {
  EXPECT_EQ(float_literal(std::numeric_limits<double>::infinity(), DType::kF32), "(__builtin_inff())");
  EXPECT_EQ(float_literal(-std::numeric_limits<double>::infinity(), DType::kF64), "(-__builtin_inf())");
  EXPECT_EQ(float_literal(std::nan(""), DType::kF32), "__builtin_nanf(\"\")");
}

// Returns a kernel for out[0 .. 4) from one expression of loop variable x.
Kernel kernel_storing(Target target, const std::function<Expr(VarId, BufferId)>& make) {
  KernelBuilder builder;
  builder.kernel.name = "entry";
  builder.kernel.target = target;
  const BufferId in = builder.param("in", DType::kF32, 64, Direction::kIn);
  const BufferId out = builder.param("out", DType::kF32, 64, Direction::kOut);
  const VarId x = builder.var("x");
  builder.kernel.body =
      block(loop(x, 4, LoopKind::kSerial, block(Store{out, var(x), make(x, in), 1, std::nullopt})));
  return std::move(builder.kernel);
}

TEST(Emit, KeepsTheMeaningOfNestedArithmetic) {
  const Kernel kernel = kernel_storing(Target::kCpu, [](VarId x, BufferId in) {
    return load(in, (var(x) - (integer(7) - var(x))) % 3 + (var(x) + 1) * (var(x) + 2));
  });
  EXPECT_THAT(emit(kernel).text, HasSubstr("in[(x - (7 - x)) % 3 + (x + 1) * (x + 2)]"));
}

TEST(Emit, KeepsLeftAssociationOfDivision) {
  const Kernel kernel = kernel_storing(Target::kCpu, [](VarId x, BufferId in) {
    return load(in, var(x) * 6 / 4 + var(x) / (var(x) * 2 + 1));
  });
  EXPECT_THAT(emit(kernel).text, HasSubstr("in[x * 6 / 4 + x / (x * 2 + 1)]"));
}

TEST(Emit, GuardsALoadWithASelect) {
  const Kernel kernel = kernel_storing(Target::kCuda, [](VarId x, BufferId in) {
    return select(lt(var(x), integer(3)), load(in, var(x)), zero(DType::kF32));
  });
  EXPECT_THAT(emit(kernel).text, HasSubstr("out[x] = x < 3 ? in[x] : 0.0f;"));
}

TEST(Emit, KeepsTheOperandsOfAVectorsMaximumOnce) {
  const Kernel kernel = kernel_storing(Target::kCpu, [](VarId, BufferId in) {
    const Expr zeros = zero(DType::kF32, 8);
    return reduce_add(max(zeros, load(in, integer(0), 8) + load(in, integer(8), 8)));
  });
  EXPECT_THAT(
      emit(kernel).text,
      HasSubstr(
          "lehr_reduce8(lehr_max8(lehr_splat8(0.0f), *(const f32x8_u*)(in) + *(const f32x8_u*)(in + 8)))"));
}

TEST(Emit, KeepsARolledLoopALoop) {
  for (const auto& [target, pragma] :
       {std::pair{Target::kCuda, "#pragma unroll 1\n"}, {Target::kCpu, "#pragma GCC unroll 1\n"}}) {
    KernelBuilder builder;
    builder.kernel.name = "rolled";
    builder.kernel.target = target;
    const BufferId out = builder.param("out", DType::kF32, 8, Direction::kOut);
    const VarId i = builder.var("i");
    const VarId j = builder.var("j");
    Block stores = block(Store{out, var(i) * 4 + var(j), zero(DType::kF32), 1, std::nullopt});
    Block inner = block(loop(j, 4, LoopKind::kSerial, std::move(stores)));
    builder.kernel.body = block(loop(i, 2, LoopKind::kRolled, std::move(inner)));
    const std::string text = emit(builder.kernel).text;
    const std::size_t at = text.find(pragma);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_EQ(text.find("for (", at), text.find_first_not_of(' ', text.find('\n', at) + 1)) << text;
    EXPECT_EQ(text.find("#pragma", at + 1), std::string::npos);
  }
}

TEST(Emit, IsDeterministic) {
  const auto make = [] {
    return kernel_storing(Target::kCpu, [](VarId x, BufferId in) { return load(in, var(x)); });
  };
  EXPECT_EQ(emit(make()).text, emit(make()).text);
}

TEST(Emit, DescribesTheParameters) {
  const Source source =
      emit(kernel_storing(Target::kCpu, [](VarId x, BufferId in) { return load(in, var(x)); }));
  ASSERT_EQ(source.params.size(), 2u);
  EXPECT_EQ(source.params[0].name, "in");
  EXPECT_EQ(source.params[0].direction, Direction::kIn);
  EXPECT_EQ(source.params[1].direction, Direction::kOut);
  EXPECT_EQ(source.params[1].elements, 64);
  EXPECT_EQ(source.launch.work_items, 1);
  EXPECT_EQ(source.scratch_bytes, 0);
}

Kernel cuda_kernel() {
  KernelBuilder builder;
  builder.kernel.name = "entry";
  builder.kernel.target = Target::kCuda;
  builder.kernel.min_blocks_per_core = 2;
  const BufferId in = builder.param("in", DType::kF32, 1024, Direction::kIn);
  const BufferId out = builder.param("out", DType::kF32, 1024, Direction::kOut);
  const BufferId first = builder.buffer("tile", DType::kF32, Scope::kShared, 129);
  const BufferId second = builder.buffer("tile", DType::kF32, Scope::kShared, 128);
  const BufferId reg = builder.buffer("reg", DType::kF32, Scope::kRegister, 4);
  const VarId block_x = builder.var("block_x");
  const VarId thread = builder.var("thread");
  const Expr at = var(block_x) * 128 + var(thread) * 4;
  builder.kernel.body = block(loop(
      block_x, 8, LoopKind::kBlockX,
      block(Alloc{first}, Alloc{second},
            loop(thread, 32, LoopKind::kThreadX,
                 block(Intrinsic{"cp_async_16",
                                 {Touch{first, var(thread) * 4, 4, true}, Touch{in, at, 4, false}},
                                 {},
                                 0},
                       Intrinsic{"cp_async_commit", {}, {}, 0},
                       Intrinsic{"cp_async_wait", {}, {integer(0)}, 0}, Barrier{BarrierScope::kBlock},
                       Alloc{reg}, Store{reg, integer(0), load(first, var(thread) * 4, 4), 4, std::nullopt},
                       Store{out, at, load(reg, integer(0), 4), 4, integer(1024) - at})))));
  return std::move(builder.kernel);
}

TEST(EmitCuda, PutsSharedBuffersAtAlignedOffsets) {
  const Source source = emit(cuda_kernel());
  EXPECT_THAT(source.text, HasSubstr("float* tile = reinterpret_cast<float*>(lehr_shared + 0);"));
  EXPECT_THAT(source.text, HasSubstr("float* tile_2 = reinterpret_cast<float*>(lehr_shared + 528);"));
  EXPECT_EQ(source.launch.shared_bytes, 528 + 512);
}

TEST(EmitCuda, BindsHardwareIndicesAndLaunchBounds) {
  const Source source = emit(cuda_kernel());
  EXPECT_THAT(source.text,
              HasSubstr("extern \"C\" __global__ void __launch_bounds__(32, 2) entry(const float* "
                        "__restrict__ in, float* __restrict__ out)"));
  EXPECT_THAT(source.text, HasSubstr("const int block_x = blockIdx.x;"));
  EXPECT_THAT(source.text, HasSubstr("const int thread = threadIdx.x;"));
  EXPECT_EQ(source.launch.grid[0], 8);
  EXPECT_EQ(source.launch.block[0], 32);
}

TEST(EmitCuda, SpellsAsynchronousCopiesAndVectorMoves) {
  const std::string text = emit(cuda_kernel()).text;
  EXPECT_THAT(text, HasSubstr("lehr_cp_async_16(tile + thread * 4, in + (block_x * 128 + thread * 4));"));
  EXPECT_THAT(text, HasSubstr("lehr_cp_async_wait<0>();"));
  EXPECT_THAT(text,
              HasSubstr("*reinterpret_cast<float4*>(reg) = *reinterpret_cast<float4*>(tile + thread * 4);"));
  EXPECT_THAT(text, HasSubstr("lehr_store4_n("));
  EXPECT_THAT(text, HasSubstr("cp.async.cg.shared.global"));
}

TEST(EmitCuda, LeavesOffsetsThatBecomeConstantsToTheInstruction) {
  KernelBuilder builder;
  builder.kernel.name = "offsets";
  builder.kernel.target = Target::kCuda;
  const BufferId y = builder.param("y", DType::kF32, 64, Direction::kOut);
  const VarId thread = builder.var("thread"), at = builder.var("at"), i = builder.var("i"),
              r = builder.var("r");
  const auto put = [&](const Expr& index) { return Store{y, index, Float{1, DType::kF32}, 1, std::nullopt}; };
  Block body =
      block(Let{at, var(thread) * 2}, loop(i, 4, LoopKind::kUnrolled, block(put(var(at) + var(i) * 8 + 1))),
            loop(r, 4, LoopKind::kSerial, block(put(var(at) + var(r) * 8))));
  builder.kernel.body = block(loop(thread, 4, LoopKind::kThreadX, std::move(body)));
  const std::string text = emit(builder.kernel).text;
  EXPECT_THAT(text, HasSubstr("(y + at)[i * 8 + 1] = 1.0f;"));
  EXPECT_THAT(text, HasSubstr(" y[at + r * 8] = 1.0f;"));
}

TEST(EmitCuda, PassesWorkspacesBehindTheTensorsAndTellsTheirSizes) {
  Kernel kernel = cuda_kernel();
  KernelBuilder builder;
  builder.kernel = std::move(kernel);
  const BufferId partials = builder.param("partials", DType::kF32, 32, Direction::kWorkspace);
  const BufferId counters = builder.param("counters", DType::kU32, 3, Direction::kWorkspace);
  const BufferId ticket = builder.buffer("ticket", DType::kU32, Scope::kShared, 1);
  const Intrinsic arrive{"atomic_inc_u32",
                         {Touch{ticket, integer(0), 1, true}, Touch{counters, integer(2), 1, true}},
                         {integer(7)},
                         0};
  append(builder.kernel.body,
         block(Alloc{ticket}, Store{partials, integer(0), load(ticket, integer(0)), 1, std::nullopt},
               Intrinsic{"device_fence", {}, {}, 0}, arrive));
  const Source source = emit(builder.kernel);
  EXPECT_THAT(source.text, HasSubstr("float* __restrict__ out, float* partials, unsigned* counters)"));
  EXPECT_THAT(source.text,
              HasSubstr("  lehr_device_fence();\n  lehr_atomic_inc_u32(ticket, counters + 2, 7);"));
  EXPECT_THAT(source.text, HasSubstr("__threadfence()"));
  EXPECT_EQ(workspace_bytes(source), (std::vector<std::int64_t>{128, 12}));
}

TEST(EmitCpp, GivesWhatIsPrepackedAFunctionOfItsOwn) {
  KernelBuilder builder;
  builder.kernel.name = "scaled";
  builder.kernel.target = Target::kCpu;
  const BufferId f = builder.param("f", DType::kF32, 4, Direction::kIn);
  const BufferId y = builder.param("y", DType::kF32, 4, Direction::kOut);
  const BufferId u = builder.param("u", DType::kF32, 4, Direction::kPrepacked);
  const VarId i = builder.var("i");
  builder.kernel.prepack =
      block(loop(i, 4, LoopKind::kParallel,
                 block(Store{u, var(i), load(f, var(i)) + load(f, var(i)), 1, std::nullopt})));
  builder.kernel.body = block(Store{y, integer(0), load(u, integer(3)), 1, std::nullopt});
  const Source source = emit(builder.kernel);
  EXPECT_THAT(source.text, HasSubstr("void scaled_prepack(void* const* params, void* scratch, long task) {"));
  EXPECT_THAT(source.text, HasSubstr("  float* __restrict u = (float*)params[2];"));
  EXPECT_THAT(source.text, HasSubstr("  const float* __restrict u = (const float*)params[2];"));
  EXPECT_EQ(source.entry, "scaled");
  EXPECT_EQ(prepack_entry(source.entry), "scaled_prepack");
  EXPECT_EQ(source.launch.prepack_work_items, 4);
  EXPECT_EQ(prepacked_bytes(source), std::vector<std::int64_t>{16});
}

TEST(Prelude, HoldsOnlyWhatIsUsed) {
  const std::string text = prelude(Target::kCpu, {"base", "splat8"});
  EXPECT_THAT(text, HasSubstr("lehr_splat8"));
  EXPECT_THAT(text, HasSubstr("f32x8"));
  EXPECT_THAT(text, Not(HasSubstr("lehr_load")));
}

TEST(Prelude, RefusesAnUnknownSnippet) {
  EXPECT_THROW(prelude(Target::kCuda, {"warp_drive"}), Error);
}

TEST(Emit, CastsByFunctionsOfThePreludeWhereCHasNoType) {
  KernelBuilder builder;
  builder.kernel.name = "entry";
  builder.kernel.target = Target::kCuda;
  const BufferId in = builder.param("in", DType::kBF16, 64, Direction::kIn);
  const BufferId out = builder.param("out", DType::kF16, 64, Direction::kOut);
  const BufferId pair = builder.buffer("pair", DType::kF16, Scope::kRegister, 2);
  const VarId x = builder.var("x");
  const Expr doubled = cast(DType::kF32, load(in, var(x))) * Float{2};
  builder.kernel.body =
      block(loop(x, 32, LoopKind::kThreadX,
                 block(Alloc{pair}, Store{pair, integer(0), cast(DType::kF16, doubled), 1, std::nullopt},
                       Store{pair, integer(1), cast(DType::kF16, cast(DType::kF32, var(x))), 1, std::nullopt},
                       Store{out, var(x) * 2, load(pair, integer(0), 2), 2, std::nullopt})));
  const std::string text = emit(builder.kernel).text;
  EXPECT_THAT(text, HasSubstr("pair[0] = lehr_f16_from_f32(lehr_f32_from_bf16(in[x]) * 2.0f);"));
  EXPECT_THAT(text, HasSubstr("pair[1] = lehr_f16_from_f32(static_cast<float>(x));"));
  EXPECT_THAT(text,
              HasSubstr("*reinterpret_cast<unsigned*>(out + x * 2) = *reinterpret_cast<unsigned*>(pair);"));
  EXPECT_THAT(text, HasSubstr("unsigned short lehr_f16_from_f32(float x)"));
  EXPECT_THAT(text, HasSubstr("float lehr_f32_from_bf16(unsigned short x)"));
}

}  // namespace
}  // namespace lehr
