package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import dev.idem.Message;
import dev.idem.broker.Attributes;
import java.util.Date;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Turns what the broker delivers into messages. Never refuses one: a message without an id is for the policy. */
record Reading(Attributes attributes) {
    static final String ORDERING_KEY = "ordering-key";

    Message message(BasicProperties properties, byte[] body) {
        Message raw = Message.builder()
                .payload(body)
                .contentType(properties.getContentType())
                .headers(Tables.headers(properties))
                .build();
        return attributes.read(
                raw,
                new Attributes.Broker(
                        properties.getMessageId(),
                        properties.getType(),
                        raw.header(ORDERING_KEY).orElse(null),
                        Optional.<@Nullable Date>ofNullable(properties.getTimestamp())
                                .map(Date::toInstant)
                                .orElse(null)));
    }
}
