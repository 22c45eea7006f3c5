-- Nobody writes between the count below and the triggers that go on with it.
LOCK TABLE "entries" IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
ALTER TABLE "place_sizes" ADD COLUMN "worded" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
DROP FUNCTION "add_place_sizes";
--> statement-breakpoint
CREATE FUNCTION "add_place_sizes"("place" uuid, "entries" bigint, "bytes" bigint, "units" bigint, "worded" bigint, "words" bigint, "held" bigint)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO "place_sizes" ("place", "backend", "entries", "bytes", "units", "worded", "words", "held")
  VALUES ($1, pg_backend_pid(), $2, $3, $4, $5, $6, $7)
  ON CONFLICT ("place", "backend") DO UPDATE
  SET "entries" = "place_sizes"."entries" + excluded."entries", "bytes" = "place_sizes"."bytes" + excluded."bytes",
    "units" = "place_sizes"."units" + excluded."units", "worded" = "place_sizes"."worded" + excluded."worded",
    "words" = "place_sizes"."words" + excluded."words", "held" = "place_sizes"."held" + excluded."held"
$$;
--> statement-breakpoint
CREATE FUNCTION "worded_units"("units" integer, "words" integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN $2 > 0 THEN $1 ELSE 0 END
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "entries_inserted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", count(*), sum(octet_length("value")), sum("unit_count"),
    sum("worded_units"("unit_count", "word_count")), sum("word_count"),
    sum("held_bytes"("key", "value", "text", "type", "tags", "unit_count", "dimensions"))::bigint)
  FROM "added" GROUP BY "place";
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "entries_deleted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", -count(*), -sum(octet_length("value")), -sum("unit_count"),
    -sum("worded_units"("unit_count", "word_count")), -sum("word_count"),
    -sum("held_bytes"("key", "value", "text", "type", "tags", "unit_count", "dimensions"))::bigint)
  FROM "gone" GROUP BY "place";
  RETURN NULL;
END $$;
--> statement-breakpoint
-- An access changes no size and must cost nothing here.
CREATE OR REPLACE FUNCTION "entries_updated"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", 0, sum("bytes"), sum("units"), sum("worded"), sum("words"), sum("held")::bigint)
  FROM (
    SELECT "place", octet_length("value") AS "bytes", "unit_count" AS "units",
      "worded_units"("unit_count", "word_count") AS "worded", "word_count" AS "words",
      "held_bytes"("key", "value", "text", "type", "tags", "unit_count", "dimensions") AS "held"
    FROM "added"
    UNION ALL
    SELECT "place", -octet_length("value"), -"unit_count", -"worded_units"("unit_count", "word_count"), -"word_count",
      -"held_bytes"("key", "value", "text", "type", "tags", "unit_count", "dimensions")
    FROM "gone"
  ) AS "changes"
  GROUP BY "place"
  HAVING sum("bytes") <> 0 OR sum("units") <> 0 OR sum("worded") <> 0 OR sum("words") <> 0 OR sum("held") <> 0;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- For what was there before the column was.
UPDATE "place_sizes" SET "worded" = "kept"."worded"
FROM (
  SELECT "place", sum("worded_units"("unit_count", "word_count")) AS "worded" FROM "entries" GROUP BY "place"
) AS "kept"
WHERE "place_sizes"."place" = "kept"."place" AND "place_sizes"."backend" = (
  SELECT min("backend") FROM "place_sizes" AS "others" WHERE "others"."place" = "kept"."place"
);
