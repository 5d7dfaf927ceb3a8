// Messages between a SpawnService and its helper, over a socket that preserves message boundaries.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/fd.hpp"
#include "process/spawn.hpp"

namespace w8y::process {

/// Descriptors of a request: the status pipe, standard streams 0, 1 and 2, and the control group.
struct SpawnFds {
  Fd status;
  std::array<Fd, 3> streams;
  Fd group;
};

struct SpawnReply {
  std::uint64_t id = 0;
  pid_t pid = 0;  ///< 0: not started, because of `error`
  int error = 0;
  int group_error = 0;
};

/// Numbers of a message's descriptors; -1: none.
using FdNumbers = std::array<int, 5>;

/// Encodes a request, without its descriptors.
std::string encode(std::uint64_t id, const SpawnRequest& request);
/// Decodes a request. False: it is invalid.
bool decode(std::string_view bytes, std::uint64_t& id, SpawnRequest& request);

/// Sends a request. If it is too long for a message, it is passed in a memory file. Returns 0 or
/// errno.
int send_request(int socket, const std::string& bytes, const FdNumbers& fds);
/// Receives a request. False: the other side has closed the socket.
bool receive_request(int socket, std::string& bytes, SpawnFds& fds);
bool send_reply(int socket, const SpawnReply& reply, int pidfd);
/// Receives a reply. Returns 1 if there was one, 0 if not yet, -1 if the other side has closed the
/// socket.
int receive_reply(int socket, SpawnReply& reply, Fd& pidfd);

}  // namespace w8y::process
