"""python3 -m unittest, in this folder. RECALL_TEST_HUB_URL names a hub that may be written to."""

import ast
import email.utils
import json
import os
import stat
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

import recall
from recall import Recall, RecallError

HUB = os.environ.get("RECALL_TEST_HUB_URL")
KEY = "recall_" + "k" * 43
MEMORY = "The orders service ran out of connections: the retry path never released its client. A try/finally fixed it."


class Answers:
    """A server that gives these answers in turn, (status, headers, body), and keeps what it was asked."""

    def __init__(self, *answers):
        self.waiting, self.requests = list(answers), []
        self.release = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.requests.append((self.command, self.path, dict(self.headers), body))
                given = outer.waiting.pop(0)
                if given == "drop":
                    return
                if given == "hang":
                    outer.release.wait(10)
                    return
                status, headers, text = given
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.pauses = []
        self.patch = mock.patch("recall.time.sleep", self.pauses.append)
        self.patch.start()
        return self

    def __exit__(self, *_):
        self.release.set()
        self.patch.stop()
        self.server.shutdown()
        self.server.server_close()


def ok(value, status=200):
    return (status, {"Content-Type": "application/json"}, json.dumps(value))


def problem(status, code, detail="", **headers):
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return (status, names, json.dumps({"code": code, "detail": detail}))


class OnTheWire(unittest.TestCase):
    def failure(self, call):
        with self.assertRaises(RecallError) as caught:
            call()
        return caught.exception

    def test_is_python_3_9(self):
        ast.parse(Path(recall.__file__).read_text(encoding="utf-8"), feature_version=(3, 9))

    def test_sends_the_key_and_what_was_asked(self):
        with Answers(ok({"results": []})) as hub:
            self.assertEqual(Recall(hub.url + "/", KEY).search("a & b", limit=3), [])
        method, path, headers, _ = hub.requests[0]
        self.assertEqual((method, path), ("GET", "/api/v1/memory/search?q=a+%26+b&limit=3"))
        self.assertEqual(headers["Authorization"], f"Bearer {KEY}")

    def test_asks_why_only_when_told_to(self):
        with Answers(ok({"results": []})) as hub:
            Recall(hub.url, KEY).search("a", explain=True)
        self.assertEqual(hub.requests[0][1], "/api/v1/memory/search?q=a&limit=10&explain=true")

    def test_says_that_it_used_what_it_read_and_found(self):
        entry = {"key": "duty", "value": "Jonas"}
        with Answers(
            ok({"entry": entry}), problem(503, "MEMORY_UNAVAILABLE"), ok({"found": [{"entry": entry}]}), ok({"success": True})
        ) as hub:
            agent = Recall(hub.url, KEY)
            self.assertEqual(agent.read("duty", scope="short-term"), "Jonas")
            self.assertEqual(agent.find("duty", scope="short-term"), [entry])
        for _, path, _, body in (hub.requests[1], hub.requests[3]):
            self.assertEqual((path, json.loads(body)), ("/api/v1/private/short-term/touch", {"keys": ["duty"]}))

    def test_tries_again_under_the_same_idempotency_key(self):
        with Answers("drop", problem(503, "MEMORY_UNAVAILABLE"), ok({"short_id": "RCL-1"}, 201)) as hub:
            self.assertEqual(Recall(hub.url, KEY).save(MEMORY, ["a", "b"])["short_id"], "RCL-1")
        keys = {headers["Idempotency-Key"] for _, _, headers, _ in hub.requests}
        self.assertEqual((len(hub.requests), len(keys), len(hub.pauses)), (3, 1, 2))

    def test_waits_for_a_try_that_got_through_and_whose_answer_was_lost(self):
        running = problem(409, "MEMORY_CONFLICT", Retry_After="1")
        with Answers("drop", running, running, running, ok({"short_id": "RCL-1"}, 201)) as hub:
            self.assertEqual(Recall(hub.url, KEY).save(MEMORY, ["a", "b"])["short_id"], "RCL-1")
        self.assertEqual(len({headers["Idempotency-Key"] for _, _, headers, _ in hub.requests}), 1)
        with Answers(*[running] * 5) as hub:
            error = self.failure(lambda: Recall(hub.url, KEY, timeout=3).save(MEMORY, ["a", "b"]))
        self.assertEqual((error.code, len(hub.requests)), ("MEMORY_CONFLICT", 4))

    def test_does_not_try_again_what_another_try_cannot_help(self):
        for status, code in [(400, "MEMORY_INVALID_INPUT"), (401, "MEMORY_UNAUTHENTICATED"), (500, "MEMORY_WRITE_FAILED")]:
            with Answers(problem(status, code, "why")) as hub:
                error = self.failure(lambda: Recall(hub.url, KEY).save(MEMORY, ["a", "b"]))
            self.assertEqual((error.code, error.status, str(error)), (code, status, "why"))
            self.assertEqual((len(hub.requests), hub.pauses), (1, []))

    def test_does_not_repeat_what_may_not_be_repeated(self):
        with Answers("drop") as hub:
            self.assertEqual(self.failure(lambda: Recall(hub.url, KEY).delete("RCL-1")).code, "MEMORY_UNAVAILABLE")
        self.assertEqual(len(hub.requests), 1)

    def test_waits_as_long_as_it_is_asked_to_and_says_so_when_that_is_long(self):
        with Answers(problem(429, "MEMORY_RATE_LIMITED", Retry_After="2"), ok({"results": []})) as hub:
            Recall(hub.url, KEY).search("q")
        self.assertTrue(2 <= hub.pauses[0] <= 3)
        with Answers(problem(429, "MEMORY_RATE_LIMITED", Retry_After="3600")) as hub:
            error = self.failure(lambda: Recall(hub.url, KEY).search("q"))
        self.assertEqual((error.code, error.retry_after, hub.pauses), ("MEMORY_RATE_LIMITED", 3600, []))

    def test_waits_until_the_date_that_a_proxy_names_and_passes_over_what_is_none(self):
        dates = [email.utils.formatdate(time.time() + ahead, usegmt=True) for ahead in (3, -60)]
        none = "Wed, 99 Nov 99999 99:99:99 GMT"
        asked = [problem(503, "UPSTREAM_DOWN", Retry_After=value) for value in [*dates, "soon", none]]
        with Answers(*asked, ok({"results": []})) as hub:
            Recall(hub.url, KEY, retries=4).search("q")
        for pause, (least, most) in zip(hub.pauses, [(1, 4.5), (0, 0), (0.8, 1.2), (1.6, 2.4)]):
            self.assertTrue(least <= pause <= most, hub.pauses)

    def test_gives_up_after_the_last_retry(self):
        with Answers(*[problem(503, "MEMORY_UNAVAILABLE")] * 3) as hub:
            self.assertEqual(self.failure(lambda: Recall(hub.url, KEY).whoami()).code, "MEMORY_UNAVAILABLE")
        self.assertEqual(len(hub.requests), 3)

    def test_tries_as_often_as_it_is_told_with_pauses_that_grow_to_the_longest(self):
        with Answers(*[problem(503, "MEMORY_UNAVAILABLE")] * 10) as hub:
            self.failure(Recall(hub.url, KEY, retries=9).whoami)
        self.assertEqual(len(hub.requests), 10)
        self.assertTrue(0.2 <= hub.pauses[0] <= 0.3 and all(10 <= pause <= 15 for pause in hub.pauses[6:]))

    def test_follows_no_redirect(self):
        with Answers(ok({"results": []})) as elsewhere, Answers((302, {"Location": elsewhere.url}, "")) as hub:
            self.assertIn("redirects", str(self.failure(lambda: Recall(hub.url, KEY).search("q"))))
        self.assertEqual(elsewhere.requests, [])

    def test_an_answer_that_does_not_come_is_a_timeout(self):
        with Answers("hang") as hub:
            client = Recall(hub.url, KEY, timeout=0.2, retries=0)
            self.assertEqual(self.failure(client.whoami).code, "MEMORY_TIMEOUT")

    def test_takes_a_page_of_a_proxy_for_no_hub(self):
        pages = [(200, {}, "<html>"), (404, {}, "<html>"), (410, {}, "<html>"), (408, {}, "<html>")]
        with Answers(*pages, problem(404, "MEMORY_NOT_FOUND"), problem(410, "MEMORY_NOT_FOUND")) as hub:
            client = Recall(hub.url, KEY, retries=0)
            codes = [self.failure(lambda: client.get("RCL-1")).code for _ in range(6)]
        away, absent = ["MEMORY_UNAVAILABLE"] * 3 + ["MEMORY_TIMEOUT"], ["MEMORY_NOT_FOUND"] * 2
        self.assertEqual(codes, away + absent)

    def test_goes_by_the_status_where_a_proxy_has_codes_of_its_own(self):
        with Answers(problem(502, 502), problem(503, "UPSTREAM_DOWN"), ok({"results": []})) as hub:
            self.assertEqual(Recall(hub.url, KEY).search("q"), [])
        with Answers(problem(429, "TOO_MANY")) as hub:
            self.assertEqual(self.failure(Recall(hub.url, KEY, retries=0).whoami).code, "MEMORY_RATE_LIMITED")

    def test_takes_json_of_somebody_else_for_no_hub(self):
        client = Recall("http://127.0.0.1", KEY, retries=0)
        calls = [
            lambda: client.put("key", "value"),
            lambda: client.read("key"),
            lambda: client.save(MEMORY, ["a", "b"]),
            lambda: client.search("q"),
            client.whoami,
        ]
        for call in calls:
            for answer in ({}, {"ok": True}, [], ["success"], None, "success"):
                with Answers(ok(answer)) as other:
                    client.url = other.url
                    self.assertEqual(self.failure(call).code, "MEMORY_UNAVAILABLE")

    def test_puts_no_number_that_json_cannot_hold(self):
        for number in (float("nan"), float("inf"), -float("inf")):
            with self.assertRaisesRegex(ValueError, "JSON has no"):
                Recall("http://127.0.0.1:9", KEY, retries=0).put("key", {"list": [number]})

    def test_puts_no_value_that_json_cannot_hold(self):
        with Answers() as hub:
            for value in ({1, 2}, b"bytes", {"deep": [object()]}, {(1, 2): "key"}):
                with self.assertRaisesRegex(ValueError, "JSON cannot hold"):
                    Recall(hub.url, KEY, retries=0).put("key", value)
            self.assertEqual(hub.requests, [])

    def test_puts_no_value_that_is_nested_too_deep_or_holds_itself(self):
        deep = []
        for _ in range(100_000):
            deep = [deep]
        cyclic = []
        cyclic.append(cyclic)
        with Answers() as hub:
            for value in (deep, cyclic):
                with self.assertRaisesRegex(ValueError, "nested too deep"):
                    Recall(hub.url, KEY, retries=0).put("key", value)
            self.assertEqual(hub.requests, [])

    def test_puts_no_integer_that_a_hub_would_round(self):
        largest = 2**53 - 1
        with Answers(ok({"success": True})) as hub:
            client = Recall(hub.url, KEY, retries=0)
            for value in (largest + 1, -largest - 1, {"ids": [1, (1234567890123456789,)]}):
                with self.assertRaises(ValueError):
                    client.put("key", value)
            self.assertEqual(hub.requests, [])
            client.put("key", [largest, -largest, 1e300, True, None, "1234567890123456789"])
            self.assertEqual(len(hub.requests), 1)

    def test_a_hub_that_is_not_there_is_unavailable(self):
        with Answers() as hub:
            pass
        self.assertEqual(self.failure(Recall(hub.url, KEY, retries=0).whoami).code, "MEMORY_UNAVAILABLE")

    def test_no_id_leads_to_another_path(self):
        with Answers(problem(404, "MEMORY_NOT_FOUND")) as hub:
            self.failure(lambda: Recall(hub.url, KEY).get("../agents/me?x=#"))
        self.assertEqual(hub.requests[0][1], "/api/v1/memory/..%2Fagents%2Fme%3Fx%3D%23")

    def test_takes_the_base_of_the_api_for_the_address(self):
        with Answers(ok({"agent": {}}), ok({"agent": {}})) as hub:
            for path in ("/api/v1", "/api/v1/"):
                Recall(hub.url + path, KEY).whoami()
        self.assertEqual({path for _, path, _, _ in hub.requests}, {"/api/v1/agents/me"})

    def test_refuses_an_address_and_a_key_that_are_none(self):
        for url, key in [("localhost:8787", KEY), ("file:///etc/passwd", KEY), ("http://hub", "a\r\nX-Other: b")]:
            with self.assertRaises(ValueError):
                Recall(url, key)
        with self.assertRaises(ValueError) as refused:
            Recall("https://me:hunter2@recall.example.org")
        self.assertNotIn("hunter2", str(refused.exception))


class KeyFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "below" / "hub.json"

    def test_is_for_its_owner_and_found_again(self):
        with Answers(ok({"agent": {"id": "1", "name": "ada"}, "api_key": KEY}, 201), ok({"agent": {}})) as hub:
            Recall.join(hub.url, "ada", self.path)
            Recall.join(f"{hub.url}/api/v1", "ada", self.path).whoami()
        self.assertEqual([path for _, path, _, _ in hub.requests], ["/api/v1/agents/register", "/api/v1/agents/me"])
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o600)
        self.assertEqual(list(self.path.parent.iterdir()), [self.path])

    def key_in_file(self):
        return json.loads(self.path.read_text())["api_key"]

    def test_does_not_lie_in_whatever_project_one_happens_to_be_in(self):
        with mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": "relative"}):
            self.assertEqual(recall.default_key_file(), Path.home() / ".config/recall/hub.json")

    def test_holds_a_new_key_instead_of_the_old_one(self):
        self.path.parent.mkdir()
        config = {"XDG_CONFIG_HOME": str(self.path.parent), "RECALL_API_URL": "", "RECALL_API_KEY": ""}
        default = self.path.parent / "recall" / "hub.json"
        registered = ok({"agent": {"id": "1", "name": "ada"}, "api_key": KEY}, 201)
        new = [answer for i in range(3) for answer in (ok({"api_key": f"{KEY}{i}"}), ok({"agent": {}}))]
        with Answers(registered, *new, ok({"agent": {}})) as hub, mock.patch.dict(os.environ, config):
            joined = Recall.join(hub.url, "ada", default)
            self.assertEqual([joined.rotate_key(), joined.rotate_key()], [KEY + "0", KEY + "1"])
            self.assertEqual(json.loads(default.read_text())["api_key"], KEY + "1")
            Recall.from_environment().rotate_key()
            # The old key ends when the new one is first used, so that is done at once.
            self.assertEqual(hub.requests[-1][1], "/api/v1/agents/me")
            self.assertEqual(hub.requests[-1][2]["Authorization"], f"Bearer {KEY}2")
            Recall.join(hub.url, "ada", default).whoami()
        self.assertEqual(hub.requests[-1][2]["Authorization"], f"Bearer {KEY}2")
        self.assertEqual(list(default.parent.iterdir()), [default])

    def test_holds_the_key_of_a_second_answer_when_the_first_was_lost(self):
        registered = ok({"agent": {"id": "1", "name": "ada"}, "api_key": KEY}, 201)
        with Answers(registered, "drop", ok({"api_key": KEY + "2"}), ok({"agent": {}})) as hub:
            Recall.join(hub.url, "ada", self.path).rotate_key()
        self.assertEqual(self.key_in_file(), KEY + "2")

    def test_is_left_as_it_is_when_no_new_key_comes_or_none_can_be_kept(self):
        registered = ok({"agent": {"id": "1", "name": "ada"}, "api_key": KEY}, 201)
        refused, new = problem(403, "MEMORY_FORBIDDEN"), ok({"api_key": KEY + "2"})
        with Answers(registered, refused, new, ok({"agent": {}})) as hub:
            ada = Recall.join(hub.url, "ada", self.path)
            with self.assertRaises(RecallError):
                ada.rotate_key()
            # No place for it: the hub is not asked for one.
            with mock.patch("recall.tempfile.mkstemp", side_effect=PermissionError), self.assertRaises(PermissionError):
                ada.rotate_key()
            self.assertEqual(len(hub.requests), 2)
            # No way to keep it: it is not used, which would end the old one.
            with mock.patch("recall.os.replace", side_effect=OSError), self.assertRaises(OSError):
                ada.rotate_key()
            ada.whoami()
        self.assertEqual(hub.requests[-1][2]["Authorization"], f"Bearer {KEY}")
        self.assertEqual((self.key_in_file(), list(self.path.parent.iterdir())), (KEY, [self.path]))

    def test_is_not_of_an_agent_that_is_registered_later(self):
        first, second = [ok({"agent": {}, "api_key": key}, 201) for key in (KEY, KEY + "2")]
        with Answers(first, second, ok({"api_key": KEY + "3"})) as hub:
            ada = Recall.join(hub.url, "ada", self.path)
            ada.register("eve")
            ada.rotate_key()
        self.assertEqual(self.key_in_file(), KEY)

    def test_gives_way_to_the_environment_as_a_whole(self):
        config = {"XDG_CONFIG_HOME": str(self.path.parent), "RECALL_API_URL": "", "RECALL_API_KEY": KEY}
        with mock.patch.dict(os.environ, config), self.assertRaisesRegex(ValueError, "RECALL_API_URL as well"):
            Recall.from_environment()
        registered = ok({"agent": {}, "api_key": KEY}, 201)
        with Answers(registered) as hub:
            Recall.join(hub.url, "ada", self.path.parent / "recall" / "hub.json")
        config.update(RECALL_API_URL="http://two.example", RECALL_API_KEY="")
        with mock.patch.dict(os.environ, config), self.assertRaisesRegex(ValueError, "set RECALL_API_KEY"):
            Recall.from_environment()

    def test_of_another_hub_or_open_to_others_is_refused(self):
        self.path.parent.mkdir()
        self.path.write_text(json.dumps({"url": "https://one.example", "api_key": KEY}))
        self.path.chmod(0o644)
        with self.assertRaisesRegex(PermissionError, "chmod 600"):
            Recall.join("https://one.example", "ada", self.path)
        self.path.chmod(0o600)
        with self.assertRaisesRegex(ValueError, "name another"):
            Recall.join("https://two.example", "ada", self.path)


@unittest.skipUnless(HUB, "no hub: RECALL_TEST_HUB_URL is not set")
class OnAHub(unittest.TestCase):
    def agent(self, name):
        hub = Recall(HUB)
        hub.register(name)
        return hub

    def test_two_agents_share_what_one_has_learned(self):
        ada, bob = self.agent("ada"), self.agent("bob ümläut")
        self.assertEqual(bob.whoami()["name"], "bob ümläut")
        saved = ada.save(MEMORY, ["postgres", "leak"], source_url="https://example.com/42")
        best = bob.search(MEMORY)[0]
        self.assertEqual((best["id"], best["content"], best["author"]), (saved["id"], MEMORY, {"name": "ada"}))
        self.assertEqual(bob.get(saved["short_id"])["id"], saved["id"])
        self.assertEqual(bob.cite(saved["id"])["citation"], f"Recall #{saved['short_id']}")
        with self.assertRaises(RecallError) as caught:
            bob.delete(saved["id"])
        self.assertEqual(caught.exception.code, "MEMORY_FORBIDDEN")
        self.assertEqual(ada.delete(saved["id"]), "tombstone")

    def test_wrong_input_is_named(self):
        with self.assertRaises(RecallError) as caught:
            self.agent("ada").save("short", ["one"])
        self.assertEqual([error["pointer"] for error in caught.exception.errors], ["#/content", "#/tags"])

    def test_a_text_is_no_list_of_tags(self):
        with self.assertRaises(TypeError):
            self.agent("ada").save("x" * 100, "redis,lua")

    def test_a_new_key_replaces_the_old_one(self):
        ada = self.agent("ada")
        before = Recall(HUB, ada._key)
        ada.rotate_key()
        self.assertEqual(ada.whoami()["name"], "ada")
        with self.assertRaises(RecallError) as caught:
            before.whoami()
        self.assertEqual(caught.exception.code, "MEMORY_UNAUTHENTICATED")

    def test_a_new_key_in_the_key_file_ends_the_old_one_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            ada = Recall.join(HUB, "ada", Path(folder) / "hub.json")
            before = Recall(HUB, ada._key)
            ada.rotate_key()
            with self.assertRaises(RecallError) as caught:
                before.whoami()
            self.assertEqual(caught.exception.code, "MEMORY_UNAUTHENTICATED")
            self.assertEqual(Recall.join(HUB, "ada", Path(folder) / "hub.json").whoami()["name"], "ada")

    def test_keeps_what_only_it_can_see(self):
        ada, bob = self.agent("ada"), self.agent("bob")
        ada.put("deploy", {"freeze": "Friday"})
        ada.put("duty", "Jonas is on call", scope="short-term", ttl=60)
        self.assertEqual(ada.read("deploy"), {"freeze": "Friday"})
        self.assertEqual(ada.find("freeze Friday")[0]["accessCount"], 1)
        self.assertEqual([entry["key"] for entry in ada.find("who is on call", scope="short-term")], ["duty"])
        self.assertIsNone(bob.read("deploy"))
        self.assertTrue(ada.remove("deploy"))
        self.assertIsNone(ada.read("deploy"))


if __name__ == "__main__":
    unittest.main()
