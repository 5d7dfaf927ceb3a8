// The commands of `w8yctl`. Each returns its exit status, or throws Failure.
#pragma once

#include "app/ctl/options.hpp"
#include "app/ctl/site.hpp"

namespace w8y::app::ctl {

// This host, through the status API (host.cpp, lists.cpp).
int status(const Options& options, Site& site);
int lists(const Options& options, Site& site);
int quiet(const Options& options, Site& site);
int resume(const Options& options, Site& site);  ///< with a list, its pause: pause.cpp
int reload(const Options& options, Site& site);
int drain(const Options& options, Site& site);
int cancel(const Options& options, Site& site);

// All hosts, through Redis (runs.cpp, show.cpp, watch.cpp, items.cpp, changes.cpp, pause.cpp).
int runs(const Options& options, Site& site);
int show(const Options& options, Site& site);
int watch(const Options& options, Site& site);
int items(const Options& options, Site& site);
int add(const Options& options, Site& site);
int remove(const Options& options, Site& site);
int quarantine(const Options& options, Site& site);
int release(const Options& options, Site& site);
int pause(const Options& options, Site& site);
int end_pause(const Options& options, Site& site);

// Nobody else (check_executor.cpp).
int check_executor(const Options& options, Site& site);

}  // namespace w8y::app::ctl
