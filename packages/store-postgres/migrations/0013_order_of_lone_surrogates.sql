-- Lone surrogates stood behind U+E002 in the order of strings; they stand before U+E000, see `comparable-text.ts`.
UPDATE "entries" SET "fields" = replace("fields"::text, U&'\E000\E002', U&'\E000' || '\u0002')::jsonb
WHERE strpos("fields"::text, U&'\E000\E002') > 0;
