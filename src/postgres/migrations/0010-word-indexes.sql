-- Indexes of words, and of rows that need words. They are built beside running nodes, and nothing needs them to be there.
-- Compatible from: 4
-- Outside a transaction

DROP INDEX CONCURRENTLY IF EXISTS events_by_word;
CREATE INDEX CONCURRENTLY events_by_word ON events USING gin (words);
DROP INDEX CONCURRENTLY IF EXISTS events_words_by;
CREATE INDEX CONCURRENTLY events_words_by ON events (words_by);
