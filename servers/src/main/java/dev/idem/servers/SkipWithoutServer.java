package dev.idem.servers;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * A JUnit extension that skips a test whose server cannot run here, naming what to install. With {@code IDEM_STRICT=1} in
 * the environment the test fails instead, so that a build server cannot lose tests unnoticed.
 */
public final class SkipWithoutServer
        implements TestExecutionExceptionHandler, LifecycleMethodExecutionExceptionHandler {
    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        skipOrThrow(failure);
    }

    @Override
    public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        skipOrThrow(failure);
    }

    @Override
    public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        skipOrThrow(failure);
    }

    private static void skipOrThrow(Throwable failure) throws Throwable {
        if (failure instanceof ServerUnavailable && !"1".equals(System.getenv("IDEM_STRICT"))) {
            throw new TestAbortedException(failure.getMessage(), failure);
        }
        throw failure;
    }
}
