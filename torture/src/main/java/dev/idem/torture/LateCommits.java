package dev.idem.torture;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A data source on which some transactions of some threads are committed late: what began after them is seen before. */
final class LateCommits implements InvocationHandler {
    private static final int ONE_IN_IS_LATE = 6;
    private static final int LONGEST_MILLIS = 300;

    private final Object target;
    private final String thread;

    private LateCommits(Object target, String thread) {
        this.target = target;
        this.thread = thread;
    }

    /** @param thread the name of the threads that are late */
    static DataSource around(DataSource dataSource, String thread) {
        return (DataSource) proxy(DataSource.class, new LateCommits(dataSource, thread));
    }

    private static Object proxy(Class<?> type, LateCommits handler) {
        return Proxy.newProxyInstance(LateCommits.class.getClassLoader(), new Class<?>[] {type}, handler);
    }

    @Override
    public @Nullable Object invoke(Object self, Method method, Object @Nullable [] args) throws Throwable {
        if (Thread.currentThread().getName().equals(thread)
                && commits(method, args)
                && ThreadLocalRandom.current().nextInt(ONE_IN_IS_LATE) == 0) {
            Thread.sleep(ThreadLocalRandom.current().nextInt(LONGEST_MILLIS));
        }
        try {
            Object answer = method.invoke(target, args);
            boolean made = answer instanceof Connection && method.getName().equals("getConnection"); // not unwrapped
            return made ? proxy(Connection.class, new LateCommits(answer, thread)) : answer;
        } catch (InvocationTargetException failure) {
            throw failure.getCause() == null ? failure : failure.getCause();
        }
    }

    private static boolean commits(Method method, Object @Nullable [] args) {
        return method.getName().equals("commit")
                || (method.getName().startsWith("prepare")
                        && args != null
                        && args.length > 0
                        && String.valueOf(args[0]).contains("COMMIT"));
    }
}
