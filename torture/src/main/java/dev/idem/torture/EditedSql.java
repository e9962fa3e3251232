package dev.idem.torture;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A data source that replaces parts of statements; whatever does not contain these parts passes as it is. It tells which parts
 * were found: an edit of a statement that reads otherwise by now would change nothing, and nobody would notice.
 */
final class EditedSql implements InvocationHandler {
    private final Object target;
    private final List<Edit> edits;
    private final Found found;

    private EditedSql(Object target, List<Edit> edits, Found found) {
        this.target = target;
        this.edits = edits;
        this.found = found;
    }

    /** What is replaced, and what replaces it. */
    record Edit(String right, String wrong) {}

    /** @param told hears the number of each edit, when it has changed a statement for the first time */
    static DataSource of(DataSource dataSource, List<Edit> edits, IntConsumer told) {
        Found found = new Found(ConcurrentHashMap.newKeySet(), told);
        return (DataSource) proxy(DataSource.class, new EditedSql(dataSource, edits, found));
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
            boolean made = answer instanceof Connection && method.getName().equals("getConnection"); // not unwrapped
            return made ? proxy(Connection.class, new EditedSql(answer, edits, found)) : answer;
        } catch (InvocationTargetException failure) {
            throw failure.getCause() == null ? failure : failure.getCause();
        }
    }

    private String edited(String sql) {
        String changed = sql;
        for (int i = 0; i < edits.size(); i++) {
            Edit edit = edits.get(i);
            if (changed.contains(edit.right)) {
                changed = changed.replace(edit.right, edit.wrong);
                found.tell(i);
            }
        }
        return changed;
    }

    private record Found(Set<Integer> before, IntConsumer told) {
        void tell(int edit) {
            if (before.add(edit)) {
                told.accept(edit);
            }
        }
    }
}
