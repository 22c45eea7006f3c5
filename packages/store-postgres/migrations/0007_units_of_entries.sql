-- A term with how often it occurs, spelled for a tsvector: the weights of its positions are the bits of the count, A
-- the highest, so that a tsquery can read it back. 15 stands for more.
CREATE FUNCTION "spelled_count"("term" text, "count" bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT '''' || replace(replace($1, '\', '\\'), '''', '''''') || ''':' ||
    (ARRAY['1D', '1C', '1C,2D', '1B', '1B,2D', '1B,2C', '1B,2C,3D', '1A', '1A,2D', '1A,2C', '1A,2C,3D', '1A,2B', '1A,2B,3D', '1A,2B,3C', '1A,2B,3C,4D'])[least($2, 15)]
$$;
--> statement-breakpoint
-- The words of a text as a text search configuration splits and stems them.
CREATE FUNCTION "counted_words"("configuration" regconfig, "text" text) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT coalesce(string_agg("spelled_count"("lexeme", cardinality("positions")), ' '), '')::tsvector
  FROM unnest(to_tsvector($1, $2))
$$;
--> statement-breakpoint
-- What was written before is one unit, until it is written again.
INSERT INTO "units" ("place", "entry", "unit", "words", "word_count", "label", "embedding", "next_embedding", "next_embedding_model")
SELECT "place", "id", 0,
  (SELECT coalesce(string_agg("spelled_count"("lexeme", "positions"[1]), ' '), '')::tsvector FROM unnest("words")),
  "word_count", '', "embedding", "next_embedding", "next_embedding_model"
FROM "entries";
--> statement-breakpoint
DROP FUNCTION "add_place_sizes";
--> statement-breakpoint
CREATE FUNCTION "add_place_sizes"("place" uuid, "entries" bigint, "bytes" bigint, "units" bigint, "words" bigint)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO "place_sizes" VALUES ($1, pg_backend_pid(), $2, $3, $4, $5)
  ON CONFLICT ("place", "backend") DO UPDATE
  SET "entries" = "place_sizes"."entries" + excluded."entries", "bytes" = "place_sizes"."bytes" + excluded."bytes",
    "units" = "place_sizes"."units" + excluded."units", "words" = "place_sizes"."words" + excluded."words"
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "entries_inserted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", count(*), sum(octet_length("value")), sum("unit_count"), sum("word_count"))
  FROM "added" GROUP BY "place";
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "entries_deleted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", -count(*), -sum(octet_length("value")), -sum("unit_count"), -sum("word_count"))
  FROM "gone" GROUP BY "place";
  RETURN NULL;
END $$;
--> statement-breakpoint
-- An access changes no size and must cost nothing here.
CREATE OR REPLACE FUNCTION "entries_updated"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", 0, sum("bytes"), sum("units"), sum("words"))
  FROM (
    SELECT "place", octet_length("value") AS "bytes", "unit_count" AS "units", "word_count" AS "words" FROM "added"
    UNION ALL
    SELECT "place", -octet_length("value"), -"unit_count", -"word_count" FROM "gone"
  ) AS "changes"
  GROUP BY "place" HAVING sum("bytes") <> 0 OR sum("units") <> 0 OR sum("words") <> 0;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- For what was there before the columns were.
UPDATE "place_sizes" SET "units" = "kept"."units", "words" = "kept"."words"
FROM (SELECT "place", count(*) AS "units", sum("word_count") AS "words" FROM "entries" GROUP BY "place") AS "kept"
WHERE "place_sizes"."place" = "kept"."place" AND "place_sizes"."backend" = (
  SELECT min("backend") FROM "place_sizes" AS "others" WHERE "others"."place" = "kept"."place"
);
