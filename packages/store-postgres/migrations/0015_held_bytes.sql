-- Nobody writes between the count below and the triggers that go on with it.
LOCK TABLE "entries" IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
ALTER TABLE "place_sizes" ADD COLUMN "held" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
-- What an entry takes of a quota: all that its writer sent. A unit has one vector of four bytes for each dimension.
CREATE FUNCTION "held_bytes"("key" text, "value" text, "text" text, "type" text, "tags" text[], "units" integer, "dimensions" integer)
RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT octet_length($1)::bigint + octet_length($2) + octet_length($3) + coalesce(octet_length($4), 0)
    + octet_length(array_to_string($5, '')) + 4::bigint * $6 * coalesce($7, 0)
$$;
--> statement-breakpoint
DROP FUNCTION "add_place_sizes";
--> statement-breakpoint
CREATE FUNCTION "add_place_sizes"("place" uuid, "entries" bigint, "bytes" bigint, "units" bigint, "words" bigint, "held" bigint)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO "place_sizes" ("place", "backend", "entries", "bytes", "units", "words", "held")
  VALUES ($1, pg_backend_pid(), $2, $3, $4, $5, $6)
  ON CONFLICT ("place", "backend") DO UPDATE
  SET "entries" = "place_sizes"."entries" + excluded."entries", "bytes" = "place_sizes"."bytes" + excluded."bytes",
    "units" = "place_sizes"."units" + excluded."units", "words" = "place_sizes"."words" + excluded."words",
    "held" = "place_sizes"."held" + excluded."held"
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "entries_inserted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", count(*), sum(octet_length("value")), sum("unit_count"), sum("word_count"),
    sum("held_bytes"("key", "value", "text", "type", "tags", "unit_count", "dimensions"))::bigint)
  FROM "added" GROUP BY "place";
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "entries_deleted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", -count(*), -sum(octet_length("value")), -sum("unit_count"), -sum("word_count"),
    -sum("held_bytes"("key", "value", "text", "type", "tags", "unit_count", "dimensions"))::bigint)
  FROM "gone" GROUP BY "place";
  RETURN NULL;
END $$;
--> statement-breakpoint
-- An access changes no size and must cost nothing here.
CREATE OR REPLACE FUNCTION "entries_updated"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", 0, sum("bytes"), sum("units"), sum("words"), sum("held")::bigint)
  FROM (
    SELECT "place", octet_length("value") AS "bytes", "unit_count" AS "units", "word_count" AS "words",
      "held_bytes"("key", "value", "text", "type", "tags", "unit_count", "dimensions") AS "held"
    FROM "added"
    UNION ALL
    SELECT "place", -octet_length("value"), -"unit_count", -"word_count",
      -"held_bytes"("key", "value", "text", "type", "tags", "unit_count", "dimensions")
    FROM "gone"
  ) AS "changes"
  GROUP BY "place"
  HAVING sum("bytes") <> 0 OR sum("units") <> 0 OR sum("words") <> 0 OR sum("held") <> 0;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- For what was there before the column was.
UPDATE "place_sizes" SET "held" = "kept"."held"
FROM (
  SELECT "place", sum("held_bytes"("key", "value", "text", "type", "tags", "unit_count", "dimensions")) AS "held"
  FROM "entries" GROUP BY "place"
) AS "kept"
WHERE "place_sizes"."place" = "kept"."place" AND "place_sizes"."backend" = (
  SELECT min("backend") FROM "place_sizes" AS "others" WHERE "others"."place" = "kept"."place"
);
--> statement-breakpoint
-- A writer names the quotas of the places that it fills in the setting "recall.quotas", for its transaction: bytes by
-- place. At the end of the transaction writers take turns, so that each counts what those before it have added.
CREATE FUNCTION "refuse_beyond_quota"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  quota bigint := current_setting('recall.quotas')::jsonb ->> NEW."place"::text;
BEGIN
  IF quota IS NULL THEN RETURN NULL; END IF;
  PERFORM pg_advisory_xact_lock(727003, hashtext(NEW."place"::text));
  IF (SELECT sum("held") FROM "place_sizes" WHERE "place" = NEW."place") > quota THEN
    RAISE EXCEPTION 'beyond the quota' USING ERRCODE = 'RQ001';
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER "place_sizes_inserted" AFTER INSERT ON "place_sizes"
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (NEW."held" > 0 AND coalesce(current_setting('recall.quotas', true), '') <> '')
EXECUTE FUNCTION "refuse_beyond_quota"();
--> statement-breakpoint
-- Who makes less of what is beyond its quota is let.
CREATE CONSTRAINT TRIGGER "place_sizes_updated" AFTER UPDATE ON "place_sizes"
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (NEW."held" > OLD."held" AND coalesce(current_setting('recall.quotas', true), '') <> '')
EXECUTE FUNCTION "refuse_beyond_quota"();
