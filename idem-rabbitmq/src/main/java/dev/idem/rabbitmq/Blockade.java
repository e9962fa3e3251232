package dev.idem.rabbitmq;

import com.rabbitmq.client.BlockedListener;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Whether the broker blocks a connection, because it is short of memory or disk: it reads nothing more from it until that has
 * passed. It says so after the first message that was published meanwhile. Thread-safe.
 */
final class Blockade implements BlockedListener {
    private volatile @Nullable String reason;

    @Override
    public void handleBlocked(String why) {
        reason = why;
    }

    @Override
    public void handleUnblocked() {
        reason = null;
    }

    boolean isUp() {
        return reason != null;
    }

    IOException failure() {
        return new IOException("the broker blocks publishers: " + reason);
    }
}
