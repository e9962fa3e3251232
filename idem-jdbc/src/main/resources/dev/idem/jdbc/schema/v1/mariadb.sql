-- Idem schema, version 1, MariaDB 10.11 or later.

-- What this schema is, and when the next sweep is due, in microseconds since 1970. One row.
CREATE TABLE IF NOT EXISTS ${meta} (
  version       INT      NOT NULL PRIMARY KEY,
  inbox_id      CHAR(36) NOT NULL DEFAULT UUID(),
  next_sweep_at BIGINT   NOT NULL DEFAULT 0,
  secret        BINARY(32) NOT NULL DEFAULT RANDOM_BYTES(32), -- signs what comes back from brokers
  accepted_at   BIGINT   NOT NULL DEFAULT 0 -- what brokers were told before is believed: see JdbcRecovery
) ENGINE = InnoDB;

-- Consumers and the numbers that stand for them in every other table. A number is made from the name it is first given
-- to, so that a registration that was lost in a failover gets it again.
CREATE TABLE IF NOT EXISTS ${consumer} (
  number INT NOT NULL PRIMARY KEY,
  name   VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL UNIQUE,
  sessions INT NOT NULL DEFAULT 0 -- how many replay sessions were asked for
) ENGINE = InnoDB;

-- One row for each message a consumer is done with. Keys are bytes: no collation can merge two.
CREATE TABLE IF NOT EXISTS ${marker} (
  consumer     INT          NOT NULL,
  message_key  BINARY(16)   NOT NULL,
  marked_at    TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), -- of the effect, or of the receipt where it is stored first
  claim_id     BIGINT       NOT NULL,
  fingerprint  INT,          -- the first 4 bytes of a SHA-256
  readable     TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- what was hashed; NULL when message_key is the id itself
  duplicates   INT,          -- how many were seen, of consumers that are acknowledged on receipt
  duplicate_at BIGINT,       -- when the last one was, in microseconds since 1970
  PRIMARY KEY (consumer, message_key)
) ENGINE = InnoDB;

-- What handlers returned, where a consumer keeps results.
CREATE TABLE IF NOT EXISTS ${result} (
  consumer    INT          NOT NULL,
  message_key BINARY(16)   NOT NULL,
  stored_at   TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  codec       VARCHAR(50)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  bytes       LONGBLOB     NOT NULL,
  PRIMARY KEY (consumer, message_key)
) ENGINE = InnoDB;

-- How long each consumer's history is kept, and how far it has been removed. Times and lengths are microseconds,
-- times since 1970 in UTC, so that no time zone can bend them.
CREATE TABLE IF NOT EXISTS ${retention} (
  consumer            INT      NOT NULL PRIMARY KEY,
  keep_for            BIGINT,          -- the window; NULL is for ever
  declared_at         BIGINT NOT NULL, -- when an instance last wanted a window as long as that
  keep_results_for    BIGINT NOT NULL,
  results_declared_at BIGINT NOT NULL,
  seen_at             BIGINT NOT NULL, -- when an instance of this consumer was last alive
  cutoff              BIGINT,          -- nothing newer was removed, nor is being removed now
  swept_at            BIGINT,          -- when the last sweep began
  horizon             BIGINT,          -- the newest marker that was removed
  sample_key          BINARY(16)       -- a marker that was there when an instance last looked, and that no sweep removed
) ENGINE = InnoDB;

-- Up to where a consumer of positions is done: one row for each partition of each stream. A stream that is
-- deleted and made again has another identity, and so other rows.
CREATE TABLE IF NOT EXISTS ${watermark} (
  consumer         INT          NOT NULL,
  stream_key       BINARY(16)   NOT NULL, -- a hash of stream
  partition_number INT          NOT NULL,
  position         BIGINT       NOT NULL,
  claim_id         BIGINT       NOT NULL, -- who moved it last
  running_id       BIGINT       NOT NULL, -- who held it last
  moved_at         TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  stream           TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (consumer, stream_key, partition_number)
) ENGINE = InnoDB;

-- How far each stream of a consumer with a sequence is: one row for each, locked while a version is judged. Times are
-- microseconds since 1970 in UTC.
CREATE TABLE IF NOT EXISTS ${sequence} (
  consumer        INT      NOT NULL,
  stream_key      BINARY(16) NOT NULL, -- a hash of stream
  current_version BIGINT, -- the last version that was applied; NULL: none
  moved_at        BIGINT NOT NULL,
  stream          TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (consumer, stream_key)
) ENGINE = InnoDB;

-- Messages that were acknowledged on receipt and are not done yet. Those that are done leave it, so it stays small.
-- Times are microseconds since 1970 in UTC.
CREATE TABLE IF NOT EXISTS ${queue} (
  id           BIGINT   NOT NULL AUTO_INCREMENT PRIMARY KEY, -- grows in the order of receipt
  stored_at    BIGINT   NOT NULL,
  due_at       BIGINT,            -- when a worker may take it, or its lease runs out; 0: now; NULL: not at all
  fence        BIGINT   NOT NULL DEFAULT 0, -- grows with every move
  message_key  BINARY(16) NOT NULL, -- of its marker
  order_key    BINARY(16), -- a hash of its ordering key, where the consumer keeps order and it stands in line
  skipped_key  BINARY(16), -- the same of one that was given up, which nobody waits for
  stream_key   BINARY(16), -- a hash of its stream, where the consumer has a sequence
  version      BIGINT, -- its version in that stream
  consumer     INT      NOT NULL,
  status       SMALLINT NOT NULL, -- 0 received, 1 in progress, 2 failed retryable, 3 held, 4 parked, 5 failed terminal
  started      INT  NOT NULL DEFAULT 0,
  failed       INT  NOT NULL DEFAULT 0,
  readable     TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  message_type TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  ordering_key TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  worker       TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- who had it last, where it was leased
  reason       VARCHAR(50),       -- of the last failure
  error        LONGBLOB,
  head         LONGBLOB NOT NULL, -- everything of the message but its payload
  payload      LONGBLOB NOT NULL
) ENGINE = InnoDB;

CREATE INDEX IF NOT EXISTS ${prefix}queue_due ON ${queue} (consumer, due_at, id);
CREATE INDEX IF NOT EXISTS ${prefix}queue_order ON ${queue} (consumer, order_key, id);
CREATE INDEX IF NOT EXISTS ${prefix}queue_stream ON ${queue} (consumer, stream_key, version);
CREATE INDEX IF NOT EXISTS ${prefix}queue_state ON ${queue} (consumer, status, order_key, id);
CREATE INDEX IF NOT EXISTS ${prefix}queue_key ON ${queue} (consumer, message_key);

-- Whoever adds to a line of messages locks the row of its stripe until the commit, so that ids grow in the order of commits.
CREATE TABLE IF NOT EXISTS ${line} (
  stripe INT NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

-- What workers are running: written before the handlers start, apart from their transaction, so that a message which
-- ends its process is found out.
CREATE TABLE IF NOT EXISTS ${worker} (
  worker     BIGINT   NOT NULL PRIMARY KEY,
  consumer   INT      NOT NULL,
  name       TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  seen_at    BIGINT   NOT NULL,
  running    LONGBLOB -- the ids and fences of the messages, 16 bytes each; NULL: none
) ENGINE = InnoDB;

-- A transaction in which stored messages are handled writes its name here, and takes it away before its commit. So one
-- that is here was committed by somebody else.
CREATE TABLE IF NOT EXISTS ${run} (
  claim_id BIGINT NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

-- Runs of handlers that failed.
CREATE TABLE IF NOT EXISTS ${attempt} (
  id          BIGINT   NOT NULL AUTO_INCREMENT PRIMARY KEY,
  queue_id    BIGINT   NOT NULL,
  failed_at   BIGINT   NOT NULL,
  took        BIGINT   NOT NULL,
  consumer    INT      NOT NULL,
  worker      TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  reason      VARCHAR(50) NOT NULL,
  error_type  TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  error       LONGBLOB NOT NULL
) ENGINE = InnoDB;

CREATE INDEX IF NOT EXISTS ${prefix}attempt_message ON ${attempt} (queue_id);

-- What is done of messages that are handled in steps: their steps until they are done, and their effects outside the
-- database for as long as the consumer's window, as a ledger of what was asked of providers.
CREATE TABLE IF NOT EXISTS ${step} (
  id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  stored_at   BIGINT NOT NULL,
  fence       BIGINT NOT NULL, -- of the lease under which it was written last
  claim_id    BIGINT NOT NULL, -- of the transaction that wrote it last
  message_key BINARY(16) NOT NULL,
  place       INT NOT NULL, -- in the order of the handler, from 0; -1: the message is done
  consumer    INT      NOT NULL,
  kind        SMALLINT NOT NULL, -- 0 step, 1 effect
  state       SMALLINT NOT NULL, -- 0 intent, 1 done, 2 unknown
  name        VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  effect_key  VARCHAR(100), -- what the provider was given
  codec       VARCHAR(50),
  result      LONGBLOB
) ENGINE = InnoDB;

CREATE UNIQUE INDEX IF NOT EXISTS ${prefix}step_name ON ${step} (consumer, message_key, name);

-- Completed messages that are kept for replays.
CREATE TABLE IF NOT EXISTS ${archive} (
  id           BIGINT   NOT NULL PRIMARY KEY,
  stored_at    BIGINT   NOT NULL,
  completed_at BIGINT   NOT NULL,
  keep_until   BIGINT   NOT NULL,
  sessions     INT      NOT NULL DEFAULT 0, -- of its consumer that were asked for before it was completed
  message_key  BINARY(16) NOT NULL,
  consumer     INT      NOT NULL,
  readable     TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  head         LONGBLOB NOT NULL,
  payload      LONGBLOB NOT NULL
) ENGINE = InnoDB;

CREATE INDEX IF NOT EXISTS ${prefix}archive_time ON ${archive} (consumer, keep_until);

-- What people did to messages, and why.
CREATE TABLE IF NOT EXISTS ${audit} (
  id          BIGINT   NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at          BIGINT   NOT NULL,
  consumer    INT      NOT NULL,
  message_key BINARY(16),
  action      VARCHAR(30)  NOT NULL,
  actor       VARCHAR(200) NOT NULL,
  reason      TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  detail      TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
) ENGINE = InnoDB;

-- Replay sessions: who wants what delivered again, and how far it is. Times are microseconds since 1970 in UTC.
CREATE TABLE IF NOT EXISTS ${replay} (
  name        VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  consumer    INT      NOT NULL,
  source      TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  actor       VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  reason      TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  per_second  BIGINT NOT NULL,
  dry_run     SMALLINT NOT NULL,
  status      VARCHAR(10) NOT NULL, -- REQUESTED, RUNNING, PAUSED, ABORTED, DONE, FAILED
  policy      VARCHAR(20),          -- of the consumer, as its executor knows it
  place       TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,               -- where the source goes on
  total       BIGINT,
  decided     BIGINT NOT NULL DEFAULT 0,
  processed   BIGINT NOT NULL DEFAULT 0,
  duplicates  BIGINT NOT NULL DEFAULT 0,
  suppressed  BIGINT NOT NULL DEFAULT 0,
  undecidable BIGINT NOT NULL DEFAULT 0,
  rejected    BIGINT NOT NULL DEFAULT 0,
  failed      BIGINT NOT NULL DEFAULT 0,
  worker      TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  lease_until BIGINT,
  fence       BIGINT NOT NULL DEFAULT 0, -- grows with every claim
  ordinal     INT NOT NULL DEFAULT 1, -- among those of its consumer
  created_at  BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  error       TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  effects     TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin -- of a dry run: what would become of them, a line for each
) ENGINE = InnoDB;

-- What a stored message was before a person edited it, and who did it.
CREATE TABLE IF NOT EXISTS ${revision} (
  queue_id    BIGINT NOT NULL,
  number      INT NOT NULL, -- 1 is the message as it came
  consumer    INT      NOT NULL,
  edited_at   BIGINT NOT NULL,
  actor       VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  reason      TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  changes     TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- what the next revision has of its own, without values
  head        LONGBLOB NOT NULL,
  payload     LONGBLOB NOT NULL,
  PRIMARY KEY (queue_id, number)
) ENGINE = InnoDB;

-- How far each process that brokers' offsets speak of has got: what they remember, and this table does not, was lost
-- here. Times are microseconds since 1970 in UTC.
CREATE TABLE IF NOT EXISTS ${witness} (
  process BINARY(16) NOT NULL PRIMARY KEY,
  tick    BIGINT     NOT NULL, -- only ever grows
  seen_at BIGINT     NOT NULL
) ENGINE = InnoDB;

-- Row 0 is never locked, so that this waits for nobody.
INSERT INTO ${line} (stripe) SELECT a.n * 64 + b.n * 8 + c.n FROM
  (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
    UNION ALL SELECT 6 UNION ALL SELECT 7) a,
  (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
    UNION ALL SELECT 6 UNION ALL SELECT 7) b,
  (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
    UNION ALL SELECT 6 UNION ALL SELECT 7) c
  WHERE NOT EXISTS (SELECT 1 FROM ${line} WHERE stripe = 0);

INSERT INTO ${meta} (version) SELECT 1 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM ${meta}) ON DUPLICATE KEY UPDATE version = version;
