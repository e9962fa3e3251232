package dev.idem.broker;

import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The formats that are on the class path, looked for once. Stateless. */
final class InstalledFormats {
    private static final Logger log = LoggerFactory.getLogger(Attributes.class);
    private static final Optional<EventFormats> FOUND = find();

    private InstalledFormats() {}

    /** All of them. */
    static List<StructuredEvents> all() {
        return FOUND.map(formats -> List.of(formats.cloudEvents(), formats.massTransit()))
                .orElse(List.of());
    }

    /** @throws IllegalStateException if there are none */
    static StructuredEvents required(String what, Function<EventFormats, StructuredEvents> format) {
        return FOUND.map(format)
                .orElseThrow(() -> new IllegalStateException("Nothing on the class path reads " + what
                        + ": add idem-jackson, or give Attributes.structured a reader of your own"));
    }

    private static Optional<EventFormats> find() {
        try {
            return ServiceLoader.load(EventFormats.class, EventFormats.class.getClassLoader())
                    .findFirst();
        } catch (ServiceConfigurationError | LinkageError broken) { // an idem-jackson without its Jackson, say
            log.warn(
                    "Formats of events were found and cannot be used; messages are read by their headers alone",
                    broken);
            return Optional.empty();
        }
    }
}
