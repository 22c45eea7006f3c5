ALTER TABLE "agents" ADD COLUMN "next_api_key_hash" text;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_next_api_key_hash" UNIQUE("next_api_key_hash");