#include "http/connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "http/head.hpp"
#include "http/target.hpp"
#include "loop/loop.hpp"

namespace w8y::http {

namespace {

/// Size up to which a response is always sent: errors, and endpoints for monitoring.
constexpr std::size_t always_room = std::size_t{64} << 10;

}  // namespace

/// Bounded queue of bytes for one reader.
class HttpConnection::Stream : public HttpStream {
 public:
  Stream(HttpConnection& connection, std::string last_words)
      : connection_(&connection), last_words_(std::move(last_words)) {}

  bool push(std::string_view bytes) override {
    if (closed_ || connection_ == nullptr) return false;
    if (buffer_.size() + bytes.size() > connection_->shared_.limits.stream) {
      buffer_ += last_words_;
      connection_->set_deadline(connection_->shared_.limits.request_timeout);
      close();
      return false;
    }
    buffer_ += bytes;
    connection_->resume();
    return true;
  }

  void close() override {
    closed_ = true;
    if (connection_ != nullptr) connection_->resume();
  }

  [[nodiscard]] std::size_t owed() const override { return buffer_.size(); }

  void forget_connection() { connection_ = nullptr; }

  /// Returns up to `max` bytes to the HTTP library. 0 suspends the connection until there are more.
  ssize_t read(char* to, std::size_t max) {
    const std::size_t count = std::min(max, buffer_.size());
    if (count > 0) {
      std::memcpy(to, buffer_.data(), count);
      buffer_.erase(0, count);
      return static_cast<ssize_t>(count);
    }
    if (closed_ || connection_ == nullptr) return MHD_CONTENT_READER_END_OF_STREAM;
    connection_->suspend();
    return 0;
  }

 private:
  HttpConnection* connection_;  ///< nullptr: the client has disconnected
  std::string buffer_;
  std::string last_words_;
  bool closed_ = false;
};

class HttpConnection::Exchange {
 public:
  explicit Exchange(HttpConnection& connection) : connection_(&connection) {}

  std::string target;
  HttpRequest request;
  bool started = false;      ///< whether the header fields were received
  bool unreadable = false;   ///< whether the target is invalid
  bool trusted = false;      ///< as HttpReply::trusted()
  std::size_t max_body = 0;  ///< bytes
  bool too_long = false;     ///< whether the body is too long
  /// Refusal by the gate. It is sent after the body, whose bytes are ignored: a client that is
  /// still sending when the connection is closed may not receive the reason.
  std::unique_ptr<HttpResponse> refusal;
  bool handed_over = false;
  std::optional<HttpResponse> response;
  std::optional<HttpResponse> last_response;  ///< as HttpReply::set_last_response()
  std::string stream_type;
  std::shared_ptr<Stream> stream;

  [[nodiscard]] bool responded() const { return response || stream; }

  void send_response(HttpResponse with) {
    if (responded() || connection_ == nullptr) return;
    HttpShared& shared = connection_->shared_;
    const std::size_t size = with.body.size();
    if (size > always_room && shared.unread.held(trusted) > 0 && !shared.unread.fits(trusted, size))
      with =
          error_response(503, "other clients have not read their large responses yet; retry later");
    response = std::move(with);
    open_ = {};
    unread_ = shared.unread.hold(trusted, response->body.size());
    connection_->resume();
  }

  /// Sends last_response, or `otherwise`.
  void send_last(HttpResponse otherwise) {
    send_response(last_response ? std::move(*last_response) : std::move(otherwise));
  }

  bool hold_stream() {
    if (responded() || connection_ == nullptr) return false;
    HttpShared& shared = connection_->shared_;
    if (shared.streams.fits(trusted)) {
      open_ = shared.streams.hold(trusted);
      return true;
    }
    const std::size_t open = shared.streams.held(true) + shared.streams.held(false);
    send_response(error_response(
        503, "there are " + std::to_string(open) + " streams already; retry when one has ended"));
    return false;
  }

  std::shared_ptr<HttpStream> open_stream(std::string type, std::string last_words) {
    if (!hold_stream()) return nullptr;
    stream_type = std::move(type);
    stream = std::make_shared<Stream>(*connection_, std::move(last_words));
    connection_->resume();
    return stream;
  }

  void forget_connection() {
    if (connection_ == nullptr) return;
    connection_ = nullptr;
    unread_ = {};
    open_ = {};
    if (stream) stream->forget_connection();
  }

 private:
  HttpConnection* connection_;
  ClientPool::Hold unread_;  ///< in HttpShared::unread
  ClientPool::Hold open_;    ///< in HttpShared::streams
};

class HttpConnection::Reply : public HttpReply {
 public:
  explicit Reply(std::weak_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~Reply() override {
    if (const auto exchange = exchange_.lock())
      exchange->send_last(error_response(500, "the server produced no response"));
  }
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;

  void set_last_response(HttpResponse response) override {
    if (const auto exchange = exchange_.lock()) exchange->last_response = std::move(response);
  }

  bool hold_stream() override {
    const auto exchange = exchange_.lock();
    return exchange && exchange->hold_stream();
  }

  void send(HttpResponse response) override {
    if (const auto exchange = exchange_.lock()) exchange->send_response(std::move(response));
  }

  std::shared_ptr<HttpStream> stream(std::string content_type, std::string last_words) override {
    class Gone : public HttpStream {
      bool push(std::string_view) override { return false; }
      void close() override {}
      [[nodiscard]] std::size_t owed() const override { return 0; }
    };
    std::shared_ptr<HttpStream> stream;
    if (const auto exchange = exchange_.lock())
      stream = exchange->open_stream(std::move(content_type), std::move(last_words));
    return stream ? stream : std::make_shared<Gone>();
  }

  [[nodiscard]] bool trusted() const override {
    const auto exchange = exchange_.lock();
    return exchange && exchange->trusted;
  }

 private:
  std::weak_ptr<Exchange> exchange_;
};

HttpConnection::HttpConnection(HttpShared& shared, MHD_Connection* mhd)
    : shared_(shared),
      mhd_(mhd),
      fd_(MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd),
      deadline_(shared.loop.timers()),
      first_look_(shared.checks) {
  begin();
}

HttpConnection::~HttpConnection() {
  exchange_->forget_connection();
}

void HttpConnection::begin() {
  if (exchange_) exchange_->forget_connection();
  exchange_ = std::make_shared<Exchange>(*this);
  turn_ = ++shared_.turns;
  started_ = shared_.loop.now();
  responded_ = {};
  set_deadline(shared_.limits.request_timeout);
}

bool HttpConnection::idle() const {
  return !exchange_->handed_over && !exchange_->responded();
}

Duration HttpConnection::idle_for() const {
  return shared_.loop.now() - started_;
}

Duration HttpConnection::reading_for() const {
  return exchange_->response && responded_ != Instant{} ? shared_.loop.now() - responded_
                                                        : Duration(0);
}

void HttpConnection::on_target(std::string target) {
  exchange_->target = std::move(target);
}

MHD_Result HttpConnection::on_data(const char* method, const char* version, std::string_view data) {
  if (!data.empty()) return on_body(data);
  if (!std::exchange(exchange_->started, true)) return on_headers(method, version);
  return on_complete();
}

void HttpConnection::on_completed() {
  suspended_ = false;
  begin();
}

/// Reads the head. Returns why the request is refused with 400, or nullptr if it is not refused.
const char* HttpConnection::read_head(const char* method, const char* version) {
  HttpRequest& request = exchange_->request;
  if (const char* problem = read_fields(mhd_, request)) return problem;
  request.method = std::strcmp(method, "HEAD") == 0 ? "GET" : method;
  request.version = version;
  request.over_tcp = shared_.gate != nullptr;  // only TCP has a gate
  auto target = parse_target(exchange_->target);
  exchange_->unreadable = !target;
  if (target) request.path = std::move(target->path);
  if (target) request.query = std::move(target->query);
  return nullptr;
}

/// Refuses a request at once, by its head. Does not wait for the body, because its end is not known
/// or it is too long.
MHD_Result HttpConnection::refuse_now(unsigned status, const std::string& why) {
  exchange_->response = error_response(status, why);
  exchange_->response->headers.emplace_back("Connection", "close");
  return respond();
}

MHD_Result HttpConnection::on_headers(const char* method, const char* version) {
  if (has_too_many_parameters(exchange_->target))
    return refuse_now(414,
                      "the query has more than " + std::to_string(max_parameters) + " parameters");
  if (const char* problem = read_head(method, version)) return refuse_now(400, problem);
  exchange_->trusted = !shared_.gate;
  if (shared_.gate) {
    HttpVerdict verdict = shared_.gate(exchange_->request);
    exchange_->refusal = std::move(verdict.refusal);
    exchange_->trusted = verdict.trusted;
  }
  exchange_->max_body = shared_.limits.body;
  if (!exchange_->unreadable)
    exchange_->max_body =
        std::max(exchange_->max_body, shared_.handler.max_body(exchange_->request));
  const char* length = MHD_lookup_connection_value(mhd_, MHD_HEADER_KIND, "Content-Length");
  if (length == nullptr) return MHD_YES;
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(length, length + std::strlen(length), size);
  if (error == std::errc() && size <= exchange_->max_body) return MHD_YES;
  if (!exchange_->refusal) return refuse_now(413, "the body is too long");
  exchange_->response = std::move(*exchange_->refusal);
  return respond();
}

MHD_Result HttpConnection::on_body(std::string_view data) {
  if (exchange_->refusal) return MHD_YES;
  std::string& body = exchange_->request.body;
  if (body.size() + data.size() <= exchange_->max_body && !exchange_->too_long) {
    body += data;
    return MHD_YES;
  }
  // The body arrived in chunks, without a length. A response is only possible at its end. Until
  // then its bytes are ignored, up to the deadline of the request.
  exchange_->too_long = true;
  body.clear();
  return MHD_YES;
}

MHD_Result HttpConnection::on_complete() {
  const auto exchange = exchange_;  // the handler may replace or destroy it
  if (shared_.stopping && !exchange->responded()) return MHD_NO;
  if (!exchange->handed_over) {
    exchange->handed_over = true;
    deadline_.cancel();
    try {
      hand_over();
    } catch (const std::exception& error) {
      exchange->send_response(error_response(500, error.what()));
    }
  }
  if (exchange->responded()) return respond();
  suspend();
  return MHD_YES;
}

void HttpConnection::hand_over() {
  if (exchange_->refusal) {
    exchange_->send_response(std::move(*exchange_->refusal));
  } else if (exchange_->too_long) {
    exchange_->send_response(error_response(413, "the body is too long"));
  } else if (exchange_->unreadable) {
    exchange_->send_response(
        error_response(400, "the request target is invalid; check its percent-encoding"));
  } else {
    shared_.handler.handle(exchange_->request, std::make_shared<Reply>(exchange_));
  }
}

MHD_Result HttpConnection::respond() {
  if (exchange_->stream) {
    using Holder = std::shared_ptr<Stream>;
    MHD_Response* response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, 4096,
        [](void* holder, std::uint64_t, char* to, std::size_t max) {
          return (*static_cast<Holder*>(holder))->read(to, max);
        },
        new Holder(exchange_->stream), [](void* holder) { delete static_cast<Holder*>(holder); });
    HttpResponse about;
    about.content_type = exchange_->stream_type;
    return queue(200, response, about);
  }
  responded_ = shared_.loop.now();
  set_deadline(shared_.limits.response_timeout);
  const HttpResponse& answer = *exchange_->response;
  MHD_Response* response =
      MHD_create_response_from_buffer(answer.body.size(), const_cast<char*>(answer.body.data()),
                                      MHD_RESPMEM_PERSISTENT);  // exchange_ keeps the body
  return queue(answer.status, response, answer);
}

MHD_Result HttpConnection::queue(unsigned status, MHD_Response* response,
                                 const HttpResponse& about) {
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, "Content-Type", about.content_type.c_str());
  MHD_add_response_header(response, "Cache-Control", about.cache.c_str());
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  if (!about.allow.empty()) MHD_add_response_header(response, "Allow", about.allow.c_str());
  if (!about.challenge.empty())
    MHD_add_response_header(response, "WWW-Authenticate", about.challenge.c_str());
  for (const auto& [name, value] : about.headers)
    MHD_add_response_header(response, name.c_str(), value.c_str());
  const MHD_Result result = MHD_queue_response(mhd_, status, response);
  MHD_destroy_response(response);
  return result;
}

void HttpConnection::suspend() {
  if (shared_.stopping) return;
  suspended_ = true;
  MHD_suspend_connection(mhd_);
}

void HttpConnection::resume() {
  if (!std::exchange(suspended_, false)) return;
  MHD_resume_connection(mhd_);
  shared_.wake();
}

void HttpConnection::stop() {
  if (exchange_->stream) exchange_->stream->close();
  if (exchange_->handed_over) exchange_->send_last(error_response(503, "w8yd is shutting down"));
  resume();
}

void HttpConnection::set_deadline(Duration time) {
  deadline_.set(shared_.loop.now() + time, [this] { close(); });
}

void HttpConnection::close() {
  closing_ = true;
  // The library closes a connection by itself only when the client is silent for some time. A
  // client can prevent that with single bytes. After shutdown(), the library finds the end of the
  // socket and cleans up.
  shutdown(fd_, SHUT_RDWR);
  shared_.wake();
}

}  // namespace w8y::http
