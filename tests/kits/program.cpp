// Executor with the kit for C++ whose items are commands. test_kits.py sends the items.
#include <unistd.h>
#include <w8y-executor/executor.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kit = w8y::kit;

namespace {

std::string hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += two;
  }
  return out;
}

kit::Object described(const kit::Item& item) {
  unsigned long long sum = 0;
  for (const char c : item.bytes) sum += static_cast<unsigned char>(c);
  kit::Object result;
  result.add("name", item.name).add("run", item.id).add("length", item.bytes.size());
  result.add("fence", item.fence).add("attempt", item.attempt).add("sum", sum);
  result.add("hex", hex(item.bytes.substr(0, 100)));
  if (item.payload) result.add("payload", hex(*item.payload));
  return result;
}

void pause() {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

void stray() {
  std::cout << "stray" << std::endl;
  std::puts("stray");
  std::fflush(stdout);
  if (std::system("echo stray; cat") != 0) throw kit::Failed("there is no shell");
}

void wait_for(const std::string& path) {
  while (::access(path.c_str(), F_OK) != 0) pause();
}

void talk(kit::Item& item, const std::string& name, const std::string& path) {
  std::cout << name << ' ' << 1 << std::endl;
  std::cerr << name << " 2\n\n";
  std::clog << name << " 3\n";
  item.log() << name << " 4\n";
  std::cout.write(name.data(), static_cast<std::streamsize>(name.size())).put(' ') << "5\n";
  std::thread([&] {
    const kit::OutputOf routed(item);
    std::cout << name << " 6\n";
  }).join();
  std::cout << name << ' ' << std::flush;
  wait_for(path);
  std::cout << "7\n\u00fc";
  if (name[0] == 'b') {
    try {
      throw std::invalid_argument("the cause");
    } catch (const std::exception&) {
      std::throw_with_nested(std::out_of_range(name + " is bad"));
    }
  }
}

kit::Object say(kit::Item& item) {
  item.progress(1, 4);
  item.update(kit::Raw("{\"a\":\n[1,null,\"\u00fc\"]}"));
  item.print("\"quotes\"\n\u00fc\t\u2028");
  return kit::Object().add("type", "x").add("id", "y").add("nested", kit::Object().add("id", 1));
}

kit::Object values() {
  kit::Object result;
  result.add("list", std::vector<std::string>{"a", "b"}).add("none", nullptr).add("yes", true);
  result.add("half", 0.5).add("negative", -7).add("nan", 0.0 / std::stod("0"));
  for (const char* wrong : {"", "01", "{", "[1,]", "\"\\ud800\"", "\"\xff\"", "nul", "1 2",
                            "\"\n\"", "{\"a\"}", "\"\\x\"", "-", "1.", "1e"}) {
    try {
      result.add("raw", kit::Raw(wrong));
      throw kit::Failed(std::string("takes ") + wrong);
    } catch (const std::invalid_argument&) {
    }
  }
  return result.add("raw", kit::Raw(R"( [-0.5e+3, "\ud83d\ude00\u00e9\/", {"": {}}, [], true] )"));
}

kit::Object work(kit::Item& item) {
  const std::size_t space = item.bytes.find(' ');
  const std::string word = item.bytes.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : item.bytes.substr(space + 1);
  if (word == "fail") throw kit::Failed(rest);
  if (word == "crash") throw std::out_of_range(rest);
  if (word == "text") return kit::Object().add("text", item.text());
  if (word == "say") return say(item);
  if (word == "values") return values();
  if (word == "gate") {
    item.print("waits");
    for (; ::access(rest.c_str(), F_OK) != 0; pause()) item.check();
  } else if (word == "stubborn") {
    while (!item.cancelled()) pause();
    return kit::Object().add("stopped", true);
  } else if (word == "odd") {
    item.print("\xff|");
    return kit::Object().add("\xff|", "\xed\xa0\x80|");
  } else if (word == "flood") {
    for (int i = 0; i < 200; ++i) {
      std::string data;
      for (int times = 0; times < 5000; ++times) data += std::to_string(i);
      item.update(data);
    }
  } else if (word == "talk") {
    const std::size_t end = rest.find(' ');
    talk(item, rest.substr(0, end), rest.substr(end + 1));
  } else if (word == "long") {
    std::cout << std::string(20000, 'x') << '\n' << std::string(20000, 'y');
  } else if (word == "stray") {
    stray();
  } else {
    return described(item);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const char* at_once = std::getenv("AT_ONCE");
  kit::Options options;
  options.caps = {"gpu"};
  options.concurrency = at_once == nullptr ? 1 : static_cast<unsigned>(std::stoul(at_once));
  options.version = "7";
  return kit::serve(argc, argv, options, work);
}
