package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Rejection;
import dev.idem.Selection;
import dev.idem.Settlement;
import dev.idem.spi.MarkerKey;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Different messages stay different, whatever their ids look like. */
abstract class KeyContract extends ClaimContract {

    @Test
    @DisplayName("MY-01 MY-02 KY-03 PG-23 ids that only look alike are different messages")
    void lookAlikeIdsAreDifferentMessages() throws Exception {
        String unique = fresh();
        assertAllDifferent(List.of(
                unique + "abc",
                unique + "ABC",
                unique + "Abc",
                unique + "abc ",
                unique + "abc  ",
                unique + "abc\t",
                " " + unique + "abc",
                unique + "abc\0",
                unique + "a\0bc",
                unique + "abc\u200b", // zero width space
                unique + "a\u200dbc", // zero width joiner
                unique + "\ufeffabc", // byte order mark
                unique + "\u00e1bc", // á composed
                unique + "a\u0301bc", // á decomposed
                unique + "\uff41bc", // full-width a
                unique + "\u0430bc", // Cyrillic a
                unique + "stra\u00dfe",
                unique + "strasse",
                unique + "I",
                unique + "i",
                unique + "\u0131", // dotless i
                unique + "\u0130", // dotted I
                unique + "\ud83d\ude00", // outside the basic plane, where narrow columns see a question mark
                unique + "\ud83d\ude01",
                unique + "?",
                unique + "\\",
                unique + "\\\\",
                unique + "'",
                unique + "''",
                unique + "%",
                unique + "_"));
    }

    @Test
    @DisplayName("MY-03 MY-08 PG-28 long ids that share their beginning are different messages")
    void longIdsAreNotTruncated() throws Exception {
        String unique = fresh();
        String longest = unique + "x".repeat(Selection.MAX_BYTES - unique.length() - 1);
        String wide = unique + "\u20ac".repeat((Selection.MAX_BYTES - unique.length() - 1) / 3);
        assertAllDifferent(List.of(
                longest + "a",
                longest + "b",
                longest,
                unique + "x".repeat(100),
                unique + "x".repeat(254),
                unique + "x".repeat(255),
                unique + "x".repeat(256),
                unique + "x",
                unique,
                wide + "a",
                wide + "b"));
    }

    @Test
    @DisplayName("KY-03 a UUID in upper case, in braces or without dashes is another message")
    void uuidSpellingsAreDifferentMessages() throws Exception {
        String uuid = UUID.randomUUID().toString().replaceFirst("^.", "a");
        assertAllDifferent(List.of(
                uuid,
                uuid.toUpperCase(java.util.Locale.ROOT),
                "{" + uuid + "}",
                uuid.replace("-", ""),
                "urn:uuid:" + uuid,
                uuid + " "));
    }

    @Test
    @DisplayName("KY-04 an id that is the hash of another one, written as a UUID, is another message")
    void hashOfAnotherIdIsAnotherMessage() throws Exception {
        List<MarkerKey> seen = new CopyOnWriteArrayList<>();
        Inbox inbox = inbox(Inbox.builder(store()).steps((step, key) -> seen.add(key)));
        Message first = message(fresh());
        deliver(inbox, first);
        Message hash = message(seen.get(0).value().toString());
        assertThat(deliver(inbox, hash)).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(first);
        assertDoneOnce(hash);
    }

    @Test
    @DisplayName("KY-01 parts of a key that give the same text in a row are different keys")
    void delimiterTwinsAreDifferentMessages() throws Exception {
        String unique = fresh();
        List<List<String>> keys = List.of(
                List.of(unique + "a:b", "c"),
                List.of(unique + "a", "b:c"),
                List.of(unique + "a", "b", "c"),
                List.of(unique + "a:b:c"),
                List.of(unique + "a/b", "c"),
                List.of(unique + "a", "b/c"),
                List.of(unique + "a/id=b", "c"),
                List.of(unique + "a", "b", "c", "d"));
        Inbox inbox = inbox();
        for (List<String> key : keys) {
            Consumer consumer = Consumer.named("contract")
                    .policy(consumer().policy())
                    .key(KeySelector.business(m -> key))
                    .build();
            Message message = message(String.join("\1", key));
            assertThat(deliver(inbox, consumer, message)).isInstanceOf(Outcome.Processed.class);
            assertThat(deliver(inbox, consumer, message)).isInstanceOf(Outcome.Duplicate.class);
            assertDoneOnce(message);
        }
    }

    @Test
    @DisplayName("KY-02 the same id from two sources is two messages")
    void sameIdFromTwoSourcesIsTwoMessages() throws Exception {
        Consumer byEvent = Consumer.named("contract")
                .policy(consumer().policy())
                .key(KeySelector.cloudEvent())
                .build();
        Inbox inbox = inbox();
        for (Consumer consumer : List.of(consumer(), byEvent)) {
            String id = UUID.randomUUID().toString();
            for (String source : List.of("/shop/a", "/shop/b", "/shop/a/")) {
                Message message = message(id).toBuilder().source(source).build();
                assertThat(deliver(inbox, consumer, message)).isInstanceOf(Outcome.Processed.class);
                assertThat(deliver(inbox, consumer, message)).isInstanceOf(Outcome.Duplicate.class);
                assertDoneOnce(message);
            }
        }
    }

    @Test
    @DisplayName("PC-16 two consumers of one message both run")
    void twoConsumersOfOneMessageBothRun() throws Exception {
        for (String id : List.of(fresh(), UUID.randomUUID().toString())) {
            Message message = message(id);
            Inbox inbox = inbox();
            for (String name : List.of("contract-billing", "contract-shipping", "contract-Billing")) {
                assertThat(deliver(inbox, Consumer.of(name), message)).isInstanceOf(Outcome.Processed.class);
                assertThat(deliver(inbox, Consumer.of(name), message)).isInstanceOf(Outcome.Duplicate.class);
            }
            assertEffects(message, 3);
        }
    }

    @Test
    @DisplayName("PC-15 a message without a visible id is rejected, and its handler does not run")
    void invisibleIdIsRejected() throws Exception {
        Inbox inbox = inbox();
        assertRejected(inbox, null, Rejection.KEY_MISSING);
        for (String blank : List.of("", " ", "\t", "\n", "\0", "\u200b", "\ufeff", "\u00a0", "\u2028", " \u200d ")) {
            assertRejected(inbox, blank, Rejection.KEY_BLANK);
        }
    }

    @Test
    @DisplayName("PC-15 a consumer that says so processes messages without an id, each as a message of its own")
    void unguardedMessagesAllRun() throws Exception {
        Inbox inbox = inbox();
        Consumer lenient = consumer(p -> p.withMissingKey(Policy.MissingKey.PROCESS_UNGUARDED));
        Message message =
                message("").toBuilder().id(null).source("unguarded-" + fresh()).build();
        for (int i = 0; i < 3; i++) {
            assertThat(deliver(inbox, lenient, message)).isInstanceOf(Outcome.Processed.class);
        }
        assertEffects(message, 3);
    }

    @Test
    @DisplayName("KY-07 an id longer than the key can hold is rejected, not cut")
    void overlongIdIsRejected() throws Exception {
        Inbox inbox = inbox();
        assertRejected(inbox, "x".repeat(Selection.MAX_BYTES + 1), Rejection.KEY_TOO_LONG);
        assertRejected(inbox, "\u20ac".repeat(Selection.MAX_BYTES / 3 + 1), Rejection.KEY_TOO_LONG);
        assertRejected(inbox, "x".repeat(1_000_000), Rejection.KEY_TOO_LONG);
    }

    @Test
    @DisplayName("PG-24 each of the 2048 lone surrogates is rejected")
    void loneSurrogatesAreRejected() throws Exception {
        Inbox inbox = inbox();
        for (char c = Character.MIN_SURROGATE; c <= Character.MAX_SURROGATE; c++) {
            assertRejected(inbox, "id-" + c, Rejection.KEY_MALFORMED);
            if (c % 64 == 0) {
                assertRejected(inbox, c + "id", Rejection.KEY_MALFORMED);
                assertRejected(inbox, "i" + c + "d", Rejection.KEY_MALFORMED);
            }
        }
    }

    private void assertRejected(Inbox inbox, @Nullable String id, Rejection reason) throws Exception {
        Message message = message("").toBuilder().id(id).build();
        Outcome<String> outcome = inbox.process(consumer(), message, tx -> {
            throw new AssertionError("the handler of a message without a usable key has run");
        });
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Rejected.class, rejected -> {
            assertThat(rejected.reason()).isEqualTo(reason);
            assertThat(rejected.settlement()).isEqualTo(Settlement.DEAD_LETTER);
        });
    }

    private void assertAllDifferent(List<String> ids) throws Exception {
        List<Inbox> processes = inboxes(2);
        for (String id : ids) {
            assertThat(deliver(processes.get(0), message(id)))
                    .as("first delivery of %s", id)
                    .isInstanceOf(Outcome.Processed.class);
        }
        for (String id : ids) {
            assertThat(deliver(processes.get(1), message(id)))
                    .as("second delivery of %s", id)
                    .isInstanceOf(Outcome.Duplicate.class);
            assertDoneOnce(message(id));
        }
    }
}
