"""An agent for the chaos journey: leaves a line per call in a file, works for a while, ends as its prompt says.

    python chaos_agent.py FILE        the prompt is JSON: seconds, fail_on, done_from, cost_usd

The line is written first and in one go, so a call that was carried out twice shows as two lines.
"""

import json
import os
import sys
import time

if __name__ == "__main__":
    asked = json.load(sys.stdin)
    run = int(os.environ["TRINITY_RUN_NUMBER"])
    line = f"{os.environ['TRINITY_LOOP_ID']} {run} {os.environ['TRINITY_EXECUTION_ID']}\n"
    trace = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(trace, line.encode())
    time.sleep(asked["seconds"])
    failed = run in asked["fail_on"]
    said = f"run {run}" + (" [[DONE]]" if run >= asked["done_from"] else "")
    answer = {"type": "result", "is_error": failed, "result": said, "total_cost_usd": asked["cost_usd"]}
    print(json.dumps(answer), flush=True)
