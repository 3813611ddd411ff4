"""What the shell lines of a script set: sysctls and the queue of the host."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ackclock.script.model import NotSupportedError

CONTROLS = ("reno", "cubic", "bbr", "dctcp")
"""Congestion controls that have a preset of Linux."""


@dataclass
class Host:
    """What is set on the host under test before and while a script runs."""

    control: str = "cubic"
    sack: bool = True
    timestamps: bool = True
    ecn: int = 2
    paced: bool = False
    paced_segments: int = 2
    tcp: dict[str, Any] = field(default_factory=dict)
    """Keys of a flow's `tcp` block."""


Values = Mapping[int, Any] | Callable[[int], Any]
"""What the numbers of a setting mean; those that are not there are not supported."""

SYSCTLS: dict[str, tuple[str, Values]] = {
    "tcp_sack": ("sack", bool),
    "tcp_timestamps": ("timestamps", bool),
    "tcp_ecn": ("ecn", {0: 0, 1: 1, 2: 2}),
    "tcp_early_retrans": ("tail_loss_probe", {0: False, 3: True, 4: True}),
    "tcp_recovery": ("detect", {0: "dupthresh", 1: "rack"}),
    "tcp_frto": ("frto", {0: False, 1: True, 2: True}),
    "tcp_slow_start_after_idle": ("idle_restart", {0: "none", 1: "decay"}),
    "tcp_min_tso_segs": ("paced_segments", int),
}
"""Settings of `net.ipv4`: the attribute of the host or the key of the flow that they set."""

_FIXED = {
    "tcp_window_scaling": 1,
    "tcp_dsack": 1,
    "tcp_reordering": 3,
    "tcp_pacing_ss_ratio": 200,
    "tcp_pacing_ca_ratio": 120,
}
"""Settings that have one value here."""

_WITHOUT_EFFECT = {
    "tcp_fack",
    "tcp_rmem",
    "tcp_wmem",
    "tcp_tso_win_divisor",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_syncookies",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_ecn_option",
    "tcp_notsent_lowat",
    "tcp_no_metrics_save",
    "tcp_moderate_rcvbuf",
    "tcp_shrink_window",
}
"""Settings that say nothing here: what they concern is not simulated (buffers of the host, SYN
cookies, sizes of offloaded trains)."""

_DEFAULTS = re.compile(r"(?:\S*/)?defaults\.sh\b")
_SYSCTL = re.compile(r"sysctl((?:\s+-\S+)*)\s+(.*)")
_SET_SYSCTLS = re.compile(r"(?:\S*/)?set_sysctls\.py\s+(.*)")
_HYSTART = re.compile(r"echo\s+(\d)\s*>\s*\S*/tcp_cubic/parameters/hystart_detect")
_PACED = re.compile(r"tc qdisc (?:replace|add|change) dev tun0 root (?:handle \S+ )?fq\b.*")
_NOT_PACED = re.compile(r"tc qdisc (?:replace|add|change) dev tun0 root pfifo(?: limit [1-9]\d*)?")
_REFUSED = re.compile(r"tc qdisc (?:replace|add|change) dev tun0 root pfifo limit 0")
_NOTHING = re.compile(
    r"(?:\S*/)?sysctl_restore\S*|ethtool\b.*|ip tcp_metrics flush\b.*|sleep 0|true|:|set -e"
    r"|modprobe tcp_\w+"
)
_INITIAL = re.compile(r"ip route (?:change|replace) \S.*\binitcwnd (\d+).*")


def run_commands(host: Host, line: int, text: str) -> bool | None:
    """Do what shell lines ask for; True if the local queue refuses packets from now on.

    Raises:
        NotSupportedError: a line is not understood.
    """
    refuses = None
    text = text.replace("\\\n", " ")
    for offset, row in enumerate(text.split("\n")):
        for part in re.split(r"&&|;", row.partition("#")[0]):
            command = " ".join(part.split())
            if not command or _NOTHING.fullmatch(command):
                continue
            if _REFUSED.fullmatch(command):
                refuses = True
            elif _PACED.fullmatch(command):
                host.paced = True
            elif _NOT_PACED.fullmatch(command):
                refuses, host.paced = False, False
            else:
                _run(host, line + offset, command)
    return refuses


def _run(host: Host, line: int, command: str) -> None:
    if _DEFAULTS.fullmatch(command):
        _set_defaults(host)
    elif match := _SYSCTL.fullmatch(command):
        for setting in _settings(match[2]):
            _set(host, line, setting)
    elif match := _SET_SYSCTLS.fullmatch(command):
        for setting in _settings(match[1]):
            _set(host, line, setting.removeprefix("/proc/sys/"))
    elif match := _INITIAL.fullmatch(command):
        host.tcp["initial_window"] = int(match[1])
    elif match := _HYSTART.fullmatch(command):
        if match[1] != "3":
            raise NotSupportedError(
                line, f"'{command}': HyStart looks for both signals or for none"
            )
    else:
        raise NotSupportedError(line, f"the command '{command}'")


def _set_defaults(host: Host) -> None:
    """Set what `defaults.sh` of packetdrill's scripts sets."""
    host.ecn = 0
    host.control = "cubic"
    host.tcp["idle_restart"] = "none"


def _settings(text: str) -> list[str]:
    """Return the settings of one call of sysctl; values in quotes hold blanks."""
    found = re.findall(r"""[\w./]+\s*=\s*(?:"[^"]*"|'[^']*'|\S+(?:\s+[\d.]+(?!\S))*)""", text)
    return [setting.replace('"', "").replace("'", "") for setting in found]


def _set(host: Host, line: int, setting: str) -> None:
    name, _, text = setting.partition("=")
    name = name.strip().replace("/", ".")
    text = text.strip()
    short = name.removeprefix("net.ipv4.")
    if short == "tcp_congestion_control":
        set_control(host, line, text)
        return
    if short in _WITHOUT_EFFECT:
        return
    if short not in SYSCTLS and short not in _FIXED:
        raise NotSupportedError(line, f"the setting {name}")
    target, values = SYSCTLS.get(short, ("", {_FIXED.get(short, 0): None}))
    try:
        number = int(text, 0)
        value = values(number) if callable(values) else values[number]
    except (ValueError, KeyError):
        raise NotSupportedError(line, f"{name} = {text}") from None
    if hasattr(host, target):
        setattr(host, target, value)
    elif target:
        host.tcp[target] = value


def set_control(host: Host, line: int, name: str) -> None:
    """Choose a congestion control.

    Raises:
        NotSupportedError: there is no preset of that name.
    """
    if name not in CONTROLS:
        known = ", ".join(CONTROLS)
        raise NotSupportedError(line, f"the congestion control '{name}' (known: {known})")
    host.control = name
