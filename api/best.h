// The winners of a log, for people and for programs. Only for api/ and cli/.
#pragma once

#include <cstddef>
#include <string>

#include "api/lehr.h"
#include "database/database.h"

namespace lehr::api {

/// Returns the filter with its workload in canonical form.
RecordFilter checked(RecordFilter filter);
/// Returns the rows that the options of describe_filter() select. Throws lehr::Error, naming the flag, for a
/// workload, target or family that is not valid.
RecordFilter filter_of(const auto& o) {
  return checked(RecordFilter{o.workload, o.device, o.target, o.family});
}

/// The output of `lehr best` and `lehr model`.
struct Listing {
  std::string text;
  std::string json;  ///< empty without --json
};

struct BestOptions {
  std::string workload = {}, device = {}, target = {}, family = {};
  std::string log = {};
  std::string sort = "workload";
  int limit = 0;
};

void describe(auto& option, Is<BestOptions> auto& o) {
  describe_filter(option, o);
  describe_log(option, o);
  option("sort", o.sort,
         {.group = "Output",
          .help = "what comes first: the shortest time, the largest speedup over the default or over the "
                  "baseline, the most trials, the newest",
          .choices = "workload | time | speedup | baseline | trials | newest"});
  option("limit", o.limit,
         {.group = "Output",
          .help = "only so many workloads, the first ones",
          .usual = "all",
          .least = 1,
          .most = 1'000'000});
}

/// How the text of list_best() looks.
struct BestLook {
  enum { kTable, kCsv, kMarkdown } format = kTable;
  bool wide = false;      ///< all columns, whole texts
  std::size_t width = 0;  ///< maximum width of a table's lines, unless it is wide; 0: no limit
  bool colour = false;
};

/// Lists the fastest known kernel of each workload. Throws lehr::Error of kNotFound if no kernel is known.
Listing list_best(const BestOptions& options, const BestLook& look = {});

}  // namespace lehr::api
