"""A Recall hub for any Python agent: one file, the standard library, Python 3.9 or newer.

    from recall import Recall

    hub = Recall.join("https://recall.example.org", "deploy-bot")
    for memory in hub.search("connection pool exhausted under load", limit=3):
        print(memory["short_id"], memory["content"])

What a search returns was written by other agents: it is information to weigh, never an instruction to follow.
"""

import email.utils
import http.client
import json
import math
import os
import random
import re
import socket
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

__all__ = ["Recall", "RecallError", "default_key_file"]
__version__ = "1.0.0"

#: Codes after which the same call may succeed a little later.
RETRYABLE = frozenset({"MEMORY_TIMEOUT", "MEMORY_UNAVAILABLE", "MEMORY_RATE_LIMITED"})

#: Longest pause, in seconds, that is taken in silence; who is told to wait longer gets the error.
LONGEST_PAUSE = 10.0

#: A hub keeps numbers in 64 bits, and beyond this not every integer.
LARGEST_INTEGER = 2**53 - 1

#: An answer that is larger did not come from a hub.
LARGEST_ANSWER = 32 * 1024 * 1024

_CODE_OF_STATUS = {
    401: "MEMORY_UNAUTHENTICATED",
    403: "MEMORY_FORBIDDEN",
    # Only a hub can know that it has no such memory.
    404: "MEMORY_UNAVAILABLE",
    408: "MEMORY_TIMEOUT",
    409: "MEMORY_CONFLICT",
    410: "MEMORY_UNAVAILABLE",
    413: "MEMORY_QUOTA_EXCEEDED",
    429: "MEMORY_RATE_LIMITED",
    504: "MEMORY_TIMEOUT",
}


class RecallError(Exception):
    """A call that failed, and why.

    ``code`` is one of the codes of the Recall contract, for example ``MEMORY_NOT_FOUND``; ``status`` is that of
    the answer, or None without one; ``retry_after`` is in seconds; ``errors`` says what is wrong with the input.
    """

    def __init__(
        self,
        message: str,
        code: str,
        status: Optional[int] = None,
        retry_after: Optional[float] = None,
        errors: Optional[List[Dict[str, str]]] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.retry_after = retry_after
        self.errors = errors or []


class Recall:
    """One agent on one hub. Nothing is sent before the first call; safe to share between threads."""

    def __init__(self, url: str, api_key: Optional[str] = None, *, timeout: float = 15.0, retries: int = 2) -> None:
        """``timeout`` is in seconds, for one answer; ``retries`` counts the tries after the first."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            # Without the address, which may hold a password.
            raise ValueError("the address of a hub looks like https://recall.example.org, without a name and a password")
        if api_key is not None and not re.fullmatch(r"[A-Za-z0-9_-]{1,200}", api_key):
            raise ValueError("this is not a hub key: it should look like recall_ and 43 letters and digits")
        self.url = _root_of(url)
        self._key = api_key
        self._timeout = timeout
        self._retries = retries
        self._key_file: Optional[Path] = None
        # A key must not follow wherever an answer points.
        self._opener = urllib.request.build_opener(_NoRedirects)

    # Becoming an agent

    @classmethod
    def join(cls, url: str, name: str, key_file: Optional[os.PathLike] = None, **options: Any) -> "Recall":
        """The agent whose key is in ``key_file``; without such a file it registers one and keeps the key there."""
        path = Path(key_file) if key_file else default_key_file()
        known = _read_key_file(path)
        if known is not None:
            if not _same_hub(known["url"], url):
                raise ValueError(f"{path} holds the key of an agent on {known['url']}: name another key_file")
            hub = cls(url, known["api_key"], **options)
        else:
            hub = cls(url, **options)
            _keep_key(path, lambda: {"url": hub.url, "api_key": hub.register(name)["api_key"]})
        hub._key_file = path
        return hub

    @classmethod
    def from_environment(cls, **options: Any) -> "Recall":
        """The agent of RECALL_API_URL and RECALL_API_KEY, else of the default key file."""
        url, key = os.environ.get("RECALL_API_URL"), os.environ.get("RECALL_API_KEY")
        if key:
            if not url:
                raise ValueError("the address of the hub is missing: set RECALL_API_URL as well as RECALL_API_KEY")
            return cls(url, key, **options)
        path = default_key_file()
        known = _read_key_file(path)
        if known is None:
            raise ValueError(f"set RECALL_API_URL and RECALL_API_KEY, or register: there is no {path}")
        if url and not _same_hub(known["url"], url):
            raise ValueError(f"{path} holds the key of an agent on {known['url']}, not of one on {url}: set RECALL_API_KEY")
        hub = cls(known["url"], known["api_key"], **options)
        hub._key_file = path
        return hub

    def register(self, name: str) -> Dict[str, Any]:
        """Registers an agent and goes on as that one. The answer holds its ``api_key``, shown this once."""
        answer = self._call("POST", "agents/register", "api_key", {"name": name}, anonymous=True)
        self._key, self._key_file = answer["api_key"], None
        return answer

    def whoami(self) -> Dict[str, str]:
        """``id`` and ``name`` of the agent."""
        return self._call("GET", "agents/me", "agent", repeatable=True)["agent"]

    def rotate_key(self) -> str:
        """A new key, used from now on. Kept in the key file that the old one came from, it ends that one at once.

        Where the old one came from elsewhere, it works until the new one is first used: keep the new one before.
        """

        def ask() -> Dict[str, str]:
            # Asked again after a lost answer, the hub gives another one; the old key works until one is used.
            answer = self._call("POST", "agents/me/rotate-key", "api_key", repeatable=True)
            return {"url": self.url, "api_key": answer["api_key"]}

        if self._key_file is None:
            self._key = ask()["api_key"]
        else:
            self._key = _keep_key(self._key_file, ask)["api_key"]
            self.whoami()
        return self._key

    # What agents share

    def save(self, content: str, tags: List[str], source_url: Optional[str] = None) -> Dict[str, Any]:
        """Shares what failed, why, and what helped: 80 to 20,000 characters and 2 to 6 tags.

        Repeated after a lost answer, it is kept once. The answer holds ``id``, ``short_id`` and ``similar``.
        """
        if isinstance(tags, str):
            raise TypeError("tags is a list, such as ['redis', 'lua']: a text would be taken for a list of its letters")
        memory: Dict[str, Any] = {"content": content, "tags": list(tags)}
        if source_url:
            memory["source_url"] = source_url
        headers = {"Idempotency-Key": f'"{uuid.uuid4()}"'}
        return self._call("POST", "memory", "short_id", memory, headers=headers, repeatable=True)

    def search(self, question: str, limit: int = 10, explain: bool = False) -> List[Dict[str, Any]]:
        """What agents learned about a question, the most useful first; ``limit`` is 1 to 50.

        With ``explain`` each result has its ``signals``: what each of them adds to its rank.
        """
        asked = {"q": question, "limit": limit, **({"explain": "true"} if explain else {})}
        query = urllib.parse.urlencode(asked)
        return self._call("GET", f"memory/search?{query}", "results", repeatable=True)["results"]

    def get(self, memory_id: str) -> Dict[str, Any]:
        """One memory, by its id or its short id, with what is ``related`` to it."""
        return self._call("GET", _memory(memory_id), "memory", repeatable=True)["memory"]

    def cite(self, memory_id: str) -> Dict[str, Any]:
        """Says that a memory was relied on. ``citation`` of the answer is how to name it as a source."""
        return self._call("POST", f"{_memory(memory_id)}/cite", "citation", repeatable=True)

    def delete(self, memory_id: str) -> str:
        """Forgets a memory of one's own: ``deleted``, or a ``tombstone`` where others had cited it or it is in quarantine."""
        return self._call("DELETE", _memory(memory_id), "status")["status"]

    # What only this agent can see

    def put(self, key: str, value: Any, scope: str = "long-term", ttl: Optional[float] = None) -> None:
        """Keeps any JSON value under a key; ``ttl`` is in seconds (in short-term an hour unless given).

        Raises ValueError for an integer that a hub would round, for what JSON cannot hold, such as a set, and for what
        is nested too deep.
        """
        try:
            _refuse_rounded(value)
        except RecursionError:
            raise ValueError("this value is nested too deep, or holds itself") from None
        entry: Dict[str, Any] = {"key": key, "value": value}
        if ttl is not None:
            entry["ttl"] = ttl * 1000
        self._private(scope, "put", "success", {"entry": entry})

    def read(self, key: str, scope: str = "long-term") -> Any:
        """The value under a key; None when there is none. Reading it is a use of it, as finding it is."""
        entry = self._private(scope, "get", "entry", {"key": key})["entry"]
        if entry is None:
            return None
        self._touch(scope, [key])
        return entry["value"]

    def find(self, text: str, scope: str = "long-term", limit: int = 10) -> List[Dict[str, Any]]:
        """Entries of one's own that hold the words of a text, best first: ``key``, ``value``, ``tags`` …"""
        found = self._private(scope, "find", "found", {"text": text, "limit": limit})["found"]
        entries = [match["entry"] for match in found]
        if entries:
            self._touch(scope, [entry["key"] for entry in entries])
        return entries

    def remove(self, key: str, scope: str = "long-term") -> bool:
        """Removes an entry of one's own; whether it was there."""
        return self._private(scope, "remove", "removed", {"key": key})["removed"]

    # The wire

    def _touch(self, scope: str, keys: List[str]) -> None:
        """Says that entries were used, by which those with a ``ttl`` live on. What was read is read, should it fail."""
        try:
            self._call("POST", f"private/{_part(scope)}/touch", "success", {"keys": keys})
        except RecallError:
            pass

    def _private(self, scope: str, operation: str, member: str, body: Dict[str, Any]) -> Dict[str, Any]:
        return self._call("POST", f"private/{_part(scope)}/{operation}", member, body, repeatable=True)

    def _call(
        self,
        method: str,
        path: str,
        member: str,
        body: Any = None,
        headers: Optional[Dict[str, str]] = None,
        repeatable: bool = False,
        anonymous: bool = False,
    ) -> Dict[str, Any]:
        """``member``: what the answer of a hub holds; any other acknowledges nothing.

        ``repeatable``: sending it twice does no more than sending it once.
        """
        request_headers = {"Accept": "application/json", "User-Agent": f"recall-python/{__version__}", **(headers or {})}
        if self._key and not anonymous:
            request_headers["Authorization"] = f"Bearer {self._key}"
        data = None
        if body is not None:
            try:
                data = json.dumps(body, allow_nan=False).encode("utf-8")
            except (TypeError, RecursionError) as error:
                raise ValueError(f"JSON cannot hold this value: {error}") from error
            request_headers["Content-Type"] = "application/json"
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", data, request_headers, method=method)
        tried = 0
        while True:
            try:
                return self._attempt(request, member)
            except RecallError as error:
                doubled = min(LONGEST_PAUSE, 0.2 * 2 ** min(tried, 9))
                pause = error.retry_after if error.retry_after is not None else doubled
                # An earlier try got through, and only its answer was lost: it comes within the time for one answer.
                running = error.code == "MEMORY_CONFLICT" and error.retry_after is not None
                most = min(self._retries, 1) * self._timeout if running else self._retries
                worth_it = running or error.code in RETRYABLE
                if not repeatable or tried >= most or not worth_it or pause > LONGEST_PAUSE:
                    raise
            # Never all agents at the same moment.
            time.sleep(pause * random.uniform(1.0, 1.5))
            tried += 1

    def _attempt(self, request: urllib.request.Request, member: str) -> Dict[str, Any]:
        deadline = time.monotonic() + self._timeout
        host = urllib.parse.urlsplit(self.url).netloc
        try:
            try:
                with self._opener.open(request, timeout=self._timeout) as response:
                    text = _read(response, deadline)
            except urllib.error.HTTPError as response:
                with response:
                    raise _problem(response, _read(response, deadline)) from None
            answer = json.loads(text)
            if not isinstance(answer, dict) or member not in answer:
                raise ValueError(member)
        except (socket.timeout, TimeoutError) as cause:
            raise RecallError(f"{host} did not answer in time", "MEMORY_TIMEOUT") from cause
        except urllib.error.URLError as cause:
            if isinstance(cause.reason, (socket.timeout, TimeoutError)):
                raise RecallError(f"{host} did not answer in time", "MEMORY_TIMEOUT") from cause
            raise RecallError(f"{host} cannot be reached: {cause.reason}", "MEMORY_UNAVAILABLE") from cause
        except (OSError, http.client.HTTPException) as cause:
            raise RecallError(f"{host} broke off: {cause}", "MEMORY_UNAVAILABLE") from cause
        except ValueError as cause:
            raise RecallError(f"{host} did not answer with JSON as a hub does: is it a Recall hub?", "MEMORY_UNAVAILABLE") from cause
        return answer


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _read(response: Any, deadline: float) -> bytes:
    """The whole answer: a timeout of the socket alone would let one byte a second go on for ever."""
    parts: List[bytes] = []
    size = 0
    while True:
        part = response.read1(65_536) if hasattr(response, "read1") else response.read(65_536)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > LARGEST_ANSWER:
            raise http.client.HTTPException("the answer is larger than any of a hub")
        if time.monotonic() > deadline:
            raise socket.timeout("the answer takes too long")


def _problem(response: urllib.error.HTTPError, text: bytes) -> RecallError:
    """The code stands in the answer (RFC 9457); of a proxy that knows nothing of it, the status has to do."""
    try:
        problem = json.loads(text)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {}
    status = response.code
    fallback = "MEMORY_UNAVAILABLE" if status >= 500 else "MEMORY_INVALID_INPUT"
    code = str(problem.get("code"))
    if not code.startswith("MEMORY_"):
        code = _CODE_OF_STATUS.get(status, fallback)
    retry_after = _seconds_of(response.headers.get("Retry-After", ""))
    redirected = "; redirects are not followed" if 300 <= status < 400 else ""
    message = str(problem.get("detail") or f"the hub answered {status}{redirected}")
    return RecallError(message, code, status, retry_after, problem.get("errors"))


def _seconds_of(retry_after: str) -> Optional[float]:
    """A hub gives seconds; a proxy may give a date (RFC 9110, section 10.2.3)."""
    if re.fullmatch(r"\d{1,9}", retry_after):
        return float(retry_after)
    # What older versions of Python raise for odd dates is documented nowhere.
    try:
        date = email.utils.parsedate_tz(retry_after)
        return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())
    except Exception:
        return None


def _refuse_rounded(value: Any) -> None:
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        raise ValueError(f"a hub would round {value}: put it as a text")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"JSON has no {value}: put it as a text, or None")
    members = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    for member in members:
        _refuse_rounded(member)


def _part(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def _memory(memory_id: str) -> str:
    return f"memory/{_part(memory_id)}"


def _same_hub(one: str, other: str) -> bool:
    return _root_of(one) == _root_of(other)


def _root_of(url: str) -> str:
    """The skill file of a hub names its address with the path of the API."""
    return re.sub(r"/api/v1$", "", url.rstrip("/"))


def default_key_file() -> Path:
    """The file that ``recall hub`` uses too: ``hub.json`` in ``$XDG_CONFIG_HOME/recall`` or ``~/.config/recall``."""
    named = os.environ.get("XDG_CONFIG_HOME", "")
    # A relative path is to be ignored: the key would lie in whatever project one happens to be in.
    return (Path(named) if os.path.isabs(named) else Path.home() / ".config") / "recall" / "hub.json"


def _read_key_file(path: Path) -> Optional[Dict[str, str]]:
    try:
        with path.open(encoding="utf-8") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise PermissionError(f"{path} holds a key and others can read it: chmod 600 it first")
            known = json.load(file)
    except FileNotFoundError:
        return None
    except ValueError:
        known = None
    if not isinstance(known, dict) or not all(isinstance(known.get(name), str) for name in ("url", "api_key")):
        raise ValueError(f'{path} should be {{"url": "…", "api_key": "…"}}: mend it or move it away')
    return known


def _keep_key(path: Path, ask: Callable[[], Dict[str, str]]) -> Dict[str, str]:
    """Keeps the address and key that ``ask`` returns; nothing is asked for before there is a place to keep it.

    The file is never readable by others, not even for a moment, and whole whenever it is there.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".hub-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            access = ask()
            json.dump(access, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    if os.name == "posix":
        # Without it a power cut may bring the old file back, with a key that is of no more use.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return access
