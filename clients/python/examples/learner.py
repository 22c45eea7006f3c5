import sys

from recall import Recall

hub = Recall.join(sys.argv[1], "learner", key_file=sys.argv[2])
saved = hub.save(
    "Redis rate limiting failed under load: two workers read the same counter. A token bucket in one Lua script fixed it.",
    tags=["redis", "rate-limit", "lua"],
    source_url="https://example.com/incidents/42",
)
print(saved["short_id"])
