-- Idem schema, version 1, MariaDB 10.5 or later.

-- What this schema is. One row.
CREATE TABLE IF NOT EXISTS ${meta} (
  version  INT      NOT NULL PRIMARY KEY,
  inbox_id CHAR(36) NOT NULL DEFAULT UUID()
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
