CREATE TABLE "rate_limits" (
	"key" text PRIMARY KEY NOT NULL,
	"points" integer DEFAULT 0 NOT NULL,
	"expire" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "vouches" (
	"agent_id" uuid NOT NULL,
	"voucher_id" uuid NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "vouches_agent_id_voucher_id_pk" PRIMARY KEY("agent_id","voucher_id")
);
--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "promoted_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "memories" ADD COLUMN "embed_after" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "memories" ADD COLUMN "embed_attempts" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "vouches" ADD CONSTRAINT "vouches_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vouches" ADD CONSTRAINT "vouches_voucher_id_agents_id_fk" FOREIGN KEY ("voucher_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "vouches_voucher_id" ON "vouches" USING btree ("voucher_id","created_at");