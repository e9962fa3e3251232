package dev.idem.project;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** A pom as it is written, without what Maven adds. */
record Pom(Path folder, Document document) {
    static final Path ROOT = projectRoot();

    static Pom root() {
        return of(ROOT);
    }

    static Pom of(Path folder) {
        try {
            var parser = DocumentBuilderFactory.newInstance().newDocumentBuilder();
            return new Pom(folder, parser.parse(folder.resolve("pom.xml").toFile()));
        } catch (IOException | SAXException | ParserConfigurationException e) {
            throw new AssertionError("Could not read the pom in " + folder, e);
        }
    }

    /** The modules that the root pom names. */
    static List<Pom> modules() {
        return root().texts("/project/modules/module").stream()
                .map(name -> of(ROOT.resolve(name)))
                .toList();
    }

    /** The modules that users get. */
    static List<Pom> published() {
        return modules().stream()
                .filter(pom ->
                        !pom.text("/project/properties/maven.deploy.skip").equals("true"))
                .toList();
    }

    /** The published modules that make a jar. */
    static List<Pom> jars() {
        return published().stream()
                .filter(pom -> !pom.text("/project/packaging").equals("pom"))
                .toList();
    }

    String name() {
        return text("/project/artifactId");
    }

    /** The text of the first match; empty if there is none. */
    String text(String path) {
        List<String> texts = texts(path);
        return texts.isEmpty() ? "" : texts.get(0);
    }

    /** The texts of all matches, without the white space around them. */
    List<String> texts(String path) {
        try {
            var found =
                    (NodeList) XPathFactory.newInstance().newXPath().evaluate(path, document, XPathConstants.NODESET);
            return IntStream.range(0, found.getLength())
                    .mapToObj(i -> found.item(i).getTextContent().strip().replaceAll("\\s+", " "))
                    .toList();
        } catch (XPathExpressionException e) {
            throw new AssertionError(path, e);
        }
    }

    @Override
    public String toString() {
        return ROOT.relativize(folder.resolve("pom.xml")).toString();
    }

    private static Path projectRoot() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(folder.resolve("idem-bom"))) {
            folder = folder.getParent();
        }
        return folder;
    }
}
