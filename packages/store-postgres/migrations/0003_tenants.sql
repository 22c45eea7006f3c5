DROP INDEX "retrieval_events_memory_id";--> statement-breakpoint
ALTER TABLE "entries" ADD COLUMN "tenant" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "retrieval_events_memory_id" ON "retrieval_events" USING btree ("memory_id","agent_id");