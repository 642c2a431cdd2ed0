"""Reads the prototypes out of a plain C header."""

def parse_prototypes(text):
    """Name -> prototype, for a header of one-statement declarations without macros in them.

    Args:
      text: the header.

    Returns:
      a dict from each function's name to its declaration, on one line and without the semicolon.
    """
    prototypes = {}
    for statement in _without_directives(_without_comments(text)).replace("extern \"C\" {", "").split(";"):
        words = " ".join([word for word in statement.replace("\n", " ").split(" ") if word])
        if "(" not in words or [other for other in ["{", "}", "=", "typedef"] if other in words]:
            continue
        name = words.split("(")[0].split(" ")[-1].lstrip("*")
        prototypes[name] = words
    return prototypes

def _without_comments(text):
    parts = text.split("/*")
    return parts[0] + "".join([part.partition("*/")[2] for part in parts[1:]])

def _without_directives(text):
    return "\n".join([line for line in text.splitlines() if not line.startswith("#")])
