-- A count that rises is written beside its row, and the index of vectors need not hear of it.
ALTER TABLE "memories" SET (fillfactor = 70);
