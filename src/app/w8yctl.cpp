// w8yctl: command-line tool for operators.
#include <poll.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <iostream>

#include "core/escape.hpp"
#include "ctl/command_line.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "operator/query_context.hpp"
#include "redis/tls_transport.hpp"
#include "store/rights.hpp"

namespace ctl = w8y::ctl;

namespace {

int run(int argc, char** argv) {
  ctl::Options options;
  int exit = ctl::done;
  const ctl::CommandPtr command = ctl::parse_command_line(argc, argv, options, exit);
  if (!command) return exit;
  ctl::Context context(options);
  try {
    return command->run(options, context);
  } catch (const w8y::redis::RedisError& error) {
    if (!w8y::store::forbids_scripts(error.what())) throw;
    throw w8y::redis::RedisError(w8y::store::with_remedy(error.what(), context.reach().url.user),
                                 error.code());
  }
}

/// Returns the exit status after a check of standard output. Output that could not be written is an
/// error. A reader that has closed the pipe causes no message.
int check_written(int exit) {
  std::cout.flush();
  if (std::cout) return exit;
  pollfd out{STDOUT_FILENO, 0, 0};
  const bool reader_left = poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
  if (!reader_left) ctl::complain("cannot write to standard output");
  return ctl::refused;
}

/// Prints a failure. Returns the exit status.
int end_with(const ctl::Failure& failure) {
  ctl::complain(failure.what());
  for (const auto& line : failure.more()) ctl::complain(line);
  return failure.exit();
}

}  // namespace

void ctl::complain(const std::string& line) {
  std::cout.flush();  // keeps the order of output and errors
  std::cerr << "w8yctl: " << w8y::escape_line(line) << '\n';
}

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  w8y::redis::provide_tls();
  std::setlocale(LC_CTYPE, "C.UTF-8");  // for the width of characters
  try {
    return check_written(run(argc, argv));
  } catch (const ctl::Failure& failure) {
    return end_with(failure);
  } catch (const w8y::verbs::QueryError& refusal) {
    if (refusal.status() == 503) return end_with(ctl::redis_failure(false, refusal.what()));
    ctl::complain(refusal.what());
    return refusal.status() == 400 ? ctl::wrong_usage : ctl::refused;
  } catch (const w8y::redis::RedisError& error) {
    const bool replies = error.code() != w8y::redis::ErrorCode::none;
    return end_with(ctl::redis_failure(replies, error.what()));
  } catch (const std::exception& error) {
    ctl::complain(w8y::escape(error.what()));
    return ctl::refused;
  }
}
