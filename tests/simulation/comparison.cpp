// Comparison of one call, and of all keys.
#include "simulation/comparison.hpp"

#include <utility>

namespace w8y::sim {

namespace {

/// Returns all keys with a prefix, by name: type, lifetime in ms, contents.
constexpr const char* dump_script = R"(
local all = redis.call('KEYS', ARGV[1] .. '*')
table.sort(all)
local reply = {}
for _, key in ipairs(all) do
  local kind = redis.call('TYPE', key).ok
  local what
  if kind == 'string' then what = {redis.call('GET', key)}
  elseif kind == 'list' then what = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'zset' then what = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'set' then
    what = redis.call('SMEMBERS', key)
    table.sort(what)
  else
    local names = redis.call('HKEYS', key)
    table.sort(names)
    what = {}
    for _, name in ipairs(names) do
      what[#what + 1] = name
      what[#what + 1] = redis.call('HGET', key, name)
    end
  end
  reply[#reply + 1] = {key, kind, redis.call('PTTL', key), what}
end
return reply
)";

std::string shown(const Dump& dump) {
  std::string text;
  for (const auto& [key, entry] : dump) {
    text += "  " + key + ' ' + entry.kind + ' ' + std::to_string(entry.ttl) + ":";
    for (const std::string& word : entry.what) text += ' ' + word;
    text += '\n';
  }
  return text;
}

struct Filler {
  const Keys& keys;
  Dumped& into;
  void operator()(const std::string& text) const {
    into.kind = "string";
    into.what = {text};
  }
  void operator()(const List& list) const {
    into.kind = "list";
    into.what.assign(list.begin(), list.end());
  }
  void operator()(const Hash& hash) const {
    into.kind = "hash";
    for (const auto& [name, value] : hash) into.what.insert(into.what.end(), {name, value});
  }
  void operator()(const SortedSet& set) const {
    into.kind = "zset";
    for (const auto& [score, member] : set.order())
      into.what.insert(into.what.end(), {member, keys.score_text(score)});
  }
  void operator()(const Set& set) const {
    into.kind = "set";
    into.what.assign(set.begin(), set.end());
  }
};

Value value_of(const redis::ReplyCopy& reply) {
  using Kind = redis::ReplyCopy::Kind;
  switch (reply.kind) {
    case Kind::nil:
      return {};
    case Kind::integer:
      return Value::of(reply.number);
    case Kind::error:
      return Value::error(reply.text);
    case Kind::string:
      return Value::of(reply.text);
    case Kind::array:
      break;
  }
  std::vector<Value> elements;
  for (const redis::ReplyCopy& element : reply.elements) elements.push_back(value_of(element));
  return Value::array(std::move(elements));
}

/// Compares two replies. The number at `time_at` of an array is a lifetime in ms, and may differ a
/// little. The end of an error, which names the script, is ignored.
bool same(const Value& a, const Value& b, std::size_t time_at) {
  if (a.kind != b.kind || a.elements.size() != b.elements.size()) return false;
  if (a.text.substr(0, a.text.find(" script: ")) != b.text.substr(0, b.text.find(" script: ")))
    return false;
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    const Value &left = a.elements[i], &right = b.elements[i];
    const bool time = i == time_at && left.number >= 0 && right.number >= 0;
    if (time ? std::abs(left.number - right.number) > tolerance_ms : !same(left, right, no_time))
      return false;
  }
  return a.number == b.number;
}

/// Converts statuses to texts, as a client does.
Value without_status(Value value) {
  if (value.kind == Value::Kind::status) value.kind = Value::Kind::bulk;
  for (Value& element : value.elements) element = without_status(std::move(element));
  return value;
}

/// Sorts the pages of HSCAN, so that both have the same order.
constexpr const char* sorted_scan = R"(
local function sorted_scan(...)
  local page = redis.call('HSCAN', ...)
  local fields, values = {}, {}
  for i = 1, #page[2], 2 do
    fields[#fields + 1] = page[2][i]
    values[page[2][i]] = page[2][i + 1]
  end
  table.sort(fields)
  local sorted = {}
  for _, field in ipairs(fields) do
    sorted[#sorted + 1] = field
    sorted[#sorted + 1] = values[field]
  end
  return {page[1], sorted}
end
)";

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

}  // namespace

void Comparison::lua(const redis::Script& script, const Words& key, const Words& arg,
                     std::size_t time_at) {
  const auto allowed = [](const CommandInfo&, bool) { return std::string(); };
  Value expected = run_lua(script, {keys_, key, arg, published_}, allowed);
  std::string text(script.text);  // the text names its call, see redis::Script
  replace_all(text, "redis.call('TIME')",
              "({'" + std::to_string(keys_.now_us / 1'000'000) + "','" +
                  std::to_string(keys_.now_us % 1'000'000) + "'})");
  if (text.find("'HSCAN'") != std::string::npos) {
    replace_all(text, "redis.call('HSCAN', ", "sorted_scan(");
    text = sorted_scan + text;
  }
  const std::string count = std::to_string(key.size());
  redis::Command words{"EVAL", text, count};
  words.insert(words.end(), key.begin(), key.end());
  words.insert(words.end(), arg.begin(), arg.end());
  words.emplace_back("1");
  const auto replies = redis_.pipeline({words});
  Value found = value_of(replies[0]);
  if (found.kind == Value::Kind::array)
    found = found.elements.size() > 1 ? Value(found.elements[1]) : Value{};
  std::string what = std::string(script.name) + " (";
  for (const std::string& word : arg) what += word.substr(0, 60) + ", ";
  what += ")";
  expected = without_status(std::move(expected));
  if (!same(expected, found, time_at))
    throw std::runtime_error("step " + std::to_string(steps_) + ", " + what +
                             "\n  the model says " + to_text(expected) + "\n  redis says     " +
                             to_text(found) + "\n" + shown(model_keys()));
  compare_keys(what);
}

Value Comparison::both(const Words& words) {
  const CommandInfo* info = command_of(words.front());
  if (info == nullptr) throw std::runtime_error("there is no model of " + words.front());
  const std::size_t told = published_.size();
  const Value expected = run_command(*info, {keys_, words, published_});
  // Only the real server has the number of receivers.
  compare_reply(words, expected, redis_, published_.size() == told);
  return expected;
}

void Comparison::compare_reply(const Words& words, const Value& expected, redis::SyncClient& real,
                               bool of_all) {
  const redis::Command command(words.begin(), words.end());
  const Value found = value_of(real.pipeline({command})[0]);
  std::string what;
  for (const std::string& word : words) what += word + ' ';
  if (of_all && !same(without_status(expected), found, no_time))
    throw std::runtime_error("step " + std::to_string(steps_) + ", " + what +
                             "\n  the model says " + to_text(expected) + "\n  redis says     " +
                             to_text(found) + "\n" + shown(model_keys()));
  compare_keys(what);
}

Dump Comparison::real_keys() {
  const auto replies = redis_.pipeline({{"EVAL", dump_script, "0", prefix_}});
  Dump dump;
  for (const redis::ReplyCopy& key : replies[0].elements) {
    Dumped& entry = dump[key.elements[0].text];
    entry.kind = key.elements[1].text;
    entry.ttl = key.elements[2].number;
    for (const redis::ReplyCopy& word : key.elements[3].elements) entry.what.push_back(word.text);
  }
  return dump;
}

Dump Comparison::model_keys() {
  Dump dump;
  for (const auto& [key, entry] : keys_.all()) {
    if (!key.starts_with(prefix_)) continue;
    Dumped& into = dump[key];
    std::visit(Filler{keys_, into}, entry->value);
    into.ttl = entry->expires_ms ? *entry->expires_ms - keys_.now_ms() : -1;
  }
  return dump;
}

void Comparison::compare_keys(const std::string& after) {
  const Dump real = real_keys(), model = model_keys();
  if (real == model) return;
  throw std::runtime_error("step " + std::to_string(steps_) + ", after " + after +
                           "the keys differ\n the model has\n" + shown(model) + " redis has\n" +
                           shown(real));
}

namespace {

/// Sorts deletions that follow each other. A sweep reads random fields, and so deletes locks in
/// random order.
void forget_order_of_deletions(std::vector<Published>& news) {
  const auto is_deletion = [](const Published& each) { return each.text == "del"; };
  for (auto at = news.begin(); at != news.end();) {
    const auto begin = std::find_if(at, news.end(), is_deletion);
    at = std::find_if_not(begin, news.end(), is_deletion);
    std::sort(begin, at,
              [](const Published& a, const Published& b) { return a.channel < b.channel; });
  }
}

}  // namespace

std::string Comparison::first_difference() const {
  const auto [model, real] =
      std::mismatch(published_.begin(), published_.end(), received_.begin(), received_.end());
  const auto text = [](const auto& at, const auto& end) {
    return at == end ? std::string("nothing") : at->channel + ' ' + at->text;
  };
  return "before step " + std::to_string(steps_) + " the model published " +
         text(model, published_.end()) + ", and Redis " + text(real, received_.end());
}

void Comparison::compare_news() {
  wait([this] { return received_.size() >= published_.size(); }, "messages");
  forget_order_of_deletions(received_);
  forget_order_of_deletions(published_);
  if (received_ != published_) throw std::runtime_error(first_difference());
  received_.clear();
  published_.clear();
}

}  // namespace w8y::sim
