"""A loop's parameters given back: for the form that runs it again, as curl, and as a list; starts nothing."""

import json
import shlex
from typing import Any

from loops.models import Loop
from loops.parameters import LoopParameters
from loops.vocabulary import OnFailure
from trinity.kernel.durations import limit_text
from trinity.kernel.money import dollars_text, to_dollars

_DEFAULTS = LoopParameters(message="", max_runs=0)


def parameters_of(loop: Loop) -> dict[str, Any]:
    """What a request would hold that starts the same loop: only what is not the default."""
    asked: dict[str, Any] = {"message": loop.message, "max_runs": loop.max_runs}
    for name in (
        "stop_signal",
        "delay_seconds",
        "max_duration_seconds",
        "no_progress_threshold",
        "on_failure",
        "model",
    ):
        if getattr(loop, name) != getattr(_DEFAULTS, name):
            asked[name] = getattr(loop, name)
    if loop.timeout_per_run != loop.agent.execution_timeout_seconds:
        asked["timeout_per_run"] = loop.timeout_per_run
    if loop.max_cost_nano is not None:
        asked["max_cost_usd"] = to_dollars(loop.max_cost_nano)
    if loop.on_failure == OnFailure.CONTINUE:
        asked["max_consecutive_failures"] = loop.max_consecutive_failures
    if loop.allowed_tools is not None:
        asked["allowed_tools"] = loop.allowed_tools
    return asked


def curl_of(loop: Loop, base_url: str) -> str:
    """The same as a command for a shell; the key stays a variable."""
    body = json.dumps(parameters_of(loop), ensure_ascii=False, indent=2)
    return (
        f"curl -X POST {shlex.quote(f'{base_url}/api/agents/{loop.agent.name}/loops')} \\\n"
        '  -H "Authorization: Bearer $TRINITY_API_KEY" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        f"  --data-raw {shlex.quote(body)}"
    )


def parameter_words(loop: Loop) -> list[tuple[str, str]]:
    """Every parameter in the form's words, for an opened loop."""
    tools = "all tools (unrestricted)" if loop.allowed_tools is None else ", ".join(loop.allowed_tools)
    threshold = f"{loop.no_progress_threshold} identical replies in a row" if loop.no_progress_threshold else "off"
    policy = "end the loop"
    if loop.on_failure == OnFailure.CONTINUE:
        policy = f"go on, up to {loop.max_consecutive_failures} failures in a row"
    duration = limit_text(loop.max_duration_seconds) if loop.max_duration_seconds is not None else "no limit"
    return [
        ("Max runs", str(loop.max_runs)),
        ("Stop signal", loop.stop_signal or "none (fixed number of runs)"),
        ("Delay between runs", limit_text(loop.delay_seconds) if loop.delay_seconds else "none"),
        ("Timeout per run", limit_text(loop.timeout_per_run)),
        ("Max duration", duration),
        ("Max cost", dollars_text(loop.max_cost_nano) if loop.max_cost_nano is not None else "no budget"),
        ("No-progress threshold", threshold),
        ("On iteration failure", policy),
        ("Model", loop.model or "the agent's"),
        ("Allowed tools", tools),
    ]
