#include "ops/log.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "ops/log_format.hpp"
#include "ops_support.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;
using namespace std::string_literals;

namespace log_test {
namespace {

/// Returns the text that a log has written to a new file.
std::string logged(LogFormat format, const std::function<void(Log&)>& write) {
  const TempDir directory;
  Log log({LogLevel::info, format, directory / "log"});
  write(log);
  return read_file(directory / "log");
}

/// Replaces standard error by a descriptor while it exists.
class Stderr {
 public:
  explicit Stderr(int fd) : saved_(dup(STDERR_FILENO)) { dup2(fd, STDERR_FILENO); }
  ~Stderr() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  Stderr(const Stderr&) = delete;
  Stderr& operator=(const Stderr&) = delete;

 private:
  int saved_;
};

/// Standard error as systemd connects it to the journal.
class Stream {
 public:
  Stream() {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends_) == 0);
  }
  ~Stream() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Value of JOURNAL_STREAM for this stream.
  [[nodiscard]] std::string variable() const {
    struct stat status {};
    REQUIRE(fstat(ends_[1], &status) == 0);
    return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
  }
  /// Returns the text that a log has written to the stream.
  std::string logged(const std::string& variable, const std::string& journal,
                     const std::function<void(Log&)>& write) {
    setenv("JOURNAL_STREAM", variable.c_str(), 1);
    {
      const Stderr to_stream(ends_[1]);
      Log log({}, journal);
      write(log);
    }
    unsetenv("JOURNAL_STREAM");
    char buffer[4096];
    const ssize_t size = read(ends_[0], buffer, sizeof buffer);
    return {buffer, size > 0 ? static_cast<std::size_t>(size) : 0};
  }

 private:
  int ends_[2] = {-1, -1};
};

/// Socket of journald, which reads entries only on request.
class Journald {
 public:
  using Entry = std::map<std::string, std::string>;

  Journald() { start(); }
  ~Journald() { stop(); }
  Journald(const Journald&) = delete;
  Journald& operator=(const Journald&) = delete;

  [[nodiscard]] std::string path() const { return directory_ / "socket"; }
  void start() {
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  void stop() {
    close(fd_);
    std::filesystem::remove(path());
  }
  /// Returns the fields of the next entry, empty if there is none.
  Entry next() {
    std::string text(65536, '\0');
    const ssize_t size = recv(fd_, text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    Entry entry;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      REQUIRE(end != std::string::npos);
      const std::string name = text.substr(at, end - at);
      std::uint64_t length = 0;
      std::memcpy(&length, text.data() + end + 1, sizeof length);
      REQUIRE(end + 1 + sizeof length + length < text.size());
      CHECK(entry.emplace(name, text.substr(end + 1 + sizeof length, length)).second);
      at = end + 1 + sizeof length + length;
      CHECK(text[at++] == '\n');
    }
    return entry;
  }

 private:
  TempDir directory_;
  int fd_ = -1;
};

void write_sample(Log& log) {
  log.info("run ended", {{"list", "work"},
                         {"item", "a b\x1b[2J\n\xff"s},
                         {"code", -3},
                         {"took", 1.5},
                         {"ok", true},
                         {"fence", std::numeric_limits<std::uint64_t>::max()}});
}

}  // namespace

TEST_CASE("a line has the text format") {
  const std::string text = logged(LogFormat::text, write_sample);
  const std::regex pattern(
      R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z info: run ended list=work )"
      R"(item="a b\\e\[2J\\n\\xff" code=-3 took=1.5 ok=true fence=18446744073709551615\n)");
  CAPTURE(text);
  CHECK(std::regex_match(text, pattern));
}

TEST_CASE("a line has the logfmt format") {
  const std::string text = logged(LogFormat::logfmt, write_sample);
  const std::regex pattern(
      R"(time=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z level=info msg="run ended" list=work )"
      R"(item="a b\\e\[2J\\n\\xff" code=-3 took=1.5 ok=true fence=18446744073709551615\n)");
  CAPTURE(text);
  CHECK(std::regex_match(text, pattern));
}

TEST_CASE("a line has the JSON format, and bytes that are not UTF-8 are complete") {
  const std::string text = logged(LogFormat::json, write_sample);
  const auto json = nlohmann::json::parse(text);
  CHECK(json["level"] == "info");
  CHECK(json["msg"] == "run ended");
  CHECK(json["list"] == "work");
  CHECK(json["item_base64"] == "YSBiG1sySgr/");
  CHECK(json["code"] == -3);
  CHECK(json["took"] == 1.5);
  CHECK(json["ok"] == true);
  CHECK(json["fence"] == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("each message is one line without control characters, and fits into one write") {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const std::string flood(100000, '\x1b');
  for (const LogFormat format : {LogFormat::text, LogFormat::logfmt, LogFormat::json}) {
    const std::string text = logged(format, [&](Log& log) {
      log.warn(all, {{"item", all}, {"code", 1}});
      log.warn(flood, {{"a", flood}, {"b", flood}, {"c", flood}, {"d", flood}, {"e", flood}});
      log.warn("{} {0} %v %s", {{"nan", std::numeric_limits<double>::quiet_NaN()}});
    });
    std::istringstream lines(text);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      CHECK(line.size() < max_log_line);
      for (const char character : line) {
        CHECK(static_cast<unsigned char>(character) >= 0x20);
        CHECK(character != '\x7f');
      }
      if (format == LogFormat::json) CHECK(nlohmann::json::accept(line));
    }
    CHECK(count == 3);
    CHECK(text.find("cut") != std::string::npos);
    CHECK(text.find("{} {0} %v %s") != std::string::npos);
  }
}

TEST_CASE("a long item is logged with its first 4 KiB and its length") {
  const Item item = std::string(5000, 'x') + "end";
  const std::string control(item_shown, '\x01');
  for (const LogFormat format : {LogFormat::text, LogFormat::logfmt, LogFormat::json}) {
    const std::string text = logged(format, [&](Log& log) {
      log.warn("run ended", {{"item", LoggedItem(item)}, {"reason", "it failed"}});
      log.warn("run ended", {{"item", LoggedItem(control)}, {"reason", "it failed"}});
      log.warn("run ended", {{"item", LoggedItem(Item(2000, '\xff'))}});
    });
    const std::string shown(item_shown, 'x');
    CHECK(text.find(shown + (format == LogFormat::json ? "\"" : " ")) != std::string::npos);
    CHECK(text.find(format == LogFormat::json ? "\"item_length\":5003" : "item_length=5003") !=
          std::string::npos);
    // An item that is logged completely has no field item_length.
    CHECK(text.find("item_length", text.find("item_length") + 1) == std::string::npos);
    CHECK(text.find("\xe2\x80\xa6") == std::string::npos);
    CHECK(text.find("cut") == std::string::npos);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (format == LogFormat::json) CHECK(nlohmann::json::accept(line));
  }
}

TEST_CASE("a long item leaves room for further fields in a line that fits into a pipe") {
  for (const LogFormat format : {LogFormat::text, LogFormat::logfmt, LogFormat::json})
    for (const char byte : {'x', '\x01', '\xff'})
      for (const std::size_t length : {std::size_t{3000}, item_shown, std::size_t{1} << 20}) {
        CAPTURE(byte);
        CAPTURE(length);
        const Item item(length, byte);
        const std::string line =
            render_line(format, "run ended", {{"item", LoggedItem(item)}, {"reason", "it failed"}});
        CHECK(line.size() < max_log_line);
        CHECK(line.find("it failed") != std::string::npos);
        CHECK(line.find("item_length") != std::string::npos);
        CHECK(line.find(std::to_string(length)) != std::string::npos);
      }
}

TEST_CASE("child output is the last field, quoted, and cannot imitate a line of the log") {
  // Lines of each format, with and without their prefix, and ends of quotes.
  const std::vector<std::string> imitations = {
      "info: draining reason=SIGTERM running=3",
      "2026-11-21T16:00:00.000000Z info: draining reason=SIGTERM running=3",
      "<6>info: draining reason=SIGTERM running=3",
      "time=2026-11-21T16:00:00.000000Z level=info msg=draining reason=SIGTERM running=3",
      R"({"time":"2026-11-21T16:00:00.000000Z","level":"info","msg":"draining","reason":"SIGTERM"})",
      R"(" level=error msg="no locks any more)",
      R"(","level":"error","msg":"no locks any more)",
      R"(\" level=error)",
      "child list=other item=b out=\"x\"",
      "x\ninfo: draining reason=SIGTERM",
      "plain",
      "",
  };
  for (const LogFormat format : {LogFormat::text, LogFormat::logfmt, LogFormat::json}) {
    for (const std::string& line : imitations) {
      const std::string text = logged(format, [&](Log& log) {
        log.info("child", {{"list", "work"}, {"run", "01"}, {"out", ChildOutput{line}}});
      });
      CAPTURE(text);
      CHECK(std::count(text.begin(), text.end(), '\n') == 1);
      if (format == LogFormat::json) {
        const auto json = nlohmann::json::parse(text);
        CHECK(json["msg"] == "child");
        CHECK(json["level"] == "info");
        CHECK(json["out"] == line);
        CHECK(json.size() == 6);
        continue;
      }
      // Fields of the log up to the quote, then no unescaped quote before the last character.
      const std::string start =
          format == LogFormat::text ? R"(\S+Z info: child )" : R"(time=\S+Z level=info msg=child )";
      const std::regex pattern(start + R"RE(list=work run=01 out="([^"\\]|\\.)*"\n)RE");
      CHECK(std::regex_match(text, pattern));
    }
  }
}

TEST_CASE("child output has the remaining room of the line, and is never omitted") {
  const std::string flood(100000, '\x1b');
  for (const LogFormat format : {LogFormat::text, LogFormat::logfmt, LogFormat::json}) {
    const std::string text = logged(format, [&](Log& log) {
      log.info("child", {{"list", "work"}, {"out", ChildOutput{flood}}});
      log.info("child", {{"list", "work"}, {"out", ChildOutput{std::string(3000, 'x')}}});
      log.info("child", {{"out", ChildOutput{"\xff\xfe"}}});
    });
    std::istringstream lines(text);
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    REQUIRE(all.size() == 3);
    CHECK(all[0].size() < max_log_line);
    CHECK(all[0].size() > max_log_line / 2);
    CHECK(all[1].find(std::string(3000, 'x')) != std::string::npos);
    if (format == LogFormat::json) {
      CHECK(nlohmann::json::accept(all[0]));
      CHECK(nlohmann::json::parse(all[2])["out_base64"] == "//4=");
    } else {
      CHECK(all[0].ends_with("…\""));
      CHECK(all[2].ends_with(R"(out="\xff\xfe")"));
    }
  }
}

TEST_CASE("messages below the level are not logged") {
  const std::string text = logged(LogFormat::text, [](Log& log) {
    CHECK_FALSE(log.enabled(LogLevel::debug));
    log.trace("t");
    log.debug("d");
    log.info("i");
    log.warn("w");
    log.error("e");
  });
  CHECK(text.find(" info: i\n") != std::string::npos);
  CHECK(text.find(" warn: w\n") != std::string::npos);
  CHECK(text.find(" error: e\n") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("level, format and file change at a reload") {
  const TempDir directory;
  Log log({LogLevel::info, LogFormat::text, directory / "one"});
  log.configure({LogLevel::debug, LogFormat::logfmt, directory / "two"});
  log.debug("hello");
  CHECK(read_file(directory / "one").empty());
  CHECK(read_file(directory / "two").find("level=debug msg=hello") != std::string::npos);
}

TEST_CASE("a log file has mode 0640, and is opened again after it was moved") {
  const TempDir directory;
  Log log({LogLevel::info, LogFormat::text, directory / "log"});
  struct stat status {};
  REQUIRE(stat((directory / "log").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777 & ~0640U) == 0);
  log.info("first");
  std::filesystem::rename(directory / "log", directory / "log.1");
  log.info("second");
  log.reopen();
  log.info("third");
  CHECK(read_file(directory / "log.1").find("second") != std::string::npos);
  CHECK(read_file(directory / "log.1").find("third") == std::string::npos);
  CHECK(read_file(directory / "log").find("third") != std::string::npos);
}

TEST_CASE("a log file that cannot be opened is reported in the current log") {
  const TempDir directory;
  Log log({LogLevel::info, LogFormat::text, directory / "log"});
  log.configure({LogLevel::info, LogFormat::text, directory / "missing/log"});
  log.info("still here");
  const std::string text = read_file(directory / "log");
  CHECK(text.find("cannot open the log file") != std::string::npos);
  CHECK(text.find("still here") != std::string::npos);
}

TEST_CASE("a log file is opened before it is used, and an error is returned at that time") {
  const TempDir directory;
  Log log({LogLevel::info, LogFormat::text, directory / "log"});
  const LogSettings wrong{LogLevel::info, LogFormat::text, directory / "missing/log"};
  CHECK(log.prepare(wrong) == "cannot be opened: No such file or directory");
  const LogSettings next{LogLevel::info, LogFormat::text, directory / "later"};
  CHECK(log.prepare(next).empty());
  log.info("before");
  std::filesystem::rename(directory / "later", directory / "moved");
  log.configure(next);
  log.info("after");
  CHECK(read_file(directory / "log").find("before") != std::string::npos);
  CHECK(read_file(directory / "moved").find("after") != std::string::npos);
}

TEST_CASE("root writes its log through no link, at the start, at a reload and after a reopen") {
  if (geteuid() != 0) return;
  const TempDir directory;
  const std::string precious = directory.file("ld.so.preload", "");
  const LogSettings settings{LogLevel::info, LogFormat::text, directory / "logs/w8yd.log"};
  std::filesystem::create_directories(directory / "logs");
  Log log(settings);
  log.info("before");
  // The directory is given to another user, and the link is created in it.
  const auto plant = [&] {
    REQUIRE(chown((directory / "logs").c_str(), 61234, 61234) == 0);
    std::filesystem::remove(settings.file);
    std::filesystem::create_symlink(precious, settings.file);
  };
  plant();
  CHECK(log.prepare(settings).find("which belongs to user 61234") != std::string::npos);
  log.reopen();
  log.info("after");
  const Log other(settings);
  CHECK(read_file(precious).empty());
}

TEST_CASE("lines lost to a full disk are counted and reported") {
  const TempDir directory;
  Log log({LogLevel::info, LogFormat::text, "/dev/full"});
  log.info("lost 1");
  log.info("lost 2");
  CHECK(log.lost() == 2);
  log.configure({LogLevel::info, LogFormat::text, directory / "log"});
  log.info("back");
  const std::string text = read_file(directory / "log");
  CHECK(text.find("warn: log lines dropped lines=2 error=\"No space left on device\"\n") !=
        std::string::npos);
  CHECK(text.find("info: back\n") != std::string::npos);
  CHECK(text.find("warn") < text.find("back"));
  log.info("more");
  CHECK(log.lost() == 2);
}

TEST_CASE("a partially written line is ended before the next line") {
  const TempDir directory;
  Log log({LogLevel::info, LogFormat::text, directory / "log"});
  log.info("whole");
  // A limit on file size acts like a disk that becomes full after some bytes.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit tight = before;
  tight.rlim_cur = read_file(directory / "log").size() + 20;
  setrlimit(RLIMIT_FSIZE, &tight);
  log.info("torn apart");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  CHECK(log.lost() == 1);
  log.info("after");
  std::istringstream lines(read_file(directory / "log"));
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  REQUIRE(all.size() == 4);
  CHECK(all[1].size() == 20);
  CHECK(all[2].find("lines=1") != std::string::npos);
  CHECK(all[3].find("after") != std::string::npos);
}

TEST_CASE("a log does not wait for a reader that has stopped reading") {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  std::uint64_t lost = 0;
  const auto started = std::chrono::steady_clock::now();
  {
    const Stderr to_pipe(ends[1]);
    Log log;
    for (int i = 0; i < 2000; ++i) log.info("x", {{"filler", std::string(500, 'x')}});
    lost = log.lost();
  }
  // A wait of 50 ms per line would take 100 s.
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(30));
  CHECK(lost > 1000);
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("lines have a priority and no time if standard error is the journal") {
  const TempDir directory;  // without a socket of journald
  Stream stream;
  const auto line = [&](const std::string& variable) {
    return stream.logged(variable, directory / "socket", [](Log& log) { log.warn("hello"); });
  };
  CHECK(line(stream.variable()) == "<4>warn: hello\n");
  CHECK(line("1:1").find("Z warn: hello\n") != std::string::npos);
}

TEST_CASE("entries for journald have the list, the run and the item as fields") {
  Journald journald;
  Stream stream;
  const std::string item = "a b\nPRIORITY=0\xff"s;
  const auto write = [&](Log& log) {
    log.warn("run ended",
             {{"list", "work"}, {"item", LoggedItem(item)}, {"run", "01KFA"}, {"code", 3}});
    log.error("no fields");
  };
  CHECK(stream.logged(stream.variable(), journald.path(), write).empty());
  Journald::Entry entry = journald.next();
  CHECK_FALSE(entry["SYSLOG_IDENTIFIER"].empty());
  entry.erase("SYSLOG_IDENTIFIER");
  CHECK(entry ==
        Journald::Entry{
            {"MESSAGE", R"(warn: run ended list=work item="a b\nPRIORITY=0\xff" run=01KFA code=3)"},
            {"PRIORITY", "4"},
            {"W8Y_LIST", "work"},
            {"W8Y_RUN_ID", "01KFA"},
            {"W8Y_ITEM", item}});
  entry = journald.next();
  CHECK(entry["MESSAGE"] == "error: no fields");
  CHECK(entry["PRIORITY"] == "3");
  CHECK(entry.size() == 3);
  // The journal of another process: JOURNAL_STREAM was inherited.
  CHECK_FALSE(stream.logged("1:1", journald.path(), write).empty());
  CHECK(journald.next().empty());
}

TEST_CASE("entries for journald keep the format of lines") {
  Journald journald;
  Stream stream;
  stream.logged(stream.variable(), journald.path(), [](Log& log) {
    log.configure({LogLevel::info, LogFormat::json, {}});
    log.info("run ended", {{"list", "work"}});
  });
  Journald::Entry entry = journald.next();
  const auto line = nlohmann::json::parse(entry["MESSAGE"]);
  CHECK(line["msg"] == "run ended");
  CHECK(entry["PRIORITY"] == "6");
  CHECK(entry["W8Y_LIST"] == "work");
}

TEST_CASE("a log with a file sends nothing to journald") {
  Journald journald;
  Stream stream;
  const TempDir directory;
  stream.logged(stream.variable(), journald.path(), [&](Log& log) {
    log.configure({LogLevel::info, LogFormat::text, directory / "log"});
    log.info("to the file");
  });
  CHECK(journald.next().empty());
  CHECK(read_file(directory / "log").find("to the file") != std::string::npos);
}

TEST_CASE("a log does not wait for journald that has stopped, and reports the lines that it lost") {
  Journald journald;
  Stream stream;
  stream.logged(stream.variable(), journald.path(), [&](Log& log) {
    const auto started = std::chrono::steady_clock::now();
    for (int i = 0; i < 2000; ++i) log.info("x", {{"list", "work"}});
    // A wait of 50 ms per line would take 100 s.
    CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(30));
    const std::uint64_t lost = log.lost();
    CHECK(lost > 1000);
    while (!journald.next().empty()) {
    }
    log.info("after", {{"list", "work"}});
    Journald::Entry notice = journald.next();
    CHECK(notice["MESSAGE"].find("lines=" + std::to_string(lost)) != std::string::npos);
    CHECK_FALSE(notice.contains("W8Y_LIST"));
    Journald::Entry after = journald.next();
    CHECK(after["MESSAGE"] == "info: after list=work");
    CHECK(after["W8Y_LIST"] == "work");
  });
}

TEST_CASE("a log sends entries to journald again after journald has been restarted") {
  Journald journald;
  Stream stream;
  const std::string text = stream.logged(stream.variable(), journald.path(), [&](Log& log) {
    log.info("before");
    CHECK(journald.next()["MESSAGE"] == "info: before");
    journald.stop();
    log.info("meanwhile");
    journald.start();
    log.info("after");
    CHECK(journald.next()["MESSAGE"] == "info: after");
  });
  CHECK(text == "<6>info: meanwhile\n");
}

}  // namespace log_test
