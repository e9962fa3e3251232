package dev.idem.jms;

import jakarta.jms.JMSException;
import jakarta.jms.Message;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The properties of a message. Their names must be Java identifiers, so what the other brokers call {@code idem-reason} is
 * {@code idem_reason} here.
 */
final class Properties {
    private static final String OURS = "idem-";
    private static final String OURS_HERE = "idem_";
    private static final List<String> SET_BY_APPLICATIONS = List.of("JMSXGroupID", "JMSXGroupSeq");

    private Properties() {}

    static String nameHere(String name) {
        return name.startsWith(OURS) ? name.replace('-', '_') : name;
    }

    static String nameElsewhere(String name) {
        return name.startsWith(OURS_HERE) ? name.replace('_', '-') : name;
    }

    /** All but those that the provider itself sets. */
    static Map<String, Object> of(Message message) throws JMSException {
        Map<String, Object> all = new LinkedHashMap<>();
        Enumeration<?> names = message.getPropertyNames();
        while (names.hasMoreElements()) {
            String name = names.nextElement().toString();
            Object value = message.getObjectProperty(name);
            if (value != null && (!name.startsWith("JMS") || SET_BY_APPLICATIONS.contains(name))) {
                all.put(name, value);
            }
        }
        return all;
    }

    /** A name that came over AMQP and is no identifier, {@code cloudEvents:id} say, becomes one: {@code cloudEvents_id}. */
    static void set(Message message, String name, Object value) throws JMSException {
        StringBuilder identifier = new StringBuilder();
        name.chars().forEach(c -> identifier.append(Character.isJavaIdentifierPart(c) ? (char) c : '_'));
        message.setObjectProperty(identifier.toString(), value);
    }
}
