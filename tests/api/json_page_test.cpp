// Tests that docs/json.md is what the documents' descriptions of their fields make of it.
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "apply/layers.h"
#include "tests/support/golden.h"
#include "tune/documents.h"

namespace lehr {
namespace {

/// Collects a row for each field of a document. The rows of an object's fields follow the object's own.
class Page {
 public:
  void operator()(const char* name, const auto& value, const char* text) {
    const std::string path = prefix_ + name;
    rows_ += "| `" + path + "` | " + text + " |\n";
    descend(path, value);
  }
  /// A record's fields have no rows of their own: the text of the field that holds the record names them.
  void operator()(const char*, const auto&, int = 1) {}

  template <typename T>
  std::string table(const T& document) {
    rows_ = "| field | what it is |\n|---|---|\n";
    descend("", document);
    return rows_;
  }

 private:
  template <typename T>
  void descend(const std::string& path, const std::optional<T>& value) {
    if (value) descend(path, *value);
  }
  template <typename T>
  void descend(const std::string& path, const std::vector<T>& values) {
    if (!values.empty()) descend(path + "[]", values.front());
  }
  template <typename T>
  void descend(const std::string& path, const T& value) {
    if constexpr (Described<const T>) {
      const std::string before = std::exchange(prefix_, path.empty() ? "" : path + ".");
      describe(*this, value);
      prefix_ = before;
    }
  }

  std::string prefix_, rows_;
};

Summary a_summary() {
  Summary summary;
  summary.best.emplace();
  summary.verdict.baseline = "onednn";
  summary.finalists.emplace_back();
  summary.baselines.emplace_back();
  return summary;
}

RangeSummary a_range() {
  RangeSummary range;
  range.record.emplace().outcome = Timing();
  range.set.emplace().times.emplace_back();
  return range;
}

constexpr const char* kIntroduction = R"(# What `lehr tune --json` prints

One object for one workload; an array of these for a list of sizes or for `--problems`; [another object](#a-range-of-rows) for a range of rows,
[another](#a-network) for `--model`; and of `lehr apply --json` [one part](#a-layer). What is not known is `null`. Times that end in `_us` are microseconds, `_s` seconds; an interval is `[low, high]` of 95 %.
The tables are made of the descriptions in [`tune/documents.h`](../tune/documents.h) and [`apply/layers.h`](../apply/layers.h) (`api_test --update-golden`).
)";

TEST(JsonPage, HasTheFieldsThatAreDescribed) {
  const std::string database = "| `database` | the log's file |\n";
  const std::vector<SharedResult> tasks(1);
  const Untuned found;
  const Task task = task_of(parse_workload("gemm m=8 n=8 k=8"), {});
  Page page;
  testing::expect_generated(
      "docs/json.md", std::string(kIntroduction) + "\n## A workload\n\n" + page.table(a_summary()) +
                          database + "\n## A range of rows\n\n`--m 1..2048` has\n\n" + page.table(a_range()) +
                          database + "\n## A network\n\n" + page.table(NetworkDocument{"", "", tasks}) +
                          "\n## Without a trial\n\n`--trials 0` has\n\n" +
                          page.table(UntunedDocument{found, task, ""}) +
                          "\n## A layer\n\n`layers` of `lehr apply --json` (in `lehr optimize --json` it is "
                          "`apply.layers`) has for each\n\n" +
                          page.table(Layer()));
}

}  // namespace
}  // namespace lehr
