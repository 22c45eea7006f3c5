CREATE TABLE "private_namespaces" (
	"agent_id" uuid NOT NULL,
	"namespace" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "private_namespaces" ADD CONSTRAINT "private_namespaces_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "private_namespaces_name" ON "private_namespaces" USING btree ("agent_id",md5("namespace"));