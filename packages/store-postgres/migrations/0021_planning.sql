-- The planner takes a place that is new since the last `analyze`, or that is small among few large ones, for a single
-- row. Then looking up a row by place and id seems to be no better than going through the place, once for each row of
-- another table. Without statistics it takes every place for a two-hundredth of the table.
ALTER TABLE "entries" ALTER COLUMN "place" SET STATISTICS 0;--> statement-breakpoint
ALTER TABLE "units" ALTER COLUMN "place" SET STATISTICS 0;--> statement-breakpoint
-- Forgets the statistics that there are.
ALTER TABLE "entries" ALTER COLUMN "place" TYPE uuid;--> statement-breakpoint
ALTER TABLE "units" ALTER COLUMN "place" TYPE uuid;--> statement-breakpoint
-- Every search by words reads the whole pending list.
ALTER INDEX "units_words" SET (gin_pending_list_limit = 1024);
