// Tests of the rules themselves: each must find the violation that it is there for.
#include "tests/architecture/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lehr::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ArchitectureRules, ReadIncludesAsThePreprocessorDoes) {
  const SourceFile file = parse_source(
      "ir/a.cpp",
      "#include \"ir/a.h\"\n  #  include <vector>  // why\nconst char* s = \"#include \\\"cli/x.h\\\"\";\n");
  ASSERT_THAT(file.includes, SizeIs(2));
  EXPECT_EQ(file.folder, "ir");
  EXPECT_EQ(file.includes[0].path, "ir/a.h");
  EXPECT_TRUE(file.includes[0].quoted);
  EXPECT_EQ(file.includes[1].path, "vector");
  EXPECT_EQ(file.includes[1].line, 2);
  EXPECT_FALSE(file.includes[1].quoted);
}

TEST(ArchitectureRules, NameFileLineAndTheAllowedFoldersOfAForbiddenEdge) {
  const auto findings =
      check_edges({parse_source("search/anneal.cpp", "// x\n#include \"costmodel/model.h\"\n")});
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("search/anneal.cpp:2"), HasSubstr("costmodel/model.h"),
                                          HasSubstr("may include: space, base"))));
}

TEST(ArchitectureRules, AllowASingleHeaderOfAFolder) {
  EXPECT_THAT(check_edges({parse_source("database/record.h", "#include \"record/outcome.h\"\n")}), IsEmpty());
  EXPECT_THAT(check_edges({parse_source("database/record.h", "#include \"measure/core/runner.h\"\n")}),
              SizeIs(1));
}

TEST(ArchitectureRules, FindEdgesThatPointUpwards) {
  EXPECT_THAT(check_edges({parse_source("base/text.cpp", "#include \"space/config.h\"\n")}),
              ElementsAre(HasSubstr("may include: nothing")));
  EXPECT_THAT(check_edges({parse_source("tune/session.cpp", "#include \"cli/args.h\"\n")}), SizeIs(1));
  EXPECT_THAT(check_edges({parse_source("measure/run.cpp", "#include \"tests/support/fake.h\"\n")}),
              SizeIs(1));
  EXPECT_THAT(check_edges({parse_source("cli/main.cpp", "#include \"main.h\"\n")}),
              ElementsAre(HasSubstr("not written from the root")));
  EXPECT_THAT(check_edges({parse_source("tests/cli/a_test.cpp", "#include \"support.h\"\n")}), IsEmpty());
}

TEST(ArchitectureRules, KeepTheRoomsOfMeasureApart) {
  const auto findings = [](const std::string& path, const std::string& include) {
    return check_rooms({parse_source(path, "#include \"" + include + "\"\n")});
  };
  EXPECT_THAT(findings("measure/host/a.cpp", "measure/cuda/nvrtc.h"),
              ElementsAre(AllOf(HasSubstr("measure/host/a.cpp:1"), HasSubstr("may include: core, system"))));
  EXPECT_THAT(findings("measure/system/a.h", "measure/core/problem.h"),
              ElementsAre(HasSubstr("may include: nothing")));
  EXPECT_THAT(findings("measure/vendor/blis/a.cpp", "measure/vendor/openblas/b.h"), SizeIs(1));
  EXPECT_THAT(findings("measure/opencl/a.cpp", "measure/core/problem.h"), SizeIs(1));
  EXPECT_THAT(findings("measure/vendor/blis/a.cpp", "measure/vendor/baseline_sgemm.h"), IsEmpty());
  EXPECT_THAT(findings("measure/vendor/blis/a.cpp", "measure/vendor/blis/a.h"), IsEmpty());
  EXPECT_THAT(findings("measure/vendor/blis/a.cpp", "workload/workload.h"), IsEmpty());
  EXPECT_THAT(findings("measure/core/problem.h", "workload/workload.h"),
              ElementsAre(HasSubstr("only vendor/ may know workloads")));
  EXPECT_THAT(findings("measure/vendor/cudnn/a.cpp", "measure/cuda/cuda_harness.h"), IsEmpty());
  EXPECT_THAT(findings("measure/worker/a.cpp", "measure/vendor/blis/a.h"), IsEmpty());
}

TEST(ArchitectureRules, CountTheUsersOfALibrary) {
  const SourceFile user = parse_source("database/sqlite.cpp", "#include <sqlite3.h>\n");
  const SourceFile second = parse_source("tune/x.cpp", "#include \"sqlite3.h\"\n");
  EXPECT_THAT(check_single_user({user}, "sqlite3.h"), IsEmpty());
  EXPECT_THAT(check_single_user({user, second}, "sqlite3.h"),
              ElementsAre(AllOf(HasSubstr("database/sqlite.cpp:1"), HasSubstr("tune/x.cpp:1"))));
  EXPECT_THAT(check_single_user({}, "sqlite3.h"), SizeIs(1)) << "a rule about nothing would hold for ever";
}

TEST(ArchitectureRules, FindForbiddenHeadersAndBareHeaders) {
  EXPECT_THAT(check_absent({parse_source("measure/cuda/nvrtc.h", "#include <nvrtc.h>\n")}, {"nvrtc.h"}),
              SizeIs(1));
  EXPECT_THAT(check_header_form({parse_source("ir/a.h", "// Says it.\n#pragma once\n")}), IsEmpty());
  EXPECT_THAT(check_header_form({parse_source("ir/a.h", "#include <vector>\n")}), SizeIs(2));
}

TEST(ArchitectureRules, FindANamedTargetOutsideItsRooms) {
  const auto found = [](const char* path, const char* text) {
    return check_target_names({parse_source(path, text)});
  };
  EXPECT_THAT(found("tune/a.cpp", "int x;\nif (target == Target::kCuda) {\n"),
              ElementsAre(HasSubstr("tune/a.cpp:2: names a target")));
  EXPECT_THAT(found("cli/a.cpp", "x = \"cpu\";\n"), SizeIs(1));
  EXPECT_THAT(found("measure/cuda/a.cpp", "x = Target::kCuda;\n"), IsEmpty());
  EXPECT_THAT(found("templates/gemm/cpu/a.cpp", "x = Target::kCpu;\n"), IsEmpty());
  EXPECT_THAT(found("tests/ir/a.cpp", "x = Target::kCpu;\n"), IsEmpty());
  EXPECT_THAT(found("ir/a.h", "int x;  // \"cuda\"\n"), IsEmpty());
}

TEST(ArchitectureRules, FindWhoAsksForAnOperatorOutsideItsRooms) {
  for (const char* code : {"if (w.op() == Operator::kGemm) {\n", "x = w->conv2d().k;\n",
                           "x = std::get_if<Gemm>(&w.problem);\n", "std::visit(zero, w.problem);\n"}) {
    EXPECT_THAT(check_operator_names({parse_source("tune/a.cpp", code)}),
                ElementsAre(HasSubstr("tune/a.cpp:1: asks which operator")));
    EXPECT_THAT(check_operator_names({parse_source("templates/gemm/cpu/a.cpp", code)}), IsEmpty());
  }
  EXPECT_THAT(check_operator_names({parse_source("tune/a.cpp", "x = entry.op == w.op();\n")}), IsEmpty());
}

TEST(ArchitectureRules, FindALibraryWithoutManners) {
  const auto found = [](const char* path, const char* text) {
    return check_manners({parse_source(path, text)});
  };
  EXPECT_THAT(found("tune/a.cpp", "int x;\nx = std::getenv(\"HOME\");\n"),
              ElementsAre(HasSubstr("tune/a.cpp:2: getenv( is not for a library")));
  EXPECT_THAT(found("measure/host/a.cpp", "signal(SIGINT, SIG_IGN);\nfmt::print(\"x\");\n"), SizeIs(2));
  EXPECT_THAT(found("measure/worker/worker_main.cpp", "signal(SIGINT, SIG_DFL);\n"), IsEmpty());
  EXPECT_THAT(found("cli/a.cpp", "fmt::print(\"x\");\n"), IsEmpty());
  EXPECT_THAT(found("ir/a.cpp", "x = snprintf(text);  // no printf()\n"), IsEmpty());
}

TEST(ArchitectureRules, FindAnIncludeThatPrecompiledHeadersHide) {
  const SourceFile header =
      parse_source("ir/a.h", "#include <map>\nstd::map<int, int> of(std::string_view);\n");
  const SourceFile source = parse_source(
      "ir/a.cpp", "#include \"ir/a.h\"\nstd::map<int, int> all;\nstd::span<int> some;  // std::array\n");
  EXPECT_THAT(check_precompiled({header, source}), ElementsAre("ir/a.cpp:3: <span> is not included"));
}

TEST(ArchitectureRules, FindATypeThatTwoHeadersDefine) {
  const SourceFile first =
      parse_source("search/a.h", "namespace lehr {\nstruct Run {\n};\nclass Other;\n}\n");
  const SourceFile second =
      parse_source("measure/b.h", "namespace lehr {\n\nclass Run : public Other {\n};\n");
  const SourceFile elsewhere = parse_source("ir/c.h", "namespace lehr::ir {\nstruct Run {\nclass Other;\n");
  EXPECT_THAT(check_type_names({first, elsewhere}), IsEmpty());
  EXPECT_THAT(
      check_type_names({first, second, elsewhere}),
      ElementsAre(AllOf(HasSubstr("measure/b.h:3"), HasSubstr("lehr::Run"), HasSubstr("search/a.h:2"))));
}

TEST(ArchitectureRules, FindCommentsWhoseSubjectStandsAtTheEnd) {
  const auto found = [](const char* text) { return check_comments({parse_source("ir/a.h", text)}).size(); };
  EXPECT_EQ(found("/// Of one row: bytes.\n"), 1u);
  EXPECT_EQ(found("int a = 0;  /"
                  "//< Of one row; 0: there is none\n"),
            1u);
  EXPECT_EQ(found("int a = 0;  /"
                  "//< bytes; 0: there are none\n"),
            1u);
  EXPECT_EQ(found("/// Office hours: nonetheless none.\nf(\"// Of\");  // as https://Of\n"), 0u);
}

TEST(Rules, CountCodeByFolderAndReadTheBudget) {
  const std::vector<SourceFile> files = {
      parse_source("base/a.h", "// what\n\nint a;  // b\n  // c\n\tint b;\n"),
      parse_source("tests/base/x/a_test.cpp", "int a;\n"),
      parse_source("tests/base/b_test.cpp", "int b;\n\n")};
  const std::map<std::string, std::size_t> counted = {{"base", 2}, {"tests/base", 2}};
  EXPECT_EQ(lines_of_code(files), counted);
  const std::map<std::string, std::size_t> budget = {{"base", 20}, {"tests/base", 7}, {"tests/sass", 3}};
  EXPECT_EQ(
      budget_of("| folder | product | tests |\n|---|--:|--:|\n| `base/` | 20 | 7 |\n| `sass/` | - | 3 |\n"),
      budget);
}

}  // namespace
}  // namespace lehr::test
