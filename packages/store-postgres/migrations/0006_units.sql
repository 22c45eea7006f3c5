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
	"label" text NOT NULL,
	"embedding" vector,
	"next_embedding" vector,
	"next_embedding_model" text,
	CONSTRAINT "units_place_entry_unit_pk" PRIMARY KEY("place","entry","unit")
);
--> statement-breakpoint
DROP INDEX "entries_models";--> statement-breakpoint
ALTER TABLE "entries" ADD COLUMN "unit_count" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "place_sizes" ADD COLUMN "units" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "place_sizes" ADD COLUMN "words" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "units" ADD CONSTRAINT "units_entry" FOREIGN KEY ("place","entry") REFERENCES "public"."entries"("place","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "units_words" ON "units" USING gin ("place","words");--> statement-breakpoint
CREATE INDEX "entries_spelling" ON "entries" USING gin ("place","text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "entries_models" ON "entries" USING btree ("place","dimensions","embedding_model") WHERE "entries"."embedding_model" is not null;