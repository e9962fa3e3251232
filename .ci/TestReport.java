import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;

/** Adds up the test reports below a directory: each failed and skipped test by name, then one line of totals. */
class TestReport {
    private int passed;
    private int failed;
    private int skipped;

    public static void main(String[] arguments) throws Exception {
        var report = new TestReport();
        for (Path file : reports(Path.of(arguments[0]))) {
            report.add(file);
        }
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
        var cases = document.getElementsByTagName("testcase");
        for (int i = 0; i < cases.getLength(); i++) {
            add((Element) cases.item(i));
        }
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
