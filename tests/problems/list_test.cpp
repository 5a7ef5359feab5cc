// Tests of the notations of problems: what each line means, and the sentence for a bad one.
#include "problems/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;

std::string meaning(std::string_view line) {
  return to_text(parse_problem_line(line));
}
std::string same(std::string_view workload) {
  return to_text(parse_workload(workload));
}

std::vector<Workload> read(const std::string& text) {
  ProblemList file = read_problems(text, "list.txt");
  EXPECT_THAT(file.unusable, ::testing::IsEmpty());
  return std::move(file.problems);
}

std::string error_of(const std::string& text) {
  const ProblemList file = read_problems(text, "list.txt");
  return file.unusable.empty() ? "no error" : file.unusable[0];
}

TEST(ProblemLine, ReadsAWorkloadsOwnText) {
  for (const char* text :
       {"gemm m=16 n=32 k=8 epilogue=bias+relu", "conv2d h=56 w=56 c=64 k=64 r=3 s=3 pad=1"})
    EXPECT_EQ(meaning(text), same(text));
}

TEST(ProblemLine, ReadsDeepBench) {
  const std::string gemm = same("gemm m=1760 n=16 k=2048 a=f32:column b=f32:row c=f32:column");
  EXPECT_EQ(meaning("1760 16 2048 0 1"), gemm);
  EXPECT_EQ(meaning("1760, 16, 2048, N, T"), gemm);
  EXPECT_EQ(meaning("std::make_tuple(1760, 16, 2048, false, true),"), gemm);
  // w h c n k, filter width and height, padding and stride of the width first
  EXPECT_EQ(meaning("700 161 1 4 32 20 5 3 0 2 1"),
            same("conv2d n=4 c=1 h=161 w=700 k=32 r=5 s=20 pad=0x3 stride=1x2"));
  EXPECT_EQ(meaning("std::make_tuple(700, 161, 1, 4, 32, 20, 5, 3, 0, 2, 1)"),
            meaning("700 161 1 4 32 20 5 3 0 2 1"));
}

TEST(ProblemLine, ReadsCutlassProfiler) {
  const std::string half = same("gemm m=3456 n=4096 k=8192 a=f16:row b=f16:column c=f32:column accum=f32");
  EXPECT_EQ(
      meaning(
          "cutlass_profiler --operation=Gemm --m=3456 --n=4096 --k=8192 --A=f16:row --B=f16:n --C=f32:col "
          "--accum=f32 --op_class=tensorop --cta_m=256 --providers=cutlass --verification-enabled=false"),
      half);
  EXPECT_EQ(
      meaning("$ ./tools/profiler/cutlass_profiler --gemm_kind=universal --problem-size::m=3456 --n=4096 "
              "--problem-size::k=8192 --A=f16:t --B=f16:column --C=f32:column --beta=0 --alpha=1 "
              "--split_k_slices=2"),
      half);
  EXPECT_EQ(
      meaning(
          "Arguments: --m=3456 --n=4096 --k=8192 --A=f16:row --B=f16:column --C=f32:column --batch_count=1"),
      half);
  EXPECT_EQ(meaning("--m=16 --n=32 --k=8 --A=tf32:row --B=tf32:row --C=f32:row --batch_count=3 --alpha=0.5"),
            same("gemm m=16 n=32 k=8 batch=3 alpha=0.5 math=tf32 a=f32:row b=f32:row c=f32:row"));
  EXPECT_EQ(meaning("cutlass_profiler --kernels=sgemm --m=16"),
            same("gemm m=16 n=1024 k=1024 a=f32:column b=f32:column c=f32:column"));
  EXPECT_EQ(meaning("cutlass_profiler --operation=Conv2d --n=8 --h=56 --w=28 --c=64 --k=32 --r=3 --s=1 "
                    "--pad_h=1 --pad_w=0 "
                    "--stride_h=2 --stride_w=1 --Activation=f16:nhwc --Filter=f16:nhwc --Output=f16:nhwc "
                    "--accum=f32 --p=28"),
            same("conv2d n=8 h=56 w=28 c=64 k=32 r=3 s=1 pad=1x0 stride=2x1 layout=nhwc x=f16 f=f16 y=f16 "
                 "accum=f32"));
  EXPECT_EQ(meaning("cutlass_profiler --operation=Conv2d"),
            same("conv2d h=16 w=16 c=64 k=64 r=3 s=3 pad=1 layout=nhwc"));
}

TEST(ProblemLine, ReadsBenchdnn) {
  EXPECT_EQ(meaning("./benchdnn --matmul --dt=bf16:bf16:f32 --stag=ab --wtag=ba 16x4096:4096x64_n\"decode\""),
            same("gemm m=16 n=64 k=4096 a=bf16:row b=bf16:column c=f32:row accum=f32"));
  EXPECT_EQ(meaning("--matmul --bia_dt=f32 --wtag=acb 2x3x10x30:2x3x30x20"),
            same("gemm batch=6 m=10 n=20 k=30 b=f32:column epilogue=bias"));
  EXPECT_EQ(meaning("10x30:30x20:10x20"), same("gemm m=10 n=20 k=30"));
  EXPECT_EQ(meaning("./benchdnn --conv -v5 --mode=P --cfg=f32 --dir=FWD_B --stag=axb "
                    "g2mb4_ic64ih56iw55_oc32oh28ow55_kh3kw1_sh2sw1_ph1pw0_n\"layer:1\""),
            same("conv2d n=4 c=64 h=56 w=55 k=32 r=3 s=1 stride=2x1 pad=1x0x0x0 groups=2 layout=nhwc "
                 "epilogue=bias"));
  // Images are square, and the padding follows from the output. A dilation of 0 means 1.
  EXPECT_EQ(meaning("mb1ic16ih20oc8oh20kh3dh1"), same("conv2d c=16 h=20 w=20 k=8 r=3 s=3 pad=2 dilation=2"));
  EXPECT_EQ(meaning("ic16ih20oc8kh5ph2"), same("conv2d n=2 c=16 h=20 w=20 k=8 r=5 s=5 pad=2"));
  EXPECT_EQ(meaning("--conv --mb=7 --dt=f16 mb1ic16ih20oc8kh1"),
            same("conv2d n=7 c=16 h=20 w=20 k=8 r=1 s=1 x=f16 f=f16 y=f16"));
}

TEST(ProblemList, ReadsAReportOfCutlassProfiler) {
  const auto problems = read(
      "Problem,Provider,OperationKind,Operation,Disposition,Status,gemm_kind,m,n,k,A,B,C,alpha,beta,split_k_"
      "slices,Runtime\n"
      "1,CUTLASS,gemm,cutlass_simt_sgemm_128x128_8x2_nn_align1,passed,success,universal,3456,4096,8192,f32:"
      "column,f32:column,"
      "f32:column,1,0,1,6.7\n"
      "1,CUTLASS,gemm,cutlass_simt_sgemm_64x64,passed,success,universal,3456,4096,8192,f32:column,f32:column,"
      "f32:column,1,0,1,7\n");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(to_text(problems[0]), same("gemm m=3456 n=4096 k=8192 a=f32:column b=f32:column c=f32:column"));
}

TEST(ProblemList, JoinsLinesThatGoOn) {
  const auto problems =
      read("cutlass_profiler --operation=Gemm \\\n  --m=8 --n=16 \\\n  --k=32 # small\ngemm m=1 n=2 k=3\n");
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(to_text(problems[0]), same("gemm m=8 n=16 k=32 a=f32:column b=f32:column c=f32:column"));
  EXPECT_EQ(read("cutlass_profiler --m=8 --n=16 --k=32 \\").size(), 1u)
      << "the last line has none to go on in";
}

TEST(ProblemLine, SaysWhatOfOtherBenchmarksIsNotServed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"cutlass_profiler --m=1024:4096:256 --n=8", "--m=1024:4096:256 is several: write a line for each"},
      {"cutlass_profiler --m=8,16", "--m=8,16 is several"},
      {"cutlass_profiler --m=8 --beta=1", "--beta=1 adds to what is there"},
      {"cutlass_profiler --m=8 --m=9", "'--m=8' and '--m=9' say the same twice"},
      {"cutlass_profiler --m=8 nine", "'nine' is no argument of cutlass_profiler"},
      {"cutlass_profiler --operation=Conv2d --conv_kind=wgrad", "asks for gradients"},
      {"cutlass_profiler --operation=conv3d",
       "conv3d is none of cutlass_profiler's operations that are served"},
      {"cutlass_profiler --kernels=cutlass_tensorop_spgemm", "spgemm is none of"},
      {"--dt=f32", "options without a problem"},
      {"--conv --dir=BWD_W ic3ih8oc4kh3", "--dir=BWD_W asks for gradients"},
      {"--deconv ic3ih8oc4kh3", "transposed convolution"},
      {"--conv ic3id8ih8oc4kd3kh3", "id8 belongs to a convolution over volumes"},
      {"--conv --attr-post-ops=relu ic3ih8oc4kh3", "--attr-post-ops=relu changes what is computed"},
      {"--conv ic3ih8oc4kh3q5", "'q5' is no size of a convolution in benchdnn, such as ih56"},
      {"--conv ic3oc4", "needs the sizes of image and filter"},
      {"--conv", "options of benchdnn and no problem"},
      {"--matmul 2x3", "must be two matrices"},
      {"2x3:4x5", "are no matrices that can be multiplied"},
      {"1x3x4:2x4x5", "takes one matrix for a whole batch"},
      {"--matmul --dt=f32:f32 2x3:3x4", "must name three types"},
      {"--conv ic3ih8oc4kh3oh9223372036854775807sh54", "oh=9223372036854775807 is out of range"},
      {"2147483647x2147483647x2147483647x2x3:2147483647x2147483647x2147483647x3x2",
       "batch=4611686014132420609 is out of range"},
      {"--ip ic3oc4", "--ip is none of benchdnn's drivers"},
  };
  for (const auto& [line, words] : cases) {
    SCOPED_TRACE(line);
    EXPECT_THAT(error_of(line), HasSubstr(words));
  }
}

TEST(ProblemLine, ReadsMiopenDriver) {
  const std::string plain =
      same("conv2d n=1 c=64 h=56 w=55 k=32 r=3 s=1 pad=1x0 stride=2x1 dilation=1x2 groups=4");
  EXPECT_EQ(meaning("conv -n 1 -c 64 -H 56 -W 55 -k 32 -y 3 -x 1 -p 1 -q 0 -u 2 -v 1 -l 1 -j 2 -g 4"), plain);
  EXPECT_EQ(
      meaning("./bin/MIOpenDriver conv -W 55 -H 56 -n 1 -c 64 -k 32 -y 3 -x 1 -p 1 -u 2 -j 2 -g 4 -m conv "
              "-F 1 -t 1 -V 0 -i 10"),
      plain);
  EXPECT_EQ(
      meaning("conv --batchsize 1 --in_channels 64 --in_h 56 --in_w 55 --out_channels 32 --fil_h 3 --fil_w 1 "
              "--pad_h 1 --pad_w 0 --conv_stride_h 2 --conv_stride_w 1 --dilation_h 1 --dilation_w 2 "
              "--group_count 4"),
      plain);
  EXPECT_EQ(meaning("convfp16 -n 2 -c 8 -H 9 -W 9 -k 8 -y 3 -x 3 -I NHWC -f NHWC -O NHWC"),
            same("conv2d n=2 c=8 h=9 w=9 k=8 r=3 s=3 layout=nhwc x=f16 f=f16 y=f16"));
  EXPECT_EQ(meaning("convbfp16 -n 2 -c 8 -H 9 -W 9 -k 8 -y 3 -x 3"),
            same("conv2d n=2 c=8 h=9 w=9 k=8 r=3 s=3 x=bf16 f=bf16 y=bf16"));
}

TEST(ProblemLine, ReadsDriversLogsAndWhatTheyLeaveOut) {
  const std::string small = same("conv2d n=1 c=4 h=9 w=9 k=8 r=3 s=3 pad=1");
  EXPECT_EQ(
      meaning(
          "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1 -c 4 -H 9 -W 9 -k 8 -y 3 "
          "-x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -m conv -g 1 -F 1 -t 1"),
      small);
  EXPECT_EQ(meaning("MIOPEN_FIND_MODE=1 ./MIOpenDriver\tconv\t-n 1 -c 4 -H 9 -W 9 -k 8 -p 1 -q 1 -z default"),
            small);
  EXPECT_EQ(meaning("MIOpenDriver conv"), same("conv2d n=100 c=3 h=32 w=32 k=32 r=3 s=3"));
  EXPECT_EQ(meaning("MIOpenDriver gemm -m 5 -n 6 -k 7 -u 1 -b 2 -t 1"),
            same("gemm m=5 n=6 k=7 batch=2 a=f32:column b=f32:row"));
  EXPECT_EQ(meaning("gemm -C 1 -m 5"), same("gemm m=5 n=256 k=256 a=f32:column b=f32:column c=f32:column"));
}

TEST(ProblemLine, ReadsDriversFlagsByEveryNameTheyHave) {
  const std::string nhwc = same("conv2d n=1 c=4 h=9 w=9 k=8 r=3 s=3 pad=1 layout=nhwc");
  for (const char* layout :
       {"-I NHWC", "--in_layout NHWC", "-in_layout NHWC", "-in_layout=NHWC", "--in_layout=NHWC", "-I=NHWC"})
    EXPECT_EQ(meaning(std::string("conv -n=1 -c 4 -H 9 -W 9 -k 8 -y 3 -x 3 -pad_h=1 --pad_w=1 ") + layout),
              nhwc)
        << layout;
  // A bias is added by a call of its own.
  EXPECT_EQ(meaning("conv -n 1 -c 4 -H 9 -W 9 -k 8 -p 1 -q 1 -in_layout=NHWC -b 1 -t=1"), nhwc);
  EXPECT_EQ(meaning("conv -n 1 -c 4 -H 9 -W 9 -k 8 -p 1 -q 1 -in_layout=NHWC --bias 0"), nhwc);
}

TEST(ProblemLine, PadsAsADriversModeSays) {
  const auto padded = [](const std::string& flags) { return meaning("conv -n 1 -c 4 -k 8 " + flags); };
  const auto with = [](const std::string& sizes) { return same("conv2d n=1 c=4 k=8 " + sizes); };
  EXPECT_EQ(padded("-H 9 -W 9 --pad_mode same"), with("h=9 w=9 r=3 s=3 pad=1"));
  EXPECT_EQ(padded("-H 9 -W 9 -y 5 -x 1 -p 7 -z Same"), with("h=9 w=9 r=5 s=1 pad=2x0"));
  EXPECT_EQ(padded("-H 9 -W 9 -u 2 -v 2 -pad_mode=same"), with("h=9 w=9 r=3 s=3 pad=1 stride=2"));
  EXPECT_EQ(padded("-H 8 -W 8 -y 1 -x 1 -u 2 -v 2 -z same"), with("h=8 w=8 r=1 s=1 stride=2"));
  EXPECT_EQ(padded("-H 9 -W 9 -p 1 -q 1 --pad_mode=valid"), with("h=9 w=9 r=3 s=3"));
  EXPECT_EQ(padded("-H 9 -W 9 -p 1 -q 1 --pad_mode default -r 0 -Z 0"), with("h=9 w=9 r=3 s=3 pad=1"));
  EXPECT_THAT(error_of("conv -z same -H 8 -W 8 -u 2 -v 2"),
              HasSubstr("would pad one side more than the other"));
  EXPECT_THAT(error_of("conv -z valid -p 1 -l 2"),
              HasSubstr("--pad_mode valid is not known of a dilated filter"));
  EXPECT_THAT(error_of("conv -z full"), HasSubstr("--pad_mode full: known are default, same and valid"));
  EXPECT_THAT(error_of("conv -z same -u 0"), HasSubstr("stride_h=0 is out of range"));
  EXPECT_THAT(error_of("conv -r 1"), HasSubstr("-r 1 pads with other values than 0"));
  EXPECT_THAT(error_of("conv -Z 1"), HasSubstr("-Z 1 lays channels out as vectors"));
}

TEST(ProblemLine, LeavesOutWhereAKeyIsGivenTwice) {
  for (const char* line : {"gemm m=1 n=2 k=3 m=1",
                           "conv2d h=9 w=9 c=4 k=8 r=3 r=3",
                           "conv -n 1 -c 4 -n 2",
                           "conv -n 1 --batchsize 2",
                           "conv -n=1 -batchsize=1",
                           "conv -z same --pad_mode valid",
                           "conv -t 1 -t 0",
                           "gemm -m 1 -n 2 -m 3",
                           "gemm -u 1 --transA 0",
                           "cutlass_profiler --m=8 --m=9",
                           "cutlass_profiler --m=8 --problem-size::m=9",
                           "cutlass_profiler --operation=Conv2d --n=1 --input_n=1",
                           "cutlass_profiler --m=8 --alpha=1 --epilogue::alpha=2",
                           "--conv --dt=f32 --dt=f16 ic3ih8oc4kh3",
                           "--conv --dt=f32 --cfg=f16 ic3ih8oc4kh3",
                           "--conv ic3ih8oc4kh3ih9",
                           "--conv --mb=1 --mb=2 ic3ih8oc4kh3",
                           "--matmul --bia_dt=f32 --bia-dt=undef 2x3:3x4",
                           "op,params\ngemm,m=1;n=2;k=3;m=4",
                           "op,params\ngemm,m=1;n=2;k=3;dtype=f16;dtype=f16"})
    EXPECT_THAT(error_of(line), HasSubstr("twice")) << line;
  EXPECT_THAT(error_of("--conv --matmul ic3ih8oc4kh3"), HasSubstr("are two drivers"));
  EXPECT_THAT(error_of("op,params,op\ngemm,m=1;n=2;k=3,gemm"), HasSubstr("there are two columns 'op'"));
  EXPECT_THAT(error_of("OperationKind,m,n,k,m\ngemm,1,2,3,4"),
              HasSubstr("'m=1' and 'm=4' say the same twice"));
  EXPECT_EQ(meaning("--matmul --bia-dt=f32 2x3:3x4"), meaning("--matmul --bia_dt=f32 2x3:3x4"));
}

TEST(ProblemLine, AFilterIsSquareWhereItsWidthIsLeftOut) {
  EXPECT_EQ(meaning("conv2d n=1 h=9 w=9 c=4 k=8 r=3 pad=1"), same("conv2d h=9 w=9 c=4 k=8 r=3 s=3 pad=1"));
}

TEST(ProblemList, ReadsFilesAsPeopleHaveThem) {
  // A header of DeepBench, a byte order mark, a table as spreadsheets write it.
  EXPECT_EQ(read("// m n k a_t b_t\nstd::vector<std::tuple<int,int,int,bool,bool>> mine = {\n"
                 "    std::make_tuple(12, 20, 8, false, false),\n"
                 "    std::make_tuple(12, 20, 9, false, true),  // last layer\n};\n")
                .size(),
            2u);
  EXPECT_EQ(to_text(read("\xEF\xBB\xBF"
                         "12 20 8 0 1\n")
                        .at(0)),
            meaning("12 20 8 0 1"));
  EXPECT_EQ(
      to_text(read("\"Name\",\"OP\", \"params\"\r\n\"a, \"\"b\"\"\",\"gemm\",\"m=12;n=20;k=8\"\r\n").at(0)),
      same("gemm m=12 n=20 k=8"));
}

TEST(ProblemList, AnUnusableLineLeavesTheOthers) {
  const ProblemList file = read_problems("gemm m=1 n=2 k=3\nfoo\n1 2 3 0 0\nconv -F 4\n", "list.txt");
  EXPECT_EQ(file.problems.size(), 2u);
  EXPECT_EQ(file.lines, 4u);
  EXPECT_THAT(file.unusable, ::testing::ElementsAre(HasSubstr("list.txt, line 2: 'foo' begins no problem"),
                                                    HasSubstr("list.txt, line 4: -F 4 asks for gradients")));
}

TEST(ProblemList, SkipsCommentsBlanksAndWhatComesAgain) {
  const std::vector<Workload> all = read(
      "# a model\n\n  gemm m=1 n=2 k=3  # its first layer\r\n\t\n1 2 3 0 0\ngemm k=3 n=2 m=1 batch=1\n"
      "conv -n 1 -c 4 -H 8 -W 8 -k 4 -y 3 -x 3");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(to_text(all[0]), same("gemm m=1 n=2 k=3"));
  EXPECT_EQ(all[2].op(), Operator::kConv2d);
}

TEST(ProblemList, ReadsATable) {
  const std::vector<Workload> all = read(
      "suite,op,name,params\n"
      "a,gemm,g0,m=5;n=6;k=7;transA=N;transB=T;dtype=bf16\n"
      "a,gemm,g1,m=5;n=6;k=7;transA=T;transB=N;dtype=i8\n"
      "# the next one is batched\n"
      "b,gemm_batched,g2,m=5;n=6;k=7;transA=N;transB=N;dtype=f16;batch=3\n"
      "c,conv,c0,n=1;c=4;h=9;w=8;k=6;r=3;s=2;stride=2;pad=1;dilation=1;groups=2;layout=NHWC;dtype=f16\n");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(to_text(all[0]), same("gemm m=5 n=6 k=7 a=bf16:row b=bf16:column c=bf16:row"));
  EXPECT_EQ(to_text(all[1]), same("gemm m=5 n=6 k=7 a=s8:column b=s8:row c=s32:row accum=s32"));
  EXPECT_EQ(to_text(all[2]), same("gemm m=5 n=6 k=7 batch=3 a=f16:row b=f16:row c=f16:row"));
  EXPECT_EQ(to_text(all[3]),
            same("conv2d n=1 c=4 h=9 w=8 k=6 r=3 s=2 stride=2 pad=1 groups=2 layout=nhwc x=f16 f=f16 y=f16"));
}

TEST(ProblemList, ReadsTypesThatARowSaysItself) {
  const std::vector<Workload> all = read(
      "op,params\ngemm,m=5;n=6;k=7;a=s8:column;b=u8;c=f32\nconv,n=1;c=4;h=9;w=8;k=6;r=3;y=f32;dtype=f16\n");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(to_text(all[0]), same("gemm m=5 n=6 k=7 a=s8:column b=u8 c=f32 accum=s32"));
  EXPECT_EQ(to_text(all[1]), same("conv2d n=1 c=4 h=9 w=8 k=6 r=3 s=3 x=f16 f=f16 y=f32"));
}

TEST(ProblemList, SaysInWhichLineWhatIsWrong) {
  EXPECT_THAT(error_of("gemm m=1 n=2 k=3\n\nfoo 1 2\n"),
              HasSubstr("list.txt, line 3: 'foo' begins no problem"));
  EXPECT_THAT(error_of("gemm m=1 n=2 kk=3"), HasSubstr("line 1: unknown key 'kk'"));
  EXPECT_THAT(error_of("1 2 3"), HasSubstr("3 values are no problem of DeepBench: a GEMM has 5"));
  EXPECT_THAT(error_of("1 2 3 0 maybe"), HasSubstr("'maybe' does not say whether"));
  EXPECT_THAT(error_of("1 2 x 0 0"), HasSubstr("'k=x' is not a whole number"));
  EXPECT_THAT(error_of("gemm m=1 n=2 k=3 m=4"), HasSubstr("line 1: 'm' is given twice"));
  EXPECT_THAT(error_of("op,params\ngemm,m=1;n=2;k=3;m=4"), HasSubstr("'m' is given twice"));
  EXPECT_THAT(error_of("conv -_ 3"), HasSubstr("a convolution over volumes: there is no family"));
  EXPECT_THAT(error_of("gemm -B 1"), HasSubstr("-B 1 adds to what is there"));
  EXPECT_THAT(error_of("conv -n 1 -Q 2"),
              HasSubstr("'-Q 2' is no flag of MIOpenDriver that says what is computed"));
  EXPECT_THAT(error_of("conv -n"), HasSubstr("-n of MIOpenDriver has no value"));
  EXPECT_THAT(error_of("conv -n 1 -c 4 -H 8 -W 8 -k 4 -y 3 -x 3 -F 2"),
              HasSubstr("forward convolutions only"));
  EXPECT_THAT(error_of("conv -n 1 -c 4 -H 8 -W 8 -k 4 -y 3 -x 3 -m trans"),
              HasSubstr("-m trans is another kind of convolution, for which there is no family"));
  EXPECT_THAT(error_of("conv -n 1 -c 4 -H 8 -W 8 -k 4 -y 9 -x 9"),
              HasSubstr("the filter covers 9 x 9 pixels"));
  EXPECT_THAT(error_of("conv -n 1 -c 4 -H 8 -W 8 -k 4 -y 3 -x 3 -O NHWC"),
              HasSubstr("layout nhwc differs from nchw: filters and output follow the input's"));
  EXPECT_THAT(error_of("op,params\nattention,m=1"), HasSubstr("line 2: unknown operator 'attention'"));
  EXPECT_THAT(error_of("op,params\ngemm,m=1,n=2"), HasSubstr("line 2: 3 fields stand under 2 names"));
  EXPECT_THAT(error_of("op,params\ngemm,m=1;n"), HasSubstr("'n' is not key=value"));
}

}  // namespace
}  // namespace lehr
