package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.internal.key.KeyEncodingTest;
import dev.idem.spi.MarkerKey;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What is stored must be found again by every later version, so these answers never change. They were computed apart
 * from this code: SHA-256 over tenant, source and ids, each after its length as a big-endian int (-1 when absent), the
 * first 16 bytes with version 8 and the RFC 9562 variant, and the first 48 bits replaced by the id's own time, if any.
 */
class KeyEncodingVectorsTest {

    @ParameterizedTest
    @MethodSource("vectors")
    @DisplayName("the encoding of a key never changes")
    void theEncodingNeverChanges(String tenant, String source, String[] ids, String value, String readable) {
        MarkerKey key = KeyEncodingTest.encode(tenant, source, ids);
        assertThat(key.value()).hasToString(value);
        assertThat(key.readable()).isEqualTo(readable);
    }

    static Stream<Arguments> vectors() {
        String v7 = "0190a5b2-3c4d-7e5f-8a6b-7c8d9e0f1a2b";
        String v8 = "0190a5b2-3c4d-8e5f-8a6b-7c8d9e0f1a2b";
        String ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        String lower = "01arz3ndektsv4rrffq69g5fav";
        return Stream.of(
                vector(null, null, v7, null, v7),
                vector(null, null, "e06757d7-30ef-8bc6-800b-1287453781f2", "m-1", "m-1"),
                vector(null, null, "ce73abe4-5d55-87b6-9f57-504c7282950c", "M-1", "M-1"),
                vector("acme", null, "74e59826-2e83-8761-91d0-4b831a9a3fc6", "tenant=acme/id=m-1", "m-1"),
                vector(null, "/shop", "81cc0931-42ae-8946-983b-39b10ce2755b", "source=\\/shop/id=m-1", "m-1"),
                vector(
                        "acme",
                        "/shop",
                        "368edf01-2efe-867c-8ae5-d90e21b35281",
                        "tenant=acme/source=\\/shop/id=m-1",
                        "m-1"),
                vector(null, null, "d21bb253-544a-8ae2-b46f-91e4009718ae", "id=order-7/id=ship", "order-7", "ship"),
                vector("acme", null, "0190a5b2-3c4d-85b8-8724-6ee0f9d5e15e", "tenant=acme/id=" + v7, v7),
                vector(null, null, "01563e3a-b5d3-875e-bd0b-1fef38e8906e", ulid, ulid),
                vector(null, null, "01563e3a-b5d3-89c7-941a-53f3a4fb0c87", lower, lower),
                vector(null, null, "4230addb-6e61-8ac5-9bd8-ca34efb0926a", v8, v8),
                vector(
                        null,
                        null,
                        "4f49d6ab-1577-8895-810d-629a289de29f",
                        "0190A5B2-3C4D-7E5F-8A6B-7C8D9E0F1A2B",
                        "0190A5B2-3C4D-7E5F-8A6B-7C8D9E0F1A2B"),
                vector(null, null, "4d5fb454-e723-8fb6-8d52-defa40162975", "a\\/b\\=c\\\\d\\u{a}😀", "a/b=c\\d\n😀"));
    }

    private static Arguments vector(String tenant, String source, String value, String readable, String... ids) {
        return Arguments.of(tenant, source, ids, value, readable);
    }
}
