package dev.idem.test.fault;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** One connection with everything created from it: alive, closed or lost. */
final class FaultySession {
    private final FaultSchedule schedule;
    private @Nullable Connection real;
    private @Nullable Connection proxy;
    private volatile boolean lost;
    private volatile boolean closed;

    FaultySession(FaultSchedule schedule) {
        this.schedule = schedule;
    }

    interface Opener {
        Connection open() throws SQLException;
    }

    interface Call<X extends Throwable> {
        @Nullable
        Object make() throws X;
    }

    Connection open(Opener opener) throws SQLException {
        try {
            counted("getConnection", () -> real = opener.open());
        } catch (SQLException | RuntimeException | Error failure) {
            tear(); // a connection the caller never got would stay open for ever
            throw failure;
        }
        proxy = wrap(Connection.class, requireNonNull(real), null, null);
        return proxy;
    }

    <T> T wrap(Class<T> type, Object target, @Nullable Object parent, @Nullable String sql) {
        var handler = new FaultyHandler(this, target, parent, sql);
        return type.cast(Proxy.newProxyInstance(FaultySession.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    Connection connection() {
        return requireNonNull(proxy);
    }

    boolean lost() {
        return lost;
    }

    /** Makes the call, unless the armed fault fires here and says otherwise. */
    <X extends Throwable> @Nullable Object counted(String name, Call<X> call) throws X, SQLException {
        Strike strike = schedule.next(name);
        if (strike == null) {
            return call.make();
        }
        switch (strike.fault()) {
            case EXCEPTION_BEFORE -> throw strike.exception("XX000");
            case ERROR -> throw strike.error();
            case CONNECTION_LOST_BEFORE -> {
                tear();
                throw strike.exception("08006");
            }
            case SILENT_ROLLBACK -> {
                rollBackSilently();
                return call.make();
            }
            case EXCEPTION_AFTER -> {
                call.make();
                throw strike.exception("XX000");
            }
            case CONNECTION_LOST_AFTER -> {
                try {
                    call.make();
                } finally {
                    tear();
                }
                throw strike.exception("08006");
            }
        }
        throw new AssertionError(strike.fault());
    }

    void close() throws SQLException {
        if (lost || closed) {
            return;
        }
        try {
            counted("close", () -> {
                closed = true;
                requireNonNull(real).close();
                return null;
            });
        } finally {
            if (!closed) {
                tear();
            }
        }
    }

    /** Ends the physical connection without a commit, as a broken network would. */
    void tear() {
        lost = true;
        Connection torn = real;
        if (torn == null || closed) {
            return;
        }
        closed = true;
        Damage.tear(torn);
    }

    private void rollBackSilently() {
        if (real != null) {
            Damage.rollBack(real);
        }
    }
}
