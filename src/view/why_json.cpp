#include <algorithm>

#include "core/json_object.hpp"
#include "view/why.hpp"

namespace w8y {

namespace {

std::string sentence_json(const WhySentence& sentence) {
  core::AsciiObject json;
  json.put("kind", sentence.kind);
  json.put("text", sentence.text);
  if (!sentence.hosts.empty())
    json.put_json("hosts", core::json_array(sentence.hosts, [](const std::string& host) {
                    core::AsciiObject named;
                    named.put_bytes("host", host);
                    return named.finish();
                  }));
  for (const auto& [name, number] : sentence.numbers) json.put(name, number);
  for (const auto& [name, text] : sentence.texts) json.put_bytes(name, text);
  return json.finish();
}

}  // namespace

std::string why_json(const Why& why, const std::string& list, const std::optional<Item>& item,
                     WallTime age) {
  core::AsciiObject json(1024);
  json.put_bytes("list", list);
  if (item) view::put_item(json, "item", DisplayItem(*item));
  json.put("state", why.state);
  json.put_json("reasons", core::json_array(why.sentences, sentence_json));
  json.put("age_ms", std::max(WallTime{0}, age).count());
  if (why.unknown()) json.put("error", why.sentences.front().text);
  return json.finish();
}

}  // namespace w8y
