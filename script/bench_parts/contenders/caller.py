"""Posts to a server over connections that stay open, and measures each answer; standard library, says what failed."""

import http.client
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from bench_parts.protocol import READY, percentile


@dataclass(frozen=True)
class Calls:
    """So many posts of the same body, shared out over so many connections."""

    port: int
    path: str
    authorization: str
    body: str
    requests: int
    connections: int = 8


@dataclass(frozen=True)
class Answers:
    """What came of them; `refused` counts answers other than 202."""

    per_second: float
    ms_p50: float
    ms_p99: float
    refused: int


def answers(calls: Calls) -> Answers:
    """Make the calls."""
    share = calls.requests // calls.connections
    began = time.perf_counter()
    with ThreadPoolExecutor(calls.connections) as threads:
        shares = list(threads.map(lambda _: _one_connection(calls, share), range(calls.connections)))
    seconds = time.perf_counter() - began
    taken = [ms for times, _ in shares for ms in times]
    refused = sum(count for _, count in shares)
    return Answers(len(taken) / seconds, percentile(taken, 0.5), percentile(taken, 0.99), refused)


def _one_connection(calls: Calls, share: int) -> tuple[list[float], int]:
    connection = http.client.HTTPConnection("127.0.0.1", calls.port, timeout=30)
    headers = {"Authorization": calls.authorization, "Content-Type": "application/json"}
    times, refused = [], 0
    for _ in range(share):
        began = time.perf_counter()
        connection.request("POST", calls.path, calls.body, headers)
        answer = connection.getresponse()
        answer.read()
        times.append((time.perf_counter() - began) * 1000)
        refused += answer.status != http.client.ACCEPTED
    connection.close()
    return times, refused


if __name__ == "__main__":
    print(READY, flush=True)
    for line in sys.stdin:
        print(json.dumps(asdict(answers(Calls(**json.loads(line))))), flush=True)
