package dev.idem.jdbc.internal.sql;

import dev.idem.spi.ClaimRequest;
import java.nio.ByteBuffer;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a marker keeps of its message's fingerprint: the first four bytes of the SHA-256, as a number. A changed payload goes
 * unnoticed once in four billion conflicts, and a PostgreSQL row stays at 56 bytes.
 */
public final class KeptFingerprint {
    private KeptFingerprint() {}

    public static void bind(PreparedStatement statement, int index, byte @Nullable [] fingerprint) throws SQLException {
        if (fingerprint == null) {
            statement.setNull(index, Types.INTEGER);
        } else {
            statement.setInt(index, ByteBuffer.wrap(fingerprint).getInt());
        }
    }

    /** Those of all requests as the text of an array: drivers make one out of objects with more effort. */
    public static String array(List<ClaimRequest> requests) {
        StringBuilder text = new StringBuilder(requests.size() * 12 + 2).append('{');
        for (ClaimRequest request : requests) {
            byte[] fingerprint = request.fingerprint();
            text.append(text.length() == 1 ? "" : ",")
                    .append(
                            fingerprint == null
                                    ? "NULL"
                                    : ByteBuffer.wrap(fingerprint).getInt());
        }
        return text.append('}').toString();
    }

    static byte @Nullable [] read(ResultSet row, int column) throws SQLException {
        int kept = row.getInt(column);
        return row.wasNull()
                ? null
                : ByteBuffer.allocate(Integer.BYTES).putInt(kept).array();
    }
}
