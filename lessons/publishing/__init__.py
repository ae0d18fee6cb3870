"""What a build of notebooks is made of."""

import sys

# checks addresses for jsonschema, which nbformat imports and never asks for that;
# its grammar takes a second to read, in each process
sys.modules.setdefault("rfc3987_syntax", None)
