package dev.idem.test.fault;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a forked JVM starts with: ends when its parent does, and runs the class it was forked for. */
final class ForkedMain {
    private static final int ORPHANED = 86;

    private ForkedMain() {}

    static List<String> command(List<String> jvmOptions, Class<?> main, List<String> args) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", classPath(), ForkedMain.class.getName(), main.getName()));
        command.addAll(args);
        return command;
    }

    /**
     * The class path of the tests. A jar that only names others in its manifest is passed on, and the child follows it.
     */
    private static String classPath() {
        return Stream.of("surefire.test.class.path", "java.class.path", "jdk.module.path")
                .map(System::getProperty)
                .filter(Objects::nonNull)
                .flatMap(path -> Stream.of(path.split(File.pathSeparator)))
                .filter(entry -> !entry.isBlank())
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
    }

    public static void main(String[] args) throws Throwable {
        InputStream parent = System.in;
        System.setIn(InputStream.nullInputStream());
        Link.startDaemon("idem-parent-watch", () -> haltAtEndOf(parent));
        Method main = Class.forName(args[0]).getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        try {
            main.invoke(null, (Object) List.of(args).subList(1, args.length).toArray(String[]::new));
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    private static void haltAtEndOf(InputStream parent) {
        try {
            parent.transferTo(OutputStream.nullOutputStream()); // nobody writes; only the end counts
        } catch (IOException broken) {
            // as good as the end
        }
        Runtime.getRuntime().halt(ORPHANED);
    }
}
