// The winners of a log, for people and for programs. For api/ and cli/ alone.
#pragma once

#include <string>

#include "api/lehr.h"
#include "database/database.h"

namespace lehr::api {

/// Returns the filter with its workload in canonical form.
RecordFilter checked(RecordFilter filter);
/// Returns which rows are meant by the options of describe_filter(). Throws lehr::Error, naming the flag, for
/// what is no workload, target or family.
RecordFilter filter_of(const auto& o) {
  return checked(RecordFilter{o.workload, o.device, o.target, o.family});
}

/// What `lehr best` and `lehr model` print.
struct Listing {
  std::string text;
  std::string json;  ///< with --json
};

struct BestOptions {
  std::string workload = {}, device = {}, target = {}, family = {};
  std::string log = {};
};

void describe(auto& option, Is<BestOptions> auto& o) {
  describe_filter(option, o);
  describe_log(option, o);
}

/// Lists the fastest known kernel of each workload. Throws lehr::Error of kNotFound where none is known.
Listing list_best(const BestOptions& options);

}  // namespace lehr::api
