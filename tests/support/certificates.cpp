#include "support/certificates.hpp"

#include <cstdlib>
#include <stdexcept>

namespace w8y::test {

namespace {

constexpr const char* make_them = R"(
set -e
new="openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
for name in ca other; do
  $new -keyout $name.key -out $name.pem -subj "/CN=$name of the tests"
done
sign() { # name, days, extensions
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out $1.csr \
    -subj "/CN=$1"
  printf '%s\n' "$3" >$1.ext
  openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out $1.pem -days $2 \
    -extfile $1.ext
}
names=subjectAltName=DNS:redis.test,DNS:*.wild.test,IP:127.0.0.1
sign server 2 $names
sign client 2 extendedKeyUsage=clientAuth
cp server.key expired.key
# x509 has no days in the past (since OpenSSL 3.4), and no dates (before).
printf '%s\n' '[ca]' default_ca=tests '[tests]' database=issued new_certs_dir=. rand_serial=yes \
  default_md=sha256 policy=any '[any]' commonName=supplied >ca.cnf
touch issued
openssl ca -batch -notext -config ca.cnf -cert ca.pem -keyfile ca.key -in server.csr \
  -out expired.pem -startdate 20200101000000Z -enddate 20200102000000Z -extfile server.ext
cat client.pem client.key >both.pem
openssl ec -in client.key -aes256 -passout pass:secret -out locked.key
)";

const TempDir& directory() {
  static const TempDir dir;
  static const bool made = [] {
    const std::string command = "cd '" + dir.path() + "' && (" + make_them + ") >openssl.log 2>&1";
    if (std::system(command.c_str()) != 0)
      throw std::runtime_error("openssl could not make the certificates: see " + dir.path());
    return true;
  }();
  static_cast<void>(made);
  return dir;
}

}  // namespace

Certificates::Certificates() {
  directory();
}

std::string Certificates::ca() const {
  return directory() / "ca.pem";
}
std::string Certificates::other_ca() const {
  return directory() / "other.pem";
}
std::string Certificates::server_cert() const {
  return directory() / "server.pem";
}
std::string Certificates::server_key() const {
  return directory() / "server.key";
}
std::string Certificates::expired_cert() const {
  return directory() / "expired.pem";
}
std::string Certificates::client_cert() const {
  return directory() / "client.pem";
}
std::string Certificates::client_key() const {
  return directory() / "client.key";
}
std::string Certificates::client_both() const {
  return directory() / "both.pem";
}
std::string Certificates::locked_key() const {
  return directory() / "locked.key";
}

}  // namespace w8y::test
