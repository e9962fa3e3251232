package dev.idem;

/** Why a message was turned away before any handler saw it. */
public enum Rejection {
    KEY_MISSING,
    KEY_BLANK,
    KEY_MALFORMED,
    KEY_TOO_LONG,
    /** The id says nothing of when it was made, which the consumer's key has promised. */
    KEY_NOT_TIME_ORDERED,
    /** The id says that it was made in the future, further ahead than any clock is wrong; the store has no place for it. */
    KEY_FROM_THE_FUTURE,
    /** Two different keys met in one 16-byte value; the message is unharmed, but cannot be told from the other. */
    KEY_COLLISION,
    /** The consumer has a sequence, and the message no stream or no version. */
    NO_VERSION,
    UNKNOWN_TYPE,
    /** The payload could not be decoded; decoding it again would fail again. */
    UNDECODABLE,
    /** Larger than the consumer's queue takes. */
    TOO_LARGE,
    /** It says that it belongs to a replay session, and there is none of that name for this consumer. */
    UNKNOWN_SESSION,
    /** Older than the horizon, and the policy says to turn such messages away. */
    UNDECIDABLE
}
