package dev.idem.jdbc;

import java.sql.SQLException;

/** What was claimed is not there any more, as a count of rows has shown: the transaction is not that of the claim. */
final class ClaimLost extends SQLException {
    private static final long serialVersionUID = 1L;

    ClaimLost(String text) {
        super(text);
    }
}
