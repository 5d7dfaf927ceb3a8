#include "redis/tls_context.hpp"

#include <arpa/inet.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "core/trusted_path.hpp"

namespace w8y::redis {

namespace {

constexpr std::size_t largest_file = std::size_t{16} << 20;

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using OwnedBio = std::unique_ptr<BIO, Free>;
using OwnedCertificate = std::unique_ptr<X509, Free>;
using OwnedKey = std::unique_ptr<EVP_PKEY, Free>;

std::string reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return text != nullptr ? text : "no reason given";
}

/// OpenSSL would prompt on the terminal.
int no_passphrase(char*, int, int, void*) {
  return 0;
}

/// Reads a PEM file as a whole, so that the content that is checked is the content that is used.
/// Root accepts only files that no other user can write.
std::string read_file(const char* what, const std::string& path) {
  const auto is_bad = [&](const std::string& why) {
    return TlsError(std::string(what) + ' ' + path + ": " + why);
  };
  const TrustedFile file = open_own(path);
  if (!file.problem.empty()) throw is_bad(file.problem);
  std::string text;
  std::string problem;
  if (!read_all(file, largest_file, text, problem)) throw is_bad(problem);
  return text;
}

OwnedBio memory(const std::string& text) {
  OwnedBio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (!bio) throw TlsError("no TLS: " + reason());
  return bio;
}

/// OpenSSL ends a file with this error: there are no more objects in it.
bool ended_well() {
  const unsigned long code = ERR_peek_last_error();
  const bool ended =
      ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
  if (ended) ERR_clear_error();
  return ended;
}

void load_trust(SSL_CTX* context, const TlsOptions& tls) {
  if (tls.ca.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) != 1)
      throw TlsError("cannot read the trusted certificates of the system: " + reason());
    return;
  }
  const std::string text = read_file("tls_ca", tls.ca);
  const OwnedBio bio = memory(text);
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  std::size_t count = 0;
  while (const OwnedCertificate one{
      PEM_read_bio_X509_AUX(bio.get(), nullptr, no_passphrase, nullptr)}) {
    if (X509_STORE_add_cert(store, one.get()) != 1)
      throw TlsError("tls_ca " + tls.ca + ": " + reason());
    ++count;
  }
  if (!ended_well() || count == 0)
    throw TlsError("tls_ca " + tls.ca + ": " + (count == 0 ? "no certificate in it" : reason()));
}

/// Loads the client's certificate and the intermediate certificates.
void load_chain(SSL_CTX* context, const TlsOptions& tls) {
  const std::string text = read_file("tls_cert", tls.cert);
  const OwnedBio bio = memory(text);
  const auto check = [&](bool good) {
    if (!good) throw TlsError("tls_cert " + tls.cert + ": " + reason());
  };
  const OwnedCertificate ours{PEM_read_bio_X509_AUX(bio.get(), nullptr, no_passphrase, nullptr)};
  check(ours && SSL_CTX_use_certificate(context, ours.get()) == 1);
  while (OwnedCertificate next{PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)}) {
    check(SSL_CTX_add0_chain_cert(context, next.get()) == 1);
    static_cast<void>(next.release());  // the context frees it
  }
  check(ended_well());
}

void load_identity(SSL_CTX* context, const TlsOptions& tls) {
  if (tls.cert.empty()) return;
  load_chain(context, tls);
  const std::string& path = tls.key.empty() ? tls.cert : tls.key;
  std::string text = read_file("tls_key", path);
  const OwnedBio bio = memory(text);
  const OwnedKey key{PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr)};
  const bool good = key && SSL_CTX_use_PrivateKey(context, key.get()) == 1;
  OPENSSL_cleanse(text.data(), text.size());
  if (!good) throw TlsError("tls_key " + path + ": " + reason());
}

bool is_address(const std::string& name) {
  in6_addr ignored{};
  return inet_pton(AF_INET, name.c_str(), &ignored) == 1 ||
         inet_pton(AF_INET6, name.c_str(), &ignored) == 1;
}

/// Sets the name that OpenSSL verifies together with the chain.
void expect_name(SSL* ssl, const std::string& name) {
  if (is_address(name)) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) != 1)
      throw TlsError("cannot verify the certificate for the address " + name);
    return;
  }
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (SSL_set1_host(ssl, name.c_str()) != 1 || SSL_set_tlsext_host_name(ssl, name.c_str()) != 1)
    throw TlsError("cannot verify the certificate for the name " + name);
}

}  // namespace

OwnedSsl make_tls_client(const ClientOptions& options) {
  ERR_clear_error();
  const std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
  if (!context) throw TlsError("no TLS: " + reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // A partial write continues at another address, since the buffer may have moved.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  load_trust(context.get(), options.tls);
  load_identity(context.get(), options.tls);
  OwnedSsl ssl(SSL_new(context.get()));
  if (!ssl) throw TlsError("no TLS: " + reason());
  const std::string& name = options.tls.server_name;
  expect_name(ssl.get(), name.empty() ? options.url.server.host : name);
  SSL_set_connect_state(ssl.get());
  return ssl;
}

std::string tls_problem(SSL* ssl) {
  const long verdict = SSL_get_verify_result(ssl);
  const unsigned long code = ERR_peek_last_error();
  const int why = ERR_GET_REASON(code);
  if (ERR_GET_LIB(code) == ERR_LIB_SSL) {
    if (why == SSL_R_CERTIFICATE_VERIFY_FAILED && verdict != X509_V_OK) {
      ERR_clear_error();
      return std::string("the server's certificate is not accepted: ") +
             X509_verify_cert_error_string(verdict);
    }
    if (why == SSL_R_WRONG_VERSION_NUMBER) {
      ERR_clear_error();
      return "the server does not use TLS on this port; check the port and the scheme of the URL";
    }
  }
  return "TLS: " + reason();
}

}  // namespace w8y::redis
