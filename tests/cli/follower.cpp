// A library that LD_PRELOAD loads into each process, as compute-sanitizer's libraries are. It writes a line
// about each start, fork and child to the file of FOLLOWER_LOG. Every process has a descriptor of its own for
// it, a forked one from the moment of the fork. A process that cannot write there ends.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

int log_file = -1;

void report(const char* what, pid_t other) {
  char line[80];
  const int length = std::snprintf(line, sizeof line, "%s %d %d\n", what, getpid(), other);
  if (write(log_file, line, static_cast<std::size_t>(length)) != length) _exit(255);
}

void open_log() {
  const char* const path = std::getenv("FOLLOWER_LOG");
  log_file = path == nullptr ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

void after_fork() {
  open_log();
  report("forked", getppid());
}

[[gnu::constructor]] void begin() {
  open_log();
  report("started", getppid());
  pthread_atfork(nullptr, nullptr, &after_fork);
}

}  // namespace

extern "C" int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const* arguments,
                           char* const* environment) {
  static const auto original = reinterpret_cast<decltype(&posix_spawn)>(dlsym(RTLD_NEXT, "posix_spawn"));
  const int error_number = original(pid, path, actions, attributes, arguments, environment);
  report("spawned", error_number == 0 ? *pid : -1);
  return error_number;
}
