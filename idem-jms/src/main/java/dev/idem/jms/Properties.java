package dev.idem.jms;

import dev.idem.broker.DeadLetter;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageFormatException;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The properties of a message. Their names must be Java identifiers, so what the other brokers call {@code idem-reason} is
 * {@code idem_reason} here.
 */
final class Properties {
    private static final String OURS = "idem-";
    private static final String OURS_HERE = "idem_";
    private static final List<String> SET_BY_APPLICATIONS = List.of("JMSXGroupID", "JMSXGroupSeq");

    /** Words of selectors, which no property may be named by. */
    private static final Set<String> RESERVED =
            Set.of("NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE");

    private static final Logger log = LoggerFactory.getLogger(JmsInboxListener.class);

    private Properties() {}

    static String nameHere(String name) {
        return name.startsWith(OURS) ? name.replace('-', '_') : name;
    }

    static String nameElsewhere(String name) {
        return name.regionMatches(true, 0, OURS_HERE, 0, OURS_HERE.length()) ? name.replace('_', '-') : name;
    }

    /** Whether only Idem may set a property of this name, or of what becomes of the name on a copy. */
    static boolean isOurs(String name) {
        return DeadLetter.isOurs(nameElsewhere(name)) || DeadLetter.isOurs(nameElsewhere(identifier(name)));
    }

    /** All but those that the provider itself sets. */
    static Map<String, Object> of(Message message) throws JMSException {
        Map<String, Object> all = new LinkedHashMap<>();
        Set<String> listed = new LinkedHashSet<>();
        Enumeration<?> names = message.getPropertyNames();
        while (names.hasMoreElements()) {
            listed.add(names.nextElement().toString());
        }
        for (String name : listed) {
            put(all, name, message.getObjectProperty(name));
        }
        for (String name : AmqpMessage.otherNames(message)) {
            if (!listed.contains(name)) {
                put(all, name, AmqpMessage.property(message, name));
            }
        }
        return all;
    }

    private static void put(Map<String, Object> all, String name, @Nullable Object value) {
        if (value != null && (!name.startsWith("JMS") || SET_BY_APPLICATIONS.contains(name))) {
            all.put(name, value);
        }
    }

    /**
     * Sets a property, whatever a producer that speaks AMQP has made of it: a name that is no identifier becomes one
     * ({@code cloudEvents:id} is {@code cloudEvents_id}), a value that is of no kind that a property may have becomes text. One
     * that the provider refuses all the same is left out, for a message that cannot be copied could not be set aside either.
     */
    static void set(Message message, String name, Object value) throws JMSException {
        String identifier = identifier(name);
        boolean allowed = value instanceof Number || value instanceof Boolean || value instanceof String;
        try {
            message.setObjectProperty(identifier, allowed ? value : Incoming.text(value));
        } catch (MessageFormatException | IllegalArgumentException refused) {
            log.warn("A copy is made without the property {}, which the provider refuses", identifier);
        }
    }

    private static String identifier(String name) {
        StringBuilder identifier = new StringBuilder();
        if (name.isEmpty()
                || !Character.isJavaIdentifierStart(name.charAt(0))
                || RESERVED.contains(name.toUpperCase(Locale.ROOT))) {
            identifier.append('_');
        }
        name.chars().forEach(c -> identifier.append(Character.isJavaIdentifierPart(c) ? (char) c : '_'));
        return identifier.toString();
    }
}
