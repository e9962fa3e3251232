package dev.idem.torture;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.Context;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Inbox;
import dev.idem.cli.Logging;
import dev.idem.jdbc.JdbcStore;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.slf4j.Logger;

/**
 * How worker JVMs are started: with a short class path and an archive of their loaded classes, because they die so often
 * that starting them is most of what the campaign does.
 */
final class WorkerJvm {
    private static final List<Class<?>> ALWAYS_NEEDED = List.of(
            Logging.class, // else warnings would go to stdout, which belongs to the answers
            Inbox.class,
            JdbcStore.class,
            HikariDataSource.class,
            Logger.class,
            LoggerContext.class,
            Context.class);
    private static final long LEARNING_SECONDS = 60;

    private final Path directory;
    private final Class<?> main;
    private final String classPath;
    private final Path log;

    /** @param needed classes of the jars that this worker needs besides those that all need */
    WorkerJvm(Path directory, Class<?> main, List<Class<?>> needed) throws IOException {
        this.directory = directory;
        this.main = main;
        this.log = directory.resolve("workers.log");
        Set<String> entries = new LinkedHashSet<>();
        entries.add(jarOf(main).toString());
        for (Class<?> type : ALWAYS_NEEDED) {
            entries.add(jarOf(type).toString());
        }
        for (Class<?> type : needed) {
            entries.add(jarOf(type).toString());
        }
        entries.add(jarOf(driver()).toString());
        classPath = String.join(File.pathSeparator, entries);
    }

    Path log() {
        return log;
    }

    /**
     * Lets one live and end in peace on a database of its own, and keeps the classes it has loaded.
     *
     * @param lines what it is told
     * @param done what the line begins with that it says when it has worked
     */
    void learn(String url, List<String> lines, String done, String... arguments)
            throws IOException, InterruptedException {
        Process process =
                sharing("-XX:ArchiveClassesAtExit=" + archive(), url, arguments).start();
        CompletableFuture.delayedExecutor(LEARNING_SECONDS, TimeUnit.SECONDS).execute(process::destroyForcibly);
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
                Writer in = process.outputWriter(StandardCharsets.UTF_8)) {
            for (String line : lines) {
                in.write(line + "\n");
            }
            in.flush();
            String said = out.readLine();
            while (said != null && !said.startsWith(done)) {
                said = out.readLine();
            }
            in.write(WorkerPipe.QUIT + "\n");
            in.flush();
            process.waitFor();
        }
    }

    private Path archive() {
        return directory.resolve("workers.jsa");
    }

    /** Without the archive, if there is none, they start more slowly, which is all. */
    ProcessBuilder builder(String url, String... arguments) {
        return sharing("-XX:SharedArchiveFile=" + archive(), url, arguments);
    }

    private ProcessBuilder sharing(String sharing, String url, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms32m",
                "-Xmx128m",
                "-XX:+ExitOnOutOfMemoryError",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-Xlog:disable",
                sharing,
                "-cp",
                classPath,
                main.getName()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().put(WorkerPipe.URL, url);
        return builder;
    }

    /** Classes are archived from jars only, so a directory becomes one. */
    private Path jarOf(Class<?> type) throws IOException {
        Path place = placeOf(type);
        if (!Files.isDirectory(place)) {
            return place;
        }
        Path jar = directory.resolve(Integer.toHexString(place.hashCode()) + ".jar");
        if (Files.exists(jar)) {
            return jar;
        }
        List<Path> files;
        try (Stream<Path> tree = Files.walk(place)) {
            files = new ArrayList<>(tree.filter(Files::isRegularFile).sorted().toList());
        }
        try (var out = new JarOutputStream(Files.newOutputStream(jar))) {
            for (Path file : files) {
                out.putNextEntry(new ZipEntry(place.relativize(file).toString().replace(File.separatorChar, '/')));
                Files.copy(file, out);
                out.closeEntry();
            }
        }
        return jar;
    }

    private static Class<?> driver() throws IOException {
        try {
            return Class.forName("org.postgresql.Driver");
        } catch (ClassNotFoundException missing) {
            throw new IOException("The driver of PostgreSQL is not on the class path", missing);
        }
    }

    private static Path placeOf(Class<?> type) throws IOException {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException odd) {
            throw new IOException("Where " + type.getName() + " comes from cannot be told", odd);
        }
    }
}
