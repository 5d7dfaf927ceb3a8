"""Builds the wheel for `pip install DIRECTORY` (PEP 517). It needs no other package, no network, and no
permission to write to the directory. In the wheel, w8y_client is a package with its types."""
import base64
import hashlib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME = "w8y_client-0"
METADATA = """\
Metadata-Version: 2.1
Name: w8y-client
Version: 0
Summary: Client of w8yd: adds items to lists, puts jobs into feeds, and sets schedules
License: MIT
Requires-Python: >=3.9
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: w8y
Root-Is-Purelib: true
Tag: py3-none-any
"""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {
        "w8y_client/__init__.py": (HERE / "w8y_client.py").read_bytes(),
        "w8y_client/py.typed": b"",
        f"{NAME}.dist-info/METADATA": METADATA.encode(),
        f"{NAME}.dist-info/WHEEL": WHEEL.encode(),
    }
    record = f"{NAME}.dist-info/RECORD"
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    wheel = f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return wheel
