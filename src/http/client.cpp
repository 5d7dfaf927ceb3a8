#include "http/client.hpp"

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "http/curl.hpp"

namespace w8y::http {

namespace {

constexpr std::size_t max_body = std::size_t{64} << 20;
constexpr Duration busy_pause = std::chrono::milliseconds(10);

struct FreeList {
  void operator()(curl_slist* list) const { Curl::get().slist_free_all(list); }
};

/// Returns the error of connect(); 0 if it did not fail.
int connect_error(CURL* curl, CURLcode code) {
  if (code != CURLE_COULDNT_CONNECT) return 0;
  long error = 0;
  Curl::get().easy_getinfo(curl, CURLINFO_OS_ERRNO, &error);
  // A full backlog. libcurl treats this as a pending connection and does not keep the error.
  return error == 0 ? EAGAIN : static_cast<int>(error);
}

/// Describes an error of the socket. The text of libcurl would name a host and a port.
std::string problem_of(CURL* curl, CURLcode code, const char* detail) {
  const int error = connect_error(curl, code);
  if (error == EAGAIN) return "the server did not accept the connection in time";
  if (error != 0) return std::generic_category().message(error);
  return *detail != '\0' ? detail : Curl::get().easy_strerror(code);
}

/// Appends bytes of a response to `body`, a string.
std::size_t on_bytes(char* data, std::size_t size, std::size_t count, void* body) noexcept {
  auto& text = *static_cast<std::string*>(body);
  const std::size_t length = size * count;
  if (text.size() + length > max_body) return CURL_WRITEFUNC_ERROR;
  text.append(data, length);
  return length;
}

/// Sends the request again while the backlog of the server is full: connect() on a unix socket then
/// fails without waiting. Nothing has been sent at that time.
CURLcode perform(CURL* curl, Duration timeout) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + timeout;
  for (;;) {
    const CURLcode code = Curl::get().easy_perform(curl);
    const bool over = timeout > Duration(0) && Clock::now() >= end;
    if (connect_error(curl, code) != EAGAIN || over) return code;
    std::this_thread::sleep_for(busy_pause);
  }
}

}  // namespace

HttpClient::HttpClient(std::string socket, const std::string& authority)
    : socket_(std::move(socket)),
      base_("http://" + authority),
      curl_(Curl::get().easy_init(), Curl::get().easy_cleanup) {
  if (!curl_) throw std::runtime_error("cannot set up an HTTP client");
}

HttpResult HttpClient::request(const std::string& path, const std::string* body, Duration timeout) {
  CURL* curl = curl_.get();
  const auto set = [curl](CURLoption option, auto value) {
    const CURLcode code = Curl::get().easy_setopt(curl, option, value);
    if (code != CURLE_OK) throw std::runtime_error(Curl::get().easy_strerror(code));
  };
  HttpResult result;
  Curl::get().easy_reset(curl);
  std::array<char, CURL_ERROR_SIZE> error{};
  const std::string url = base_ + path;
  set(CURLOPT_URL, url.c_str());
  if (!socket_.empty()) set(CURLOPT_UNIX_SOCKET_PATH, socket_.c_str());
  set(CURLOPT_PATH_AS_IS, 1L);  // a list may be named ".."
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, error.data());
  set(CURLOPT_CONNECTTIMEOUT_MS, 5000L);
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(limit));
  set(CURLOPT_WRITEFUNCTION, &on_bytes);
  set(CURLOPT_WRITEDATA, &result.body);
  const std::unique_ptr<curl_slist, FreeList> headers(
      Curl::get().slist_append(nullptr, "Content-Type: application/json"));
  if (body != nullptr) {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size()));
    set(CURLOPT_POSTFIELDS, body->c_str());
    set(CURLOPT_HTTPHEADER, headers.get());
  }
  const CURLcode code = perform(curl, timeout);
  long status = 0;
  Curl::get().easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  result.status = static_cast<unsigned>(status);
  if (code != CURLE_OK) result.problem = problem_of(curl, code, error.data());
  Curl::get().easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  return result;
}

}  // namespace w8y::http
