"""Says at the end which groups ran on which database and what came of it; runs nothing."""

from collections.abc import Sequence

from groups import Result


def conclude(results: Sequence[Result]) -> int:
    """Print the table and, as the very last line, the plain counts. The answer is the exit code."""
    print(f"\n{'group':<14} {'database':<11} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8}")
    for result in results:
        print(_line(result))
    passed, failed, skipped = (sum(getattr(result, kind) for result in results) for kind in KINDS)
    good = all(result.good for result in results)
    print(f"{'all':<26} {passed:>7} {failed:>7} {skipped:>8} {sum(r.seconds for r in results):>8.1f}")
    if not good and not failed:
        print("\nNo test failed, but not all is well: see the notes in the table.")
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 0 if good else 1


KINDS = ("passed", "failed", "skipped")


def _line(result: Result) -> str:
    name = f"{result.name:<14} {result.database:<11}"
    if not (result.passed or result.failed or result.skipped):
        return f"{name} {result.note or 'ok'}"
    counts = f"{result.passed:>7} {result.failed:>7} {result.skipped:>8} {result.seconds:>8.1f}"
    return f"{name} {counts}{'  ' * bool(result.note)}{result.note}"
