import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;

/**
 * Adds up the test reports below a directory: each failed and skipped test by name, the ten slowest classes, then one line
 * of totals.
 */
class TestReport {
    private static final int SLOWEST = 10;

    private final Map<String, Double> seconds = new HashMap<>();
    private int passed;
    private int failed;
    private int skipped;

    public static void main(String[] arguments) throws Exception {
        var report = new TestReport();
        for (Path file : reports(Path.of(arguments[0]))) {
            report.add(file);
        }
        report.printSlowest();
        System.out.printf("%d passed, %d failed, %d skipped%n", report.passed, report.failed, report.skipped);
        if (report.failed > 0) {
            System.exit(1);
        }
    }

    private static List<Path> reports(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
                    .filter(file -> file.getParent().getFileName().toString().startsWith("surefire-reports"))
                    .sorted()
                    .toList();
        }
    }

    private void add(Path file) throws Exception {
        var document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
        Element suite = document.getDocumentElement();
        seconds.merge(
                suite.getAttribute("name") + run(file), Double.valueOf(suite.getAttribute("time")), Double::sum);
        var cases = document.getElementsByTagName("testcase");
        for (int i = 0; i < cases.getLength(); i++) {
            add((Element) cases.item(i));
        }
    }

    /** " (second)" for what is in surefire-reports-second. */
    private static String run(Path file) {
        String run = file.getParent().getFileName().toString().substring("surefire-reports".length());
        return run.isEmpty() ? "" : " (" + run.substring(1) + ")";
    }

    private void add(Element test) {
        String name = test.getAttribute("classname") + "." + test.getAttribute("name");
        if (has(test, "failure") || has(test, "error")) {
            failed++;
            System.out.println("Failed:  " + name);
        } else if (has(test, "skipped")) {
            skipped++;
            System.out.println("Skipped: " + name + ": " + reason(test));
        } else {
            passed++;
        }
    }

    private void printSlowest() {
        System.out.printf(
                Locale.ROOT,
                "Slowest of %d classes, which took %.0f s together:%n",
                seconds.size(),
                seconds.values().stream().mapToDouble(Double::doubleValue).sum());
        seconds.entrySet().stream()
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .limit(SLOWEST)
                .forEach(one -> System.out.printf(Locale.ROOT, "%7.1f s  %s%n", one.getValue(), one.getKey()));
    }

    /** The message of a disabled test, or the first line of the exception that aborted one. */
    private static String reason(Element test) {
        var skipped = (Element) test.getElementsByTagName("skipped").item(0);
        String message = skipped.getAttribute("message");
        return message.isEmpty()
                ? skipped.getTextContent().lines().findFirst().orElse("no reason given").replaceFirst("^[\\w.$]+: ", "")
                : message;
    }

    private static boolean has(Element test, String child) {
        return test.getElementsByTagName(child).getLength() > 0;
    }
}
