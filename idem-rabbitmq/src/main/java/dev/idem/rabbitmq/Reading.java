package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import dev.idem.Header;
import dev.idem.Message;
import dev.idem.broker.Attributes;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns what the broker delivers into messages. Never refuses one: a message without an id is for the policy. */
record Reading(Attributes attributes) {
    private static final Logger log = LoggerFactory.getLogger(Reading.class);
    static final String ORDERING_KEY = "ordering-key";

    Message message(BasicProperties properties, byte[] body) {
        Message raw = Message.builder()
                .payload(body)
                .contentType(properties.getContentType())
                .headers(Tables.headers(properties))
                .build();
        try {
            return attributes.read(
                    raw,
                    new Attributes.Broker(
                            properties.getMessageId(),
                            properties.getType(),
                            only(raw.headers(ORDERING_KEY)).orElse(null),
                            Optional.<@Nullable Date>ofNullable(properties.getTimestamp())
                                    .map(Date::toInstant)
                                    .orElse(null)));
        } catch (RuntimeException unreadable) { // a parser of the application's: no reason to lose the listener
            log.warn("A message could not be read; taken for one without attributes", unreadable);
            return raw;
        }
    }

    private static Optional<String> only(List<Header> found) {
        if (found.size() != 1) {
            return Optional.empty();
        }
        try {
            ByteBuffer bytes = ByteBuffer.wrap(found.get(0).value());
            return Optional.of(StandardCharsets.UTF_8.newDecoder().decode(bytes).toString());
        } catch (CharacterCodingException malformed) {
            return Optional.empty();
        }
    }
}
