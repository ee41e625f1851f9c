"""What the page Add your agent asks for, as typed; what it means is for `plans`, bounds are the services' own."""

import shlex
from typing import Any

from django import forms

from agents.runtimes.claude_code import PermissionMode
from agents.runtimes.codex import Sandbox
from agents.runtimes.command import Output
from executions.adding.machine import Found
from executions.adding.plans import PERMISSION_MODE, RUNTIME_OF, SANDBOX, Asked
from trinity.kernel.errors import Refused, refused_field

_TITLES = {"claude": "Claude Code", "codex": "Codex", "command": "Any command"}


def _line(label: str, hint: str, **attributes: str) -> forms.CharField:
    widget = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", **attributes})
    return forms.CharField(label=label, help_text=hint, required=False, widget=widget)


def _choice(label: str, hint: str, words: Any, initial: str) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label, help_text=hint, required=False, choices=[(str(one), str(one)) for one in words], initial=initial
    )


class AddAgentForm(forms.Form):
    """One agent on a folder of this machine."""

    kind = forms.ChoiceField(
        label="What it is", choices=list(_TITLES.items()), required=False, widget=forms.RadioSelect, initial="claude"
    )
    folder = _line(
        "Folder", "Where it works: a folder of this machine that exists, best a git work tree.", placeholder="~/my-repo"
    )
    name = _line("Name", "Blank: from the folder. A name is never used again.")
    model = _line("Model", "Blank: the program's own.")
    permission_mode = _choice(
        "Permission mode", "What it may do unasked; nobody is there to be asked.", PermissionMode, str(PERMISSION_MODE)
    )
    approved_tools = _line(
        "Approved tools", "Rules, separated by commas: what else it may use.", placeholder="Bash(git *), Bash(npm test)"
    )
    sandbox = _choice("Sandbox", "What its commands may write.", Sandbox, str(SANDBOX))
    argv = _line("Command line", "A program and its arguments; no shell. The prompt comes on its stdin.")
    output = _choice("Output", "text: what it prints is the reply.", Output, str(Output.TEXT))

    def asked(self) -> Asked:
        """What was typed. Refused when a command line has an open quotation mark."""
        typed = {name: str(self.data.get(name, "")).strip() for name in self.fields}
        kind = typed["kind"]
        if kind not in RUNTIME_OF:
            raise refused_field("kind", f"Must be one of {', '.join(RUNTIME_OF)}.")
        return Asked(
            kind=kind,
            folder=typed["folder"],
            name=typed["name"],
            model=typed["model"],
            permission_mode=typed["permission_mode"] if kind == "claude" else "",
            approved_tools=_rules(typed["approved_tools"]) if kind == "claude" else (),
            sandbox=typed["sandbox"] if kind == "codex" else "",
            argv=_words(typed["argv"]) if kind == "command" else (),
            output=typed["output"] if kind == "command" else "",
        )

    def refuse(self, refusal: Refused) -> None:
        """Show a refusal at the fields that it names, else above the form."""
        self.errors.clear()
        for name, sentences in refusal.errors.items():
            for sentence in sentences:
                self.add_error(name if name in self.fields else None, sentence)
        if not refusal.errors:
            self.add_error(None, refusal.detail)


def form_for(found: list[Found]) -> AddAgentForm:
    """The form with the first program that is ready chosen."""
    kinds = {runtime: kind for kind, runtime in RUNTIME_OF.items()}
    ready = next((kinds[one.known.runtime] for one in found if one.ready), "command")
    return AddAgentForm(initial={"kind": ready})


def _words(line: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        raise refused_field("argv", f"Cannot be read as a command line: {error}.") from error


def _rules(line: str) -> tuple[str, ...]:
    """Rules separated by commas that stand outside of parentheses."""
    rules, depth, begin = [], 0, 0
    for at, sign in enumerate(line + ","):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and (depth <= 0 or at == len(line)):
            rules.append(line[begin:at].strip())
            begin = at + 1
    return tuple(rule for rule in rules if rule)
