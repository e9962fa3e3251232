-- Idem schema, version 1, PostgreSQL 14 or later: markers in partitions, one for each day, which are dropped as a whole.
-- Goes before postgresql.sql, which creates the other tables and leaves this one as it is. Then let
-- 'idem retention run' create the partitions, with the owner of the tables; services whose role owns them do so at start.

-- One row for each message a consumer is done with. Every key begins with the 48-bit time its message was made, in
-- milliseconds since 1970, so that the keys of a day are a range. A row of a UUIDv7 takes 64 bytes.
CREATE TABLE IF NOT EXISTS ${marker} (
  message_key  uuid        NOT NULL,
  marked_at    timestamptz NOT NULL DEFAULT clock_timestamp(), -- of the effect, or of the receipt where it is stored first
  claim_id     bigint      NOT NULL, -- who inserted it: rows of partitions cannot tell their xmin when inserted
  consumer     integer     NOT NULL,
  fingerprint  integer,    -- the first 4 bytes of a SHA-256
  readable     text,       -- what was hashed into message_key; NULL when it is the id itself
  duplicates   integer,    -- how many were seen, of consumers that are acknowledged on receipt
  duplicate_at bigint,     -- when the last one was, in microseconds since 1970
  CONSTRAINT ${prefix}marker_pk PRIMARY KEY (consumer, message_key) WITH (fillfactor = 95)
) PARTITION BY RANGE (message_key);

