"""The floor: what one step must say to PostgreSQL and Redis, by plain psycopg, with no rule, model or worker above it.

It does the statements of a step of Trinity's in one transaction, on tables of the same make, and one publish after it.
"""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import redis

from bench_parts.protocol import REPLY, Measured, Shape, answer, measured

TABLES = """
create table agent (id int primary key, slots int not null);
create table loop (
  id text primary key, agent int references agent, version int, runs int, reply text, ended timestamptz);
create table execution (
  id text primary key, agent int references agent, loop text, number int, prompt text, status text, reply text,
  token text, worker text, queued timestamptz, started timestamptz, ended timestamptz, lease timestamptz);
create index on execution (agent, queued, id) where status = 'queued';
create index on execution (agent) where status = 'running';
create index on execution (token) where status = 'running';
create index on execution (loop, number);
create index on execution (queued desc, id desc);
create table run (
  id bigserial primary key, loop text references loop, number int, execution text unique references execution,
  unique (loop, number));
create table event (id bigserial primary key, loop text references loop, sequence int, kind text, facts jsonb,
  at timestamptz, unique (loop, sequence));
insert into agent select n, 5 from generate_series(0, 9) n;
"""
LOCK = "select * from agent where id = %s for no key update"
END = "update execution set status='done', reply=%s, ended=%s, lease=null where id=%s and status='running' and token=%s"
LOOP = "select * from loop where id = %s"
QUEUE = """insert into execution (id, agent, loop, number, prompt, status, reply, token, queued)
 values (%s, %s, %s, %s, %s, 'queued', '', '', now())"""
RUN = "insert into run (loop, number, execution) values (%s, %s, %s) returning id"
NEXT = """select id, (select count(*) from execution f where f.agent = e.agent and status = 'running')
 from execution e where agent = %s and status = 'queued' order by queued, id limit 1"""
CLAIM = """update execution set status='running', token=%s, worker='floor', started=now(), lease=now() + interval '30 s'
 where id=%s and status='queued'"""
EVENTS = (
    "insert into event (loop, sequence, kind, facts, at) values (%s,%s,'ended',%s,now()), (%s,%s,'started',%s,now())"
)
MOVE = "update loop set version = %s, runs = %s, reply = %s where id = %s"


class Floor:
    """Connections and the chains over them, a thread each."""

    def __init__(self, database: str, channel: redis.Redis) -> None:
        self.database = database
        self.redis = channel
        self.chains = 0
        with psycopg.connect(database) as connection:
            connection.execute(TABLES)

    def carry_out(self, shape: Shape) -> Measured:
        began = time.perf_counter()
        ends: list[list[float]] = []
        with ThreadPoolExecutor(min(8, shape.loops)) as threads:
            for _ in range(shape.times):
                first, self.chains = self.chains, self.chains + shape.loops
                ends += threads.map(lambda chain: self.chain(chain, shape.runs), range(first, self.chains))
        return measured(time.perf_counter() - began, ends)

    def chain(self, number: int, runs: int) -> list[float]:
        """One loop; the times at which its runs ended."""
        agent, loop = number % 10, f"loop-{number}"
        ends = []
        with psycopg.connect(self.database) as connection:
            connection.execute("insert into loop values (%s, %s, 0, 0, '', null)", (loop, agent))
            self.queue(connection, agent, loop, 1)
            connection.execute(CLAIM, (f"{loop}.1", f"{loop}.1"))
            connection.commit()
            for run in range(1, runs + 1):
                self.step(connection, agent, loop, run)
                ends.append(time.perf_counter())
        return ends

    def step(self, connection: "psycopg.Connection[Any]", agent: int, loop: str, run: int) -> None:
        """The end of a run and the beginning of the next one."""
        this, following = f"{loop}.{run}", f"{loop}.{run + 1}"
        connection.execute(LOCK, (agent,))
        connection.execute(END, (REPLY, "now", this, this))
        connection.execute(LOOP, (loop,)).fetchone()
        self.queue(connection, agent, loop, run + 1)
        connection.execute(NEXT, (agent,)).fetchone()
        connection.execute(CLAIM, (following, following))
        facts = json.dumps({"run_number": run, "execution_id": this})
        connection.execute(EVENTS, (loop, 2 * run, facts, loop, 2 * run + 1, facts))
        connection.execute(MOVE, (2 * run + 1, run, REPLY, loop))
        connection.commit()
        self.redis.publish("floor", facts)

    @staticmethod
    def queue(connection: "psycopg.Connection[Any]", agent: int, loop: str, run: int) -> None:
        execution = f"{loop}.{run}"
        connection.execute(QUEUE, (execution, agent, loop, run, REPLY))
        connection.execute(RUN, (loop, run, execution)).fetchone()


if __name__ == "__main__":
    answer(Floor(os.environ["BENCH_DATABASE_URL"], redis.Redis.from_url(os.environ["BENCH_REDIS_URL"])).carry_out)
