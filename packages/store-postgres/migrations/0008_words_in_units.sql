DROP INDEX "entries_words";--> statement-breakpoint
ALTER TABLE "entries" DROP COLUMN "words";--> statement-breakpoint
ALTER TABLE "entries" DROP COLUMN "embedding";--> statement-breakpoint
ALTER TABLE "entries" DROP COLUMN "next_embedding";--> statement-breakpoint
ALTER TABLE "entries" DROP COLUMN "next_embedding_model";