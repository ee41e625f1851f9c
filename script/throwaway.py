"""Throwaway PostgreSQL and Redis for tests and benchmarks: starts both and sees that they end; keeps nothing.

    python script/throwaway.py start DIR     prints DATABASE_URL=… and REDIS_URL=… and leaves both running
    python script/throwaway.py stop DIR      ends both and removes what they wrote

From Python, `with throwaway_servers() as servers:` ends them however the block is left.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from packages import Product, Unavailable, install
from servers import Postgres, Redis, Server, postgres_programs, redis_program

MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 - a folder with a random name is made in it
MEMORY_NEEDED = 2 * 1024**3  # bytes; a container's usual 64 MB would fill up in the middle of a test
ALL = (Product.POSTGRESQL, Product.REDIS)


class Servers:
    """The throwaway servers of one folder, running or not."""

    def __init__(self, folder: Path, *, safe_on_disk: bool = False) -> None:
        self.folder = folder.resolve()
        self.postgres = Postgres(self.folder / "postgresql", safe_on_disk=safe_on_disk)
        self.redis = Redis(self.folder / "redis")

    def of(self, products: Sequence[Product]) -> list[Server]:
        """Those servers that bring the products."""
        return [server for server in (self.postgres, self.redis) if server.product in products]

    def start(self, products: Sequence[Product] = ALL) -> None:
        """Start them one after the other. When one does not start: Unavailable, and none is left running."""
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            for server in self.of(products):
                server.start()
        except Unavailable:
            self.stop()
            raise

    def stop(self) -> None:
        """End what runs, and remove what they wrote."""
        for server in self.of(ALL):
            server.stop()
            shutil.rmtree(server.folder, ignore_errors=True)

    def environment(self, products: Sequence[Product] = ALL) -> dict[str, str]:
        """The variables by which Trinity finds them."""
        names = {Product.POSTGRESQL: "DATABASE_URL", Product.REDIS: "REDIS_URL"}
        return {names[server.product]: server.url for server in self.of(products)}


@contextmanager
def throwaway_servers(
    products: Sequence[Product] = ALL, *, folder: Path | None = None, safe_on_disk: bool = False
) -> Iterator[Servers]:
    """Servers that end with the block, also when the process that holds it is killed.

    `folder` is where their own folder is made; by default in memory where there is room for it.
    Raises Unavailable.
    """
    own = Path(tempfile.mkdtemp(prefix="trinity-servers-", dir=folder or memory_folder()))
    own.chmod(0o711)  # the account that PostgreSQL runs as has to get through
    # The guard ends them when its standard input does: the kernel closes that even after a SIGKILL.
    guard = subprocess.Popen(
        [sys.executable, __file__, "guard", own],
        stdin=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the tests, not for the one who cleans up after them
    )
    try:
        servers = Servers(own, safe_on_disk=safe_on_disk)
        servers.start(products)
        yield servers
    finally:
        guard.communicate()


def memory_folder() -> Path | None:
    """Where files lie in memory; None when that is not here or has too little room."""
    if not os.access(MEMORY_FOLDER, os.W_OK) or shutil.disk_usage(MEMORY_FOLDER).free < MEMORY_NEEDED:
        return None
    return MEMORY_FOLDER


def bring_programs(products: Sequence[Product] = ALL, *, may_install: bool = True) -> None:
    """See that the programs are here, by installing them where that is allowed. Raises Unavailable."""
    finders = {Product.POSTGRESQL: postgres_programs, Product.REDIS: redis_program}
    for product in products:
        try:
            finders[product]()
        except Unavailable:
            if not may_install:
                raise
            install(product)
            finders[product]()


def _guard(folder: Path) -> None:
    sys.stdin.read()
    Servers(folder).stop()
    shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Throwaway PostgreSQL and Redis on loopback.")
    parser.add_argument("action", choices=("start", "stop", "guard"))
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--safe-on-disk", action="store_true", help="wait for the disk at each commit")
    chosen = parser.parse_args()
    servers = Servers(chosen.folder, safe_on_disk=chosen.safe_on_disk)
    if chosen.action == "guard":
        _guard(servers.folder)
    elif chosen.action == "stop":
        servers.stop()
    else:
        bring_programs()
        servers.start()
        print("\n".join(f"{name}={url}" for name, url in servers.environment().items()))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unavailable as reason:
        sys.exit(f"throwaway: {reason}")
