// Files that root trusts: each directory and each link on the path counts.
#include "core/trusted_path.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_dir.hpp"

using namespace w8y;

namespace trusted_path_test {
namespace {

constexpr uid_t stranger = 61234;

/// Directory of root, by its real path.
class Place {
 public:
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + '/' + name; }
  std::string file(const std::string& name, const std::string& text = "text") const {
    return dir_.file(name, text, 0600);
  }
  std::string directory(const std::string& name, mode_t mode = 0755) const {
    std::filesystem::create_directories(path_ + '/' + name);
    chmod((path_ + '/' + name).c_str(), mode);
    return path_ + '/' + name;
  }
  std::string link(const std::string& to, const std::string& name) const {
    std::filesystem::create_symlink(to, path_ + '/' + name);
    return path_ + '/' + name;
  }

 private:
  test::TempDir dir_;
  std::string path_ = std::filesystem::canonical(dir_.path()).string();
};

void give_away(const std::string& path) {
  REQUIRE(lchown(path.c_str(), stranger, stranger) == 0);
}

std::string problem(const std::string& path) {
  return open_trusted(path).problem;
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

bool can_not_be_tried() {
  if (geteuid() == 0) return false;
  MESSAGE("needs root: skipped");
  return true;
}

}  // namespace

TEST_CASE("a file is trusted by its plain path, through links of root, with dots, and relative") {
  if (can_not_be_tried()) return;
  const Place place;
  place.directory("a/b");
  place.file("a/b/f");
  place.link("b", "a/short");
  place.link(place / "a/short/../short/f", "far");
  place.link("far", "farther");
  place.link(
      "../../../" + std::filesystem::path(place / "a").parent_path().filename().string() + "/a",
      "a/b/around");
  for (const std::string name :
       {"a/b/f", "a/short/f", "farther", "a/b/../b/./f", "a/b/around/b/f"}) {
    CAPTURE(name);
    CHECK(problem(place / name).empty());
    std::string text;
    std::string why;
    CHECK(read_own(place / name, 100, text, why));
    CHECK(text == "text");
  }
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(place / "a");
  CHECK(problem("b/f").empty());
  CHECK(problem("../far").empty());
  std::filesystem::current_path(before);
}

TEST_CASE("a file is not trusted through a link of another user anywhere on the path") {
  if (can_not_be_tried()) return;
  const Place place;
  place.file("f");
  place.directory("theirs");
  give_away(place.link(place / "f", "theirs/link"));
  // The first link, its directory and the file belong to root. A link between them does not.
  CHECK(has(problem(place.link("theirs/link", "through")),
            "is reached by the link " + (place / "theirs/link") + ", which belongs to user 61234"));
  give_away(place.link("f", "direct"));
  CHECK(has(problem(place / "direct"), "is reached by the link"));
  give_away(place.link(".", "dots"));
  CHECK(has(problem(place / "dots/f"), "is reached by the link"));
}

TEST_CASE("a file is not trusted below a directory of another user, even behind a link or ..") {
  if (can_not_be_tried()) return;
  const Place place;
  place.directory("theirs/inner");
  place.file("theirs/inner/f");
  place.file("f");
  place.link("theirs/inner", "in");
  give_away(place / "theirs");
  const std::string why = "is in " + (place / "theirs") + ", which belongs to user 61234";
  CHECK(has(problem(place / "theirs/inner/f"), why));
  CHECK(has(problem(place / "in/f"), why));
  CHECK(has(problem(place / "theirs/../f"), why));
  const Place open;
  open.directory("open", 0777);
  open.file("open/f");
  CHECK(has(problem(open / "open/f"), "which can be written by its group or others"));
  // In a sticky directory no user can move the files of others. A user's own files there are not
  // trusted.
  open.directory("sticky", 01777);
  CHECK(problem(open.file("sticky/f")).empty());
  give_away(open.link(open / "sticky/f", "sticky/link"));
  CHECK(has(problem(open / "sticky/link"), "is reached by the link"));
}

TEST_CASE("a missing file, another type of file, and an endless link are refused") {
  if (can_not_be_tried()) return;
  const Place place;
  CHECK(problem(place / "none") == "not found");
  CHECK(problem(place / "none/below") == "not found");
  CHECK(open_trusted(place / "none/below").error == ENOENT);
  CHECK(problem(place.directory("d")) == "is a directory; must be a file");
  CHECK(problem(place.link("d", "to-d")) == "is a directory; must be a file");
  place.link("round", "round");
  CHECK(has(problem(place / "round"), "Too many levels of symbolic links"));
  place.link("nowhere", "dangling");
  CHECK(problem(place / "dangling") == "not found");
  REQUIRE(mkfifo((place / "fifo").c_str(), 0600) == 0);
  CHECK(problem(place / "fifo") == "is not a regular file; must be one");
  CHECK(has(problem(place.file("f") + "/below"), "Not a directory"));
  CHECK(problem(std::string("/a\0b", 4)) == "has a NUL byte in its name");
  CHECK(problem("/") == "is a directory; must be a file");
}

TEST_CASE("a trusted file is read through its descriptor, even if its name is replaced") {
  if (can_not_be_tried()) return;
  const Place place;
  const std::string path = place.file("f", "checked");
  const TrustedFile file = open_trusted(path);
  REQUIRE(file.problem.empty());
  place.file("other", "put in its place");
  std::filesystem::rename(place / "other", path);
  std::string text;
  std::string why;
  CHECK(read_all(file, 100, text, why));
  CHECK(text == "checked");
  CHECK_FALSE(read_all(open_trusted(path), 3, text, why));
  CHECK(why == "is larger than 3 bytes");
}

TEST_CASE("directories are trusted, and files of one additional user") {
  if (can_not_be_tried()) return;
  const Place place;
  CHECK(open_trusted_directory(place.directory("d")).problem.empty());
  CHECK(has(open_trusted_directory(place.file("f")).problem, "Not a directory"));
  give_away(place / "d");
  CHECK_FALSE(open_trusted_directory(place / "d").problem.empty());
  PathWalk walk;
  walk.also = stranger;
  CHECK(open_trusted_directory(place / "d", walk).problem.empty());
  give_away(place / "f");
  CHECK(open_trusted(place / "f", walk).problem.empty());
  walk.check = [](int, const struct stat&) { return std::string("is not to our liking"); };
  CHECK(open_trusted(place / "f", walk).problem == "is not to our liking");
}

TEST_CASE("root writes to a file in a directory of its own, and creates it with its mode") {
  if (can_not_be_tried()) return;
  const Place place;
  const std::string path = place / "new";
  {
    const TrustedFile file = open_own_for_writing(path, WriteAs::append, 0640);
    REQUIRE(file.fd);
    REQUIRE(write(file.fd.get(), "one", 3) == 3);
  }
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777 & ~0640U) == 0);
  REQUIRE(write(open_own_for_writing(path, WriteAs::append, 0640).fd.get(), " two", 4) == 4);
  CHECK(w8y::test::read_file(path) == "one two");
  REQUIRE(write(open_own_for_writing(path, WriteAs::replace, 0640).fd.get(), "three", 5) == 5);
  CHECK(w8y::test::read_file(path) == "three");
  CHECK(open_own_for_writing("/dev/null", WriteAs::append, 0640).fd);
  CHECK(has(open_own_for_writing(place / "none/f", WriteAs::append, 0640).problem,
            "cannot be opened: No such file or directory"));
  CHECK(open_own_for_writing(place / "none/", WriteAs::append, 0640).error == EISDIR);
}

TEST_CASE("root writes to no file that another user controls") {
  if (can_not_be_tried()) return;
  const Place place;
  const auto refusal = [](const std::string& path, WriteAs how) {
    return open_own_for_writing(path, how, 0640).problem;
  };
  const std::string precious = place.file("precious");
  place.link(precious, "link");
  give_away(place.file("theirs"));
  place.directory("dir");
  place.link(precious, "dir/link");
  give_away(place / "dir");
  place.directory("sticky", 01777);
  std::filesystem::create_hard_link(precious, place / "sticky/hard");
  place.directory("shared", 0777);
  for (const WriteAs how : {WriteAs::append, WriteAs::replace}) {
    CHECK(has(refusal(place / "link", how), "is a symbolic link"));
    CHECK(has(refusal(place / "theirs", how), "belongs to user 61234"));
    CHECK(has(refusal(place / "dir/link", how), "is in " + (place / "dir")));
    CHECK(has(refusal(place / "dir/new", how), "which belongs to user 61234"));
    CHECK(has(refusal(place / "sticky/hard", how), "hard link"));
    CHECK(has(refusal(place / "shared/new", how), "can be written by its group or others"));
  }
  CHECK(w8y::test::read_file(precious) == "text");
  CHECK_FALSE(std::filesystem::exists(place / "dir/new"));
  CHECK_FALSE(std::filesystem::exists(place / "shared/new"));
}

TEST_CASE("opening a FIFO for writing does not wait for a reader") {
  const w8y::test::TempDir dir;
  const std::string fifo = dir / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(open_own_for_writing(fifo, WriteAs::replace, 0600).error == ENXIO);
  CHECK(open_own_for_writing(fifo, WriteAs::append, 0600).error == ENXIO);
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  CHECK(open_own_for_writing(fifo, WriteAs::append, 0600).fd);
  CHECK(has(open_own_for_writing(fifo, WriteAs::replace, 0600).problem, "is not a regular file"));
  close(reader);
}

}  // namespace trusted_path_test
