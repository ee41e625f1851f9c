"""A peer: LangGraph, one node that comes back to itself, with its PostgreSQL saver writing each step before the next.

It keeps snapshots instead of rows, and does not go on by itself after a crash.
"""

import itertools
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict

from langgraph.checkpoint.postgres import PostgresSaver  # type: ignore[import-not-found]
from langgraph.graph import END, START, StateGraph  # type: ignore[import-not-found]
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from bench_parts.protocol import REPLY, Measured, Shape, answer, measured

THREADS = 8


class State(TypedDict):
    """What goes round."""

    loop: str
    number: int
    runs: int
    reply: str


_ends: dict[str, list[float]] = {}
_batches = itertools.count()


def turn(state: State) -> dict[str, Any]:
    """One run."""
    _ends[state["loop"]].append(time.perf_counter())
    return {"number": state["number"] + 1, "reply": REPLY}


def compiled(url: str) -> Any:
    """The graph over a pool of as many connections as threads."""
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    saver = PostgresSaver(ConnectionPool(url, min_size=THREADS, max_size=THREADS, kwargs=options))
    saver.setup()
    graph = StateGraph(State)
    graph.add_node("turn", turn)
    graph.add_edge(START, "turn")
    graph.add_conditional_edges("turn", lambda state: "turn" if state["number"] < state["runs"] else END, ["turn", END])
    return graph.compile(checkpointer=saver)


def carry_out(graph: Any, shape: Shape) -> Measured:
    """Invoke the graph once per loop."""

    def chain(loop: str) -> None:
        _ends[loop] = []
        config = {"configurable": {"thread_id": loop}, "recursion_limit": shape.runs + 10}
        graph.invoke({"loop": loop, "number": 0, "runs": shape.runs, "reply": ""}, config, durability="sync")

    _ends.clear()
    began = time.perf_counter()
    with ThreadPoolExecutor(min(THREADS, shape.loops)) as threads:
        for _ in range(shape.times):
            batch = next(_batches)
            list(threads.map(chain, [f"{batch}-{number}" for number in range(shape.loops)]))
    return measured(time.perf_counter() - began, _ends.values())


if __name__ == "__main__":
    compiled_graph = compiled(os.environ["BENCH_DATABASE_URL"])
    answer(lambda shape: carry_out(compiled_graph, shape))
