// URL fuzzer: any text is a Redis URL or an error, and the displayed URL has the same meaning.
#include "redis/url.hpp"

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace w8y;
  try {
    const redis::Url url = redis::parse_url(fuzz::text_of(data, size));
    const std::string shown = url.to_string();
    const redis::Url again = redis::parse_url(shown);
    fuzz::must(again.to_string() == shown, "what is shown can be read again");
    fuzz::must(again.kind == url.kind && again.tls == url.tls && again.db == url.db &&
                   again.path == url.path && again.service == url.service,
               "and means the same");
    fuzz::must(again.password.empty() && again.user.empty(), "the login is not shown");
  } catch (const redis::UrlError& error) {
    fuzz::must(error.what()[0] != '\0', "a mistake has a text");
  }
  return 0;
}
