// Starts that may take as long as somebody else likes: the loop goes on, and so do the others.
#include "process/spawn_service.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "process/forgotten.hpp"
#include "process/orphans.hpp"
#include "process/temp_folder.hpp"
#include "support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace {

/// Nobody's, nor another test's at the same time: what it may signal is ours alone.
const uid_t stranger = 200'000 + static_cast<uid_t>(getpid());

process::SpawnServiceOptions by_doomed(Duration limit) {
  process::SpawnServiceOptions options;
  options.helper = {DOOMED_PROGRAM, "--spawn-helper"};
  options.limit = limit;
  return options;
}

/// A loop with a service, and the longest time for which it did nothing else.
struct Served {
  explicit Served(Duration limit = 10s) : service(loop, by_doomed(limit)), tick(loop.timers()) {
    beat();
  }
  process::ChildOptions prepared(process::ChildOptions options, bool as_stranger = true) {
    options.service = &service;
    if (as_stranger) options.spawn.credentials = process::Credentials{stranger, stranger, {}};
    return options;
  }
  Result run(process::ChildOptions options) {
    Recorder recorder;
    process::Child child(loop, std::move(options), recorder);
    REQUIRE(turn_until(loop, [&] { return recorder.end.has_value(); }));
    return {recorder.out, recorder.err, *recorder.end};
  }
  void beat() {
    const Instant now = loop.now();
    longest_gap = std::max(longest_gap, now - last_beat.value_or(now));
    last_beat = now;
    tick.set(now + 5ms, [this] { beat(); });
  }
  /// Forgets what is over: on a busy machine it may have been somebody else's time.
  void begin_to_measure() {
    longest_gap = Duration{0};
    last_beat = loop.now();
  }

  loop::Loop loop;
  process::SpawnService service;
  Timer tick;
  std::optional<Instant> last_beat;
  Duration longest_gap{0};
};

bool host_is_short(const ProcessEnd& end) {
  const auto* unstarted = std::get_if<NotStarted>(&end);
  return unstarted != nullptr && unstarted->host_is_short;
}

/// A process of the stranger's that does something until it goes out of scope.
class Villain {
 public:
  template <typename Act>
  explicit Villain(Act&& act) {
    std::array<int, 2> ready{};
    REQUIRE(pipe(ready.data()) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      if (setgid(stranger) != 0 || setuid(stranger) != 0) _exit(1);
      act([fd = ready[1]] { return write(fd, "+", 1) == 1; });
      _exit(0);
    }
    close(ready[1]);
    char sign = 0;
    acts_ = read(ready[0], &sign, 1) == 1;
    close(ready[0]);
  }
  ~Villain() {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Villain(const Villain&) = delete;
  Villain& operator=(const Villain&) = delete;
  [[nodiscard]] bool acts() const { return acts_; }

 private:
  pid_t pid_ = 0;
  bool acts_ = false;
};

/// A lease on a program of the stranger's: who opens it waits for 45 s, or as the host has it.
struct Leased {
  Leased() {
    program = folder.script("leased", "echo ran");
    REQUIRE(chown(program.c_str(), stranger, stranger) == 0);
    holder.emplace([this](auto&& tell) {
      signal(SIGIO, SIG_IGN);
      const int fd = open(program.c_str(), O_RDWR);
      if (fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) != 0 || !tell()) return;
      for (;;) pause();
    });
  }
  TempDir folder;
  std::string program;
  std::optional<Villain> holder;
};

/// A file system that never answers, as long as somebody holds /dev/fuse open.
class Hung {
 public:
  explicit Hung(std::string folder)
      : folder_(std::move(folder)), device_(open("/dev/fuse", O_RDWR | O_NONBLOCK)) {
    mkdir(folder_.c_str(), 0755);
    const std::string how =
        "fd=" + std::to_string(device_.get()) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
    mounted_ = device_ && mount("w8y-test", folder_.c_str(), "fuse", 0, how.c_str()) == 0;
  }
  ~Hung() {
    device_.reset();
    if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  Hung(const Hung&) = delete;
  Hung& operator=(const Hung&) = delete;
  [[nodiscard]] bool mounted() const { return mounted_; }
  /// Takes what is asked of it, as if to answer: who has asked can't be killed from then on. True
  /// once somebody waits for more than that it says what it is.
  bool take() {
    std::array<char, 1U << 17> bytes{};
    fuse_in_header asked{};
    for (;;) {
      if (read(device_.get(), bytes.data(), bytes.size()) < static_cast<ssize_t>(sizeof asked))
        return asked.len > 0 && asked.opcode != FUSE_INIT;
      std::memcpy(&asked, bytes.data(), sizeof asked);
      if (asked.opcode == FUSE_INIT) introduce(asked.unique);
    }
  }

 private:
  void introduce(std::uint64_t unique) {
    struct {
      fuse_out_header header;
      fuse_init_out init;
    } answer{};
    answer.header = {sizeof answer, 0, unique};
    answer.init.major = FUSE_KERNEL_VERSION;
    answer.init.minor = 31;
    answer.init.max_write = 4096;
    REQUIRE(write(device_.get(), &answer, sizeof answer) == sizeof answer);
  }

  std::string folder_;
  process::Fd device_;
  bool mounted_ = false;
};

/// Whether a process has these bytes anywhere in its memory.
bool has_in_memory(pid_t pid, const std::string& bytes) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  const process::Fd memory(open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY));
  REQUIRE(memory);
  std::size_t read_in_all = 0;
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long from = 0;
    unsigned long to = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx r", &from, &to) != 2) continue;
    if (to - from > (1UL << 28)) continue;
    std::string part(to - from, '\0');
    const ssize_t got = pread(memory.get(), part.data(), part.size(), static_cast<off_t>(from));
    if (got <= 0) continue;
    read_in_all += static_cast<std::size_t>(got);
    const std::size_t at = part.find(bytes);
    if (at == std::string::npos) continue;
    found = true;
  }
  CHECK(read_in_all > 100'000);
  return found;
}

bool can_not_be_tried() {
  if (is_root()) return false;
  MESSAGE("needs root: skipped");
  return true;
}

}  // namespace

TEST_CASE("a child of the helper is a child like any other") {
  if (can_not_be_tried()) return;
  Served served;
  auto options = served.prepared(command({"/bin/cat", "/proc/self/status"}));
  options.spawn.no_new_privs = true;
  options.spawn.umask = 027;
  options.spawn.cwd = "/";
  const Result result = served.run(options);
  CHECK(result.reason() == "exit 0");
  CHECK(field(result.out, "PPid") == std::to_string(getpid()));
  CHECK(field(result.out, "Uid").starts_with(std::to_string(stranger)));
  CHECK(field(result.out, "Groups").empty());
  CHECK(field(result.out, "NoNewPrivs") == "1");
  CHECK(field(result.out, "Umask") == "0027");
  CHECK(field(result.out, "SigBlk") == "0000000000000000");
  CHECK(served.service.helper() != 0);

  auto speaks = served.prepared(sh(R"(cat; echo err >&2; ls /proc/$$/fd; env; exit 7)"));
  speaks.input = std::string(200'000, 'x') + '\n';                  // more than a pipe takes
  speaks.spawn.env.push_back("LONG=" + std::string(100'000, 'y'));  // and than a message does
  const Result said = served.run(speaks);
  CHECK(said.code() == 7);
  CHECK(said.err == "err\n");
  CHECK(said.out.starts_with(speaks.input + "0\n1\n2\n"));
  CHECK(said.out.find("\n3\n") == std::string::npos);
  CHECK(said.out.find(speaks.spawn.env.back()) != std::string::npos);
}

TEST_CASE("what only we and root can touch is started directly, and needs no helper") {
  Served served;
  CHECK(served.run(served.prepared(sh("exit 3"), false)).code() == 3);
  CHECK(served.service.helper() == 0);
  if (!is_root()) return;
  const TempDir folder;
  const std::string program = folder.script("theirs", "exit 4");
  REQUIRE(chown(program.c_str(), stranger, stranger) == 0);
  CHECK(served.run(served.prepared(command({program}), false)).code() == 4);
  CHECK(served.service.helper() != 0);
}

TEST_CASE("why a child of the helper doesn't start is told in the same words") {
  if (can_not_be_tried()) return;
  Served served;
  const TempDir folder;
  const auto reason = [&](const std::string& program, const std::string& cwd = "/") {
    auto options = command({program});
    options.spawn.cwd = cwd;
    return served.run(served.prepared(options)).reason();
  };
  const std::string none = folder.path() + "/none";
  CHECK(reason(none) == "can't run " + none + ": No such file or directory");
  const std::string lost = folder.file("lost", "#!/no/such\n", 0755);
  CHECK(reason(lost) == "can't run " + lost + ": the interpreter that it names is not there");
  CHECK(reason("/bin/true", none) ==
        "can't change to folder " + none + ": No such file or directory");
  auto limited = served.prepared(command({"/bin/true"}));
  limited.spawn.rlimits = {{"nofile", 7, std::uint64_t{1} << 60}};
  CHECK(served.run(limited).reason().starts_with("can't set the limit nofile to "));
}

TEST_CASE("an env_file is read by the child, and its mistakes are told") {
  if (can_not_be_tried()) return;
  Served served;
  const TempDir folder;
  auto options = served.prepared(command({"/usr/bin/env"}));
  options.spawn.env = {"A=weak", "B=weak", "C=weak"};
  options.spawn.env_file = folder.file("env", "A=file\nB=file\n", 0600);
  options.spawn.env_over = {"B=strong"};
  CHECK(served.run(options).out == "A=file\nB=strong\nC=weak\n");
  REQUIRE(chmod(options.spawn.env_file.c_str(), 0666) == 0);
  CHECK(served.run(options).reason().find("can be written by its group or others") !=
        std::string::npos);
}

TEST_CASE("a lease on a program holds up only its own start, and that is ended in time") {
  if (can_not_be_tried()) return;
  Served served(1s);
  const Leased leased;
  if (!leased.holder->acts()) return;
  Recorder recorder;
  auto options = served.prepared(command({leased.program}));
  process::Child child(served.loop, options, recorder);
  CHECK(served.run(served.prepared(command({"/bin/true"}))).code() == 0);
  served.begin_to_measure();
  const Instant began = served.loop.now();
  REQUIRE(turn_until(served.loop, [&] { return recorder.end.has_value(); }));
  CHECK(served.loop.now() - began < 30s);
  CHECK(served.longest_gap < 5s);
  CHECK(end_text(*recorder.end) ==
        "it did not come to run " + leased.program +
            " within 1s: it was stopped, or a file or folder that it needs does not answer");
  CHECK(host_is_short(*recorder.end));
}

TEST_CASE("nobody stops the loop by stopping a child on its way to its program") {
  if (can_not_be_tried()) return;
  Served served(1s);
  const Villain stopper([](auto&& tell) {
    if (!tell()) return;
    for (;;) ::kill(-1, SIGSTOP);
  });
  REQUIRE(stopper.acts());
  CHECK(served.run(served.prepared(sh("exit 5"), false)).code() == 5);
  served.begin_to_measure();
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<std::unique_ptr<process::Child>> children;
  for (int i = 0; i < 50; ++i) {
    recorders.push_back(std::make_unique<Recorder>());
    children.push_back(std::make_unique<process::Child>(
        served.loop, served.prepared(command({"/bin/true"})), *recorders.back()));
  }
  const auto is_settled = [&] {
    return std::all_of(children.begin(), children.end(), [&](const auto& child) {
      const auto at = static_cast<std::size_t>(&child - children.data());
      return child->pid() != 0 || recorders[at]->end.has_value();
    });
  };
  CHECK(turn_until(served.loop, is_settled));
  CHECK(served.longest_gap < 5s);
  for (const auto& child : children) child->kill();
  CHECK(turn_until(served.loop, [&] {
    return std::all_of(recorders.begin(), recorders.end(),
                       [](const auto& recorder) { return recorder->end.has_value(); });
  }));
}

TEST_CASE("a folder that does not answer holds up only those that name it") {
  if (can_not_be_tried()) return;
  const TempDir folder;
  const Hung hung(folder.path() + "/hung");
  if (!hung.mounted()) {
    MESSAGE("no FUSE here: skipped");
    return;
  }
  Served served(3s);
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<std::unique_ptr<process::Child>> children;
  const auto start = [&](process::ChildOptions options) {
    recorders.push_back(std::make_unique<Recorder>());
    children.push_back(
        std::make_unique<process::Child>(served.loop, std::move(options), *recorders.back()));
  };
  served.begin_to_measure();
  const Instant began = served.loop.now();
  for (const bool as_stranger : {true, false}) {
    auto in_it = command({"/bin/true"});
    in_it.spawn.cwd = folder.path() + "/hung/in";
    start(served.prepared(in_it, as_stranger));
    start(served.prepared(command({folder.path() + "/hung/program"}), as_stranger));
    auto by_file = command({"/bin/true"});
    by_file.spawn.env_file = folder.path() + "/hung/env";
    start(served.prepared(by_file, as_stranger));
  }
  // The others meanwhile, of both ways.
  for (int i = 0; i < 5; ++i)
    for (const bool as_stranger : {true, false})
      CHECK(served.run(served.prepared(command({"/bin/true"}), as_stranger)).code() == 0);
  if (served.loop.now() - began < 2s)
    for (const auto& recorder : recorders) CHECK_FALSE(recorder->end);
  CHECK(turn_until(served.loop, [&] {
    return std::all_of(recorders.begin(), recorders.end(),
                       [](const auto& recorder) { return recorder->end.has_value(); });
  }));
  for (const auto& recorder : recorders) CHECK(host_is_short(*recorder->end));
  CHECK(served.longest_gap < 5s);
}

TEST_CASE(
    "a temp folder that something is mounted on holds up neither the loop nor other folders") {
  if (can_not_be_tried()) return;
  const TempDir folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  Served served(3s);
  process::TempFolders folders(served.loop);
  std::vector<std::string> said;
  folders.on_stays = [&](const std::string&, const std::string& why) { said.push_back(why); };
  std::string name;
  std::unique_ptr<Hung> hung;
  served.begin_to_measure();
  {
    process::TempFolder temp(served.loop, &folders);
    REQUIRE_FALSE(temp.make({}));
    name = temp.path();
    hung = std::make_unique<Hung>(name);
    if (!hung->mounted()) {
      MESSAGE("no FUSE here: skipped");
      unsetenv("TMPDIR");
      return;
    }
  }
  std::string other;
  {
    process::TempFolder temp(served.loop, &folders);
    REQUIRE_FALSE(temp.make({}));
    other = temp.path();
    std::filesystem::create_directories(other + "/a/b");
  }
  unsetenv("TMPDIR");
  CHECK(turn_until(served.loop, [&] { return !said.empty() && !std::filesystem::exists(other); }));
  CHECK(said == std::vector<std::string>{"another file system is mounted on it"});
  CHECK(served.longest_gap < 5s);
  // Once it is free, it goes after all.
  hung.reset();
  CHECK(turn_until(served.loop, [&] { return said.size() == 2; }));
  CHECK(access(name.c_str(), F_OK) != 0);
}

TEST_CASE("what can't be killed on its way doesn't pile up") {
  if (can_not_be_tried()) return;
  const TempDir folder;
  auto hung = std::make_unique<Hung>(folder.path() + "/hung");
  if (!hung->mounted()) {
    MESSAGE("no FUSE here: skipped");
    return;
  }
  Served served(500ms);
  auto in_it = command({"/bin/true"});
  in_it.spawn.cwd = folder.path() + "/hung/in";
  std::vector<std::string> told;
  for (int i = 0; i < 6; ++i) {
    Recorder recorder;
    process::Child child(served.loop, served.prepared(in_it), recorder);
    REQUIRE(turn_until(served.loop, [&] {
      hung->take();
      return recorder.end.has_value();
    }));
    CHECK(host_is_short(*recorder.end));
    told.push_back(end_text(*recorder.end));
  }
  CAPTURE(told.back());
  CHECK(process::forgotten().size() == 4);
  CHECK(told[3].find("within 500ms") != std::string::npos);
  CHECK(told[4].find("have not ended") != std::string::npos);
  CHECK(told[5] == told[4]);
  // Of others as ever; and of these, once they have ended.
  CHECK(served.run(served.prepared(command({"/bin/true"}))).code() == 0);
  hung.reset();
  CHECK(turn_until(served.loop, [&] {
    process::forgotten().sweep();
    return process::forgotten().size() == 0;
  }));
}

TEST_CASE("a child on its way sees nothing of our memory, nor of the child before it") {
  if (can_not_be_tried()) return;
  Served served;
  const Leased leased;
  if (!leased.holder->acts()) return;
  std::string ours = "of w8yd, ";
  ours += "a secret " + std::to_string(getpid());
  auto other = served.prepared(command({"/bin/true"}));
  other.spawn.env.push_back("OTHER=of another list, " + ours);
  CHECK(served.run(other).code() == 0);
  Recorder recorder;
  process::Child child(served.loop, served.prepared(command({leased.program})), recorder);
  // The only child of ours that still looks like the helper, besides that.
  pid_t waiting = 0;
  REQUIRE(turn_until(served.loop, [&] {
    for (const pid_t pid : process::started_children())
      if (pid != served.service.helper() && alive(pid)) waiting = pid;
    return waiting != 0;
  }));
  CHECK(has_in_memory(getpid(), ours));
  CHECK_FALSE(has_in_memory(waiting, ours));
  CHECK_FALSE(has_in_memory(served.service.helper(), ours));
  child.kill();
  CHECK(turn_until(served.loop, [&] { return recorder.end.has_value(); }));
  CHECK(end_text(*recorder.end) == "signal 9 (SIGKILL)");
}

TEST_CASE("a helper that was killed is started again, and who waited for it is told") {
  if (can_not_be_tried()) return;
  Served served;
  CHECK(served.run(served.prepared(command({"/bin/true"}))).code() == 0);
  const pid_t before = served.service.helper();
  ::kill(before, SIGKILL);
  CHECK(turn_until(served.loop, [&] { return served.service.helper() == 0; }));
  CHECK(served.run(served.prepared(command({"/bin/true"}))).code() == 0);
  CHECK(served.service.helper() != before);
  ::kill(served.service.helper(), SIGSTOP);
  Recorder recorder;
  const process::Child child(served.loop, served.prepared(command({"/bin/true"})), recorder);
  served.loop.turn(false);
  served.loop.turn(false);
  ::kill(served.service.helper(), SIGKILL);
  REQUIRE(turn_until(served.loop, [&] { return recorder.end.has_value(); }));
  CHECK(end_text(*recorder.end).starts_with("the process that starts children has ended"));
  CHECK(host_is_short(*recorder.end));
}

TEST_CASE("a child that the helper started dies with its supervisor, and no orphan is made of it") {
  if (can_not_be_tried()) return;
  loop::Loop loop;
  Recorder recorder;
  process::Child parent(loop, command({DOOMED_PROGRAM, "nobody", "service"}), recorder);
  REQUIRE(turn_until(loop, [&] { return recorder.out.ends_with("\n"); }));
  const pid_t grandchild = std::stoi(recorder.out);
  CHECK(alive(grandchild));
  parent.signal(SIGKILL);
  CHECK(turn_until(loop, [&] { return recorder.end && !alive(grandchild); }));
}

TEST_CASE("many starts at once by the helper end right, with orphans looked for") {
  if (can_not_be_tried()) return;
  Served served;
  const process::Orphans orphans(served.loop);
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<std::unique_ptr<process::Child>> children;
  for (int i = 0; i < 200; ++i) {
    recorders.push_back(std::make_unique<Recorder>());
    children.push_back(std::make_unique<process::Child>(
        served.loop, served.prepared(sh("exit " + std::to_string(i % 100))), *recorders.back()));
  }
  for (int i = 0; i < 200; ++i) {
    const auto& recorder = *recorders.at(static_cast<std::size_t>(i));
    REQUIRE(turn_until(
        served.loop, [&] { return recorder.end.has_value(); }, 60s));
    CHECK(end_text(*recorder.end) == "exit " + std::to_string(i % 100));
  }
}
