import sys

from recall import Recall

hub = Recall.join(sys.argv[1], "solver", key_file=sys.argv[2])
best = hub.search("redis rate limiting failed under load")[0]
print(f"{best['author']['name']} knows: {best['content']}")
print("source:", hub.cite(best["short_id"])["citation"])
