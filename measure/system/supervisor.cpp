// Each request and each reply is one packet. A packet consists of words, each ending with a zero byte, and of
// file descriptors (unix(7), SCM_RIGHTS).
#include "measure/system/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "measure/system/affinity.h"
#include "measure/system/children.h"

namespace lehr {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kMostBytes = 128 << 10;  // below the smallest limit of a packet, net.core.wmem_default
constexpr std::size_t kMostDescriptors = 16;
constexpr const char* kName = "lehr-supervisor";
/// Maximum seconds until the supervisor greets, on a busy machine.
constexpr double kStartSeconds = 30;

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

/// Receives a packet; nullopt: the other end is closed.
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
                 fmt::format("{}", fmt::join(affinity(), ",")), fmt::format("{}", options.command.size())};
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
  std::size_t at = 5;
  const std::size_t command_end = at + std::strtoull(words.at(4).c_str(), nullptr, 10);
  while (at < command_end) options.command.push_back(words.at(at++));
  for (const Fd& fd : packet.descriptors)
    options.descriptors.emplace_back(fd.get(), std::atoi(words.at(at++).c_str()));
  options.environment.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return options;
}

/// Pins this process to the CPUs with these numbers, so that its next child inherits them. The numbers are
/// the CPUs of the thread that requested the child, since threads may be pinned to different CPUs.
void take_cpus(const std::string& numbers) {
  std::vector<int> cpus;
  for (const std::string_view number : split(numbers, ','))
    if (const std::optional<std::int64_t> cpu = parse_int(number)) cpus.push_back(static_cast<int>(*cpu));
  pin_to_cpus(cpus);
}

Words answer(const Packet& packet, std::set<pid_t>& known) {
  const std::string& what = packet.words.at(0);
  if (what == "spawn") {
    take_cpus(packet.words.at(3));
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

/// Ignores signals that a terminal or a user sends to a whole group or to all processes with one name,
/// because the supervisor must end last.
void become_supervisor() {
  for (const int request : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(request, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, kName);
}

/// Returns a descriptor that becomes readable when the process that made `socket` has ended. It works even if
/// a forked process still holds that process's end of the socket. The Fd is empty if the kernel has no
/// descriptors for processes. Returns nullopt if the process has ended.
std::optional<Fd> descriptor_of_maker(int socket) {
  ucred maker{};
  socklen_t size = sizeof maker;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &maker, &size) != 0) return Fd();
  Fd process(static_cast<int>(syscall(SYS_pidfd_open, maker.pid, 0)));
  if (process.get() < 0 && errno == ESRCH) return std::nullopt;
  return process;
}

/// Waits until a request arrives on `socket` or the parent process ends. `parent` is the result of
/// descriptor_of_maker(). Returns false if the parent process has ended.
bool wait_for_request(int socket, int parent) {
  pollfd wanted[] = {{socket, POLLIN, 0}, {parent, POLLIN, 0}};
  while (poll(wanted, 2, -1) < 0)
    if (errno != EINTR) return false;
  return wanted[1].revents == 0;
}

/// Returns the words of the first packet on `socket`. Returns an empty list if the socket was closed. Returns
/// nullopt if no packet has arrived after `seconds`.
std::optional<Words> greeting_of(int socket, double seconds) {
  const Deadline deadline = deadline_in(seconds);
  pollfd wanted = {socket, POLLIN, 0};
  while (poll(&wanted, 1, milliseconds_left(deadline)) <= 0)
    if (milliseconds_left(deadline) == 0) return std::nullopt;
  std::optional<Packet> packet = receive_packet(socket);
  return packet ? std::move(packet->words) : Words();
}

/// The supervisor that supervise() shares, and the lock for looking it up.
constinit std::mutex sharing;
constinit std::weak_ptr<Supervised> shared;

}  // namespace

int supervisor_main(int fd) {
  const Fd socket = raised(fd);
  become_supervisor();
  const std::optional<Fd> parent = descriptor_of_maker(socket.get());
  std::set<pid_t> known;
  bool goes_on = parent && send_packet(socket.get(), {kName, kVersion}, {});
  while (goes_on && wait_for_request(socket.get(), parent->get())) {
    Words reply;
    try {
      const std::optional<Packet> packet = receive_packet(socket.get());
      if (!packet) break;
      reply = answer(*packet, known);
    } catch (const std::exception& error) {
      reply = {"error", error.what()};
    }
    goes_on = send_packet(socket.get(), reply, {});
  }
  for (const pid_t pid : known) kill(-pid, SIGKILL);
  kill_strays({});
  return 0;
}

std::shared_ptr<Supervised> supervise(const std::string& program) {
  const std::lock_guard lock(sharing);
  std::shared_ptr<Supervised> one = shared.lock();
  if (one == nullptr || !one->serves()) shared = one = std::make_shared<Supervised>(program);
  return one;
}

Supervised::Supervised(const std::string& program) : owner_(getpid()) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw_environment("cannot make a socket pair: {}", std::strerror(errno));
  socket_ = raised(ends[0]);
  Fd theirs = raised(ends[1]);
  pid_ = start_child({.command = {program, "supervisor", "--fd", "3"}, .descriptors = {{theirs.get(), 3}}},
                     ChildSession::kItsOwn);
  theirs.close();
  try {
    greet(program);
  } catch (...) {
    end();
    throw;
  }
}

void Supervised::greet(const std::string& program) {
  const std::optional<Words> greeting = greeting_of(socket_.get(), kStartSeconds);
  if (greeting && greeting->size() == 2 && greeting->at(0) == kName)
    return require_version(program, greeting->at(1), kVersion);
  std::string reason = "it is no program of Lehr's";
  if (!greeting) reason = fmt::format("no answer within {:g} s", kStartSeconds);
  // A process that ends closes its socket a short time before its status can be collected.
  const Deadline deadline = deadline_in(1);
  while (greeting && greeting->empty() && !child_has_ended(pid_) && milliseconds_left(deadline) > 0)
    usleep(200);
  if (child_has_ended(pid_)) reason = describe_exit(end());
  throw_environment("the process {} supervisor did not start: {}", program, reason);
}

Supervised::~Supervised() {
  socket_.close();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

int Supervised::end() {
  int status = 0;
  if (pid_ > 0) kill(pid_, SIGKILL);
  while (pid_ > 0 && waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status;
}

std::shared_ptr<Supervised> Supervised::living() {
  const std::lock_guard lock(sharing);
  std::shared_ptr<Supervised> one = shared.lock();
  return one != nullptr && one->owner_ == getpid() ? one : nullptr;
}

bool Supervised::serves() const {
  return owner_ == getpid() && !child_has_ended(pid_);
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
