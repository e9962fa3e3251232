package dev.idem.jdbc.internal.sql;

import java.sql.SQLException;

/** What was claimed is not there any more, as a count of rows has shown: the transaction is not that of the claim. */
public final class ClaimLost extends SQLException {
    private static final long serialVersionUID = 1L;

    public ClaimLost(String text) {
        super(text);
    }
}
