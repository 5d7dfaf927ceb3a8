// Whether process ids tell processes of one host apart.
#pragma once

namespace w8y::process {

/// True in a container: its process ids start at 1, so another container of the same host name can
/// have the same ones.
[[nodiscard]] bool in_own_pid_namespace();

}  // namespace w8y::process
