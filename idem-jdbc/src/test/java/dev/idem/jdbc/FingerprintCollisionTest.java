package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Fingerprint;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What somebody wins who makes two payloads of which a marker keeps the same bytes. */
class FingerprintCollisionTest {
    private static final byte[] SECRET = "known to the instances only".getBytes(StandardCharsets.UTF_8);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a collision hides a conflict and applies nothing twice; with a secret it is none")
    void collision(Database database) throws Exception {
        List<byte[]> payloads = collide();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer plain = consumer("plain", Fingerprint.ofPayload());
            Consumer keyed = consumer("keyed", Fingerprint.keyed(SECRET));
            for (Consumer consumer : List.of(plain, keyed)) {
                assertThat(inbox.accept(consumer, Message.of("m1", payloads.get(0))))
                        .isInstanceOf(Outcome.Processed.class);
                assertThat(inbox.accept(consumer, Message.of("m1", payloads.get(0))))
                        .isInstanceOf(Outcome.Duplicate.class);
            }
            assertThat(inbox.accept(plain, Message.of("m1", payloads.get(1)))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(inbox.accept(keyed, Message.of("m1", payloads.get(1)))).isInstanceOf(Outcome.Conflict.class);
            assertThat(inbox.accept(plain, Message.of("m1", new byte[] {1}))).isInstanceOf(Outcome.Conflict.class);
            assertThat(db.payments()).isEqualTo(2);
        }
    }

    private static Consumer consumer(String name, Fingerprint fingerprint) {
        return Consumer.named(name)
                .policy(Policy.defaults().withFingerprint(fingerprint))
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
    }

    /** Any two of many, which takes no time; a second one for a given payload takes minutes. */
    private static List<byte[]> collide() throws Exception {
        MessageDigest sha = MessageDigest.getInstance("SHA-256");
        Map<Integer, byte[]> seen = new HashMap<>();
        for (int i = 0; ; i++) {
            byte[] payload = ("amount " + i).getBytes(StandardCharsets.UTF_8);
            byte[] twin = seen.put(ByteBuffer.wrap(sha.digest(payload)).getInt(), payload);
            if (twin != null) {
                return List.of(twin, payload);
            }
        }
    }
}
