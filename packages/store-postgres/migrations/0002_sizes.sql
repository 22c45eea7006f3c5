-- Adds what a statement changed to the sizes of the places that it touched.
CREATE FUNCTION "add_place_sizes"("place" uuid, "entries" bigint, "bytes" bigint) RETURNS void LANGUAGE sql AS $$
  INSERT INTO "place_sizes" VALUES ($1, pg_backend_pid(), $2, $3)
  ON CONFLICT ("place", "backend") DO UPDATE
  SET "entries" = "place_sizes"."entries" + excluded."entries", "bytes" = "place_sizes"."bytes" + excluded."bytes"
$$;
--> statement-breakpoint
CREATE FUNCTION "entries_inserted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", count(*), sum(octet_length("value"))) FROM "added" GROUP BY "place";
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION "entries_deleted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", -count(*), -sum(octet_length("value"))) FROM "gone" GROUP BY "place";
  RETURN NULL;
END $$;
--> statement-breakpoint
-- An access changes no size and must cost nothing here.
CREATE FUNCTION "entries_updated"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", 0, sum("bytes"))
  FROM (
    SELECT "place", octet_length("value") AS "bytes" FROM "added"
    UNION ALL
    SELECT "place", -octet_length("value") FROM "gone"
  ) AS "changes"
  GROUP BY "place" HAVING sum("bytes") <> 0;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "entries_inserted" AFTER INSERT ON "entries"
REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "entries_inserted"();
--> statement-breakpoint
CREATE TRIGGER "entries_deleted" AFTER DELETE ON "entries"
REFERENCING OLD TABLE AS "gone" FOR EACH STATEMENT EXECUTE FUNCTION "entries_deleted"();
--> statement-breakpoint
CREATE TRIGGER "entries_updated" AFTER UPDATE ON "entries"
REFERENCING OLD TABLE AS "gone" NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "entries_updated"();
