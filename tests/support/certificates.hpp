// An authority and certificates of a test's own.
#pragma once

#include <string>

#include "support/temp_dir.hpp"

namespace w8y::test {

/// Made by openssl(1), once per test program: every object shows the same files.
class Certificates {
 public:
  Certificates();
  [[nodiscard]] std::string ca() const;           ///< signed the two below
  [[nodiscard]] std::string other_ca() const;     ///< signed neither
  [[nodiscard]] std::string server_cert() const;  ///< for redis.test, *.wild.test and 127.0.0.1
  [[nodiscard]] std::string server_key() const;
  [[nodiscard]] std::string expired_cert() const;  ///< as server_cert(), but for its time
  [[nodiscard]] std::string client_cert() const;
  [[nodiscard]] std::string client_key() const;
  [[nodiscard]] std::string client_both() const;  ///< certificate and key in one file
  [[nodiscard]] std::string locked_key() const;   ///< the client's, with a passphrase
};

}  // namespace w8y::test
