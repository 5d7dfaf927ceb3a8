// State of a lock after its renewal.
#pragma once

namespace w8y::store {

/// The values are those of the scripts.
enum class Renewed {
  foreign = 0,  ///< another holder has the lock
  renewed = 1,
  retaken = 2,  ///< the lock was missing and has been set again
  gone = 3,     ///< the lock is missing
  refused = 4,  ///< Redis refused the renewal of this lock
};

}  // namespace w8y::store
