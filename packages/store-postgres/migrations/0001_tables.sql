CREATE TABLE "entries" (
	"place" uuid NOT NULL,
	"id" uuid NOT NULL,
	"tenant" text DEFAULT '' NOT NULL,
	"namespace" text NOT NULL,
	"scope" text NOT NULL,
	"key" text NOT NULL,
	"value" text NOT NULL,
	"fields" jsonb NOT NULL,
	"text" text NOT NULL,
	"word_count" integer NOT NULL,
	"unit_count" integer DEFAULT 1 NOT NULL,
	"type" text,
	"tags" text[] NOT NULL,
	"created_at" double precision NOT NULL,
	"updated_at" double precision NOT NULL,
	"accessed_at" double precision NOT NULL,
	"access_count" bigint NOT NULL,
	"ttl" double precision,
	"expires_at" double precision,
	"encrypted" boolean NOT NULL,
	"version" bigserial NOT NULL,
	"embedding_model" text,
	"dimensions" integer,
	CONSTRAINT "entries_place_id_pk" PRIMARY KEY("place","id")
);
--> statement-breakpoint
CREATE TABLE "place_sizes" (
	"place" uuid NOT NULL,
	"backend" integer NOT NULL,
	"entries" bigint NOT NULL,
	"bytes" bigint NOT NULL,
	"units" bigint DEFAULT 0 NOT NULL,
	"worded" bigint DEFAULT 0 NOT NULL,
	"words" bigint DEFAULT 0 NOT NULL,
	"held" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "place_sizes_place_backend_pk" PRIMARY KEY("place","backend")
);
--> statement-breakpoint
CREATE TABLE "store_settings" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"text_configuration" text,
	CONSTRAINT "store_settings_one_row" CHECK ("store_settings"."only")
);
--> statement-breakpoint
CREATE TABLE "units" (
	"place" uuid NOT NULL,
	"entry" uuid NOT NULL,
	"unit" integer NOT NULL,
	"words" "tsvector" NOT NULL,
	"word_count" integer NOT NULL,
	"parts" integer DEFAULT 1 NOT NULL,
	"label" text NOT NULL,
	"embedding" vector,
	"next_embedding" vector,
	"next_embedding_model" text,
	CONSTRAINT "units_place_entry_unit_pk" PRIMARY KEY("place","entry","unit")
);
--> statement-breakpoint
CREATE TABLE "agents" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"name" text NOT NULL,
	"api_key_hash" text NOT NULL,
	"next_api_key_hash" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"disabled_at" timestamp with time zone,
	"trust_level" smallint DEFAULT 0 NOT NULL,
	"promoted_at" timestamp with time zone,
	"held_back" boolean DEFAULT false NOT NULL,
	"quarantines" integer DEFAULT 0 NOT NULL,
	"notes" text,
	CONSTRAINT "agents_api_key_hash" UNIQUE("api_key_hash"),
	CONSTRAINT "agents_next_api_key_hash" UNIQUE("next_api_key_hash"),
	CONSTRAINT "agents_trust_level" CHECK ("agents"."trust_level" between 0 and 2)
);
--> statement-breakpoint
CREATE TABLE "citations" (
	"memory_id" uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "citations_memory_id_agent_id_pk" PRIMARY KEY("memory_id","agent_id")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"agent_id" uuid NOT NULL,
	"route" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"status" smallint,
	"body" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_agent_id_route_key_pk" PRIMARY KEY("agent_id","route","key")
);
--> statement-breakpoint
CREATE TABLE "memories" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"short_id" text NOT NULL,
	"agent_id" uuid NOT NULL,
	"content" text NOT NULL,
	"tags" text[] DEFAULT '{}' NOT NULL,
	"source_url" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"embedding" vector,
	"embedding_model" text NOT NULL,
	"next_embedding" vector,
	"next_embedding_model" text,
	"embed_after" timestamp with time zone,
	"embed_attempts" smallint DEFAULT 0 NOT NULL,
	"quality" smallint DEFAULT 0 NOT NULL,
	"crowded" boolean DEFAULT false NOT NULL,
	"duplicate_of" uuid,
	"retrieval_count" integer DEFAULT 0 NOT NULL,
	"deleted_at" timestamp with time zone,
	"words_digest" text,
	CONSTRAINT "memories_short_id" UNIQUE("short_id"),
	CONSTRAINT "memories_quality_range" CHECK ("memories"."quality" between -2 and 0)
);
--> statement-breakpoint
CREATE TABLE "memory_links" (
	"memory_id" uuid NOT NULL,
	"related_id" uuid NOT NULL,
	"relation" text NOT NULL,
	"similarity" real,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memory_links_memory_id_related_id_relation_pk" PRIMARY KEY("memory_id","related_id","relation")
);
--> statement-breakpoint
CREATE TABLE "private_namespaces" (
	"agent_id" uuid NOT NULL,
	"namespace" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rate_limits" (
	"key" text PRIMARY KEY NOT NULL,
	"points" integer DEFAULT 0 NOT NULL,
	"expire" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "retrieval_events" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"agent_id" uuid NOT NULL,
	"memory_id" uuid NOT NULL,
	"query" text NOT NULL,
	"similarity" real NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"counted" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "system_config" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"global_write_enabled" boolean DEFAULT true NOT NULL,
	"last_heartbeat_at" timestamp with time zone DEFAULT now() NOT NULL,
	"embedding_model" text,
	CONSTRAINT "system_config_one_row" CHECK ("system_config"."only")
);
--> statement-breakpoint
CREATE TABLE "vouches" (
	"agent_id" uuid NOT NULL,
	"voucher_id" uuid NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "vouches_agent_id_voucher_id_pk" PRIMARY KEY("agent_id","voucher_id")
);
--> statement-breakpoint
ALTER TABLE "units" ADD CONSTRAINT "units_entry" FOREIGN KEY ("place","entry") REFERENCES "public"."entries"("place","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "citations" ADD CONSTRAINT "citations_memory_id_memories_id_fk" FOREIGN KEY ("memory_id") REFERENCES "public"."memories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "citations" ADD CONSTRAINT "citations_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memories" ADD CONSTRAINT "memories_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memories" ADD CONSTRAINT "memories_duplicate_of_memories_id_fk" FOREIGN KEY ("duplicate_of") REFERENCES "public"."memories"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_links" ADD CONSTRAINT "memory_links_memory_id_memories_id_fk" FOREIGN KEY ("memory_id") REFERENCES "public"."memories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_links" ADD CONSTRAINT "memory_links_related_id_memories_id_fk" FOREIGN KEY ("related_id") REFERENCES "public"."memories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "private_namespaces" ADD CONSTRAINT "private_namespaces_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "retrieval_events" ADD CONSTRAINT "retrieval_events_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "retrieval_events" ADD CONSTRAINT "retrieval_events_memory_id_memories_id_fk" FOREIGN KEY ("memory_id") REFERENCES "public"."memories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vouches" ADD CONSTRAINT "vouches_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vouches" ADD CONSTRAINT "vouches_voucher_id_agents_id_fk" FOREIGN KEY ("voucher_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "entries_recency" ON "entries" USING btree ("place","updated_at");--> statement-breakpoint
CREATE INDEX "entries_models" ON "entries" USING btree ("place","dimensions","embedding_model") WHERE "entries"."embedding_model" is not null;--> statement-breakpoint
CREATE INDEX "entries_tags" ON "entries" USING gin ("place","tags");--> statement-breakpoint
CREATE INDEX "units_words" ON "units" USING gin ("place","words");--> statement-breakpoint
CREATE INDEX "agents_name" ON "agents" USING btree ("name");--> statement-breakpoint
CREATE INDEX "citations_agent_id" ON "citations" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "memories_tags" ON "memories" USING gin ("tags");--> statement-breakpoint
CREATE INDEX "memories_created_at" ON "memories" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "memories_agent_id" ON "memories" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "memories_low_of_agents" ON "memories" USING btree ("agent_id") WHERE "memories"."quality" < 0;--> statement-breakpoint
CREATE INDEX "memories_quality" ON "memories" USING btree ("quality");--> statement-breakpoint
CREATE INDEX "memories_discoveries" ON "memories" USING btree ("created_at") WHERE "memories"."quality" = -1 and not "memories"."crowded";--> statement-breakpoint
CREATE INDEX "memories_unembedded" ON "memories" USING btree ("created_at") WHERE "memories"."embedding" is null and "memories"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "memories_duplicate_of" ON "memories" USING btree ("duplicate_of") WHERE "memories"."duplicate_of" is not null;--> statement-breakpoint
CREATE INDEX "memories_words_digest" ON "memories" USING btree ("agent_id","words_digest") WHERE "memories"."words_digest" is not null;--> statement-breakpoint
CREATE INDEX "memory_links_memory_id" ON "memory_links" USING btree ("memory_id");--> statement-breakpoint
CREATE INDEX "memory_links_related_id" ON "memory_links" USING btree ("related_id");--> statement-breakpoint
CREATE UNIQUE INDEX "private_namespaces_name" ON "private_namespaces" USING btree ("agent_id",md5("namespace"));--> statement-breakpoint
CREATE INDEX "retrieval_events_memory_id" ON "retrieval_events" USING btree ("memory_id","agent_id");--> statement-breakpoint
CREATE UNIQUE INDEX "retrieval_events_counted" ON "retrieval_events" USING btree ("memory_id","agent_id") WHERE "retrieval_events"."counted";--> statement-breakpoint
CREATE INDEX "retrieval_events_agent_id" ON "retrieval_events" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "retrieval_events_created_at" ON "retrieval_events" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "retrieval_events_asked" ON "retrieval_events" USING btree ("created_at") WHERE "retrieval_events"."query" <> '';--> statement-breakpoint
CREATE INDEX "vouches_voucher_id" ON "vouches" USING btree ("voucher_id","created_at");--> statement-breakpoint
-- What follows is unknown to drizzle-kit.

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
-- What an entry takes of a quota: all that its writer sent. A unit has one vector of four bytes for each dimension.
CREATE FUNCTION "held_bytes"("key" text, "value" text, "text" text, "type" text, "tags" text[], "units" integer, "dimensions" integer)
RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT octet_length($1)::bigint + octet_length($2) + octet_length($3) + coalesce(octet_length($4), 0)
    + octet_length(array_to_string($5, '')) + 4::bigint * $6 * coalesce($7, 0)
$$;
--> statement-breakpoint
CREATE FUNCTION "worded_units"("units" integer, "words" integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN $2 > 0 THEN $1 ELSE 0 END
$$;
--> statement-breakpoint
-- Adds what a statement changed to the sizes of the places that it touched.
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
CREATE FUNCTION "entries_inserted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", count(*), sum(octet_length("value")), sum("unit_count"),
    sum("worded_units"("unit_count", "word_count")), sum("word_count"),
    sum("held_bytes"("key", "value", "text", "type", "tags", "unit_count", "dimensions"))::bigint)
  FROM "added" GROUP BY "place";
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION "entries_deleted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "add_place_sizes"("place", -count(*), -sum(octet_length("value")), -sum("unit_count"),
    -sum("worded_units"("unit_count", "word_count")), -sum("word_count"),
    -sum("held_bytes"("key", "value", "text", "type", "tags", "unit_count", "dimensions"))::bigint)
  FROM "gone" GROUP BY "place";
  RETURN NULL;
END $$;
--> statement-breakpoint
-- An access changes no size and must cost nothing here.
CREATE FUNCTION "entries_updated"() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER "entries_inserted" AFTER INSERT ON "entries"
REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "entries_inserted"();
--> statement-breakpoint
CREATE TRIGGER "entries_deleted" AFTER DELETE ON "entries"
REFERENCING OLD TABLE AS "gone" FOR EACH STATEMENT EXECUTE FUNCTION "entries_deleted"();
--> statement-breakpoint
CREATE TRIGGER "entries_updated" AFTER UPDATE ON "entries"
REFERENCING OLD TABLE AS "gone" NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "entries_updated"();
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
--> statement-breakpoint
-- The planner takes a place that is new since the last `analyze`, or that is small among few large ones, for a single
-- row. Then looking up a row by place and id seems to be no better than going through the place, once for each row of
-- another table. Without statistics it takes every place for a two-hundredth of the table.
ALTER TABLE "entries" ALTER COLUMN "place" SET STATISTICS 0;
--> statement-breakpoint
ALTER TABLE "units" ALTER COLUMN "place" SET STATISTICS 0;
--> statement-breakpoint
-- Every search by words reads the whole pending list.
ALTER INDEX "units_words" SET (gin_pending_list_limit = 1024);
--> statement-breakpoint
-- A count that rises is written beside its row, and the index of vectors need not hear of it.
ALTER TABLE "memories" SET (fillfactor = 70);
