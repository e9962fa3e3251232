package dev.idem.cli.torture;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A data source that replaces parts of statements; whatever does not contain these parts passes as it is. */
final class EditedSql implements InvocationHandler {
    private final Object target;
    private final String[] edits;

    private EditedSql(Object target, String... edits) {
        this.target = target;
        this.edits = edits;
    }

    /** @param edits pairs of what is replaced and what replaces it */
    static DataSource of(DataSource dataSource, String... edits) {
        return (DataSource) proxy(DataSource.class, new EditedSql(dataSource, edits));
    }

    private static Object proxy(Class<?> type, EditedSql handler) {
        return Proxy.newProxyInstance(EditedSql.class.getClassLoader(), new Class<?>[] {type}, handler);
    }

    @Override
    public @Nullable Object invoke(Object self, Method method, Object @Nullable [] args) throws Throwable {
        Object @Nullable [] given = args;
        if (given != null && given.length > 0 && method.getName().startsWith("prepare")) {
            given = given.clone();
            given[0] = edited(String.valueOf(given[0]));
        }
        try {
            Object answer = method.invoke(target, given);
            return answer instanceof Connection ? proxy(Connection.class, new EditedSql(answer, edits)) : answer;
        } catch (InvocationTargetException failure) {
            throw failure.getCause() == null ? failure : failure.getCause();
        }
    }

    private String edited(String sql) {
        String changed = sql;
        for (int i = 0; i < edits.length; i += 2) {
            changed = changed.replace(edits[i], edits[i + 1]);
        }
        return changed;
    }
}
