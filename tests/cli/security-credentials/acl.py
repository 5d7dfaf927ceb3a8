"""acl.py USER PATH...: gives the user the permissions of the owner with an ACL, as setfacl does."""
import os
import struct
import sys

USER_OBJ, USER, GROUP_OBJ, MASK, OTHER = 1, 2, 4, 16, 32
NO_ID = 0xFFFFFFFF

for path in sys.argv[2:]:
    owner = os.stat(path).st_mode >> 6 & 7
    entries = [(USER_OBJ, owner, NO_ID), (USER, owner, int(sys.argv[1])), (GROUP_OBJ, 0, NO_ID),
               (MASK, owner, NO_ID), (OTHER, 0, NO_ID)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    os.setxattr(path, "system.posix_acl_access", acl)
