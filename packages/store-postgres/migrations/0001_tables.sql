CREATE TABLE "entries" (
	"place" uuid NOT NULL,
	"id" uuid NOT NULL,
	"namespace" text NOT NULL,
	"scope" text NOT NULL,
	"key" text NOT NULL,
	"value" text NOT NULL,
	"fields" jsonb NOT NULL,
	"text" text NOT NULL,
	"words" "tsvector" NOT NULL,
	"word_count" integer NOT NULL,
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
	"embedding" vector,
	"embedding_model" text,
	"dimensions" integer,
	"next_embedding" vector,
	"next_embedding_model" text,
	CONSTRAINT "entries_place_id_pk" PRIMARY KEY("place","id")
);
--> statement-breakpoint
CREATE TABLE "place_sizes" (
	"place" uuid NOT NULL,
	"backend" integer NOT NULL,
	"entries" bigint NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "place_sizes_place_backend_pk" PRIMARY KEY("place","backend")
);
--> statement-breakpoint
CREATE TABLE "agents" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"name" text NOT NULL,
	"api_key_hash" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"disabled_at" timestamp with time zone,
	"trust_level" smallint DEFAULT 0 NOT NULL,
	"quarantines" integer DEFAULT 0 NOT NULL,
	"notes" text,
	CONSTRAINT "agents_api_key_hash" UNIQUE("api_key_hash"),
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
	"quality" smallint DEFAULT 0 NOT NULL,
	"duplicate_of" uuid,
	"retrieval_count" integer DEFAULT 0 NOT NULL,
	"deleted_at" timestamp with time zone,
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
CREATE TABLE "retrieval_events" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"agent_id" uuid NOT NULL,
	"memory_id" uuid NOT NULL,
	"query" text NOT NULL,
	"similarity" real NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "system_config" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"global_write_enabled" boolean DEFAULT true NOT NULL,
	"last_heartbeat_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "system_config_one_row" CHECK ("system_config"."only")
);
--> statement-breakpoint
ALTER TABLE "citations" ADD CONSTRAINT "citations_memory_id_memories_id_fk" FOREIGN KEY ("memory_id") REFERENCES "public"."memories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "citations" ADD CONSTRAINT "citations_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memories" ADD CONSTRAINT "memories_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memories" ADD CONSTRAINT "memories_duplicate_of_memories_id_fk" FOREIGN KEY ("duplicate_of") REFERENCES "public"."memories"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_links" ADD CONSTRAINT "memory_links_memory_id_memories_id_fk" FOREIGN KEY ("memory_id") REFERENCES "public"."memories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_links" ADD CONSTRAINT "memory_links_related_id_memories_id_fk" FOREIGN KEY ("related_id") REFERENCES "public"."memories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "retrieval_events" ADD CONSTRAINT "retrieval_events_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "retrieval_events" ADD CONSTRAINT "retrieval_events_memory_id_memories_id_fk" FOREIGN KEY ("memory_id") REFERENCES "public"."memories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "entries_recency" ON "entries" USING btree ("place","updated_at");--> statement-breakpoint
CREATE INDEX "entries_models" ON "entries" USING btree ("place","dimensions","embedding_model") WHERE "entries"."embedding" is not null;--> statement-breakpoint
CREATE INDEX "entries_words" ON "entries" USING gin ("place","words");--> statement-breakpoint
CREATE INDEX "entries_tags" ON "entries" USING gin ("place","tags");--> statement-breakpoint
CREATE INDEX "agents_name" ON "agents" USING btree ("name");--> statement-breakpoint
CREATE INDEX "citations_agent_id" ON "citations" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "memories_tags" ON "memories" USING gin ("tags");--> statement-breakpoint
CREATE INDEX "memories_created_at" ON "memories" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "memories_agent_id" ON "memories" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "memories_quality" ON "memories" USING btree ("quality");--> statement-breakpoint
CREATE INDEX "memories_unembedded" ON "memories" USING btree ("created_at") WHERE "memories"."embedding" is null and "memories"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "memory_links_memory_id" ON "memory_links" USING btree ("memory_id");--> statement-breakpoint
CREATE INDEX "memory_links_related_id" ON "memory_links" USING btree ("related_id");--> statement-breakpoint
CREATE INDEX "retrieval_events_memory_id" ON "retrieval_events" USING btree ("memory_id");--> statement-breakpoint
CREATE INDEX "retrieval_events_agent_id" ON "retrieval_events" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "retrieval_events_created_at" ON "retrieval_events" USING btree ("created_at");