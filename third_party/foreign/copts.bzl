"""How sources are compiled that are also compiled against the headers of //spec."""

# A foreign header may take `char *` where ours takes `const char *`; the same sources are held to all warnings against
# ours.
FOREIGN_COPTS = ["-fpermissive", "-w"]
