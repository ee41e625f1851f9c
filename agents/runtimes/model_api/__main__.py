"""The entry: `python -m agents.runtimes.model_api`, or this file by its path; what it does stands in `program`.

Started by its path and isolated (`python -I`), it does not look for modules in the agent's folder, which the agent can
write. So the project's folder comes last, and only then.
"""

import os
import sys

if __name__ == "__main__":
    if not __package__:
        sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..")))
    from agents.runtimes.model_api import program

    sys.exit(program.main(sys.argv[1:]))
