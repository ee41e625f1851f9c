# Shell functions that the scripts share: finds Python, makes .venv, installs pinned packages.
# It starts no server, runs no test, and writes nowhere but in .venv.
#
# POSIX sh, sourced with `root` set to the folder of the project. Names that start with an underscore are
# this file's own (POSIX sh has no local variables).

venv=${root:?is set by the script that reads this file}/.venv

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "$(basename -- "$0"): $*"
    exit 1
}

# Whether a command may be run as root without asking anybody; sets `_sudo` to what stands before it.
may_act_as_root() {
    _sudo=
    [ "$(id -u)" -eq 0 ] && return 0
    command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null || return 1
    _sudo='sudo -n'
}

# A name on the PATH is no proof: a pyenv shim stands there for versions that are not chosen. So each is run.
_is_new_enough() { "$1" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
_can_make_venv() { "$1" -I -c 'import ensurepip, venv' >/dev/null 2>&1; }

# Prints the first Python from 3.11 on that can make a venv; the variable TRINITY_PYTHON names another one.
find_python() {
    _incomplete=
    if [ -n "${TRINITY_PYTHON:-}" ]; then
        set -- "$TRINITY_PYTHON"
        _is_new_enough "$1" || fail "TRINITY_PYTHON names $1, which is no Python 3.11 or newer that runs here."
    else
        set -- python3.13 python3.12 python3.11 python3 python3.14 python
    fi
    for _name in "$@"; do
        _is_new_enough "$_name" || continue
        if _can_make_venv "$_name"; then
            printf '%s\n' "$_name"
            return 0
        fi
        : "${_incomplete:=$_name}"
    done
    [ -n "$_incomplete" ] || fail "Trinity needs Python 3.11 or newer, and none was found (python3 on the PATH:" \
        "$(python3 --version 2>/dev/null || echo none)). Install one, or give its path in TRINITY_PYTHON."
    _complete_python "$_incomplete" && printf '%s\n' "$_incomplete"
}

# Debian and its children ship Python without ensurepip, in a package of its own.
_complete_python() {
    _package="$("$1" -I -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    command -v apt-get >/dev/null 2>&1 ||
        fail "$1 cannot make a virtual environment (its module ensurepip is missing). Install Python's venv package."
    may_act_as_root ||
        fail "$1 cannot make a virtual environment. Run: sudo apt-get install $_package   and then this again."
    say "Installing $_package, because $1 cannot make a virtual environment without it …"
    _apt_get install "$_package" || { _apt_get update && _apt_get install "$_package"; } ||
        fail "apt-get could not install $_package; the lines above say why."
    _can_make_venv "$1" || fail "$_package is installed, but $1 still cannot make a virtual environment."
}

# shellcheck disable=SC2086  # $_sudo is empty or two words
_apt_get() { $_sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" >&2; }

# A venv breaks when its Python is upgraded to another minor version or removed, and when making it was cut off.
_venv_is_whole() {
    "$venv/bin/python" -I -S -c 'import os, sys
lib = "lib/python%d.%d/site-packages/pip" % sys.version_info[:2]
sys.exit(not os.path.isdir(os.path.join(sys.argv[1], lib)))' "$venv" 2>/dev/null
}

_make_venv() {
    [ -L "$venv" ] && fail "$venv is a link to an environment that does not work; make that one anew or remove the link."
    [ -w "$root" ] || fail "Trinity makes its environment in $venv, and $root may not be written to."
    _python=$(find_python) || exit 1
    say "Making .venv with $("$_python" -I --version) …"
    "$_python" -I -m venv --clear "$venv" || fail "$_python could not make $venv; the lines above say why."
}

_install() {
    say "Installing $(grep -c '==' "$root/$1") pinned packages of $1 (once, and again when they change) …"
    # The pins are complete (script/check sees to it), so pip has nothing to resolve. Python compiles what it imports
    # when it first does; compiling everything here takes two thirds longer. A user's own pip settings for `--user`
    # would refuse to install into a venv.
    PIP_USER=0 PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1 "$venv/bin/python" -I -m pip install \
        -qq --require-hashes --no-deps --no-compile --requirement "$root/$1" >&2 ||
        fail "pip could not install the packages of $1; the lines above say why. Is the package index within reach?"
}

_is_installed() { cmp -s "$root/$1" "$venv/.installed-$1" && _venv_is_whole; }

# The stamp is a copy of what was installed, written last: an installation that was cut off leaves none.
_bring_up_to_date() {
    _is_installed "$1" && return # another one did it while this one waited for the lock
    _venv_is_whole || _make_venv
    _install "$1"
    cp "$root/$1" "$venv/.installed-$1" || fail "$venv may not be written to."
    # requirements-dev.txt holds all of requirements.txt (script/check sees to it).
    [ "$1" != requirements-dev.txt ] || cp "$root/requirements.txt" "$venv/.installed-requirements.txt"
}

# Makes .venv hold FILE beside the rest, where the package index has it; says so where not, and goes on.
want_packages() {
    _is_installed "$1" && return
    (need_packages "$1") || say "Going on without $1: what needs it will be left out."
}

# Makes .venv hold what FILE (requirements.txt or requirements-dev.txt) pins; costs some milliseconds if it does.
need_packages() {
    _is_installed "$1" && return
    # Two that start at once must not install into one another; where there is no flock, they take the chance.
    (
        if command -v flock >/dev/null 2>&1; then flock 9; fi
        _bring_up_to_date "$1" 9<&-
    ) 9<"$root" || exit 1
}
