package dev.idem.test.fault;

import java.sql.SQLException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A fault that fires now, at the call it was armed for. */
record Strike(Fault fault, int nth, String call, @Nullable Supplier<? extends SQLException> failure) {

    SQLException exception(String sqlState) {
        return failure == null ? new SQLException(message(), sqlState) : failure.get();
    }

    InjectedError error() {
        return new InjectedError(message());
    }

    private String message() {
        return "Injected %s at call %d: %s".formatted(fault, nth, call);
    }
}
