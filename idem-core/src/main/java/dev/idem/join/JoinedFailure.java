package dev.idem.join;

/**
 * What becomes of somebody else's transaction when the work of a message that has joined it fails: throws, breaks it, or
 * leaves a thread behind.
 */
public enum JoinedFailure {
    /**
     * It can only be rolled back: its owner's commit fails. Always right, also where the work has left something in memory
     * that is written later, as an ORM does.
     */
    ROLLBACK_ONLY,

    /**
     * Everything since the claim is undone, and the owner may go on and commit the rest. Say it only if all that the work
     * does is SQL that it sends through the transaction before it ends. An ORM cannot promise that: what it holds for its
     * next flush is written by the owner's commit, and by the redelivery once more.
     */
    UNDO_TO_SAVEPOINT
}
