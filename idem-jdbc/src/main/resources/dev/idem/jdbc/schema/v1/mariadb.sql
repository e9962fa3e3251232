-- Idem schema, version 1, MariaDB 10.5 or later.

-- What this schema is, and when the next sweep is due, in microseconds since 1970. One row.
CREATE TABLE IF NOT EXISTS ${meta} (
  version       INT      NOT NULL PRIMARY KEY,
  inbox_id      CHAR(36) NOT NULL DEFAULT UUID(),
  next_sweep_at BIGINT   NOT NULL DEFAULT 0
) ENGINE = InnoDB;

-- Consumers and the numbers that stand for them in every other table.
CREATE TABLE IF NOT EXISTS ${consumer} (
  number SMALLINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name   VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL UNIQUE
) ENGINE = InnoDB;

-- One row for each message a consumer is done with. Keys are bytes: no collation can merge two.
CREATE TABLE IF NOT EXISTS ${marker} (
  consumer     SMALLINT     NOT NULL,
  message_key  BINARY(16)   NOT NULL,
  processed_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  claim_id     BIGINT       NOT NULL,
  fingerprint  VARBINARY(5), -- the first 5 bytes of a SHA-256
  readable     TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- what was hashed; NULL when message_key is the id itself
  PRIMARY KEY (consumer, message_key)
) ENGINE = InnoDB;

-- What handlers returned, where a consumer keeps results.
CREATE TABLE IF NOT EXISTS ${result} (
  consumer    SMALLINT     NOT NULL,
  message_key BINARY(16)   NOT NULL,
  stored_at   TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  codec       VARCHAR(50)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  bytes       LONGBLOB     NOT NULL,
  PRIMARY KEY (consumer, message_key)
) ENGINE = InnoDB;

-- How long each consumer's history is kept, and how far it has been removed. Times and lengths are microseconds,
-- times since 1970 in UTC, so that no time zone can bend them.
CREATE TABLE IF NOT EXISTS ${retention} (
  consumer            SMALLINT NOT NULL PRIMARY KEY,
  keep_for            BIGINT,          -- the window; NULL is for ever
  declared_at         BIGINT NOT NULL, -- when an instance last wanted a window as long as that
  keep_results_for    BIGINT NOT NULL,
  results_declared_at BIGINT NOT NULL,
  seen_at             BIGINT NOT NULL, -- when an instance of this consumer was last alive
  cutoff              BIGINT,          -- nothing newer was removed, nor is being removed now
  swept_at            BIGINT,          -- when the last sweep began
  horizon             BIGINT           -- the newest marker that was removed
) ENGINE = InnoDB;

-- Up to where a consumer of positions is done: one row for each partition of each stream. A stream that is
-- deleted and made again has another identity, and so other rows.
CREATE TABLE IF NOT EXISTS ${watermark} (
  consumer         SMALLINT     NOT NULL,
  stream_key       BINARY(16)   NOT NULL, -- a hash of stream
  partition_number INT          NOT NULL,
  position         BIGINT       NOT NULL,
  claim_id         BIGINT       NOT NULL, -- who moved it last
  running_id       BIGINT       NOT NULL, -- who held it last
  moved_at         TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  stream           TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (consumer, stream_key, partition_number)
) ENGINE = InnoDB;

INSERT INTO ${meta} (version) SELECT 1 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM ${meta}) ON DUPLICATE KEY UPDATE version = version;
