// tune, best, show, export, db stats on a real CPU with the real compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "measure/worker/baselines.h"
#include "support.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

std::vector<std::string> tune_command(const std::string& more) {
  return words("tune gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --baseline openblas --quiet --json " +
               more);
}
constexpr const char* kWorkload =
    "gemm m=24 n=20 k=16 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none";

TEST(EndToEnd, TuneThenBestShowExportAndStatsAgree) {
  const Scratch scratch;
  const auto lehr = [&](std::vector<std::string> arguments) { return run_lehr(arguments, scratch.path()); };

  const Ran first = lehr(tune_command("--trials 6"));
  EXPECT_EQ(first.err, "");
  const json summary = parsed(first);
  for (const char* field : {"workload",
                            "device",
                            "identity",
                            "default",
                            "best",
                            "baseline",
                            "speedup_vs_default",
                            "speedup_vs_baseline",
                            "roofline_fraction",
                            "roofline_note",
                            "peaks",
                            "trials",
                            "elapsed_s",
                            "stop_reason",
                            "stop_text",
                            "seed",
                            "compiled_ahead",
                            "strategy",
                            "session",
                            "database"})
    EXPECT_TRUE(summary.contains(field)) << field;
  EXPECT_EQ(summary["workload"], kWorkload);
  EXPECT_EQ(summary["stop_reason"], "trials");
  EXPECT_EQ(summary["trials"]["measured"], 6);
  EXPECT_GT(summary["best"]["time_us"].get<double>(), 0);
  EXPECT_GT(summary["best"]["gflops"].get<double>(), 0);
  EXPECT_GE(summary["speedup_vs_default"].get<double>(), 1);
  EXPECT_TRUE(summary["contested"]);
  EXPECT_GT(summary["roofline_fraction"].get<double>(), 0);
  EXPECT_LE(summary["roofline_fraction"].get<double>(), 1);
  EXPECT_GE(summary["peaks"]["gflops_f32"].get<double>(), summary["best"]["gflops"].get<double>());
  const json& elapsed = summary["elapsed_s"];
  EXPECT_NEAR(elapsed["total"].get<double>(),
              elapsed["setup"].get<double>() + elapsed["search"].get<double>() +
                  elapsed["compile"].get<double>() + elapsed["run"].get<double>(),
              1e-6);

  const json best = parsed(lehr({"best", "--json"}));
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0]["config"], summary["best"]["config"]);
  EXPECT_EQ(best[0]["record"], summary["best"]["record"]);
  EXPECT_EQ(best[0]["time_us"], summary["best"]["time_us"]);
  EXPECT_EQ(best[0]["time_us_interval"], summary["best"]["time_us_interval"]);
  EXPECT_LE(best[0]["time_us_interval"][0], best[0]["time_us"]);
  EXPECT_GE(best[0]["time_us_interval"][1], best[0]["time_us"]);
  EXPECT_TRUE(best[0]["deterministic"].is_null());
  EXPECT_THAT(lehr({"best"}).out, HasSubstr(" +-"));
  EXPECT_THAT(lehr({"best"}).out, HasSubstr(summary["best"]["config"].get<std::string>()));

  const json shown =
      parsed(lehr({"show", kWorkload, "--device", "cpu", "--threads", "1", "--as", "source", "--json"}));
  EXPECT_EQ(shown["config"], summary["best"]["config"]);
  EXPECT_THAT(shown["chosen"].get<std::string>(), HasSubstr("the best in ./lehr.db"));
  const json& source = shown["source"];
  EXPECT_EQ(source["params"].size(), 3u);
  EXPECT_EQ(source["params"][0]["dtype"], "f32");
  EXPECT_EQ(source["params"][0]["elements"], 24 * 16);
  EXPECT_EQ(source["params"][2]["direction"], "out");
  EXPECT_THAT(source["text"].get<std::string>(), HasSubstr(source["entry"].get<std::string>()));
  EXPECT_GE(source["tasks"].get<int>(), 1);

  const json exported = parsed(lehr({"export", "--out", "winners", "--json"}));
  EXPECT_EQ(exported["kernels"], 1);
  std::ifstream file(scratch.path() / "winners/manifest.json");
  const json functions = json::parse(file)["functions"];
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0]["workload"], kWorkload);
  const json& kernel = functions[0]["kernels"].at(0);
  EXPECT_EQ(kernel["device"], summary["identity"]);
  std::ifstream exported_source(scratch.path() / "winners" / kernel["source"].get<std::string>());
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(exported_source), {}),
              HasSubstr(source["text"].get<std::string>()));

  const Ran nowhere = lehr({"export", "--out", "none/winners"});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("none/winners"));

  const json stats = parsed(lehr({"db", "stats", "--json"}));
  EXPECT_EQ(stats["records"], 6);
  EXPECT_EQ(stats["sessions"], 1);
  EXPECT_EQ(parsed(lehr({"db", "verify", "--json"}))["records"], 6);
  EXPECT_EQ(stats["tasks"][0]["workload"], kWorkload);

  const json second = parsed(lehr(tune_command("--trials 2")));
  EXPECT_EQ(second["trials"]["reused"], 6);
  EXPECT_EQ(second["resume"], "reused 6 trials of 1 earlier run");
  EXPECT_EQ(parsed(lehr(tune_command("--trials 1 --fresh")))["trials"]["reused"], 0);

  const json checked = parsed(lehr(tune_command("--trials 1 --deterministic-check")));
  EXPECT_EQ(checked["deterministic"], true);
  EXPECT_EQ(parsed(lehr({"best", "--json"}))[0]["deterministic"], true);
  const json ahead = parsed(lehr(tune_command("--trials 4 --overlap on --jobs 1")));
  EXPECT_GT(ahead["compile"]["seconds"], ahead["elapsed_s"]["compile"]);
  EXPECT_NEAR(ahead["device_idle_s"].get<double>(),
              ahead["elapsed_s"]["compile"].get<double>() + ahead["elapsed_s"]["search"].get<double>(), 1e-9);
  // A task with cold caches is another task.
  const json cold = parsed(lehr(tune_command("--trials 1 --caches cold")));
  EXPECT_EQ(cold["caches"], "cold");
  EXPECT_EQ(cold["trials"]["reused"], 0);
  EXPECT_EQ(parsed(lehr({"best", "--json"})).size(), 2U);
}

TEST(Show, TellsTheWorkspacesOfAKernelWhoseBlocksSplitK) {
  const Scratch scratch;
  const std::vector<std::string> command = words(
      "show gemm --m 64 --n 100 --k 4096 --a bf16:row --b bf16:column --c f32:row --arch sm_90a --as source "
      "--config gemm_mma(bm=64,bn=64,wm=32,wn=32,bk=64,k_warps=1,split_k=8,stage_c=0,stages=4,"
      "frag_buffers=1,min_blocks=1,raster=1)");
  EXPECT_THAT(run_lehr(command, scratch.path()).out, HasSubstr("// workspace: partials f32[65536]\n"));
  std::vector<std::string> as_json = command;
  as_json.push_back("--json");
  const json source = parsed(run_lehr(as_json, scratch.path()))["source"];
  ASSERT_EQ(source["params"].size(), 5u);
  EXPECT_EQ(source["params"][3]["direction"], "workspace");
  EXPECT_EQ(source["params"][4]["direction"], "workspace");
  EXPECT_EQ(source["params"][4]["dtype"], "u32");
  EXPECT_EQ(source["workspace_bytes"], (std::vector<int>{8 * 2 * 64 * 64 * 4, 2 * 4}));
  EXPECT_EQ(source["grid"], (std::vector<int>{2, 8, 1}));
}

TEST(EndToEnd, AConvolutionGoesTheSameWay) {
  const Scratch scratch;
  const auto lehr = [&](const std::string& command) { return run_lehr(words(command), scratch.path()); };
  const std::string problem =
      " conv2d --h 9,12 --w 11 --c 6 --k 8 --r 3 --stride 2x1 --pad 0x1x1x1 --groups 2";
  const json summaries =
      parsed(lehr("tune" + problem + " --device cpu --threads 1 --trials 3 --quiet --json --no-baseline"));
  ASSERT_EQ(summaries.size(), 2u);
  const std::string workload =
      "conv2d n=1 h=12 w=11 c=6 k=8 r=3 s=3 stride=2x1 pad=0x1x1x1 dilation=1x1 groups=2 layout=nchw x=f32 "
      "f=f32 y=f32 accum=f32 epilogue=none";
  EXPECT_EQ(summaries[1]["workload"], workload);
  EXPECT_EQ(summaries[1]["trials"]["timed"], 3);
  EXPECT_THAT(summaries[1]["best"]["template"].get<std::string>(),
              AnyOf("conv2d_cpu", "conv2d_oc_cpu", "conv2d_im2col_cpu"));

  const json best = parsed(lehr("best --json"));
  ASSERT_EQ(best.size(), 2u);
  const json shown = parsed(run_lehr(
      {"show", workload, "--device", "cpu", "--threads", "1", "--as", "source", "--json"}, scratch.path()));
  EXPECT_EQ(shown["config"], summaries[1]["best"]["config"]);
  EXPECT_EQ(shown["source"]["params"][0]["elements"], 6 * 12 * 11);
  EXPECT_EQ(shown["source"]["params"][1]["elements"], 8 * 3 * 3 * 3);
  EXPECT_EQ(shown["source"]["params"][2]["elements"], 8 * 6 * 11);
  EXPECT_EQ(parsed(lehr("export --out winners --json"))["kernels"], 2);

  const json checked = parsed(lehr(
      "check conv2d --h 12 --w 11 --c 6 --k 8 --r 3 --stride 2x1,1 --pad 0x1x1x1 --groups 2 --device cpu "
      "--threads 1 --samples 2 --json"));
  EXPECT_EQ(checked["failed_configs"], 0);
  EXPECT_EQ(checked["right_configs"], 12);  // two of each family for both

  const Ran integers =
      lehr("show conv2d --h 9 --w 9 --c 16 --k 4 --r 3 --layout nhwc --dtype s8 --arch sm_90a --as ast");
  EXPECT_THAT(integers.out, HasSubstr("x=s8 f=s8 y=s32 accum=s32"));

  const Ran missing = lehr("tune conv2d --h 9 --w 9 --c 3 --k 4");
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("--r is missing: a convolution needs"));
  const Ran large = lehr("tune conv2d --h 3 --w 3 --c 3 --k 4 --r 5");
  EXPECT_EQ(large.code, 1);
  EXPECT_THAT(large.err, HasSubstr("the filter covers 5 x 5 pixels"));
  const Ran f16 = lehr("tune conv2d --h 9 --w 9 --c 3 --k 4 --r 3 --layout nhwc --dtype f16 --device cpu");
  EXPECT_EQ(f16.code, 1);
  EXPECT_THAT(f16.err, HasSubstr("conv2d_oc_cpu: multiplies f32, bf16, and u8 or s8 by s8 only"));
}

// The second workload's pair needs a workspace for the product, of twice the output's columns.
TEST(EndToEnd, AFusedWorkloadIsComparedWithTheUnfusedPair) {
  for (const char* problem : {"conv2d --h 12 --w 11 --c 8 --k 8 --r 3 --pad 1 --groups 8 --layout nhwc "
                              "--epilogue scale_shift+relu6 --threads 2",
                              "gemm --m 9 --n 16+18 --k 12 --epilogue bias+swiglu --threads 1"}) {
    const Scratch scratch;
    const json summary =
        parsed(run_lehr(words(std::string("tune ") + problem +
                              " --device cpu --trials 3 --quiet --json --baseline unfused,onednn"),
                        scratch.path()));
    ASSERT_EQ(summary["baselines"].size(), 2u);
    const json& unfused = summary["baselines"][0];
    EXPECT_EQ(unfused["name"], "unfused");
    EXPECT_TRUE(unfused["missing"].is_null()) << unfused;
    EXPECT_GT(unfused["time_us"], 0);
    EXPECT_GT(unfused["speedup"], 0);
    EXPECT_THAT(unfused["note"], HasSubstr(", then a pass"));
    EXPECT_EQ(summary["baseline"]["name"], "unfused");
    EXPECT_TRUE(summary["baselines"][1]["time_us"].is_null());
  }
}

TEST(EndToEnd, SeveralWorkloadsGiveATableAndTheReportNamesTheNextCommands) {
  const Scratch scratch;
  const Ran ran =
      run_lehr(words("tune gemm --m 8,16 --n 8 --k 8 --device cpu --threads 1 --trials 2 --no-baseline"),
               scratch.path());
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("workload "));
  EXPECT_THAT(ran.out, HasSubstr("lehr best --db"));
  EXPECT_THAT(ran.out, HasSubstr("vs baseline"));
  EXPECT_THAT(ran.out, HasSubstr("gemm m=16 n=8 k=8"));
  EXPECT_THAT(ran.err, HasSubstr("best "));
  EXPECT_THAT(ran.err, ::testing::Not(HasSubstr("\r")));
}

TEST(EndToEnd, AnInterruptLeavesAValidDatabaseAndExitCode130) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Scratch scratch;
    bool sent = false;
    const Ran ran =
        run_lehr(words("tune gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --time 60s --json"),
                 scratch.path(), [&](int pid, const std::string& err) {
                   if (!sent && err.find("best ") != std::string::npos) {
                     kill(-pid, signal);  // the whole group, as a terminal does
                     sent = true;
                   }
                 });
    EXPECT_EQ(ran.code, 130) << ran.err;
    const json summary = json::parse(ran.out, nullptr, false);
    ASSERT_FALSE(summary.is_discarded()) << ran.out;
    EXPECT_EQ(summary["stop_reason"], "interrupted");
    const json stats = parsed(run_lehr({"db", "stats", "--json"}, scratch.path()));
    EXPECT_EQ(stats["records"], summary["trials"]["measured"]);
    EXPECT_GT(stats["records"].get<int>(), 0);
    EXPECT_TRUE(parsed(run_lehr({"db", "verify", "--json"}, scratch.path()))["sound"]);
    const json best = parsed(run_lehr({"best", "--json"}, scratch.path()));
    EXPECT_FALSE(best[0]["contested"]);
  }
}

TEST(EndToEnd, CudaWithoutAGpuSaysWhatIsMissing) {
  const Scratch scratch;
  const Ran ran = run_lehr(words("tune gemm --m 8 --n 8 --k 8 --device cuda:63 --trials 1"), scratch.path());
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("--device cpu tunes on the CPU instead"));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
}

TEST(Bench, TimesWhatABundleAnswersBesideTheLibrary) {
  const Scratch scratch;
  const auto lehr = [&](const std::string& line) {
    return run_lehr(words(line), scratch.path(), {}, kept_compiler());
  };
  record_log(scratch.path() / "lehr.db", kWorkload, 2);
  parsed(lehr("export --out product --json"));
  const json functions = parsed(lehr("bench --bundle product --json"))["functions"];
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0]["workload"], kWorkload);
  EXPECT_EQ(functions[0]["threads"], 1);
  EXPECT_THAT(lehr("bench --bundle product").out, HasSubstr("gemm m=24 n=20 k=16"));

  const std::string bench = "bench gemm --n 20 --k 16 --time 100ms --no-baseline --bundle product ";
  const json timed = parsed(lehr(bench + "--json --threads 1 --m 24"));
  EXPECT_EQ(timed["bundle"]["answer"], "exact");
  EXPECT_EQ(timed["bundle"]["function"], functions[0]["function"]);
  const json& entry = timed["entries"].back();
  EXPECT_EQ(entry["what"], "bundle");
  EXPECT_EQ(entry["note"], timed["bundle"]["kernel"]);
  EXPECT_TRUE(entry["missing"].is_null()) << entry;
  EXPECT_GT(entry["time_us"].get<double>(), 0);
  EXPECT_THAT(lehr(bench + "--threads 2 --m 24").out, HasSubstr(", other threads, "));

  const Ran none = lehr(bench + "--threads 1 --m 23");
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("the library has no kernel for 'gemm m=23"));
  EXPECT_EQ(lehr("bench --bundle nowhere").code, 1);
  EXPECT_EQ(lehr(bench + "--m 24 --device cuda:63").code, 2) << "kernels for GPUs are timed on one";
}

TEST(Bench, TimesNamedConfigsInTurnAndLeavesNothing) {
  const Scratch scratch;
  const std::string line =
      "bench gemm --m 24 --n 20 --k 16 --b f32:column --device cpu --threads 1 --time 300ms --json";
  const json defaults = parsed(run_lehr(words(line + " --no-baseline"), scratch.path()));
  EXPECT_THAT(defaults["workload"], HasSubstr("gemm m=24 n=20 k=16 batch=1 a=f32:row b=f32:column"));
  ASSERT_GE(defaults["entries"].size(), 2u);  // a default of each family
  std::vector<std::string> arguments = words(line + " --baseline openblas");
  const std::string last = defaults["entries"].back()["what"], first = defaults["entries"][0]["what"];
  arguments.insert(arguments.end(), {"--config", last, "--config", first});
  const json named = parsed(run_lehr(arguments, scratch.path()))["entries"];
  ASSERT_EQ(named.size(), 3u);
  EXPECT_EQ(named[0]["what"], last);
  EXPECT_EQ(named[1]["what"], first);
  EXPECT_EQ(named[2]["what"], "openblas");
  EXPECT_EQ(named[0]["speedup"], 1);
  EXPECT_FALSE(named[1]["rounds_us"].empty());
  EXPECT_GT(named[1]["speedup"].get<double>(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));

  arguments.back() = "gemm_cpu(threads=1)";
  const Ran bad = run_lehr(arguments, scratch.path());
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("--config 'gemm_cpu(threads=1)' is no schedule of this workload here"));
}

TEST(Check, CountsTheConfigsOfEveryFamilyOnEveryWorkload) {
  const Scratch scratch;
  const std::string line =
      "check gemm --m 1,9 --n 7 --k 5 --b f32:column --device cpu --threads 1 --samples 3";
  const json document = parsed(run_lehr(words(line + " --json"), scratch.path()));
  EXPECT_TRUE(document["complete"]);
  EXPECT_GT(document["sampled_configs"].get<int>(), 3);
  EXPECT_EQ(document["right_configs"], document["sampled_configs"]);
  EXPECT_EQ(document["checks"][0]["workload"],
            "gemm m=1 n=7 k=5 batch=1 a=f32:row b=f32:column c=f32:row accum=f32 epilogue=none");
  EXPECT_LT(document["checks"][0]["error_of_tolerance"].get<double>(), 1);
  const Ran text =
      run_lehr(words("check gemm --m 9 --n 7 --k 5 --device cpu --threads 1 --samples 1"), scratch.path());
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("gemm_cpu"));
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

// Epilogues go from a file's lines and from a flag to the comparison. Workloads that nothing serves are left
// out and named.
TEST(Check, TakesProblemsFromAFileWithEpilogues) {
  const Scratch scratch;
  std::ofstream(scratch.path() / "list.txt") << "gemm m=9 n=7 k=5 epilogue=bias+gelu_erf+residual  # fused\n"
                                                "convfp16 -n 1 -c 4 -H 8 -W 8 -k 4 -y 3 -x 3\n"
                                                "conv2d h=8 w=8 c=4 k=4 r=3 s=3 epilogue=scale_shift+relu\n";
  const Ran ran = run_lehr(words("check --problems list.txt --device cpu --threads 1 --samples 1 --json"),
                           scratch.path());
  const json document = parsed(ran);
  EXPECT_EQ(document["right_configs"], document["sampled_configs"]);
  EXPECT_THAT(document["checks"][0]["workload"], HasSubstr("epilogue=bias+gelu_erf+residual"));
  EXPECT_THAT(document["checks"].back()["workload"], HasSubstr("epilogue=scale_shift+relu"));
  EXPECT_THAT(ran.err, HasSubstr("note: left out: no kernel family serves 'conv2d n=1 h=8 w=8 c=4 k=4"));

  std::ofstream(scratch.path() / "none.txt") << "convfp16 -n 1 -c 4 -H 8 -W 8 -k 4 -y 3 -x 3\n";
  const Ran none =
      run_lehr(words("tune --problems none.txt --device cpu --threads 1 --trials 1"), scratch.path());
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("no kernel family serves"));
}

TEST(Show, ListsTheOperandsOfAnEpilogue) {
  const Scratch scratch;
  const json document = parsed(run_lehr(words("show gemm --m 64 --n 100 --k 64 --epilogue "
                                              "scale_shift+residual+relu --arch sm_80 --as source --json"),
                                        scratch.path()));
  const json& params = document["source"]["params"];
  ASSERT_EQ(params.size(), 6u);
  const std::vector<std::pair<std::string, int>> expected = {
      {"a", 4096}, {"b", 6400}, {"c", 6400}, {"scale", 100}, {"shift", 100}, {"residual", 6400}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(params[i]["name"], expected[i].first);
    EXPECT_EQ(params[i]["elements"], expected[i].second);
    EXPECT_EQ(params[i]["direction"], i == 2 ? "out" : "in");
  }
}

TEST(EndToEnd, BestOfADatabaseWithoutAMatchIsNotFound) {
  const Scratch scratch;
  record_log(scratch.path() / "lehr.db", "gemm m=8 n=8 k=8", 1);
  const Ran ran = run_lehr({"best", "--workload", "gemm m=9 n=9 k=9"}, scratch.path());
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  const Ran exported = run_lehr({"export", "--workload", "gemm m=9 n=9 k=9", "--out", "x"}, scratch.path());
  EXPECT_EQ(exported.code, 3);
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "x"));
}

TEST(Doctor, NamesEveryPartAndSucceedsWhateverIsMissing) {
  const Scratch scratch;
  const json document = parsed(run_lehr({"doctor", "--json"}, scratch.path()));
  std::vector<std::string> parts;
  for (const json& finding : document["findings"]) {
    parts.push_back(finding["what"]);
    EXPECT_NE(finding["text"], "") << finding["what"];
  }
  std::vector<std::string> expected = {"cpu", "host compiler", "--isa"};
  const auto add_libraries = [&](Target target) {
    for (const VendorLibrary* library : vendor_libraries())
      if (library->target == target && library->describe != nullptr) expected.emplace_back(library->name);
  };
  add_libraries(Target::kCpu);
  expected.insert(expected.end(), {"cuda device", "nvrtc"});
  add_libraries(Target::kCuda);
  expected.insert(expected.end(), {"ONNX Runtime", "temporary files", "database"});
  EXPECT_EQ(parts, expected);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

/// Makes a library that runs `body` while it is loaded.
std::string library(const Scratch& scratch, const std::string& name, const std::string& body) {
  const std::string source = scratch.path() / "library.c", path = scratch.path() / name;
  std::ofstream(source) << "__attribute__((constructor)) static void load(void) { " << body << " }\n";
  EXPECT_EQ(std::system(fmt::format("cc -shared -fPIC -o {} {}", path, source).c_str()), 0);
  return path;
}

TEST(Doctor, OutlivesALibraryThatCrashesWhenItIsLoaded) {
  for (const auto& [body, text] : {std::pair("__builtin_trap();", "SIGILL"),
                                   std::pair("extern void _exit(int); _exit(0);", "without a word")}) {
    const Scratch scratch;
    const Ran ran = run_lehr({"doctor", "--json"}, scratch.path(), {},
                             {"LEHR_ONNXRUNTIME=" + library(scratch, "libcrash.so", body)});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const json document = parsed(ran);
    const json& engine = document["findings"][document["findings"].size() - 3];
    EXPECT_EQ(engine["what"], "ONNX Runtime");
    EXPECT_EQ(engine["ok"], false);
    EXPECT_THAT(engine["text"].get<std::string>(), HasSubstr(text));
  }
}

// Tuning once waited two minutes for such a library.
TEST(Tune, IsNotHeldUpByALibraryThatHangs) {
  const Scratch scratch;
  library(scratch, "libopenblas.so.0", "for (;;) __asm__ volatile(\"\");");
  const Ran ran = run_lehr(
      words("tune gemm --m 8 --n 8 --k 8 --device cpu --threads 1 --time 2s --baseline openblas --json"),
      scratch.path(), {}, {"LD_LIBRARY_PATH=" + scratch.path().string()});
  EXPECT_EQ(ran.code, 0) << ran.err;
  // Tuning once waited as long as its limit, whatever the machine's speed.
  EXPECT_LT(parsed(ran)["elapsed_s"]["total"].get<double>(), 100);
}

}  // namespace
}  // namespace lehr::testing
