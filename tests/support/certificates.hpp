// Certificates for tests, and their authority.
#pragma once

#include <string>

#include "support/temp_dir.hpp"

namespace w8y::test {

/// Certificates that openssl(1) creates once per test program. All objects share the files.
class Certificates {
 public:
  Certificates();
  [[nodiscard]] std::string ca() const;           ///< has signed all certificates but other_ca()
  [[nodiscard]] std::string other_ca() const;     ///< has signed none of them
  [[nodiscard]] std::string server_cert() const;  ///< for redis.test, *.wild.test and 127.0.0.1
  [[nodiscard]] std::string server_key() const;
  [[nodiscard]] std::string expired_cert() const;  ///< server_cert() with an end in the past
  [[nodiscard]] std::string client_cert() const;
  [[nodiscard]] std::string client_key() const;
  [[nodiscard]] std::string client_both() const;  ///< certificate and key in one file
  [[nodiscard]] std::string locked_key() const;   ///< client_key() with a passphrase
};

}  // namespace w8y::test
