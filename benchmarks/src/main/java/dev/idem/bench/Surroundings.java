package dev.idem.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.idem.bench.contender.Sql;
import dev.idem.bench.report.Machine;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What figures depend on and must be told with them: the machine and the versions. */
final class Surroundings {
    private static final int SAMPLES = 200;
    private static final int PAGE = 8_192;

    private Surroundings() {}

    static Machine machine(Database database) throws IOException, SQLException {
        var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        Path directory = database.directory();
        return new Machine(
                Runtime.getRuntime().availableProcessors(),
                Math.round(system.getTotalMemorySize() / 1e8) / 10.0,
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                System.getProperty("java.version"),
                directory == null ? null : Files.getFileStore(directory).type(),
                fsync(directory),
                roundTrip(database.dataSource()),
                Sql.text(database.dataSource(), """
                        SELECT string_agg(name || '=' || setting, ', ' ORDER BY name) FROM pg_settings
                        WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers')
                        """));
    }

    private static @Nullable Double fsync(@Nullable Path directory) throws IOException {
        if (directory == null) {
            return null;
        }
        Path file = Files.createTempFile(directory, "fsync", null);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            ByteBuffer page = ByteBuffer.allocate(PAGE);
            return median(() -> {
                channel.write(page.clear(), 0);
                channel.force(false);
            });
        } finally {
            Files.delete(file);
        }
    }

    private static double roundTrip(DataSource dataSource) throws IOException, SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement select = connection.prepareStatement("SELECT 1")) {
            return median(() -> {
                try {
                    select.execute();
                } catch (SQLException failure) {
                    throw new IOException(failure);
                }
            });
        }
    }

    /** In microseconds. */
    private static double median(Action action) throws IOException {
        long[] nanos = new long[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            long began = System.nanoTime();
            action.run();
            nanos[i] = System.nanoTime() - began;
        }
        Arrays.sort(nanos);
        return Math.round(nanos[SAMPLES / 2] / 1e2) / 10.0;
    }

    static Map<String, String> versions(DataSource dataSource) throws IOException, SQLException {
        var properties = new Properties();
        try (InputStream in = Surroundings.class.getResourceAsStream("versions.properties")) {
            properties.load(in);
        }
        Map<String, String> versions = new TreeMap<>();
        properties.stringPropertyNames().forEach(name -> versions.put(name, properties.getProperty(name)));
        versions.put("postgresql", Sql.text(dataSource, "SHOW server_version"));
        return new LinkedHashMap<>(versions);
    }

    @FunctionalInterface
    private interface Action {
        void run() throws IOException;
    }
}
