package dev.idem.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/** Changes statements on their way to the database, and knows which changes found no statement to change. */
final class DefectSql {
    private static final Map<String, Boolean> PLANTED = new ConcurrentHashMap<>();

    private DefectSql() {}

    /** The data source itself, unless the defect is planted. */
    static DataSource edited(DataSource source, boolean planted, String right, String wrong) {
        if (!planted) {
            return source;
        }
        PLANTED.putIfAbsent(right, false);
        return (DataSource) editing(DataSource.class, source, right, wrong);
    }

    /** A statement that reads otherwise by now leaves nothing planted, and whatever was found then is something else. */
    static void checkPlanted() {
        Map<String, Boolean> edits = Map.copyOf(PLANTED);
        PLANTED.clear();
        edits.forEach((right, found) -> {
            if (!found) {
                throw new AssertionError("no statement contains " + right);
            }
        });
    }

    private static Object editing(Class<?> type, Object target, String right, String wrong) {
        return Proxy.newProxyInstance(DefectSql.class.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            Object[] given = args;
            if (method.getName().startsWith("prepare")
                    && String.valueOf(args[0]).contains(right)) {
                PLANTED.put(right, true);
                given = args.clone();
                given[0] = String.valueOf(args[0]).replace(right, wrong);
            }
            try {
                Object answer = method.invoke(target, given);
                return method.getName().equals("getConnection")
                        ? editing(Connection.class, answer, right, wrong)
                        : answer;
            } catch (InvocationTargetException failure) {
                throw failure.getCause();
            }
        });
    }
}
