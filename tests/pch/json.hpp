// As std.hpp, where most files handle JSON as well.
#include <nlohmann/json.hpp>

#include "std.hpp"
