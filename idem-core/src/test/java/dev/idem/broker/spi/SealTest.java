package dev.idem.broker.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.broker.ScriptedInbox;
import dev.idem.spi.MarkerStore;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class SealTest {
    private static final byte[] PAYLOAD = {1, 2, 3};
    private static final List<Header> OURS = List.of(
            new Header("idem-failures", "3"), new Header("idem-origin-queue", "orders"), new Header("idem-x", "1"));

    private final Seal seal = seal((byte) 1);

    private static Seal seal(byte secret) {
        byte[] bytes = new byte[32];
        bytes[7] = secret;
        MarkerStore store = (MarkerStore) Proxy.newProxyInstance(
                SealTest.class.getClassLoader(),
                new Class<?>[] {MarkerStore.Secretive.class},
                (proxy, method, args) -> {
                    assertThat(method.getName()).isEqualTo("secret");
                    return bytes;
                });
        return Seal.of(ScriptedInbox.over(store));
    }

    private static Message message(List<Header> headers, byte... payload) {
        return Message.builder().payload(payload).headers(headers).build();
    }

    private List<Header> sealed() {
        return new ArrayList<>(seal.sealed(OURS, PAYLOAD));
    }

    @Test
    void whatWeWroteIsBelievedByAllWhoShareTheStore() {
        assertThat(seal.open(message(sealed(), PAYLOAD))).isEqualTo(OURS);
        assertThat(seal((byte) 1).open(message(sealed(), PAYLOAD))).isEqualTo(OURS);
    }

    @Test
    void theOrderOfHeadersAndHeadersOfOthersDoNotMatter() {
        List<Header> headers = sealed();
        Collections.reverse(headers);
        headers.add(1, new Header("traceparent", "00"));
        assertThat(seal.open(message(headers, PAYLOAD))).containsExactlyInAnyOrderElementsOf(OURS);
    }

    @Test
    void withoutASealNothingIsBelieved() {
        assertThat(seal.open(message(OURS, PAYLOAD))).isEmpty();
    }

    @Test
    void aForgedSealIsNotBelieved() {
        assertThat(seal.open(message(seal((byte) 2).sealed(OURS, PAYLOAD), PAYLOAD)))
                .isEmpty();
        List<Header> headers = new ArrayList<>(OURS);
        headers.add(new Header("idem-seal", "00"));
        assertThat(seal.open(message(headers, PAYLOAD))).isEmpty();
        headers.set(3, new Header("idem-seal", new byte[] {(byte) 0xff}));
        assertThat(seal.open(message(headers, PAYLOAD))).isEmpty();
    }

    @Test
    void aSealThatStandsTwiceIsNotBelieved() {
        List<Header> headers = sealed();
        headers.add(headers.get(headers.size() - 1));
        assertThat(seal.open(message(headers, PAYLOAD))).isEmpty();
    }

    @Test
    void aSealThatWasMovedToAnotherPayloadIsNotBelieved() {
        assertThat(seal.open(message(sealed(), (byte) 1, (byte) 2))).isEmpty();
    }

    @Test
    void changedAddedAndMissingHeadersAreNotBelieved() {
        List<Header> changed = sealed();
        changed.set(0, new Header("idem-failures", "0"));
        assertThat(seal.open(message(changed, PAYLOAD))).isEmpty();
        List<Header> added = sealed();
        added.add(new Header("Idem-Failures", "0"));
        assertThat(seal.open(message(added, PAYLOAD))).isEmpty();
        List<Header> missing = sealed();
        missing.remove(0);
        assertThat(seal.open(message(missing, PAYLOAD))).isEmpty();
    }

    @Test
    void noPartCanBeMovedIntoItsNeighbour() {
        List<Header> one = List.of(new Header("idem-a", "b"), new Header("idem-c", "d"));
        List<Header> other = List.of(new Header("idem-ab", ""), new Header("idem-c", "d"));
        assertThat(last(seal.sealed(one, PAYLOAD))).isNotEqualTo(last(seal.sealed(other, PAYLOAD)));
        assertThat(last(seal.sealed(List.of(new Header("idem-a", "b")), new byte[0])))
                .isNotEqualTo(
                        last(seal.sealed(List.of(), "idem-ab".getBytes(java.nio.charset.StandardCharsets.UTF_8))));
    }

    private static Header last(List<Header> headers) {
        return headers.get(headers.size() - 1);
    }

    @Test
    void aStoreWithoutASecretGetsOneOfTheProcess() {
        MarkerStore plain = (MarkerStore) Proxy.newProxyInstance(
                SealTest.class.getClassLoader(), new Class<?>[] {MarkerStore.class}, (proxy, method, args) -> {
                    throw new UnsupportedOperationException(method.getName());
                });
        Seal own = Seal.of(ScriptedInbox.over(plain));
        assertThat(own.open(message(own.sealed(OURS, PAYLOAD), PAYLOAD))).isEqualTo(OURS);
        Seal another = Seal.of(ScriptedInbox.over(plain));
        assertThat(another.open(message(own.sealed(OURS, PAYLOAD), PAYLOAD))).isEqualTo(OURS);
        assertThat(seal.open(message(own.sealed(OURS, PAYLOAD), PAYLOAD))).isEmpty();
    }
}
