"""The entry of the detached runner, `python -I -S program.py <folder>`; what it does stands in `detached`.

A thin file, since the interpreter compiles the script itself anew at every start, but caches what it imports.
"""

import os
import sys

if __name__ == "__main__":
    # -I keeps the script's folder off the path. Last in line, the project cannot hide the standard library.
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    from executions.runner import detached

    detached.run(sys.argv[1])
