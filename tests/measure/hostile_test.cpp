// Tests of candidates that attack the process that runs them: each is its own failure, and the next one is
// timed.
#include <gtest/gtest.h>

#include <string>

#include "measure/system/memory_limit.h"
#include "measuring.h"

namespace lehr::testing {
namespace {

constexpr const char* kDeclared = R"(
extern "C" long write(int, const void*, unsigned long); extern "C" unsigned sleep(unsigned);
extern "C" int close(int); extern "C" int raise(int); extern "C" void _exit(int);
extern "C" int setrlimit(int, const unsigned long*);
// A message of measure/worker/wire.h, of a tag that nobody asked with, into whatever is open.
static void forge(const char* text) {
  unsigned length = __builtin_strlen(text);
  char message[512] = {(char)length, (char)(length >> 8)};
  __builtin_memcpy(message + 12, text, length);
  for (int fd = 3; fd < 260; ++fd) write(fd, message, length + 12);
  sleep(1);
}
)";

Source hostile(const std::string& body) {
  Source result = source(body + " rows(a, b, c, 0, N);");
  result.text = kDeclared + result.text;
  return result;
}

TEST_F(Measuring, AnAnswerThatACandidateWritesIsItsFailure) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  const std::string timing =
      R"({\"kind\":\"timing\",\"time_us\":0.0001,\"samples_us\":[],\"spread\":0,\"reference_us\":0,\"max_error\":0,)"
      R"(\"run_s\":0,\"resources\":{\"compile_s\":0},\"windows\":1,\"disturbed\":false})";
  const std::string thrown = R"({\"kind\":\"thrown\",\"error\":1,\"text\":\"forged\"})";
  for (const std::string& text : {timing, thrown, std::string("[")})
    expect_failure_then_recovery(measurer, hostile("forge(\"" + text + "\");"), FailureKind::kCrash,
                                 "wrote into the connection");
}

TEST_F(Measuring, ALimitThatACandidateLowersIsItsFailure) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  // Limits of open files, of a file's size, of memory (bits/resource.h).
  for (const int resource : {7, 1, 9}) {
    SCOPED_TRACE(resource);
    if (resource == 9 && !kMemoryIsLimited) continue;  // the sanitizers' own memory
    const std::string body =
        "unsigned long none[2] = {0, 0}; setrlimit(" + std::to_string(resource) + ", none);";
    expect_failure_then_recovery(measurer, hostile(body), FailureKind::kCrash, "");
  }
}

TEST_F(Measuring, WhatACandidateClosesIsClosedForItAlone) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  expect_failure_then_recovery(measurer, hostile("for (int fd = 0; fd < 1024; ++fd) close(fd);"),
                               FailureKind::kCrash, "");
}

}  // namespace
}  // namespace lehr::testing
