// A child process with both of its streams read to the end.
#include "support.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "base/hash.h"
#include "database/database.h"
#include "tests/support/fake_measurer.h"
#include "tune/open_device.h"
#include "tune/session.h"

namespace lehr::testing {
namespace {

/// Appends what can be read now; false at the end of the stream.
bool drain(int file, std::string& into) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count > 0) into.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0) return false;
    if (count < 0) return true;
  }
}

}  // namespace

Ran run_lehr(const std::vector<std::string>& arguments, const std::filesystem::path& directory,
             const std::function<void(int, const std::string&)>& while_running,
             const std::vector<std::string>& environment) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  const std::string program = LEHR_PROGRAM;
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    if (chdir(directory.c_str()) != 0) _exit(126);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    unsetenv("LEHR_DB");
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  fcntl(err[0], F_SETFL, O_NONBLOCK);
  Ran ran;
  bool more_out = true, more_err = true;
  while (more_out || more_err) {
    std::array<pollfd, 2> files = {pollfd{more_out ? out[0] : -1, POLLIN, 0},
                                   pollfd{more_err ? err[0] : -1, POLLIN, 0}};
    poll(files.data(), files.size(), 20);
    if (more_out) more_out = drain(out[0], ran.out);
    if (more_err) more_err = drain(err[0], ran.err);
    if (while_running) while_running(pid, ran.err);
  }
  close(out[0]);
  close(err[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return ran;
}

nlohmann::json parsed(const Ran& ran) {
  EXPECT_EQ(ran.code, 0) << ran.err;
  nlohmann::json document = nlohmann::json::parse(ran.out, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << ran.out;
  return document;
}

Summary record_log(const std::filesystem::path& log, const std::string& workload, int trials, int threads) {
  const Workload parsed = parse_workload(workload);
  OpenOptions open;
  open.tools.program = LEHR_PROGRAM;
  DeviceChoice cpu;
  cpu.automatic = false;
  cpu.target = Target::kCpu;
  cpu.threads = threads;
  OpenDevice device = open_device(cpu, parsed, open);
  FakeClock clock;
  const auto outcome = [](const Source& source) -> Outcome {
    const double us = 1000 + static_cast<double>(stable_hash(source.text) % 1000);
    return Timing{.time_us = us, .samples_us = {us, us, us}, .resources = {}};
  };
  device.measurer = std::make_unique<FakeMeasurer>(outcome, clock);
  device.prober = {};
  SessionOptions options;
  options.stop.trials = trials;
  options.session_id = new_session_id();
  options.now_s = [&] { return clock.now_s; };
  Database database = Database::open(log);
  const Task task = task_of(parsed, device.device);
  return Session(task, candidates_for(task), device, {database}, options).run();
}

std::vector<std::string> kept_compiler() {
  return {"CXX=" LEHR_SOURCE_DIR "/tests/kept_compiler " LEHR_BINARY_DIR "/kept_compiler"};
}

Scratch::Scratch() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lehr-cli-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp");
  path_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

}  // namespace lehr::testing
