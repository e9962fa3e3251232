package dev.idem.cli.torture;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.Context;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Inbox;
import dev.idem.jdbc.JdbcStore;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
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
    private static final Class<?>[] NEEDED = {
        WorkerMain.class,
        Inbox.class,
        JdbcStore.class,
        HikariDataSource.class,
        Logger.class,
        LoggerContext.class,
        Context.class
    };
    private static final long LEARNING_SECONDS = 60;

    private final Path directory;
    private final String classPath;
    private final Path log;

    WorkerJvm(Path directory) throws IOException {
        this.directory = directory;
        this.log = directory.resolve("workers.log");
        Set<String> entries = new LinkedHashSet<>();
        for (Class<?> type : NEEDED) {
            entries.add(jarOf(type).toString());
        }
        entries.add(jarOf(driver()).toString());
        classPath = String.join(File.pathSeparator, entries);
    }

    Path log() {
        return log;
    }

    /** Lets one live and end in peace on a database of its own, and keeps the classes it has loaded. */
    void learn(String url) throws IOException, InterruptedException {
        Process process = builder(url, Defect.NONE, "-XX:ArchiveClassesAtExit=" + archive())
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        try (OutputStream in = process.getOutputStream()) {
            Item item = new Item(0, Mode.LOCAL, 0, 0, Item.Nature.TERMINAL);
            in.write(("1 " + item.line() + "\n" + WorkerMain.QUIT + "\n")
                    .getBytes(java.nio.charset.StandardCharsets.UTF_8));
        }
        if (!process.waitFor(LEARNING_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
    }

    private Path archive() {
        return directory.resolve("workers.jsa");
    }

    /** Without the archive, if there is none, they start more slowly, which is all. */
    ProcessBuilder builder(String url, Defect defect) {
        return builder(url, defect, "-XX:SharedArchiveFile=" + archive());
    }

    private ProcessBuilder builder(String url, Defect defect, String sharing) {
        var builder = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xms32m",
                        "-Xmx128m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xshare:auto",
                        "-Xlog:disable",
                        sharing,
                        "-cp",
                        classPath,
                        WorkerMain.class.getName(),
                        defect.name()))
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().put(WorkerMain.URL, url);
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
