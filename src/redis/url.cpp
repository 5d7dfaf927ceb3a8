#include "redis/url.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "core/ascii.hpp"

// No message quotes the text after the scheme: with one wrong character, a password may be anywhere
// in it.

namespace w8y::redis {

namespace {

constexpr std::string_view forms =
    "redis://[user[:password]@]host[:port][/db], rediss://… for TLS, unix:///path.sock[?db=N], "
    "redis+sentinel://host[:port][,…]/service[/db] or redis+cluster://host[:port][,…]";
constexpr std::uint16_t redis_port = 6379;
constexpr std::uint16_t sentinel_port = 26379;

[[noreturn]] void fail(std::string what) {
  throw UrlError("Redis URL: " + std::move(what));
}

bool all_of(std::string_view text, std::string_view besides_alnum) {
  return std::ranges::all_of(text, [&](char c) {
    return core::is_alnum(c) || besides_alnum.find(c) != std::string_view::npos;
  });
}

std::string unescape(std::string_view text, const char* part) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    const bool whole = text.size() - i > 2;
    if (!whole || std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2)
      fail(std::string("the ") + part +
           " has a '%' without two hex digits after it; write %25 for the sign itself");
    if (value == 0) fail(std::string("the ") + part + " has a NUL byte (%00)");
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

int parse_db(std::string_view text) {
  int db = 0;
  const char* end = text.data() + text.size();
  const bool digits = !text.empty() && text[0] >= '0' && text[0] <= '9';
  const auto [stop, error] = std::from_chars(text.data(), end, db);
  if (!digits || stop != end || error != std::errc{})
    fail("the database must be a number from 0 on, as in /2 after the host or ?db=2 after a path");
  return db;
}

std::uint16_t parse_port(std::string_view text) {
  unsigned port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  if (stop != end || error != std::errc{} || port == 0 ||
      port > std::numeric_limits<std::uint16_t>::max())
    fail(
        "the port must be a number from 1 to 65535; in a user or password, write '/' as %2F, "
        "'?' as %3F, '#' as %23, '@' as %40 and ':' as %3A");
  return static_cast<std::uint16_t>(port);
}

/// Removes "user:password@" from the front of `authority`.
void parse_login(std::string_view& authority, Url& url) {
  const auto at = authority.rfind('@');
  if (at == std::string_view::npos) return;
  const std::string_view login = authority.substr(0, at);
  authority.remove_prefix(at + 1);
  const auto colon = login.find(':');
  url.user = unescape(login.substr(0, colon), "user");
  if (colon != std::string_view::npos) url.password = unescape(login.substr(colon + 1), "password");
}

/// Parses an IPv6 address with a zone. The zone of fe80::1%eth0 is written %25eth0 in a URL; a bare
/// '%' is accepted as well.
std::string parse_bracketed(std::string_view inside) {
  const auto percent = inside.find('%');
  const std::string bare(inside.substr(0, percent));
  std::string_view zone = percent == std::string_view::npos ? "" : inside.substr(percent + 1);
  if (zone.starts_with("25")) zone.remove_prefix(2);
  in6_addr ignored{};
  const bool has_zone = percent != std::string_view::npos;
  if (inet_pton(AF_INET6, bare.c_str(), &ignored) != 1 || !all_of(zone, ".-_") ||
      has_zone == zone.empty())
    fail("the text in brackets is not an IPv6 address; write it as in redis://[::1]:6379");
  return has_zone ? bare + "%" + std::string(zone) : bare;
}

HostPort parse_host(std::string_view authority, std::uint16_t default_port) {
  HostPort place;
  place.port = default_port;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos)
      fail("a '[' without ']'; write an IPv6 address as in redis://[::1]:6379");
    place.host = parse_bracketed(authority.substr(1, close - 1));
    rest = authority.substr(close + 1);
    if (!rest.empty() && rest[0] != ':') fail("only a ':' and the port may follow the ']'");
  } else {
    const auto colon = authority.find(':');
    const std::string_view host = authority.substr(0, colon);
    if (colon != std::string_view::npos) rest = authority.substr(colon);
    if (std::ranges::count(rest, ':') > 1)
      fail(
          "more than one ':' after the host; an IPv6 address must be in brackets, as in "
          "redis://[::1]:6379");
    if (!all_of(host, ".-_"))
      fail("the host has a character that is not valid in a host name; it should look like " +
           std::string(forms));
    if (host.size() > 253) fail("the host is too long; a host name has at most 253 characters");
    if (!host.empty()) place.host = host;
  }
  if (rest.size() > 1) place.port = parse_port(rest.substr(1));
  if (rest == ":") fail("a ':' without a port after the host; add the port or remove the ':'");
  return place;
}

std::vector<HostPort> parse_hosts(std::string_view text, std::uint16_t default_port) {
  constexpr std::size_t most = 64;
  std::vector<HostPort> places;
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    more = comma != std::string_view::npos;
    const std::string_view one = text.substr(0, comma);
    if (one.empty()) fail("a host is missing; separate two hosts by one comma");
    places.push_back(parse_host(one, default_port));
    if (more) text.remove_prefix(comma + 1);
  }
  if (places.size() > most)
    fail("more than 64 hosts; one reachable host is enough to find the others");
  return places;
}

/// Parses the text behind the hosts: the name of the service and the database, or nothing for a
/// cluster.
void parse_behind_hosts(std::string_view tail, Url& url) {
  if (tail.starts_with('/')) tail.remove_prefix(1);
  if (tail.find_first_of("?#") != std::string_view::npos)
    fail("'?' and '#' are not allowed after the hosts; it should look like " + std::string(forms));
  if (url.kind == Url::Kind::cluster) {
    if (!tail.empty()) fail("a cluster has one database only, so nothing may follow the hosts");
    return;
  }
  const auto slash = tail.find('/');
  url.service = unescape(tail.substr(0, slash), "service");
  if (url.service.empty())
    fail(
        "the name of the service is missing: the name of the primary at the Sentinels, as in "
        "redis+sentinel://10.0.0.1,10.0.0.2,10.0.0.3/mymaster");
  if (slash != std::string_view::npos && slash + 1 < tail.size())
    url.db = parse_db(tail.substr(slash + 1));
}

Url parse_tcp(std::string_view rest, Url::Kind kind) {
  Url url;
  url.kind = kind;
  const auto end = rest.find_first_of("/?#");
  std::string_view authority = rest.substr(0, end);
  std::string_view tail = end == std::string_view::npos ? "" : rest.substr(end);
  if (tail.find('@') != std::string_view::npos)
    fail("in a user or password, write '/' as %2F, '?' as %3F and '#' as %23");
  parse_login(authority, url);
  if (kind != Url::Kind::tcp) {
    url.seeds = parse_hosts(authority, kind == Url::Kind::sentinel ? sentinel_port : redis_port);
    parse_behind_hosts(tail, url);
    return url;
  }
  url.server = parse_host(authority, redis_port);
  if (tail.starts_with('/')) tail.remove_prefix(1);
  if (tail.find_first_of("?#") != std::string_view::npos)
    fail("nothing may follow the database; it should look like " + std::string(forms));
  if (!tail.empty()) url.db = parse_db(tail);
  return url;
}

Url parse_unix(std::string_view rest) {
  Url url;
  url.kind = Url::Kind::unix_socket;
  // A password must not contain a raw '/', so a later '@' belongs to the path.
  const auto slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  parse_login(authority, url);
  if (!authority.empty() || slash == std::string_view::npos)
    fail(
        "the path of the socket must be absolute: unix:///run/redis.sock (three slashes), or "
        "unix://user:password@/run/redis.sock");
  std::string_view path = rest.substr(slash);
  const auto question = path.find('?');
  if (question != std::string_view::npos) {
    const std::string_view query = path.substr(question + 1);
    path = path.substr(0, question);
    if (!query.starts_with("db=")) fail("only ?db=N may follow the path of the socket");
    url.db = parse_db(query.substr(3));
  }
  url.path = unescape(path, "path");
  if (url.path == "/")
    fail("the path of the socket is missing; write it as in unix:///run/redis.sock");
  if (url.path.size() >= sizeof(sockaddr_un{}.sun_path))
    fail("the path of the socket is too long; it has at most 107 bytes");
  return url;
}

[[noreturn]] void fail_without_scheme(std::string_view text) {
  if (text.starts_with('/') && text.find('@') == std::string_view::npos && all_of(text, "/._-"))
    fail("the scheme is missing: write unix://" + std::string(text));
  const auto colon = text.find(':');
  const bool port_like = colon == std::string_view::npos ||
                         text.substr(colon + 1).find_first_not_of("0123456789/") == text.npos;
  const bool host_like = all_of(text.substr(0, colon), ".-_/") && port_like;
  fail("the scheme is missing: write " +
       (host_like ? "redis://" + std::string(text) : std::string(forms)));
}

[[noreturn]] void fail_with_scheme(const std::string& scheme) {
  const bool plausible = !scheme.empty() && scheme.size() <= 20 && all_of(scheme, "+.-");
  fail("unknown scheme" + (plausible ? " " + scheme + "://" : std::string()) +
       "; it should look like " + std::string(forms));
}

std::string escape_path(std::string_view path) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte != 0x7f && c != '%' && c != '?' && c != '#') {
      out += c;
    } else {
      out += '%';
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  return out;
}

}  // namespace

Url parse_url(std::string_view text) {
  std::optional<Wiping> wiping;
  if (text.find_first_of("@?") != std::string_view::npos) wiping.emplace();  // may hold a password
  if (text.empty()) fail("it is empty; it should look like " + std::string(forms));
  if (text.find('\0') != std::string_view::npos) fail("it has a NUL byte");
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  if (std::ranges::any_of(text, blank))
    fail("it has a space or a control character; in a user or password, write a space as %20");
  const auto colon = text.find("://");
  if (colon == std::string_view::npos) {
    if (text.starts_with("unix:/") && all_of(text.substr(5), "/._-"))
      fail("two slashes are missing: write unix://" + std::string(text.substr(5)));
    fail_without_scheme(text);
  }
  const std::string scheme = core::lower(text.substr(0, colon));
  const std::string_view rest = text.substr(colon + 3);
  if (scheme == "unix") return parse_unix(rest);
  const bool tls = scheme.starts_with("rediss");
  const std::string kind = scheme.substr(tls ? 6 : std::min<std::size_t>(5, scheme.size()));
  if (!scheme.starts_with("redis")) fail_with_scheme(scheme);
  Url url;
  if (kind.empty()) {
    url = parse_tcp(rest, Url::Kind::tcp);
  } else if (kind == "+sentinel") {
    url = parse_tcp(rest, Url::Kind::sentinel);
  } else if (kind == "+cluster") {
    url = parse_tcp(rest, Url::Kind::cluster);
  } else {
    fail_with_scheme(scheme);
  }
  url.tls = tls;
  return url;
}

Url parse_secret_url(const Secret& text) {
  Url url = parse_url(text.view());
  const auto at = text.view().find(url.password.view());
  if (at != std::string_view::npos) url.password = text.part(at, url.password.view().size());
  return url;
}

std::string HostPort::to_string() const {
  std::string shown = host;
  if (const auto zone = host.find('%'); zone != std::string::npos) shown.insert(zone + 1, "25");
  if (host.find(':') != std::string::npos) shown = "[" + shown + "]";
  return shown + ":" + std::to_string(port);
}

Url Url::at(const HostPort& place) const {
  Url url = *this;
  url.kind = Kind::tcp;
  url.server = place;
  url.seeds.clear();
  url.service.clear();
  return url;
}

std::string Url::to_string() const {
  std::string out;
  if (kind == Kind::none) return {};
  if (kind == Kind::unix_socket) {
    out.append("unix://").append(escape_path(path));
    if (db != 0) out.append("?db=").append(std::to_string(db));
    return out;
  }
  out = tls ? "rediss" : "redis";
  if (kind == Kind::tcp) out.append("://").append(server.to_string());
  if (kind == Kind::sentinel) out += "+sentinel://";
  if (kind == Kind::cluster) out += "+cluster://";
  for (std::size_t i = 0; i < seeds.size(); ++i)
    out.append(i == 0 ? "" : ",").append(seeds[i].to_string());
  if (kind == Kind::sentinel) out.append("/").append(escape_path(service));
  if (db != 0) out.append("/").append(std::to_string(db));
  return out;
}

}  // namespace w8y::redis
