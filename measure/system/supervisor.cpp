// One packet asks and one answers: words that end with a zero byte, and descriptors beside them (unix(7),
// SCM_RIGHTS).
#include "measure/system/supervisor.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

#include "base/error.h"
#include "measure/system/children.h"

namespace lehr {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kMostBytes = 128 << 10;  // below the least limit of a packet, net.core.wmem_default
constexpr std::size_t kMostDescriptors = 16;

struct Packet {
  Words words;
  std::vector<Fd> descriptors;
};

bool send_packet(int socket, const Words& words, const std::vector<int>& descriptors) {
  std::string text;
  for (const std::string& word : words) text.append(word).push_back('\0');
  CHECK(descriptors.size() <= kMostDescriptors);
  iovec bytes = {text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  }
  while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
    if (errno != EINTR) return false;
  return true;
}

/// nullopt: the other end is closed.
std::optional<Packet> receive_packet(int socket) {
  std::string text(kMostBytes, '\0');
  iovec bytes = {text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  while ((count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0)
    if (errno != EINTR) return std::nullopt;
  if (count == 0) return std::nullopt;
  Packet packet;
  for (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, const_cast<cmsghdr*>(header))) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= header->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + at, sizeof fd);
      packet.descriptors.push_back(raised(fd));
    }
  }
  for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
    packet.words.emplace_back(text.c_str() + at);
    at += packet.words.back().size() + 1;
  }
  return packet;
}

Words words_of(const SpawnOptions& options) {
  Words words = {"spawn", fmt::format("{}", options.cpu_s), fmt::format("{}", options.memory_bytes),
                 fmt::format("{}", options.command.size())};
  words.insert(words.end(), options.command.begin(), options.command.end());
  for (const auto& [ours, theirs] : options.descriptors) words.push_back(fmt::format("{}", theirs));
  words.insert(words.end(), options.environment.begin(), options.environment.end());
  return words;
}

SpawnOptions spawn_options(const Packet& packet) {
  const Words& words = packet.words;
  SpawnOptions options;
  options.cpu_s = std::strtod(words.at(1).c_str(), nullptr);
  options.memory_bytes = std::strtoll(words.at(2).c_str(), nullptr, 10);
  std::size_t at = 4;
  const std::size_t command_end = at + std::strtoull(words.at(3).c_str(), nullptr, 10);
  while (at < command_end) options.command.push_back(words.at(at++));
  for (const Fd& fd : packet.descriptors)
    options.descriptors.emplace_back(fd.get(), std::atoi(words.at(at++).c_str()));
  options.environment.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return options;
}

Words answer(const Packet& packet, std::set<pid_t>& known) {
  const std::string& what = packet.words.at(0);
  if (what == "spawn") {
    const pid_t pid = start_child(spawn_options(packet));
    known.insert(pid);
    return {fmt::format("{}", pid)};
  }
  if (what == "end strays") {
    kill_strays(known);
    return {"done"};
  }
  const pid_t pid = std::atoi(packet.words.at(1).c_str());
  if (what == "end of") {
    const std::optional<int> status = end_of_child(pid);
    if (!status) return {"runs"};
    known.erase(pid);
    return {"ended", fmt::format("{}", *status)};
  }
  const bool yes = what == "has ended" ? child_has_ended(pid) : child_stands(pid);
  return {yes ? "yes" : "no"};
}

/// Those of this process behind stderr.
std::vector<int> open_descriptors() {
  std::vector<int> found;
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    const int fd = std::atoi(entry->d_name);  // "." is no number: 0
    if (fd > 2 && fd != dirfd(folder)) found.push_back(fd);
  }
  closedir(folder);
  return found;
}

/// What a terminal or a user sends to all of a group or of a name is not for the supervisor: it ends last.
/// Closes `inherited`, but for the socket. What the fork itself opened stays: a tool that follows processes
/// (compute-sanitizer) reports the supervisor's children through it.
void become_supervisor(int socket, const std::vector<int>& inherited) {
  setsid();
  for (const int request : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(request, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, "lehr-supervisor");
  // Whoever reads this program's output must not wait for this process, too.
  for (const int fd : inherited)
    if (fd != socket) close(fd);
  const Fd nothing(open("/dev/null", O_RDWR));
  for (int standard = 0; standard < 3; ++standard) dup2(nothing.get(), standard);
}

[[noreturn]] void supervise(int socket, const std::vector<int>& inherited) {
  become_supervisor(socket, inherited);
  std::set<pid_t> known;
  while (true) {
    Words reply;
    try {
      const std::optional<Packet> packet = receive_packet(socket);
      if (!packet) break;
      reply = answer(*packet, known);
    } catch (const std::exception& error) {
      reply = {"error", error.what()};
    }
    if (!send_packet(socket, reply, {})) break;
  }
  for (const pid_t pid : known) kill(-pid, SIGKILL);
  kill_strays({});
  _exit(0);
}

/// Set and cleared where one thread runs.
Supervised* living = nullptr;

}  // namespace

Supervised::Supervised() {
  CHECK(living == nullptr, "a second supervisor");
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw_environment("cannot make a socket pair: {}", std::strerror(errno));
  Fd ours = raised(ends[0]);
  Fd theirs = raised(ends[1]);
  const std::vector<int> inherited = open_descriptors();
  pid_ = fork();
  if (pid_ < 0) throw_environment("cannot start a process: {}", std::strerror(errno));
  if (pid_ == 0) supervise(theirs.get(), inherited);
  socket_ = std::move(ours);
  living = this;
}

Supervised::~Supervised() {
  living = nullptr;
  socket_.close();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Supervised* Supervised::current() {
  return living;
}

std::vector<std::string> Supervised::ask(const Words& words, const std::vector<int>& descriptors) {
  const std::lock_guard lock(mutex_);
  if (!send_packet(socket_.get(), words, descriptors)) return {};
  std::optional<Packet> reply = receive_packet(socket_.get());
  return reply ? std::move(reply->words) : Words();
}

pid_t Supervised::spawn(const SpawnOptions& options) {
  const Words words = words_of(options);
  std::size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size() + 1;
  if (bytes > kMostBytes)
    throw_environment("cannot start {}: its command line is longer than {} bytes", options.command.at(0),
                      kMostBytes);
  std::vector<int> descriptors;
  for (const auto& [ours, theirs] : options.descriptors) descriptors.push_back(ours);
  const Words reply = ask(words, descriptors);
  if (reply.empty())
    throw_environment(
        "cannot start {}: the process that supervises all others (lehr-supervisor, {}) was ended from "
        "outside",
        options.command.at(0), pid_);
  if (reply[0] == "error") throw Error(ErrorKind::kEnvironment, reply.at(1));
  return std::atoi(reply[0].c_str());
}

std::optional<int> Supervised::end_of(pid_t pid) {
  const Words reply = ask({"end of", fmt::format("{}", pid)});
  if (reply.size() == 2 && reply[0] == "ended") return std::atoi(reply[1].c_str());
  if (reply.empty() || reply[0] == "error") return -1;
  return std::nullopt;
}

bool Supervised::has_ended(pid_t pid) {
  const Words reply = ask({"has ended", fmt::format("{}", pid)});
  return reply.empty() || reply[0] == "yes";
}

bool Supervised::stands(pid_t pid) {
  const Words reply = ask({"stands", fmt::format("{}", pid)});
  return reply.empty() || reply[0] == "yes";
}

void Supervised::end_strays() {
  ask({"end strays"});
}

}  // namespace lehr
