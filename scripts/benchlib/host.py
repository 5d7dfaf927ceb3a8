"""Description of the machine in one line, and the packages that the bench needs."""
import os
import pathlib
import platform
import shutil
import subprocess
import sys
from typing import Dict

from .programs import SCRIPTS, SOURCES

# References that are Debian packages.
PACKAGES = ["redis-server", "redis-tools", "gearman-job-server", "gearman-tools", "findutils", "ruby-sidekiq",
            "ruby-hiredis", "python3-rq", "python3-celery", "python3-hiredis"]

MODULES = SCRIPTS.parent / "build" / "peers"


def facts() -> Dict:
    model = platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {"cpu": model, "cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "load": os.getloadavg()[0]}


def say_facts(found: Dict) -> str:
    text = f"{found['cpus']} × {found['cpu']}, Linux {found['kernel']}, load {found['load']:.2f}"
    if found["load"] > 0.3 * found["cpus"]:
        text += " — this machine is busy, and the results will show it"
    return text


def setup() -> int:
    """Installs the references. The bench starts private servers, so the servers of the packages must not run.
    Debian starts them at once, therefore a policy-rc.d prevents that during the installation."""
    apt = shutil.which("apt-get")
    if apt is None:
        print("bench: --setup knows Debian only: install " + ", ".join(PACKAGES), file=sys.stderr)
        return 1
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    install = ["env", "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1", apt, "install", "--yes",
               "--no-install-recommends", *PACKAGES, *([] if shutil.which("npm") else ["npm"])]
    for words in ([apt, "update"], install):
        if subprocess.run(sudo + words, check=False).returncode != 0:
            return 1
    return install_modules()


def install_modules() -> int:
    """Installs the peers that are npm packages, in the versions of the lock file."""
    MODULES.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCES / "peers" / name, MODULES)
    return subprocess.run(["npm", "ci", "--prefix", MODULES, "--ignore-scripts", "--no-audit", "--no-fund"],
                          check=False).returncode
