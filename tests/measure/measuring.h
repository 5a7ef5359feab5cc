// The fixture of tests that send real kernels through compiler and worker.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host_support.h"
#include "measure/host/host_compiler.h"

namespace lehr::testing {

class Measuring : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { compiler_ = std::make_unique<HostCompiler>(); }
  static void TearDownTestSuite() { compiler_.reset(); }

  LocalMeasurer make(LocalOptions options = local_options()) {
    return LocalMeasurer(*compiler_, std::move(options));
  }

  /// Measures `bad`, expects `kind` with `words` in its text, then expects the right kernel to be measured
  /// after it.
  static void expect_failure_then_recovery(LocalMeasurer& measurer, const Source& bad, FailureKind kind,
                                           const std::string& words) {
    const std::vector<Source> sources = {bad, right_source()};
    const std::vector<Outcome> outcomes = measurer.measure(sources, {});
    ASSERT_EQ(outcomes.size(), 2U);
    ASSERT_TRUE(std::holds_alternative<Failure>(outcomes[0])) << "was timed, expected: " << words;
    const Failure& failure = std::get<Failure>(outcomes[0]);
    EXPECT_EQ(failure.kind, kind) << name_of(failure.kind) << ": " << failure.text;
    EXPECT_NE(failure.text.find(words), std::string::npos) << failure.text;
    ASSERT_TRUE(std::holds_alternative<Timing>(outcomes[1])) << std::get<Failure>(outcomes[1]).text;
  }

  static inline std::unique_ptr<HostCompiler> compiler_;
};

}  // namespace lehr::testing
