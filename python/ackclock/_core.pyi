"""The simulator, written in Rust. Documents go in as JSON text and stay there as scenarios.

Use `ackclock.Scenario`, `ackclock.run` and `ackclock.Results`; this is what they stand on.
"""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

HOOKS: list[str]
COMPILED_STATE: list[str]
COMPILED_EVENT: list[str]
COMPILED_WORDS: list[str]
"""Names of the methods that a controller may have, in the order of the engine."""

def version() -> str:
    """Return the version of the package."""

def build() -> str:
    """Return a fingerprint of the engine's sources: equal for equal builds of one version."""

def profile() -> str:
    """Return the profile that the engine was built with; `release` is the fastest."""

def registry() -> str:
    """Return everything that can be named in a scenario, by kind, with its parameters."""

def record_tables() -> str:
    """Return the tables a run can record, with columns, units and categories."""

def schema() -> str:
    """Return the JSON Schema (draft 7) of scenario documents."""

def check(document: Text | str) -> tuple[Scenario | None, str, str]:
    """Check a scenario document, as it was read or given as JSON text.

    Returns the scenario, or None for a document with errors, and all errors and all warnings as
    JSON text: lists of `path`, `value`, `message`, `allowed`, `hint`.
    """

def quantity_hint(text: str, kind: str) -> str | None:
    """Return what a text was probably meant to be that is no quantity of this kind, if known.

    Kinds are `rate`, `time`, `size`, `packets` and `products`.
    """

def quantity(text: str) -> tuple[str, int] | None:
    """Read a quantity such as `64 KiB`; None if the text is not a quantity.

    Returns what it measures (`rate`, `size`, `packets`, `time`) and its amount in bit/s, bytes,
    packets or nanoseconds.
    """

def identify(documents: list[str], workers: int) -> list[tuple[str | None, int, str | None]]:
    """Check many scenario documents on `workers` threads.

    Returns `(identity, seed, errors)` for each. The identity is text that is equal for two
    documents exactly if their runs are equal for equal seeds; None for a document with errors,
    which are returned as JSON text as by `check`.
    """

def rows(
    jobs: Sequence[tuple[str, int, Sequence[str]]],
    layout: str,
    time_limit_s: float | None = None,
    turn_s: float = ...,
) -> tuple[bytes, list[list[tuple[str, int, float]]]]:
    """Run documents with seeds that count on, without records, for about `turn_s` seconds.

    A job is a document as JSON text, its first seed, and the key of each run. Returns rows as lines
    of JSON with the columns of `layout` (see `ackclock.sweep.figures`). And for each job that was
    begun how its runs ended, in their order: `done` or `failed`, how many, and their seconds. A run
    is given up after `time_limit_s` seconds.
    """

class Scenario:
    """A checked scenario. It stays in the simulator; text is made of it when it is asked for.

    Raises ValueError for a document with errors; `check` says more about them.
    """

    def __init__(self, document: str) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def flows(self) -> list[str]: ...
    @property
    def links(self) -> list[str]: ...
    @property
    def hosts(self) -> list[str]: ...
    @property
    def routers(self) -> list[str]: ...
    def canonical(self) -> str:
        """Return the resolved document, in the same grammar, as JSON text."""

    def write_canonical(self, write: Callable[[bytes], Any]) -> None:
        """Hand the same to a function, piece by piece, spelled as by `json` with sorted keys."""

    def write_differences(self, other: Scenario, write: Callable[[bytes], Any]) -> None:
        """Hand to a function what differs from another one's resolved document, in its order.

        A line of JSON each: the place, and what is there in this one, and in the other one.
        """

    @property
    def elements(self) -> int:
        """Flows and links."""

    def write_model(self, write: Callable[[bytes], Any]) -> None:
        """Hand the scenario as numbers to a function, piece by piece, as JSON text.

        What links or flows have in common stands once, in `natures` and `transports`; `like` of
        each is the number of its entry there.
        """

    def head(self) -> str:
        """Return the part of it without nodes, links and flows, as JSON text."""

class Controller:
    """What a congestion control in Python holds; see `ackclock.CongestionControl`."""

    cwnd: float
    ssthresh: float
    pacing_rate: float | None
    def __new__(cls, *args: Any, **settings: Any) -> Self: ...
    @property
    def segment(self) -> float: ...
    @property
    def mss(self) -> int: ...
    @property
    def now(self) -> float: ...
    @property
    def in_slow_start(self) -> bool: ...
    def record(self, name: str, value: float) -> None:
        """Write down a value of the algorithm's own."""

class Event:
    """What a congestion control in Python is told; see docs/python-controllers.md."""

    @property
    def now(self) -> float: ...
    @property
    def rtt(self) -> float | None: ...
    @property
    def srtt(self) -> float | None: ...
    @property
    def min_rtt(self) -> float | None: ...
    @property
    def newly_acked(self) -> float: ...
    @property
    def in_flight(self) -> float: ...
    @property
    def una(self) -> int: ...
    @property
    def nxt(self) -> int: ...
    @property
    def app_limited(self) -> bool: ...
    @property
    def may_grow(self) -> bool: ...
    @property
    def marked(self) -> float | None: ...
    @property
    def delivered(self) -> int | None: ...
    @property
    def delivery_rate(self) -> float | None: ...
    @property
    def newly_lost(self) -> int: ...
    @property
    def total_lost(self) -> int: ...
    @property
    def signal(self) -> str | None: ...
    @property
    def transmissions(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def before(self) -> float | None: ...

class QueuedPacket:
    """A packet at a queue discipline in Python; see docs/python-queues.md."""

    @property
    def bytes(self) -> int: ...
    @property
    def ecn(self) -> bool: ...
    @property
    def marked(self) -> bool: ...
    @property
    def data(self) -> bool: ...
    @property
    def sojourn(self) -> float: ...

class QueueState:
    """A queue as a packet finds it."""

    @property
    def now(self) -> float: ...
    @property
    def packets(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def idle(self) -> bool: ...
    @property
    def rate(self) -> float: ...

class Calls:
    """Calls of the controllers of a run."""

    @property
    def count(self) -> int:
        """Calls that have begun or ended: an odd number while one is under way."""

class Simulation:
    """One run of a scenario, with its seed or another one."""

    def __init__(self, scenario: Scenario, seed: int | None = None, threads: int = 1) -> None: ...
    def threads(self) -> tuple[int, str | None]:
        """Return how many threads run it, and why one alone, if more were wanted."""

    def advance(
        self, seconds: float, rows: int = ..., events: int = ..., until_s: float | None = None
    ) -> bool:
        """Run for about so many seconds of real time.

        Returns whether the run is over, or its records full. Ends soon after the records hold
        `rows` rows, or when `events` events were handled in all, and at the first event at or
        after `until_s` seconds of simulated time.
        """

    def is_complete(self, flow: str) -> bool:
        """Return whether all data of a flow arrived, or it was cut off."""

    def controller(self, flow: str) -> Controller | None:
        """Return the controller in Python of a flow, to speak to between two turns."""

    def outlook(self) -> tuple[float, float]:
        """Return packet-hops and bytes of records of the whole run, guessed before it."""

    def limit_records(self, bytes: int) -> None:
        """Let the run end when its records hold this many bytes."""

    def recorded(self) -> tuple[int, int]:
        """Return the rows that the records hold now, and the bytes of all rows so far."""

    def take_records(self, least_rows: int) -> dict[str, dict[str, np.ndarray]]:
        """Move out what was recorded in tables that hold at least so many rows.

        Columns are as of `Output.tables`.
        """

    def calls(self) -> Calls | None:
        """Return the calls of its controllers; None for a run without any."""

    def categories(self) -> dict[str, list[str]]:
        """Return the words the codes of each category stand for."""

    @property
    def now_s(self) -> float: ...
    @property
    def stop_s(self) -> float: ...
    @property
    def events(self) -> int: ...
    @property
    def packet_hops(self) -> int: ...
    @property
    def flows_done(self) -> int: ...
    @property
    def flows_total(self) -> int: ...
    def finish(self, write: Callable[[bytes], Any] | None = None) -> Output:
        """End the run, wherever it is, and return what it gave.

        With `write`, the figures of flows and links go there, piece by piece: lines as in
        `summary.json`, of all flows, then of all links. The summary has their numbers instead.
        """

class Output:
    """What a run gave."""

    @property
    def summary(self) -> str: ...
    def tables(self) -> dict[str, dict[str, np.ndarray]]:
        """Return the records as columns; a column with a category holds codes, -1 for none."""

class Endpoint:
    """One end of a connection, driven by hand. Times are nanoseconds, numbers count from 0."""

    def __init__(self, scenario: Scenario) -> None:
        """Make an end of the first flow; ValueError if its sender cannot be driven."""

    def open(self, now: int) -> None:
        """Begin the handshake."""

    def establish(self, now: int, stamp: int, window: int) -> None:
        """End the handshake: the message of `stamp` was answered, with a window in bytes."""

    def write(self, now: int, bytes: int, ends: bool = False, more: bool = False) -> None:
        """Let the application write; what ends a record is not joined, the rest waits for more."""

    def close(self, now: int) -> None:
        """Let the application close."""

    def set_nagle(self, now: int, waits: bool) -> None:
        """Let small segments wait for ACKs, or not."""

    def set_cork(self, now: int, corked: bool) -> None:
        """Let small segments wait for more data, or not."""

    def refuse(self, refuses: bool) -> None:
        """Let the local queue refuse every packet from now on, or not."""

    def inject(
        self,
        now: int,
        *,
        ack: int | None,
        window: int,
        blocks: list[tuple[int, int]],
        ece: bool,
        echo: int | None,
        seq: int,
        payload: int,
        fin: bool,
        push: bool,
        marked: bool,
        cwr: bool,
        stamp: int,
    ) -> None:
        """Let a packet arrive; `ack` is None without an ACK, `echo` without timestamps."""

    def next_timer(self) -> int | None:
        """Return when something happens by itself; None for never."""

    def on_timer(self, now: int) -> None:
        """Let the time come that was asked for."""

    def take(self) -> list[dict[str, Any]]:
        """Return the packets that were sent since."""

    def received(self) -> int:
        """Return how many bytes have arrived in order, a FIN included."""

    def info(self) -> dict[str, int]:
        """Return what it says of itself, by the names of `struct tcp_info`."""

class Text:
    """A document that was read from text: its data, and the places of its values."""

    def data(self) -> Any:
        """Return the document as dicts, lists and scalars; a YAML alias becomes a copy."""

    def locate(self, path: tuple[str | int, ...], key: bool = False) -> tuple[int, int]:
        """Return line and column of the value (or of its key) at `path`, counted from 1.

        Where the path leaves the document, it is the place of the innermost value that exists.
        """

    def holds(self, path: tuple[str | int, ...]) -> bool:
        """Return whether there is a value at `path`."""

    def is_mapping(self) -> bool:
        """Return whether it is a mapping."""

    def at(self, path: tuple[str | int, ...]) -> Any:
        """Return the value at `path`; None where there is none."""

    def mentions(self, words: Sequence[str]) -> bool:
        """Return whether one of these words is a key or part of a text; at times without need."""

    def nodes(self, make: Callable[..., Any]) -> Any:
        """Return `make(value, position, keys, written)` of the document, made from the inside out.

        `keys` are the places of a mapping's keys, `written` those keys that are spelled otherwise.
        """

def read_text(
    text: str, format: str
) -> tuple[
    Text | None,
    list[tuple[str, str | None, str | None, tuple[str | int, ...], tuple[int | None, int | None]]],
]:
    """Read a text in the format `yaml`, `json` or `toml`.

    Returns the document (None for a text that holds nothing, and for one with problems), and all
    problems: message, value to show, hint, path, and place (None twice where it is not known).
    """

def scalar(text: str) -> Any:
    """Return the value of an unquoted scalar of YAML 1.2: None, bool, int, float or str."""
