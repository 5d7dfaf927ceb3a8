# Functions for the other scripts: the root of the checkout, required packages, and builds.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# shellcheck disable=SC2034  # for the scripts that source this
build_packages=(
  g++ meson ninja-build pkg-config python3
  libhiredis-dev libuv1-dev libtomlplusplus-dev nlohmann-json3-dev libspdlog-dev libcli11-dev
  libmicrohttpd-dev libcurl4-openssl-dev libssl-dev libsystemd-dev nettle-dev libical-dev libncurses-dev
  prometheus-cpp-dev doctest-dev liblua5.1-0-dev lua-cjson
  redis-server redis-tools
)
# shellcheck disable=SC2034
test_packages=(
  bash-completion clang clang-format curl devscripts fish gearman-job-server gearman-tools git iproute2 lld man-db
  mandoc node-redis nodejs openssl patch procps prometheus python3-dateutil python3-jsonschema python3-pip
  python3-pyte python3-redis python3-yaml shellcheck systemd util-linux zsh
)

# Installs the missing packages, as root or with sudo.
need() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "installing ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "these packages are missing: ${missing[*]}; install them as root"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  # RUNLEVEL=1 keeps the packages from starting redis-server and gearmand on their ports, because nothing here
  # uses these servers.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Installs the runtime of the sanitizers. The name of its package has the version of clang.
need_clang_runtime() {
  local version
  version=$(clang --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p' | head -n 1)
  need "libclang-rt-$version-dev"
}

# Installs a browser for the test of the page, and its driver with npm. If npm fails, that test reports
# that it is skipped.
need_browser() {
  local modules=$root/build/page-modules
  need chromium
  command -v npm >/dev/null || need npm
  mkdir -p "$modules"
  cmp -s "$root/tests/page/package-lock.json" "$modules/installed" && return
  cp "$root/tests/page/package.json" "$root/tests/page/package-lock.json" "$modules"
  if npm ci --prefix "$modules" --ignore-scripts --no-audit --no-fund >"$modules.log" 2>&1; then
    cp "$modules/package-lock.json" "$modules/installed"
  else
    say "npm cannot install the driver of the browser; see $modules.log"
  fi
}

# configure DIRECTORY [OPTION...]: configures a build directory once, with these options of meson setup.
configure() {
  local folder=$1
  shift
  mkdir -p "$(dirname "$folder")"
  [ -f "$folder/build.ninja" ] || meson setup "$folder" "$root" "$@" >"$folder.log" 2>&1 ||
    { cat "$folder.log" >&2; die "meson setup failed"; }
}

# Prints the first seed of the newest commit, so that no person chooses the seeds. Outside of a checkout, the
# present time replaces that of the commit.
new_seed() {
  local time
  time=$(git -C "$root" log -1 --format=%ct 2>/dev/null) || time=$(date +%s)
  printf '%s\n' "${time}00000"
}

# Builds these targets with the options of a release, with gcc. Installs the packages that this needs.
build_release() {
  need "${build_packages[@]}"
  mkdir -p "$root/build"
  CC=gcc CXX=g++ configure "$root/build/gcc"
  ninja -C "$root/build/gcc" --quiet "$@"
}
