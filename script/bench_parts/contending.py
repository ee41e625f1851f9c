"""Asks contenders for the same shapes in turn, so that whatever drifts on the machine meets all alike."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field

from packages import Unavailable

from bench_parts.bench import Bench
from bench_parts.peers import peers_python
from bench_parts.programs import Failed, Program, environment
from bench_parts.protocol import Measured, Shape
from bench_parts.stacks import Installation
from bench_parts.usage import processor_seconds


@dataclass
class Contender:
    """One who carries out shapes, and what came of them, round by round."""

    name: str
    programs: list[Program]  # the first one is asked; the others work for it
    measured: dict[Shape, list[Measured]] = field(default_factory=dict)
    processor: dict[Shape, list[float]] = field(default_factory=dict)  # seconds

    def carry_out(self, shape: Shape) -> Measured:
        """Ask, and wait for the answer. Raises Failed."""
        self.programs[0].tell(json.dumps(asdict(shape)))
        return Measured(**json.loads(self.programs[0].says()))

    def take_part(self, shape: Shape) -> float:
        """One round; the steps per second of it. Raises Failed."""
        before = processor_seconds(self.programs)
        found = self.carry_out(shape)
        after = processor_seconds(self.programs)
        self.measured.setdefault(shape, []).append(found)
        if before is not None and after is not None:
            self.processor.setdefault(shape, []).append(after - before)
        return shape.steps / found.seconds

    def steps_per_second(self, shape: Shape) -> list[float]:
        """One number a round."""
        return [shape.steps / one.seconds for one in self.measured.get(shape, [])]

    def processor_ms(self, shape: Shape) -> list[float]:
        """Processor time of its own processes per step, without PostgreSQL's and Redis's; one number a round."""
        return [seconds * 1000 / shape.steps for seconds in self.processor.get(shape, [])]


Start = Callable[[Bench, ExitStack], list[Program]]


def _trinity(workers: int) -> Start:
    def start(bench: Bench, until_the_end: ExitStack) -> list[Program]:
        installation = Installation(bench, until_the_end)
        started = installation.start_workers(workers)
        return [installation.talk_to("trinity_loops", "service"), *started]

    return start


def _embedded(bench: Bench, until_the_end: ExitStack) -> list[Program]:
    installation = Installation(bench, until_the_end, embedded=True)
    server = installation.start_embedded()
    return [installation.talk_to("trinity_loops", "rest"), server]


def _peer(module: str, *words: str, own_python: bool = True) -> Start:
    def start(bench: Bench, until_the_end: ExitStack) -> list[Program]:
        python = peers_python() if own_python else sys.executable
        addresses = {"BENCH_DATABASE_URL": bench.new_database(module), "BENCH_REDIS_URL": bench.new_redis()}
        command = [python, "-m", f"bench_parts.contenders.{module}", *words]
        log = bench.new_folder(module) / "log"
        program = until_the_end.enter_context(Program(command, environment(**addresses), log, talks=True))
        program.says()
        return [program]

    return start


# In the order of a round.
CONTENDERS: dict[str, Start] = {
    "trinity": _trinity(1),
    "dbos": _peer("dbos_transact"),
    "langgraph": _peer("langgraph_saver"),
    "celery": _peer("celery_orm", "threads", "8"),
    "floor": _peer("floor", own_python=False),
    "trinity-2": _trinity(2),
    "celery-2": _peer("celery_orm", "prefork", "2"),
    "embedded": _embedded,
}
NAMES = {
    "trinity": "Trinity, 1 worker",
    "trinity-full": "Trinity, full tables",
    "trinity-2": "Trinity, 2 workers",
    "embedded": "Trinity, embedded",
    "dbos": "DBOS",
    "langgraph": "LangGraph",
    "celery": "Celery + ORM, 1 process",
    "celery-2": "Celery + ORM, 2 processes",
    "floor": "floor (plain psycopg)",
}


def started(bench: Bench, until_the_end: ExitStack) -> Iterator[Contender]:
    """All contenders that were asked for and can be had here; of the others it is said why not."""
    for name, start in CONTENDERS.items():
        if bench.only and name not in bench.only:
            continue
        bench.say(f"Starting {NAMES[name]} …")
        try:
            yield Contender(name, start(bench, until_the_end))
        except (Unavailable, Failed) as reason:
            bench.leave_out(NAMES[name], reason)


def contend(bench: Bench, contenders: Sequence[Contender], shapes: Sequence[Shape]) -> None:
    """Warm all up, then let each carry out each shape once per round. Who fails is left out from then on."""
    remaining = [one for one in contenders if _warmed(bench, one)]
    for number in range(bench.rounds):
        for shape in shapes:
            for one in list(remaining):
                try:
                    rate = one.take_part(shape)
                except (Failed, OSError) as reason:
                    bench.leave_out(NAMES[one.name], reason)
                    remaining.remove(one)
                    continue
                bench.say(f"round {number + 1} of {bench.rounds}, {shape}: {NAMES[one.name]:<26} {rate:8.0f} steps/s")


def _warmed(bench: Bench, one: Contender) -> bool:
    try:
        one.carry_out(Shape(loops=4, runs=10))
    except (Failed, OSError) as reason:
        bench.leave_out(NAMES[one.name], reason)
        return False
    return True
