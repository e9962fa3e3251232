package dev.idem.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version this was built as. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() throws IOException {
        try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
            var properties = new Properties();
            properties.load(in);
            return new String[] {
                "idem " + properties.getProperty("version"),
                "Java " + System.getProperty("java.version") + ", " + System.getProperty("os.name") + " "
                        + System.getProperty("os.arch")
            };
        }
    }
}
