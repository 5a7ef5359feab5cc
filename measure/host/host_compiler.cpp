// Runs compiler drivers in parallel. Each compilation is a process with a deadline.
#include "measure/host/host_compiler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "measure/system/affinity.h"
#include "measure/system/process.h"
#include "measure/system/temp_dir.h"
#include "target/isa.h"

namespace lehr {
namespace {

const std::string kOptimized = "-O2";
// Flags that follow kOptimized and -march.
const std::vector<std::string> kFlags = {"-ffp-contract=fast", "-fno-math-errno", "-shared", "-fPIC", "-w",
                                         // The emitted code throws nothing and has no static objects.
                                         "-fno-exceptions", "-fno-rtti", "-fno-asynchronous-unwind-tables",
                                         "-nostdlib"};
// These follow the source, so that the linker can leave out what is not used.
const std::vector<std::string> kLibraries = {"-lm", "-lc"};

/// Returns the first line of --version, without the name at its beginning: GCC prints the name by which it
/// was called, which does not affect times.
std::string version_text(const std::string& output) {
  const std::string line(first_line(output));
  if (line.find("clang") != std::string::npos || line.find(' ') == std::string::npos) return line;
  return "g++" + line.substr(line.find(' '));
}

/// Returns the first lines of a compiler's output, without the name of the private directory.
std::string excerpt(std::string text, const std::string& directory) {
  constexpr int kLines = 12;
  for (std::size_t at = text.find(directory + "/"); at != std::string::npos;
       at = text.find(directory + "/")) {
    text.erase(at, directory.size() + 1);
  }
  // Begins at the line with "error". Lines "In function ..." before it are of no use to a reader.
  const std::size_t error = text.find("error: ");
  if (error != std::string::npos) {
    const std::size_t before = text.rfind('\n', error);
    text.erase(0, before == std::string::npos ? 0 : before + 1);
  }
  std::size_t end = 0;
  for (int line = 0; line < kLines && end != std::string::npos; ++line)
    end = text.find('\n', end == 0 ? 0 : end + 1);
  text.resize(std::min(end, text.size()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// Whether the output has the words with which GCC, clang (LLVM) or shell tools report exhausted memory.
bool ran_out_of_memory(const std::string& output) {
  for (const char* words : {"out of memory", "memory exhausted", "Cannot allocate memory", "bad_alloc"})
    if (output.find(words) != std::string::npos) return true;
  return false;
}

/// Whether the output has the words with which the drivers of GCC and clang report that one of their
/// processes was ended from outside, as the kernel does when memory runs out. A process that crashed by
/// itself does not count.
bool part_ended_from_outside(const std::string& output) {
  for (const char* name : {"Killed", "Terminated", "Interrupt", "Hangup", "Quit"})
    for (const char* words : {"{} signal terminated program", "unable to execute command: {}"})
      if (output.find(fmt::format(fmt::runtime(words), name)) != std::string::npos) return true;
  return false;
}

void write_file(const std::string& path, const std::string& text) {
  const Fd file(open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
  if (file.get() < 0) throw_write_error(path, errno);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(file.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_write_error(path, errno);
    done += static_cast<std::size_t>(count);
  }
}

/// Returns the instruction set that -march=native stands for, from the driver's dry run (`-###`): GCC's words
/// "-march=x" and "-m...", or clang's -target-cpu and "+feature" words.
std::string native_text(const std::string& dry_run) {
  std::string cpu;
  std::string features;
  bool cpu_is_next = false;
  for (std::string_view word : split(dry_run, ' ')) {
    if (word.size() >= 2 && word.front() == '"' && word.back() == '"') word = word.substr(1, word.size() - 2);
    if (cpu_is_next) cpu = word;
    cpu_is_next = word == "-target-cpu";
    if (word.starts_with("-march=")) cpu = word.substr(7);
    const bool gcc_feature =
        word.starts_with("-m") && !word.starts_with("-mllvm") && !word.starts_with("-march");
    if (gcc_feature || word.starts_with('+')) features += word;
  }
  return fmt::format("{}/{}", cpu.empty() ? "unknown" : cpu, to_hex(stable_hash(features)).substr(0, 8));
}

}  // namespace

struct HostCompiler::State {
  HostCompilerOptions options;
  std::string path;
  std::vector<std::string> words;  ///< words after the path: the last two of "ccache g++ -m64"
  std::string identity;
  std::vector<std::string> macros;  ///< HostCompiler::macros(), once it was called
  TempDir directory;
  std::atomic<std::uint64_t> next_number = 0;
  mutable std::mutex mutex;                              ///< guards the rest
  std::unordered_map<std::string, std::string> objects;  ///< paths of kept object files, by source text
  std::int64_t object_room = 0;                          ///< bytes that are left for kept object files

  explicit State(HostCompilerOptions given) : options(std::move(given)), directory(options.temp_base) {}

  SpawnOptions command(const std::vector<std::string>& arguments) const {
    SpawnOptions result;
    result.command = {path};
    result.command.insert(result.command.end(), words.begin(), words.end());
    result.command.insert(result.command.end(), arguments.begin(), arguments.end());
    result.environment = {"LC_ALL=C", "TMPDIR=" + directory.path()};
    result.cpu_s = options.time_limit_s;
    result.memory_bytes = options.memory_bytes;
    return result;
  }

  // Returns all flags, without files and libraries.
  std::vector<std::string> flags() const {
    std::vector<std::string> all = {kOptimized};
    std::ranges::copy(flags_of(options.isa), std::back_inserter(all));
    all.insert(all.end(), kFlags.begin(), kFlags.end());
    all.insert(all.end(), options.extra_flags.begin(), options.extra_flags.end());
    // Flags among the compiler's words change kernels and therefore belong to the identity.
    std::ranges::copy_if(words, std::back_inserter(all),
                         [](const std::string& word) { return word.starts_with('-'); });
    return all;
  }

  std::vector<std::string> build_arguments(const std::string& from, const std::string& to) const {
    std::vector<std::string> words = flags();
    if (from.ends_with(".o"))
      words.push_back(from);
    else
      words.insert(words.end(), {"-x", "c++", from, "-x", "none"});
    if (to.ends_with(".o")) words.push_back("-c");
    words.insert(words.end(), kLibraries.begin(), kLibraries.end());
    words.insert(words.end(), {"-o", to});
    return words;
  }

  std::string object_of(const std::string& text) const {
    const std::lock_guard lock(mutex);
    const auto found = objects.find(text);
    return found == objects.end() ? "" : found->second;
  }
  bool keeps() const {
    const std::lock_guard lock(mutex);
    return object_room > 0;
  }
  void keep(const std::string& text, const std::string& object) {
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(object));
    const std::lock_guard lock(mutex);
    object_room -= bytes;
    // Another thread may have kept the object of the same text.
    if (!objects.emplace(text, object).second) unlink(object.c_str());
  }

  /// Compiles and links in one step, or in two steps if the object file is kept.
  Captured build(const std::string& text, const std::string& stem, Deadline end) {
    const std::string source = stem + ".cpp", result = stem + ".so";
    std::string object = object_of(text);
    const auto run = [&](const std::string& from, const std::string& to) {
      return run_captured(command(build_arguments(from, to)),
                          std::min(end, deadline_in(options.time_limit_s)), options.stop);
    };
    if (!object.empty()) return run(object, result);
    write_file(source, text);
    const bool by_object = keeps();
    object = stem + ".o";
    Captured made = run(source, by_object ? object : result);
    unlink(source.c_str());
    if (!by_object) return made;
    if (!made.succeeded()) {
      unlink(object.c_str());
      return made;
    }
    Captured linked = run(object, result);
    keep(text, object);
    linked.output = made.output + linked.output;
    return linked;
  }

  static Failure interrupted() {
    return {FailureKind::kInterrupted, "the session was ended while it was compiled", {}};
  }

  Compiled compile_one(const std::string& text, Deadline end) {
    const auto start = std::chrono::steady_clock::now();
    const std::string stem = fmt::format("{}/k{}", directory.path(), next_number++);
    Binary binary;
    binary.path = stem + ".so";
    const Captured run = build(text, stem, end);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (run.succeeded()) {
      binary.log = excerpt(run.output, directory.path());
      binary.resources.compile_s = took;
      return binary;
    }
    unlink(binary.path.c_str());
    Failure failure;
    failure.resources.compile_s = took;
    if (run.given_up) return interrupted();
    if (run.timed_out && took < options.time_limit_s)
      return Failure{FailureKind::kInterrupted, kCompiledTooLate, failure.resources};
    if (run.timed_out) {
      failure.kind = FailureKind::kCompileTimeout;
      failure.text = fmt::format("the compiler was killed after {:g} s", options.time_limit_s);
      return failure;
    }
    if (run.output.find("No space left on device") != std::string::npos)
      throw_write_error(stem + ".cpp", ENOSPC);
    failure.kind = ran_out_of_memory(run.output) ? FailureKind::kOutOfMemory
                   : ended_from_outside(run.status) || part_ended_from_outside(run.output)
                       ? FailureKind::kInterrupted
                       : FailureKind::kCompile;
    failure.text = excerpt(run.output, directory.path());
    if (failure.text.empty()) failure.text = fmt::format("the compiler {}", describe_exit(run.status));
    return failure;
  }
};

HostCompiler::HostCompiler(HostCompilerOptions options)
    : state_(std::make_unique<State>(std::move(options))) {
  State& state = *state_;
  const HostCompilerOptions& wanted = state.options;
  const std::vector<std::string> names = wanted.compiler.empty()
                                             ? std::vector<std::string>{"c++", "g++", "clang++"}
                                             : std::vector<std::string>{wanted.compiler};
  for (const std::string& name : names) {
    state.words.clear();
    state.path = find_program(name, wanted.search_path);
    if (!state.path.empty()) break;
    for (const std::string_view word : split(name, ' '))
      if (!word.empty()) state.words.emplace_back(word);
    if (state.words.size() < 2) continue;
    state.path = find_program(state.words[0], wanted.search_path);
    state.words.erase(state.words.begin());
    if (!state.path.empty()) break;
  }
  if (state.path.empty() && wanted.compiler.find('/') != std::string::npos) {
    throw_environment(
        "the C++ compiler '{}' does not exist or cannot be executed; name another one or unset CXX",
        wanted.compiler);
  }
  if (state.path.empty()) {
    throw_environment("no C++ compiler: found none of {} in {}; install one (Debian: apt-get install g++)",
                      fmt::join(names, ", "), fmt::join(wanted.search_path, ":"));
  }
  if (state.options.jobs <= 0) state.options.jobs = static_cast<int>(allowed_cpus().size());

  if (!state.directory.allows_execution()) {
    throw_environment(
        "{} is mounted noexec, so compiled kernels cannot be loaded from it: name another directory with "
        "--scratch "
        "or TMPDIR",
        state.directory.path());
  }

  // Builds an empty function once. After that every failure is the candidate's fault.
  const Compiled probe = state.compile_one("extern \"C\" void probe(void) {}\n", Deadline::max());
  if (const auto* failure = std::get_if<Failure>(&probe)) {
    throw_environment("the compiler {} cannot build a shared object with {}: {}", state.path,
                      fmt::join(flags_of(wanted.isa), " "), first_line(failure->text));
  }
  unlink(std::get<Binary>(probe).path.c_str());
  const Captured version = run_captured(state.command({"--version"}), deadline_in(wanted.time_limit_s));
  state.identity = fmt::format("{} {}", version_text(version.output), fmt::join(state.flags(), " "));
  if (wanted.isa.level != nullptr) return;
  std::vector<std::string> dry = state.build_arguments("-", "a.so");
  dry.insert(dry.begin(), "-###");
  const Captured dry_run = run_captured(state.command(dry), deadline_in(wanted.time_limit_s));
  state.identity += fmt::format(" [native={}]", native_text(dry_run.output));
}

HostCompiler::~HostCompiler() = default;

std::vector<Compiled> HostCompiler::compile(std::span<const Source> sources, double most_s) {
  const Deadline end = deadline_in(most_s);
  std::vector<Compiled> results(sources.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr broken;
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      try {
        const std::atomic<bool>* const stop = state_->options.stop;
        const bool stopped = stop != nullptr && *stop;
        results[i] = stopped ? Compiled(State::interrupted()) : state_->compile_one(sources[i].text, end);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!broken) broken = std::current_exception();
        next = sources.size();
      }
    }
  };
  const std::size_t jobs =
      std::min<std::size_t>(static_cast<std::size_t>(state_->options.jobs), sources.size());
  {
    std::vector<std::jthread> helpers;
    for (std::size_t job = 1; job < jobs; ++job) helpers.emplace_back(work);
    work();
  }
  if (broken) std::rethrow_exception(broken);
  return results;
}

void HostCompiler::keep_objects(std::int64_t most_bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->object_room = most_bytes;
}

std::string HostCompiler::kept_object(const Source& source) const {
  return state_->object_of(source.text);
}

std::string HostCompiler::identity() const {
  return state_->identity;
}

std::vector<std::string> HostCompiler::code_flags() {
  std::vector<std::string> flags = {kOptimized};
  std::ranges::copy_if(kFlags, std::back_inserter(flags), [](const std::string& flag) {
    return flag != "-shared" && flag != "-fPIC" && flag != "-nostdlib";
  });
  return flags;
}

const std::vector<std::string>& HostCompiler::macros() const {
  std::vector<std::string>& names = state_->macros;
  if (!names.empty()) return names;
  std::vector<std::string> words = state_->flags();
  words.insert(words.end(), {"-dM", "-E", "-x", "c++", "/dev/null"});
  const Captured run = run_captured(state_->command(words), deadline_in(state_->options.time_limit_s));
  if (!run.succeeded())
    throw_environment("the compiler {} does not say what it compiles for: {}", state_->path,
                      first_line(run.output));
  for (const std::string_view line : split(run.output, '\n')) {
    const std::vector<std::string_view> parts = split(line, ' ');
    if (parts.size() >= 2 && parts[0] == "#define") names.emplace_back(parts[1]);
  }
  return names;
}

}  // namespace lehr
