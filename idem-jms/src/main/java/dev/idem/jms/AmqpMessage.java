package dev.idem.jms;

import jakarta.jms.JMSException;
import jakarta.jms.Message;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a message of AMQP 1.0 has and Jakarta Messaging does not: a content type, and properties whose names are no identifiers, such
 * as {@code cloudEvents:id}. Its clients hand them out in their own ways, or not at all. Stateless.
 */
final class AmqpMessage {
    /** Where Artemis' own client puts the content type. */
    private static final String ARTEMIS = "JMS_AMQP_ContentType";

    /** What Qpid's messages keep inside. Its classes are not compiled against, because another client may be there. */
    private static final ClassValue<Optional<Method>> FACADE = method("getFacade");

    private static final ClassValue<Optional<Method>> CONTENT_TYPE = method("getContentType");
    private static final ClassValue<Optional<Method>> PROPERTY_NAMES = method("getPropertyNames");
    private static final ClassValue<Optional<Method>> PROPERTY = method("getProperty", String.class);

    private AmqpMessage() {}

    static Optional<String> contentType(Message message) throws JMSException {
        Object property = message.getObjectProperty(ARTEMIS);
        Object found = property == null ? call(CONTENT_TYPE, call(FACADE, message)) : property;
        return Optional.ofNullable(found).map(Object::toString).filter(text -> !text.isEmpty());
    }

    /** The names of all properties; Qpid's client lists none that is no identifier, unless its address says so. */
    static Set<String> otherNames(Message message) {
        Set<String> names = new LinkedHashSet<>();
        if (call(PROPERTY_NAMES, call(FACADE, message)) instanceof Set<?> all) {
            all.forEach(name -> names.add(name.toString()));
        }
        return names;
    }

    /** A property by its name as it is; Qpid's client refuses to look for a name that is no identifier. */
    static @Nullable Object property(Message message, String name) throws JMSException {
        Object facade = call(FACADE, message);
        Method property =
                facade == null ? null : PROPERTY.get(facade.getClass()).orElse(null);
        try {
            return property == null ? message.getObjectProperty(name) : property.invoke(facade, name);
        } catch (IllegalAccessException | InvocationTargetException unanswered) {
            return null;
        }
    }

    private static @Nullable Object call(ClassValue<Optional<Method>> method, @Nullable Object target) {
        Method found = target == null ? null : method.get(target.getClass()).orElse(null);
        try {
            return found == null ? null : found.invoke(target);
        } catch (IllegalAccessException | InvocationTargetException unanswered) {
            return null;
        }
    }

    private static ClassValue<Optional<Method>> method(String name, Class<?>... parameters) {
        return new ClassValue<>() {
            @Override
            protected Optional<Method> computeValue(Class<?> type) {
                try {
                    return Optional.of(type.getMethod(name, parameters));
                } catch (NoSuchMethodException another) {
                    return Optional.empty();
                }
            }
        };
    }
}
