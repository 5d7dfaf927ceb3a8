// Starts through the helper process of the spawn service.
#include <doctest/doctest.h>

#include "spawn_service_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("a child of the helper has the same properties as any other child") {
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
  speaks.input = std::string(200'000, 'x') + '\n';                  // more than a pipe holds
  speaks.spawn.env.push_back("LONG=" + std::string(100'000, 'y'));  // more than a message holds
  const Result said = served.run(speaks);
  CHECK(said.code() == 7);
  CHECK(said.err == "err\n");
  CHECK(said.out.starts_with(speaks.input + "0\n1\n2\n"));
  CHECK(said.out.find("\n3\n") == std::string::npos);
  CHECK(said.out.find(speaks.spawn.env.back()) != std::string::npos);
}

TEST_CASE("a program that only root can write is started directly, without the helper") {
  Served served;
  CHECK(served.run(served.prepared(sh("exit 3"), false)).code() == 3);
  CHECK(served.service.helper() == 0);
  if (!is_root()) return;
  const TempDir directory;
  const std::string program = directory.script("theirs", "exit 4");
  REQUIRE(chown(program.c_str(), stranger, stranger) == 0);
  CHECK(served.run(served.prepared(command({program}), false)).code() == 4);
  CHECK(served.service.helper() != 0);
}

TEST_CASE("start errors of a child of the helper have the same text as others") {
  if (can_not_be_tried()) return;
  Served served;
  const TempDir directory;
  const auto reason = [&](const std::string& program, const std::string& cwd = "/") {
    auto options = command({program});
    options.spawn.cwd = cwd;
    return served.run(served.prepared(options)).reason();
  };
  const std::string none = directory.path() + "/none";
  CHECK(reason(none) == "cannot run " + none + ": No such file or directory");
  const std::string lost = directory.file("lost", "#!/no/such\n", 0755);
  CHECK(reason(lost) == "cannot run " + lost + ": the interpreter that it names is not there");
  CHECK(reason("/bin/true", none) ==
        "cannot change to directory " + none + ": No such file or directory");
  auto limited = served.prepared(command({"/bin/true"}));
  limited.spawn.rlimits = {{"nofile", 7, std::uint64_t{1} << 60}};
  CHECK(served.run(limited).reason().starts_with("cannot set the limit nofile to "));
}

TEST_CASE("an env_file is read by the child, and its errors are reported") {
  if (can_not_be_tried()) return;
  Served served;
  const TempDir directory;
  auto options = served.prepared(command({"/usr/bin/env"}));
  options.spawn.env = {"A=weak", "B=weak", "C=weak"};
  options.spawn.env_file = directory.file("env", "A=file\nB=file\n", 0600);
  options.spawn.env_over = {"B=strong"};
  CHECK(served.run(options).out == "A=file\nB=strong\nC=weak\n");
  REQUIRE(chmod(options.spawn.env_file.c_str(), 0666) == 0);
  CHECK(served.run(options).reason().find("can be written by its group or others") !=
        std::string::npos);
}

TEST_CASE("a starting child has no memory of w8yd, nor of an earlier child") {
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
  // The helper is one child. The waiting child is the only other one.
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

TEST_CASE("a killed helper is restarted, and its pending starts report a shortage") {
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
  served.loop.iterate(false);
  served.loop.iterate(false);
  ::kill(served.service.helper(), SIGKILL);
  REQUIRE(turn_until(served.loop, [&] { return recorder.end.has_value(); }));
  CHECK(end_text(*recorder.end).starts_with("the process that starts children has ended"));
  CHECK(host_is_short(*recorder.end));
}

TEST_CASE("a lack of descriptors during a start by the helper does not affect the child") {
  if (can_not_be_tried()) return;
  Served served;
  CHECK(served.run(served.prepared(command({"/bin/true"}))).code() == 0);
  ::kill(served.service.helper(), SIGSTOP);
  Recorder recorder;
  process::ChildOptions options = served.prepared(sh("read word; echo $word"));
  options.input = "said\n";
  const process::Child child(served.loop, std::move(options), recorder);
  served.loop.iterate(false);
  served.loop.iterate(false);
  const NoDescriptors none;
  ::kill(served.service.helper(), SIGCONT);
  REQUIRE(turn_until(served.loop, [&] { return recorder.end.has_value(); }));
  CHECK(end_text(*recorder.end) == "exit 0");
  CHECK(recorder.out == "said\n");
}

TEST_CASE("a child started by the helper dies with w8yd, and is not left as an orphan") {
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

TEST_CASE(
    "many simultaneous starts by the helper end with their exit status while orphans are reaped") {
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
