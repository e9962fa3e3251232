package dev.idem.cli.newcomer;

import dev.idem.Inbox;
import dev.idem.jdbc.JdbcStore;
import dev.idem.test.IdempotencyTest;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * A Maven project of its own, with a local repository of its own: what others have made comes from that of this build, and Idem
 * is what this build has made. Nothing is installed where others would find it.
 */
final class NewProject {
    private static final String VERSION = ofThisBuild("version");

    /** What no pom can do without; whatever else is in it comes from the pages. */
    private static final String POM = """
            <project xmlns="http://maven.apache.org/POM/4.0.0">
                <modelVersion>4.0.0</modelVersion>
                <groupId>com.example</groupId>
                <artifactId>shop</artifactId>
                <version>1</version>
            %s</project>
            """;

    private final Path home;
    private final Path repository;

    /** How a command ended, and what it said. */
    record Run(int code, String said) {}

    private NewProject(Path home, Path repository) {
        this.home = home;
        this.repository = repository;
    }

    static NewProject in(Path folder) throws IOException, URISyntaxException {
        Path repository = repository(folder);
        Path ours = repository.resolve("dev/idem");
        publish(ours, "idem-parent", Page.root().resolve("pom.xml"), null);
        for (var module : Map.of(
                        "idem-core", Inbox.class, "idem-jdbc", JdbcStore.class, "idem-test", IdempotencyTest.class)
                .entrySet()) {
            publish(ours, module.getKey(), Page.root().resolve(module.getKey()).resolve("pom.xml"), module.getValue());
        }
        return new NewProject(Files.createDirectories(folder.toAbsolutePath().resolve("project")), repository);
    }

    /** What somebody has who has cloned the project, and built nothing yet. */
    static NewProject copyOfTheSources(Path folder) throws IOException {
        Path repository = repository(folder);
        Path copy = folder.toAbsolutePath().resolve("project");
        Path root = Page.root();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path from, BasicFileAttributes attributes) throws IOException {
                String name = from.getFileName().toString();
                if (name.equals("target") || name.equals(".git")) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(copy.resolve(root.relativize(from)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path from, BasicFileAttributes attributes) throws IOException {
                if (!from.getFileName().toString().equals(".git")) { // of a linked work tree
                    Files.copy(from, copy.resolve(root.relativize(from)));
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return new NewProject(copy, repository);
    }

    /** Which artifacts of ours are in the local repository. */
    List<String> installed() throws IOException {
        Path ours = repository.resolve("dev/idem");
        if (!Files.isDirectory(ours)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(ours)) {
            return all.filter(Files::isDirectory)
                    .map(path -> path.getFileName().toString())
                    .toList();
        }
    }

    private static Path repository(Path folder) throws IOException {
        Path base = folder.toAbsolutePath();
        delete(base);
        Path repository = Files.createDirectories(base.resolve("repository"));
        Path common = Path.of(System.getProperty(
                "localRepository",
                Path.of(System.getProperty("user.home"), ".m2/repository").toString()));
        linkAll(common, repository, "dev");
        linkAll(common.resolve("dev"), Files.createDirectories(repository.resolve("dev")), "idem");
        return repository;
    }

    /** A version that stands in the pom of the source tree. */
    static String ofThisBuild(String element) {
        Matcher found = Pattern.compile("<" + Pattern.quote(element) + ">([^<]+)<")
                .matcher(Page.of("pom.xml").text());
        if (!found.find()) {
            throw new AssertionError("pom.xml has no " + element);
        }
        return found.group(1);
    }

    NewProject pom(String inner) throws IOException {
        Files.writeString(home.resolve("pom.xml"), POM.formatted(inner));
        return this;
    }

    NewProject source(String kind, String name, String text) throws IOException {
        Path folder = Files.createDirectories(home.resolve("src").resolve(kind).resolve("java"));
        Files.writeString(folder.resolve(name), text);
        return this;
    }

    /** As a shell would, with other words in the place of some. */
    Run run(String command, String... replaced) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>();
        for (String word : command.split("\\s+", -1)) {
            words.add(word.replace("\"", ""));
        }
        for (int i = 0; i < replaced.length; i += 2) {
            int index = i;
            words.replaceAll(word -> word.replace(replaced[index], replaced[index + 1]));
        }
        words.addAll(1, List.of("-B", "-ntp", "-Dmaven.repo.local=" + repository));
        ProcessBuilder builder =
                new ProcessBuilder(words).directory(home.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("MAVEN_"));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("It did not end: " + said);
        }
        return new Run(process.exitValue(), said);
    }

    private static void linkAll(Path from, Path to, String except) throws IOException {
        if (Files.isDirectory(from)) {
            try (Stream<Path> all = Files.list(from)) {
                for (Path one : all.filter(
                                path -> !path.getFileName().toString().equals(except))
                        .toList()) {
                    Files.createSymbolicLink(to.resolve(one.getFileName()), one);
                }
            }
        }
    }

    /** As the install plugin does it. */
    private static void publish(Path group, String artifact, Path pom, Class<?> any)
            throws IOException, URISyntaxException {
        Path folder = Files.createDirectories(group.resolve(artifact).resolve(VERSION));
        Files.copy(pom, folder.resolve(artifact + "-" + VERSION + ".pom"));
        if (any != null) {
            Path built = Path.of(
                    any.getProtectionDomain().getCodeSource().getLocation().toURI());
            Path jar = folder.resolve(artifact + "-" + VERSION + ".jar");
            if (Files.isDirectory(built)) {
                pack(built, jar);
            } else {
                Files.copy(built, jar, StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private static void pack(Path classes, Path jar) throws IOException {
        try (OutputStream out = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(out);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                zip.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
                Files.copy(file, zip);
            }
        }
    }

    /** Links are removed, and not what they lead to. */
    private static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path one : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(one);
                }
            }
        }
    }
}
